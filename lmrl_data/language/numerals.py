"""Numbers written in figures or in words."""

import re

_UNITS: dict[str, float] = {
    word: number
    for number, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen""".split()
    )
}
_UNITS |= {"single": 1, "couple": 2, "dozen": 12, "few": 3, "several": 5, "half": 0.5}
_TENS = {
    word: 10 * number for number, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_POWERS = {"hundred": 100, "thousand": 1000, "k": 1000, "million": 10**6, "mil": 10**6, "billion": 10**9}
_POWERS |= {"lakh": 10**5, "crore": 10**7}
_POWERS |= {word + "s": power for word, power in _POWERS.items() if len(word) > 3}
_FIGURES = re.compile(r"\d+(?:\.\d+)?")

_WORD = "|".join(sorted(["a", "an", *_UNITS, *_TENS, *_POWERS], key=len, reverse=True))
# A number, as a pattern over words with single blanks between: "2.5", "twenty five", "a hundred", "half a".
NUMERAL = rf"(?:\d+(?:\.\d+)?|(?:{_WORD}))(?: (?:and a half|{_WORD}))*(?: of)?"


def read_numeral(text: str) -> float | None:
    """The number that a text matched by `NUMERAL` says.

    >>> read_numeral("two hundred"), read_numeral("half a"), read_numeral("one and a half"), read_numeral("2.5 million")
    (200.0, 0.5, 1.5, 2500000.0)
    """
    if text.endswith(" and a half"):
        whole = read_numeral(text.removesuffix(" and a half"))
        return None if whole is None else whole + 0.5
    total, current, factor = 0.0, 0.0, 1.0
    said = False
    for word in text.split():
        if word in ("of", "a", "an"):
            continue
        said = True
        if _FIGURES.fullmatch(word):
            current += float(word)
        elif word == "half":
            factor, said = 0.5, bool(current)
        elif word in ("couple", "dozen"):
            current = (1 if word == "dozen" and not current else max(current, 1)) * _UNITS[word]
        elif word in _UNITS:
            current += _UNITS[word]
        elif word in _TENS:
            current += _TENS[word]
        elif word in _POWERS:
            current = max(current, 1) * _POWERS[word]
            if _POWERS[word] >= 1000:
                total, current = total + current, 0.0
        else:
            return None
    return (total + current if said else 1.0) * factor

"""Questions about the letters and words of the city's name."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from lmrl_data.tasks.guess_my_city.facts import Names, where
from lmrl_data.tasks.guess_my_city.leaks import plain
from lmrl_data.tasks.guess_my_city.quantities import quantities

VOWELS = "aeiou"

_ABOUT_NAME = frozenset(
    "letter letters name names spell spelled spelt spelling vowel vowels consonant consonants syllable syllables word "
    "words alphabet starts start begins begin ends end apostrophe hyphen initial capitalized named".split()
)
# What begins and ends besides names.
_OTHER = frozenset("after summer winter season language year".split())
_OTHER_LETTERS = re.compile(
    r"\b(?:letters|alphabet|words?) (?:do|does|did|would|they|you|of your language|are used|used)\b|"
    r"\bsame letters as\b|\b(?:send|post|mail|get|receive|write) .*\bletters?\b|\b(?:use|using|write|"
    r"written)\b.*\bletters\b"
)
_ORDER = {
    word: place
    for place, names in enumerate(("first 1st initial", "second 2nd", "third 3rd", "fourth 4th", "fifth 5th"))
    for word in names.split()
}


class Spelling(NamedTuple):
    """What a question asks about the name.

    Attributes:
        aspect: for an open question, what is to be told, such as ``"letter 0"`` or ``"length"``; None for yes or no.
        cities: for a yes/no question, the cities of which it holds.
    """

    aspect: str | None
    cities: Names = frozenset()


def letters_of(name: str) -> str:
    """The letters of a name, in lower case, without diacritics, blanks and marks."""
    return "".join(letter for letter in plain(name) if letter.isalpha())


def read_spelling(row: Sequence[str], is_open: bool) -> Spelling | None:
    """What a row of words asks about the spelling of the name; None where it asks for nothing of it."""
    text = re.sub(r"\b(?:commence|open)s?\b", "start", " ".join(row))
    text = re.sub(r"\b(?:finish|conclude|terminate)(?:s|es)?\b", "end", text)
    if found := re.search(r"\bfind an? ([b-hj-z]) (?:in|anywhere)", text):
        return _of_names(lambda name: found[1] in letters_of(name))
    said = set(text.split())
    if not said & _ABOUT_NAME or said & _OTHER or ("name" not in said and _OTHER_LETTERS.search(text)):
        return None
    return _open(said, text) if is_open else _yes_no(row, text)


def _of_names(holds: Callable[[str], bool]) -> Spelling:
    return Spelling(None, where(lambda city: holds(city.name)))


_LENGTH = re.compile(
    r"\bhow (?:many|much) (?:letters?|characters)|\bhow long .*\b(?:name|word)|number of (?:letters|characters)|"
    r"short or long|long or short"
)
_WORDS = re.compile(r"\bhow many words?|number of words|one word or|words? or")
_PARTS = re.compile(r"\bhow many (?:vowels|consonants|syllables)")
_ITS_NAME = re.compile(r"\b(?:letters?|initial|names?|spell\w*|spelt|vowels?|it|with)\b")
_ONE_LETTER = re.compile(r"\bletter\b|\binitial\b|\b(?:start|begin|end)s?\b.*\bwith|with what|with which")
_LAST = re.compile(r"\b(?:last|final|end|ends|ending)\b")
_BEGINNING = re.compile(r"\b(?:it|name|city)\b.* (?:start|begin)s?(?: off)?(?: with)?$|name (?:start|begin)")


def _open(said: set[str], text: str) -> Spelling | None:
    """What an open question asks to be told."""
    if _LENGTH.search(text):
        return Spelling("length")
    if _WORDS.search(text):
        return Spelling("words")
    if _PARTS.search(text):
        return Spelling("vowels")
    if not _ITS_NAME.search(text):
        return None
    if _ONE_LETTER.search(text) and not text.startswith("let us"):
        order = next((_ORDER[word] for word in text.split() if word in _ORDER), 0)
        return Spelling("letter -1" if _LAST.search(text) else f"letter {order}")
    if "letters" in said and re.search(r"\bname\b|team sheet|spell", text):
        return Spelling("length")
    return Spelling("letter 0") if _BEGINNING.search(text) else None


_START, _END = r"\b(?:start|begin)\w*\b(?: off)?", r"\bend\w*"
_WITH = r"(?: with| in| on| by)?(?: an?| the)?(?: letter)?"
# What a yes/no question says of a letter, and whether a name fits it.
_CLAIMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], str], bool]], ...] = tuple(
    (re.compile(expression), holds)
    for expression, holds in (
        (rf"{_START}{_WITH} (\w)$", lambda found, name: name.startswith(found[1])),
        (rf"{_START} (?:with|in|by)(?: an?| the)?(?: letter)? (\w)\b", lambda found, name: name.startswith(found[1])),
        (
            r"\b(?:first|initial)(?: letter)?(?: of [\w ]+?)? (?:is )?(?:an? |the letter )?(\w)$",
            lambda found, name: name.startswith(found[1]),
        ),
        (r"\b(\w) (?:is |as )?(?:the |its )?(?:first|initial)\b", lambda found, name: name.startswith(found[1])),
        (rf"{_START} .*\bvowel\b|\bfirst letter .*\bvowel\b", lambda _, name: name[0] in VOWELS),
        (rf"{_START} .*\bconsonant\b|\bfirst letter .*\bconsonant\b", lambda _, name: name[0] not in VOWELS),
        (rf"{_END} .*\bvowel\b|\blast letter .*\bvowel\b", lambda _, name: name[-1] in VOWELS),
        (rf"{_END} .*\bconsonant\b|\blast letter .*\bconsonant\b", lambda _, name: name[-1] not in VOWELS),
        (r"\b(\w) (?:at|in|as|is) (?:the )?(?:very )?(?:end|last)\b", lambda found, name: name.endswith(found[1])),
        (
            r"\b(?:end|last letter|final letter)\w*\b(?: \w+){0,3}? (?:an? |the letter |letter )?(\w)$",
            lambda found, name: name.endswith(found[1]),
        ),
        (rf"{_END} (?:with|in|on|by)(?: an?| the)?(?: letter)? (\w)\b", lambda found, name: name.endswith(found[1])),
        (
            r"\b(?:same|repeated?) vowels?\b|\bvowels? .*\b(?:twice|repeated?)\b",
            lambda _, name: any(name.count(letter) > 1 for letter in VOWELS),
        ),
        (
            r"\b(?:same|repeated?) letters?\b|\bletters? .*\b(?:twice|repeated?)\b",
            lambda _, name: len(set(name)) < len(name),
        ),
        (r"\bdouble (?:letter|consonant|vowel)", lambda _, name: bool(re.search(r"(.)\1", name))),
        (
            r"\b(?:contain|include|have|has|got|there|any)s?\b.*?\b(?:letter |an? )(\w)\b(?! (?:place|city|word))",
            lambda found, name: found[1] in name,
        ),
        (r"\bletter (\w)\b", lambda found, name: found[1] in name),
        (r"\b([b-hj-z])s? (?:in|anywhere)\b.*\bname", lambda found, name: found[1] in name),
    )
)


def _yes_no(row: Sequence[str], text: str) -> Spelling | None:
    for expression, holds in _CLAIMS:
        if found := expression.search(text):
            return Spelling(None, where(lambda city: holds(found, letters_of(city.name))))  # noqa: B023 - used at once
    return _counted(row, text)


# What can be counted in a name.
_COUNTS: dict[str, Callable[[str], int]] = {
    r"\bwords?\b": lambda name: len(name.split()),
    r"\bvowels?\b": lambda name: sum(letter in VOWELS for letter in letters_of(name)),
    r"\bsyllables?\b": lambda name: len(re.findall(r"[aeiouy]+", plain(name))),
    r"\bletters?\b|\bcharacters?\b|\blong\w*\b|\bshort\w*\b": lambda name: len(letters_of(name)),
}
_SHORT_NAME, _LONG_NAME = 5, 9


def _counted(row: Sequence[str], text: str) -> Spelling | None:
    """How many letters, words, vowels or syllables there are."""
    count = next((count for words, count in _COUNTS.items() if re.search(words, text)), None)
    if count is None:
        return None
    numbers = quantities(row)
    if not numbers:
        if re.search(r"\b(?:multiple|several|many|multi) words?", text):
            return _of_names(lambda name: count(name) > 1)
        if re.search(r"\bshort\w*\b", text):
            return _of_names(lambda name: count(name) <= _SHORT_NAME)
        return _of_names(lambda name: count(name) >= _LONG_NAME) if re.search(r"\blong\w*\b", text) else None
    value = numbers[0].value
    if re.search(r"\bat least\b|\bor more\b", text):
        return _of_names(lambda name: count(name) >= value)
    if re.search(r"\bat most\b|\bor (?:less|fewer)\b", text):
        return _of_names(lambda name: count(name) <= value)
    if re.search(r"\b(?:more|longer|over|greater|above|exceeds?)\b", text):
        return _of_names(lambda name: count(name) > value)
    if re.search(r"\b(?:less|fewer|shorter|under|below)\b", text):
        return _of_names(lambda name: count(name) < value)
    return _of_names(lambda name: count(name) == value)

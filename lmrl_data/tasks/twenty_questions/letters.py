"""Questions about the name: its letters, its words, its syllables, what it rhymes with. The first name counts."""

import re
import tomllib
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.resources import files
from itertools import pairwise
from typing import Any

import numpy as np

from lmrl_data.language.numerals import NUMERAL, read_numeral
from lmrl_data.language.stems import english
from lmrl_data.tasks.twenty_questions.table import YES, Table, knowledge_table
from lmrl_data.tasks.twenty_questions.yardsticks import Found

_VOWELS = "aeiou"
_CONSONANTS = "bcdfghjklmnpqrstvwxyz"
_SUBJECT = r"(?:name|word|letter|spelling|spelled|spelt|spell|alphabet|noun|title|label|character|answer|called)s?"
_NAME = re.compile(rf"\b{_SUBJECT}\b")
_COUNTED = re.compile(
    rf"\b(?:(?P<more>more than|over|longer than|above|greater than)|(?P<least>at least|no fewer than|minimum of)"
    rf"|(?P<less>less than|fewer than|under|shorter than|below)|(?P<most>at most|no more than|up to|maximum of))? ?"
    rf"(?:exactly |precisely |just |only |the |a )*(?:(?P<low>{NUMERAL}) (?:and|to|or) )?(?P<number>{NUMERAL})"
    rf"(?: (?P<after>or more|or fewer|or less))?(?: (?:different|separate|distinct|english))*"
    r" (?P<what>letter|word|syllable|vowel|consonant|character)s?\b(?P<end>(?: long)? or (?:more|fewer|less)| plus)?"
)
_PLACES = {
    "first": re.compile(
        r"\b(?:start|starts|starting|begin|begins|beginning|initial|first letter|begun|commences?"
        r"|(?:filed?|filed|listed|found|indexed|look(?:ed)? (?:it )?up|come|goes?) under)\b"
    ),
    "last": re.compile(r"\b(?:end|ends|ending|finish|finishes|last letter|final letter)\b"),
    "any": re.compile(
        r"\b(?:contain|contains|containing|have|has|having|include|includes|is there|are there|there is|there are|got"
        r"|with|spelled|spelt|letter|use|uses|in)\b"
    ),
}
_BOTH_ENDS = re.compile(r"\b(?:start|begin)(?:s|ning|ing)? and (?:end|finish)(?:s|es|ing)?\b")
_RHYME = re.compile(r"\b(?:rhyme|rhymes|rhyming|rhymed)\b.*?\b(?:with|to)\b (?:the )?(?:word )?(?P<word>[a-z ]+)")
_OTHER_FIRST = re.compile(
    r"\b(?P<word>[a-z]{3,}) (?:but )?with (?:a |an )?(?:different|another|new|other) first letter"
)
_INSIDE = re.compile(
    r"\b(?:word|name of)? ?(?P<word>[a-z]{3,}) (?:in|inside|as part of) (?:its|the|it s|his) (?:name|word)"
)
_INSIDE_2 = re.compile(r"\b(?:contain|contains|include|includes|have|has) the word (?P<word>[a-z]{3,})")
_A_LETTER = re.compile(r"\b(?:a|an|two|the|any) [b-hj-tv-z]\b")
_DOUBLED = re.compile(
    r"\bdouble letters?|\b(?:two|same) (?:of the )?(?:same )?letters? (?:in a row|twice|next to each other)"
)
_SIDE = re.compile(
    r"\b(before|after) (?:the letter )?([a-z]) in (?:the|a|an) (?:alphabet|dictionary|encyclopedia|index|list)"
    r"|alphabet(?:ically)? (?:comes? )?(before|after) (?:the letter )?([a-z])\b"
)
_NUMBER_OF = {"second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1, "final": -1, "first": 0, "middle": 0}
_NTH = re.compile(
    rf"\b(?P<nth>{'|'.join(_NUMBER_OF)}) (?:letter|character)\b.*?\b(?P<what>vowel|consonant|[b-hj-z]|[ai]$)\b"
)
_COLOUR = re.compile(r"\b(?:name|word)\b.*\b(?:same|identical|also|double|shared?)\b.*\bcolou?r\b")


class Letters:
    """The names and what is asked about them. Make it with `letters`."""

    def __init__(self, table: Table, sounds: dict[str, Any]) -> None:
        self._names = [name.lower() for name in table.names]
        self._plain = [name.replace(" ", "") for name in self._names]
        count = {
            " ".join(name.split()).lower(): int(number)
            for number, names in sounds["syllables"].items()
            for name in names.split(",")
        }
        self._syllables = [count[name] for name in self._names]
        self._rhymes = [tuple(ending.strip() for ending in sounds["rhymes"][name].split(",")) for name in table.names]
        self._simple: list[tuple[re.Pattern[str], Callable[[int], bool]]] = [
            (_DOUBLED, lambda n: any(a == b for a, b in pairwise(self._plain[n]))),
            (re.compile(r"\bcompound (?:word|noun|name)|\btwo words (?:put|joined|stuck) together"), self._is_compound),
            (re.compile(r"\b(?:word|name|noun)\b.*\bplural\b|\bplural (?:word|name|noun)\b"), self._is_plural),
            (re.compile(r"\bmonosyllab"), lambda n: self._syllables[n] == 1),
            (re.compile(r"\b(?:di|bi)syllab"), lambda n: self._syllables[n] == 2),
            (re.compile(r"\b(?:poly|multi) ?syllab"), lambda n: self._syllables[n] > 1),
            (_COLOUR, lambda n: self._names[n] == "orange"),
        ]
        self._plural: list[bool] = table.plural.tolist()

    def find(self, words: Sequence[str]) -> list[Found]:
        """The part of a question that is about the name; at most one, which ends with the question."""
        text = " ".join(words)
        for read in (self._rhyming, self._counted, self._numbered, self._placed, self._other):
            found = read(text)
            if found is not None:
                start, holds, name = found
                subject = _NAME.search(text[:start])
                start = subject.start() if subject else start
                row = np.where(np.array([holds(number) for number in range(len(self._names))]), YES, 0)
                return [Found(len(text[:start].split()), len(words), row.astype(np.uint8), name)]
        return []

    def _rhyming(self, text: str) -> tuple[int, Callable[[int], bool], str] | None:
        found = _RHYME.search(text)
        if found:
            word = found["word"].split()[-1] if found["word"].split()[0] in ("a", "an") else found["word"].split()[0]
            return found.start(), lambda n: word.endswith(self._rhymes[n]) and word != self._names[n], f"rhymes {word}"
        found = _OTHER_FIRST.search(text)
        if found:
            word = found["word"]
            return found.start(), lambda n: self._names[n][1:] == word[1:] and self._names[n] != word, f"?{word[1:]}"
        return None

    def _counted(self, text: str) -> tuple[int, Callable[[int], bool], str] | None:
        found = _COUNTED.search(text)
        if found is None or (found["what"] == "word" and found["number"] in ("a", "an")):
            return None
        if found["number"] in ("a", "an") and found["what"] != "syllable":
            return None
        number = read_numeral(found["number"].removesuffix(" of"))
        low = read_numeral(found["low"]) if found["low"] else None
        if number is None:
            return None
        tail = f"{found['after'] or ''}{found['end'] or ''}"

        def holds(name: int) -> bool:
            size = self._size(found["what"], name)
            if low is not None:
                return size in (low, number) if f" or {found['number']}" in found[0] else low <= size <= number
            if found["more"]:
                return size > number
            if found["less"]:
                return size < number
            if found["least"] or "more" in tail or "plus" in tail:
                return size >= number
            return size <= number if found["most"] or tail else size == number

        return found.start(), holds, found[0].strip()

    def _size(self, what: str, name: int) -> int:
        if what == "word":
            return len(self._names[name].split())
        if what == "syllable":
            return self._syllables[name]
        plain = self._plain[name]
        if what == "vowel":
            return sum(letter in _VOWELS for letter in plain)
        return sum(letter not in _VOWELS for letter in plain) if what == "consonant" else len(plain)

    def _numbered(self, text: str) -> tuple[int, Callable[[int], bool], str] | None:
        found = _NTH.search(text)
        if found is None:
            return None
        place, what = _NUMBER_OF[found["nth"]], found["what"]
        among = {"vowel": _VOWELS, "consonant": _CONSONANTS}.get(what, what)
        return found.start(), lambda n: self._plain[n][place : place + 1 or None] in among, found[0]

    def _placed(self, text: str) -> tuple[int, Callable[[int], bool], str] | None:
        both = _BOTH_ENDS.search(text)
        if both and (spelt := _letters(text[both.end() :].split(), "first", True)):
            return both.start(), lambda n: self._plain[n].startswith(spelt) and self._plain[n].endswith(spelt), both[0]
        about_name = bool(_NAME.search(text))
        for place, pattern in _PLACES.items():
            found = pattern.search(text)
            if found is None or (place == "any" and not about_name and not _A_LETTER.search(text)):
                continue
            after = text[found.end() :].split()
            spelt = _letters(after, place, about_name)
            if spelt:
                least = 2 if place == "any" and "two" in after and "double" not in after else 1
                return found.start(), partial(self._spelt, place, spelt, least), f"{place} {spelt[:3]}"
        return None

    def _spelt(self, place: str, spelt: tuple[str, ...], least: int, name: int) -> bool:
        """Whether a name has one of the letters at a place, or so often anywhere."""
        plain = self._plain[name]
        if place == "first":
            return plain.startswith(spelt)
        return plain.endswith(spelt) if place == "last" else any(plain.count(part) >= least for part in spelt)

    def _other(self, text: str) -> tuple[int, Callable[[int], bool], str] | None:
        found = _INSIDE_2.search(text) or (_INSIDE.search(text) if "word" in text or "name" in text else None)
        if found and found["word"] not in ("letter", "letters", "vowel", "vowels", "anything"):
            word = found["word"]
            return found.start(), lambda n: word in self._names[n], f"word {word}"
        for pattern, holds in self._simple:
            if pattern.search(text):
                return 0, holds, pattern.pattern
        half = re.search(r"\b(first|second|last|latter) half of the alphabet", text)
        if half:
            return 0, lambda n: (self._plain[n][0] <= "m") == (half[1] == "first"), half[0]
        span = re.search(r"\b(?:between|from) ([a-z]) (?:and|to|through) ([a-z])\b", text)
        if span and ("alphabet" in text or "letter" in text):
            return 0, lambda n: span[1] <= self._plain[n][0] <= span[2], span[0]
        side = _SIDE.search(text)
        if side:
            letter = side[2] or side[4]
            earlier = "before" in (side[1], side[3])
            return 0, lambda n: self._plain[n][0] < letter if earlier else self._plain[n][0] > letter, side[0]
        return None

    def _is_plural(self, name: int) -> bool:
        return self._plural[name]

    def _is_compound(self, name: int) -> bool:
        plain, known = self._names[name], english()
        return any(plain[:cut] in known and plain[cut:] in known for cut in range(3, len(plain) - 2))


def _letters(after: Sequence[str], place: str, about_name: bool) -> tuple[str, ...]:
    """The letters (or what must stand at that place) that a question names after "starts", "ends", "contains"."""
    if "vowel" in after or "vowels" in after:
        return tuple(_VOWELS)
    if "consonant" in after or "consonants" in after:
        return tuple(_CONSONANTS)
    spelt = []
    for number, word in enumerate(after[:10]):
        following = after[number + 1] if number + 1 < len(after) else ""
        article = word in "ai" and following not in ("", "or", "and", "in", "right", "correct", "then")
        if len(word) == 1 and word.isalpha() and not (article and after[number - 1 : number] != ["letter"]):
            spelt.append(word)
    if not spelt and about_name and place != "any":
        spelt = [word for word in after if 2 <= len(word) <= 4 and word not in english()][:1]
    doubled = place == "any" and "double" in after
    return tuple(letter * 2 if doubled else letter for letter in spelt)


@cache
def letters() -> Letters:
    """The names of the task's table."""
    text = (files("lmrl_data.tasks.twenty_questions") / "phrases" / "sounds.toml").read_text("utf-8")
    return Letters(knowledge_table(), tomllib.loads(text))

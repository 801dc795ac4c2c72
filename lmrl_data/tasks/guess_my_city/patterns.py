"""Phrases that are looked for in questions.

A phrase is a row of words; a word may have alternatives (``left|right``), and ``..`` stands for up to four words. An
element with an article or a possessive among its alternatives may be missing. Words are compared by their stems, and
articles, possessives and the like may stand in between without being named.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from lmrl_data.language.stems import stem
from lmrl_data.language.words import words

T = TypeVar("T")

# Names that look like forms of common words; and what tells the past from today.
_KEPT = frozenset(
    "andes countries nations states founded founding was were did had left souls mayas won generals gaming boxing "
    "clubbing blues inxs lakers chilly ganga developed developing".split()
)
# Between two clauses or two choices; no gap reaches over it.
_BREAKS = frozenset([",", "or"])
# Up to so many words stand for `..`.
_GAP = 4
_ARTICLES = frozenset(map(stem, "a an the your its their this that these those my our some any".split()))
_FILLERS = _ARTICLES | frozenset(
    map(
        stem,
        "very really quite so pretty truly actually usually generally normally mostly mainly typically rather ever "
        "also just probably 's".split(),
    )
)


def root(word: str) -> str:
    """The stem by which a word is compared."""
    return word if word in _KEPT else stem(word)


class Element(NamedTuple):
    """One word of a phrase.

    Attributes:
        stems: the alternatives; empty for a gap.
        optional: whether it may be missing.
    """

    stems: frozenset[str]
    optional: bool = False


Phrase = tuple[Element, ...]


class Found(NamedTuple, Generic[T]):
    """A phrase that was found.

    Attributes:
        start: the first word.
        end: the word after the last one.
        value: what the phrase stands for.
        weight: how many words were given, without fillers: of two phrases in one place, the longer one tells more.
    """

    start: int
    end: int
    value: T
    weight: int


def parse_name(text: str) -> Phrase:
    """A name, of which every word counts."""
    return tuple(Element(frozenset([root(word)])) for word in words(text))


def split_phrases(text: str) -> list[str]:
    """The phrases of a text, which has slashes between them."""
    return [" ".join(phrase.split()) for phrase in text.split("/")]


def parse_phrase(text: str) -> Phrase:
    """A phrase as it is written in the tables."""
    elements: list[Element] = []
    for part in text.split():
        if part == "..":
            elements.append(Element(frozenset()))
            continue
        alternatives = [words(word) for word in part.split("|")]
        if len(alternatives) == 1:
            elements += [Element(frozenset([root(word)])) for word in alternatives[0]]
        else:
            singles = [word for row in alternatives for word in row]
            if "'s" in singles:
                raise ValueError(f"in {text!r} a possessive stands for a word of its own")
            stems = frozenset(map(root, singles))
            elements.append(Element(stems, optional=bool(stems & _ARTICLES)))
    inner = [element for element in elements[1:] if not element.stems or not element.stems <= _ARTICLES]
    return (*elements[:1], *inner)


class Phrases(Generic[T]):
    """Many phrases, and what each stands for."""

    def __init__(self, entries: Iterable[tuple[Phrase, T]]) -> None:
        self._by_first: dict[str, list[tuple[Phrase, frozenset[str], T]]] = defaultdict(list)
        self.vocabulary: set[str] = set()
        for elements, value in entries:
            if not elements or not elements[0].stems:
                raise ValueError(f"a phrase must begin with a word, that of {value!r} does not")
            for element in elements:
                self.vocabulary |= element.stems
            last = next(element for element in reversed(elements) if not element.optional or element is elements[0])
            needed = last.stems or elements[0].stems
            for first in elements[0].stems:
                self._by_first[first].append((elements, needed, value))

    def find(self, stems: Sequence[str]) -> list[Found[T]]:
        """Every phrase in a row of stems, wherever it begins."""
        found = []
        said = frozenset(stems)
        for start, word in enumerate(stems):
            for elements, needed, value in self._by_first.get(word, ()):
                if said.isdisjoint(needed):  # most phrases fail here, and cheaply
                    continue
                end = _match(stems, start + 1, elements, 1)
                if end is not None:
                    weight = sum(1 for element in elements if element.stems and not element.optional)
                    found.append(Found(start, end, value, weight))
        return found


def _match(stems: Sequence[str], place: int, elements: Phrase, number: int) -> int | None:
    """Where the phrase ends if its elements from a number on are found from a place on; else None."""
    if number == len(elements):
        return place
    element = elements[number]
    if not element.stems:
        for skipped in range(_GAP + 1):
            if place + skipped > len(stems) or _BREAKS & set(stems[place : place + skipped]):
                return None
            end = _match_here(stems, place + skipped, elements, number + 1)
            if end is not None:
                return end
        return None
    while True:
        end = _match_here(stems, place, elements, number)
        if end is not None or place >= len(stems) or stems[place] not in _FILLERS:
            return end
        place += 1


def _match_here(stems: Sequence[str], place: int, elements: Phrase, number: int) -> int | None:
    if number == len(elements):
        return place
    element = elements[number]
    if place < len(stems) and stems[place] in element.stems:
        end = _match(stems, place + 1, elements, number + 1)
        if end is not None:
            return end
    return _match(stems, place, elements, number + 1) if element.optional else None


def longest(found: Iterable[Found[T]]) -> list[Found[T]]:
    """Those that do not lie inside of another one with more words; in the order of their places."""
    rows = sorted(found, key=lambda one: (one.start, -one.end))
    return [
        one
        for one in rows
        if not any(other.start <= one.start and one.end <= other.end and other.weight > one.weight for other in rows)
    ]

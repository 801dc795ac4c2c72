"""Phrases over plain words in a tree, in which they are found also when other words stand in between."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lmrl_data.tasks.twenty_questions.table import Values

# Between two clauses; no phrase reaches over it.
BREAK = "|"
# A verb or preposition whose object is the thing: "climb it", "be climbed" and "climbed" are all "climb+".
OBJECT = "+"
# Words that turn a question round; no phrase reaches over them.
NEGATIONS = frozenset(
    """not never no non without lack devoid incapable unable neither none nothing untrue false mistaken mistake wrong
    incorrect hardly barely impossible zero fail avoid except unlike""".split()
)
# How many words may stand between the words of a phrase, and what a change of role costs.
_GAP = 2
_GAP_COST, _ROLE_COST, _LENGTH_BONUS = 0.2, 0.15, 0.3


class Sense(NamedTuple):
    """What a phrase means.

    Attributes:
        name: the attribute or expression, for people to read.
        kind: the kind of the attribute (see `table.KINDS`), or ``fact``.
        row: what holds of each object, shape (objects,).
    """

    name: str
    kind: str
    row: Values


class Match(NamedTuple):
    """A phrase found in a question.

    Attributes:
        places: the numbers of its words in the question.
        sense: what it means.
        value: how much of the question it explains.
        needed: whether it must hold for a yes.
    """

    places: tuple[int, ...]
    sense: Sense
    value: float
    needed: bool = False


class PhraseTree:
    """Phrases and their senses, by their words.

    Args:
        strict: whether a single word must have the very role that it is listed with.
    """

    __slots__ = ("_after", "_sense", "_strict")

    def __init__(self, *, strict: bool = False) -> None:
        self._after: dict[str, PhraseTree] = {}
        self._sense: Sense | None = None
        self._strict = strict

    def add(self, words: Sequence[str], sense: Sense) -> None:
        """Put in a phrase."""
        node = self
        for word in words:
            node = node._after.setdefault(word, PhraseTree())
        node._sense = sense

    def find(self, question: Sequence[str], weights: Sequence[float]) -> list[Match]:
        """All phrases in a question; `BREAK` parts its clauses, `weights` say how much each word tells."""
        return [match for start in range(len(question)) for match in self._from(question, weights, start)]

    def _from(self, question: Sequence[str], weights: Sequence[float], start: int) -> Iterator[Match]:
        stack: list[tuple[PhraseTree, int, tuple[int, ...], float, int]] = [(self, start - 1, (), 0.0, 0)]
        while stack:
            node, last, places, value, gaps = stack.pop()
            other_role = len(places) == 1 and value < weights[start] and not question[start].endswith(OBJECT)
            if node._sense is not None and not (self._strict and other_role):
                yield Match(places, node._sense, value * (1 + _LENGTH_BONUS * (len(places) - 1)) - _GAP_COST * gaps)
            ahead = range(last + 1, min(len(question), last + 2 + _GAP - gaps)) if places else (start,)
            for place in ahead:
                word = question[place]
                if word == BREAK or (place > last + 1 and question[place - 1] in NEGATIONS):
                    break
                gap = place - last - 1 if places else 0
                other = word.removesuffix(OBJECT) if word.endswith(OBJECT) else word + OBJECT
                for form, cost in ((word, 0.0), (other, _ROLE_COST)):
                    found = node._after.get(form)
                    if found is not None:
                        step = value + weights[place] * (1 - cost)
                        stack.append((found, place, (*places, place), step, gaps + gap))


def best(matches: Sequence[Match]) -> list[Match]:
    """The matches that together explain the most, of which no two overlap, in the order of the question."""
    ordered = sorted(matches, key=lambda match: (match.places[-1], match.places[0]))
    value = [0.0]
    chosen: list[tuple[Match, ...]] = [()]
    for number, match in enumerate(ordered):
        before = number
        while before and ordered[before - 1].places[-1] >= match.places[0]:
            before -= 1
        if value[before] + match.value > value[-1]:
            value.append(value[before] + match.value)
            chosen.append((*chosen[before], match))
        else:
            value.append(value[-1])
            chosen.append(chosen[-1])
    return list(chosen[-1])

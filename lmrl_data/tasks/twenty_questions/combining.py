"""How the phrases found in a question are joined: what holds of each object if all, some or none of them are said."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from lmrl_data.tasks.twenty_questions.lexicon import FACT
from lmrl_data.tasks.twenty_questions.phrase_tree import BREAK, NEGATIONS, OBJECT, Match, Sense
from lmrl_data.tasks.twenty_questions.question import Question
from lmrl_data.tasks.twenty_questions.table import ANY_COLOUR, NO, SOMETIMES, YES, Values

# A phrase counts beside the best one if it explains this much of what that does; one that holds of most is no measure.
_BESIDE, _MOST = 0.7, 0.6
# Of phrases that hold of at most such a share of the objects: how much it tells that one holds of an object, and that
# one does not, as logarithms of odds; measured on the development questions of several phrases.
_EVIDENCE = ((0.05, 2.0, -0.8), (0.2, 1.75, -1.1), (0.5, 1.7, -1.4), (1.0, 0.25, -1.1))
_OF_FACT = (2.0, -0.2)
# Kinds of what must hold without speaking for the rest.
_APART = frozenset("category wear food".split())
# From where on all the evidence says yes; what a fact must explain to say yes by itself.
_EVEN, _TELLING = -0.3, 1.2


def combined(plain: Sequence[str], chosen: Iterable[Match], facts: Iterable[Match], question: Question) -> Values:
    """The matches of a question joined as its negations, "or" and "but" say."""
    chosen_at = {match.places[0]: match for match in chosen}
    facts_at = {match.places[0]: match for match in facts}
    used = {place for match in (*chosen_at.values(), *facts_at.values()) for place in match.places}
    units = [_Unit(True)]
    for place, word in enumerate(plain):
        unit, root = units[-1], word.removesuffix(OBJECT)
        if root in NEGATIONS and place not in used:
            if question.confirms and root == "not":
                continue
            if unit.filled() and not (word == "without" and place == len(plain) - 1):
                units.append(_Unit(False))
            else:
                unit.affirmed = not unit.affirmed
        elif word in ("or", "nor"):
            unit.alternatives.append([])
        elif (word == "but" or (word == BREAK and not unit.affirmed)) and unit.filled() and "nor" not in plain:
            units.append(_Unit(True))
        if place in facts_at:
            units[-1].alternatives[-1].append(facts_at[place])
        if place in chosen_at:
            units[-1].alternatives[-1].append(chosen_at[place])
    level = YES if question.universal else SOMETIMES
    filled = [unit for unit in units if unit.filled()]
    # Beside something better, words that have to do with a few objects ask for nothing: "operates without power".
    asked = [unit for unit in filled if not (unit.affirmed and unit.is_slight())] or filled
    row: Values = np.minimum.reduce([unit.row(level) for unit in asked])
    return row


class _Unit:
    """A part of a question that is affirmed or denied as a whole: alternatives, of which each is a list of matches."""

    def __init__(self, affirmed: bool) -> None:
        self.affirmed = affirmed
        self.alternatives: list[list[Match]] = [[]]

    def filled(self) -> bool:
        return any(self.alternatives)

    def is_slight(self) -> bool:
        return all(match.sense.kind == FACT and match.value < _TELLING for part in self.alternatives for match in part)

    def row(self, level: np.uint8) -> Values:
        """What holds of each object; what is denied holds where the answer to the bare question is no."""
        row: Values = np.maximum.reduce([_together(matches) for matches in self.alternatives if matches])
        return row if self.affirmed else np.where(row >= level, NO, YES)


def _together(matches: Sequence[Match]) -> Values:
    """What holds of each object if all the matches are said of it.

    What the thing is said to be must hold. Of the rest, which may be no more than the surroundings of what is asked,
    each that holds speaks for the object and each that does not against it; slight ones beside a good one do not count.
    """
    limit = _BESIDE * max((match.value for match in matches if _is_telling(match)), default=0.0)
    coloured = any(match.sense.kind == "colour" and not _is_any_colour(match.sense) for match in matches)
    counted = [
        match
        for match in matches
        if (match.value >= limit or match.needed or match.sense.kind == FACT)
        and not (coloured and _is_any_colour(match.sense))
    ]
    counted = [match for match in counted if not any(_implies(other.sense, match.sense) for other in counted)]
    if len(counted) == 1:
        return counted[0].sense.row
    needed = [match for match in counted if match.needed]
    # What class it is of, or that it is worn, says nothing of the rest: "jewelry worn on the finger".
    apart = {place for match in counted if _stands_apart(match) for place in match.places}
    weighed = [match for match in counted if apart.isdisjoint(match.places)]
    only_facts = bool(weighed) and all(match.sense.kind == FACT for match in weighed)
    evidence = np.sum([_evidence(match.sense) for match in weighed or counted], axis=0)
    holds = (evidence > (0.0 if only_facts else _EVEN)).sum(axis=0).astype(np.uint8)
    holds = np.minimum.reduce([holds, *(match.sense.row for match in needed)])
    # A fact in several words says it all, unless they are no more than what the thing is said to be.
    said = {place for match in needed for place in match.places}
    told = [match for match in counted if match.sense.kind == FACT and match.value >= _TELLING]
    row: Values = np.maximum.reduce([holds, *(fact.sense.row for fact in told if not set(fact.places) <= said)])
    return row


def _stands_apart(match: Match) -> bool:
    """Whether a phrase must hold and says nothing of the rest."""
    return match.needed and match.sense.kind in _APART


def _is_telling(match: Match) -> bool:
    """Whether a phrase is worth more than slighter ones beside it."""
    if _stands_apart(match):
        return False
    return match.sense.kind == "number" or (match.sense.kind != FACT and bool(np.mean(match.sense.row > NO) < _MOST))


def _implies(special: Sense, general: Sense) -> bool:
    """Whether what is said goes without saying beside another thing of its kind: "worn" beside "on the ankle"."""
    if special.kind != general.kind or special.kind == FACT:
        return False
    return bool((special.row <= general.row).all() and (special.row < general.row).any())


def _is_any_colour(sense: Sense) -> bool:
    """Whether a word such as "color" only speaks of colours, which says nothing beside a certain one."""
    return ANY_COLOUR in sense.name.split(" or ")


def _evidence(sense: Sense) -> NDArray[np.float64]:
    """What a phrase tells for each object: where it holds sometimes, and where it holds always; shape (2, objects)."""
    holds = np.stack([sense.row >= SOMETIMES, sense.row >= YES])
    share = holds[0].mean()
    told = _OF_FACT if sense.kind == FACT else next(tells for limit, *tells in _EVIDENCE if share <= limit)
    evidence: NDArray[np.float64] = np.where(holds, told[0], told[1])
    return evidence

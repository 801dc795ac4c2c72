"""Which facet an open question asks for: phrases of ``topics.toml`` are looked for and weighed."""

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from lmrl_data.tasks.guess_my_city.patterns import Found, Phrases, parse_phrase, split_phrases

STRONG = 3.0
_WEIGHTS = {"sure": 14.0, "key": 8.0, "frame": 5.0, "strong": STRONG, "usual": 1.5}
# A phrase of more words says more than one of a single word.
_PER_WORD = 0.2
# What is asked for by "what" or "which" counts for more.
_HEAD = 1.5
_VERBS = frozenset("be do have can would will should could must may".split())
# What stands outside of the clause that asks counts for less.
_ASIDE = 0.4
# Less than this is no topic.
_LEAST = 2.5


class Topic(NamedTuple):
    """What a phrase points to.

    Attributes:
        facet: the facet.
        weight: how strongly.
    """

    facet: str
    weight: float


@cache
def topics() -> tuple[tuple[str, Topic], ...]:
    """Every phrase of ``topics.toml``, and what it points to."""
    tables = tomllib.loads(files(__package__).joinpath("topics.toml").read_text("utf-8"))
    return tuple(
        (phrase, Topic(facet, _WEIGHTS[strength]))
        for facet, rows in tables.items()
        for strength, phrases in rows.items()
        for phrase in split_phrases(phrases)
    )


@cache
def topic_phrases() -> Phrases[Topic]:
    """The phrases of ``topics.toml``, to be looked for."""
    return Phrases((parse_phrase(phrase), topic) for phrase, topic in topics())


def topic_scores(clauses: Sequence[Sequence[str]], main: int) -> dict[str, float]:
    """How strongly the stems of a question point to each facet.

    Args:
        clauses: the stems of each clause.
        main: the number of the clause that asks.
    """
    scores: dict[str, float] = {}
    silent = not topic_phrases().find(clauses[main]) if clauses else True
    for number, stems in enumerate(clauses):
        share = 1.0 if number == main or silent else _ASIDE
        heads = _heads(stems) if number == main else range(0)
        taken: dict[str, set[int]] = {}
        for one in sorted(_telling(topic_phrases().find(stems)), key=lambda one: -_weight(one)):
            places = taken.setdefault(one.value.facet, set())
            if one.start in places or one.end - 1 in places:
                continue
            places |= {one.start, one.end - 1}
            bonus = _HEAD if one.start in heads else 1.0
            scores[one.value.facet] = scores.get(one.value.facet, 0.0) + share * bonus * _weight(one)
    return scores


def _telling(found: Sequence[Found[Topic]]) -> list[Found[Topic]]:
    """The phrases that do not lie within one of more words that weighs as much."""
    return [
        one
        for one in found
        if not any(
            other.start <= one.start
            and one.end <= other.end
            and other.weight > one.weight
            and _weight(other) >= _weight(one)
            for other in found
        )
    ]


def _weight(one: Found[Topic]) -> float:
    return one.value.weight * (1 + _PER_WORD * (one.weight - 1))


def _heads(stems: Sequence[str]) -> range:
    """The places of the noun phrase that is asked for: "which large river …"."""
    for place, word in enumerate(stems[:4]):
        if word in ("what", "which") and place + 1 < len(stems) and stems[place + 1] not in _VERBS:
            return range(place, place + 4)
    return range(0)


def best_topic(scores: dict[str, float]) -> str | None:
    """The facet with the highest score; None where all are too low."""
    if not scores:
        return None
    best = max(scores, key=lambda facet: scores[facet])
    return best if scores[best] >= _LEAST else None

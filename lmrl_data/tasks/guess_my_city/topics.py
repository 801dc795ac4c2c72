"""Which facet an open question asks for: phrases of ``topics.toml`` are looked for and weighed."""

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from lmrl_data.tasks.guess_my_city.patterns import Found, Phrases, parse_phrase, split_phrases

STRONG = 3.0
_SURE = 9.0
_WEIGHTS = {"sure": _SURE, "key": 5.0, "frame": 4.0, "strong": STRONG, "usual": 1.5}
# A phrase of more words says more than one of a single word.
_PER_WORD = 0.5
# What is asked for by "what" or "which" counts for more.
_HEAD = 1.5
_VERBS = frozenset("be do have can would will should could must may".split())
_ARTICLES = frozenset("the your you it there".split())
_PREPOSITIONS = frozenset("of in on at for by with from to near around over under".split())
_QUESTION_WORDS = frozenset("what which who whom whose where when how why".split())
_ASKED_FOR = frozenset(["what", "which"])
# A question of so few words may have no verb, and asks for its last noun.
_SHORT = 4
# What stands outside of the clause that asks counts for less.
_ASIDE = 0.6
# What is asked of places in general gives way to anything that is named besides: "the coin of your country".
_GENERAL, _GIVES_WAY = ("region", "fun_fact"), 0.5
# Beside something as sure, even what is sure gives way, unless it weighs so much more.
_SURE_TOO = 1.2
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
        asks = number == main or bool(_ASKED_FOR & set(stems[:3]))
        share = 1.0 if asks or silent else _ASIDE
        heads = _heads(stems) if asks else range(0)
        taken: dict[str, set[int]] = {}
        for one in sorted(_telling(topic_phrases().find(stems)), key=lambda one: -_weight(one)):
            places = taken.setdefault(one.value.facet, set())
            if one.start in places or one.end - 1 in places:
                continue
            places |= {one.start, one.end - 1}
            bonus = _HEAD if one.start in heads else 1.0
            scores[one.value.facet] = scores.get(one.value.facet, 0.0) + share * bonus * _weight(one)
    others = max((score for facet, score in scores.items() if facet not in _GENERAL), default=0.0)
    for facet in _GENERAL:
        if others >= STRONG and 0 < scores.get(facet, 0.0) < max(_SURE, _SURE_TOO * others):
            scores[facet] *= _GIVES_WAY
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
    """The places of the noun phrase that is asked for: "which large river …", "main river?"."""
    for place, word in enumerate(stems[:4]):
        if word in ("what", "which") and place + 1 < len(stems) and stems[place + 1] not in _VERBS:
            ends = (end for end in range(place + 2, len(stems)) if stems[end] in _VERBS | _ARTICLES | _PREPOSITIONS)
            return range(place, min(next(ends, place + 4), place + 4))
    end = next((end for end, word in enumerate(stems) if word in _PREPOSITIONS), len(stems))
    if 1 < end <= _SHORT and not _VERBS & set(stems) and stems[0] not in _QUESTION_WORDS:
        return range(end - 1, end)
    return range(0)


def best_topic(scores: dict[str, float]) -> str | None:
    """The facet with the highest score; None where all are too low."""
    if not scores:
        return None
    best = max(scores, key=lambda facet: scores[facet])
    return best if scores[best] >= _LEAST else None

"""What is wrong with a result: where, in which field, and what stands there instead of what should."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_EXCERPT = 40


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    Attributes:
        field: of the result or of the episode, such as ``reward``; empty where the whole file is meant.
        problem: what is wrong with it, such as ``-1 recorded, 0 replayed``.
        episode: its row in `episodes.parquet`, from 0; None where it is not about one episode.
        turn: of the agent, from 1; None where it is not about one turn.
    """

    field: str
    problem: str
    episode: int | None = None
    turn: int | None = None

    def __str__(self) -> str:
        """``episode 17, turn 3: reward -1 recorded, 0 replayed``."""
        places = (("episode", self.episode), ("turn", self.turn))
        where = ", ".join(f"{name} {number}" for name, number in places if number is not None)
        return (f"{where}: " if where else "") + f"{self.field} {self.problem}".strip()


def differs(recorded: object, right: object, source: str) -> str:
    """``-1 recorded, 0 replayed``: two values, shown so that their difference is seen."""
    if isinstance(recorded, str) and isinstance(right, str):
        first, second = _excerpts(recorded, right)
    else:
        first, second = _shown(recorded), _shown(right)
    return f"{first} recorded, {second} {source}"


def differing_fields(recorded: Any, right: Any, path: str) -> list[tuple[str, Any, Any]]:
    """The fields in which two values differ: path, recorded value, right value. Objects and lists are looked into."""
    if isinstance(recorded, Mapping) and isinstance(right, Mapping):
        return [
            found
            for name in dict.fromkeys([*right, *recorded])
            for found in differing_fields(recorded.get(name), right.get(name), f"{path}.{name}")
        ]
    if isinstance(recorded, list) and isinstance(right, list) and len(recorded) == len(right):
        return [
            found
            for place, (one, other) in enumerate(zip(recorded, right, strict=True))
            for found in differing_fields(one, other, f"{path}[{place}]")
        ]
    return [] if recorded == right else [(path, recorded, right)]


def _shown(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "nothing"}[value]
    if isinstance(value, float):
        return f"{value:.10g}"
    text = repr(value)
    return text if len(text) <= 2 * _EXCERPT else f"{text[: 2 * _EXCERPT]}…"


def _excerpts(first: str, second: str) -> tuple[str, str]:
    """Two texts around the first character in which they differ, each on one line."""
    place = next(
        (i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )
    start = max(0, place - _EXCERPT // 2) if max(len(first), len(second)) > 2 * _EXCERPT else 0
    return _excerpt(first, start), _excerpt(second, start)


def _excerpt(text: str, start: int) -> str:
    end = start + 2 * _EXCERPT
    return ("…" if start else "") + repr(text[start:end]) + ("…" if end < len(text) else "")

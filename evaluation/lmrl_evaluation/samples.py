"""The episodes that a leaderboard page shows: a few of each result, and in a form that takes little room."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from lmrl_evaluation.result import Result
from lmrl_evaluation.scenes import backdrop, frames, kind_of

MOST = 20
LONGEST = 2000
_LONGEST_FACT = 200
_PER_TURN = ("usable", "agent_moves", "opponent_moves", "best_moves", "distance_", "cp_", "mate_")


def chosen(table: pa.Table, most: int = MOST) -> list[int]:
    """The rows to show, best first: the best, the worst, and others at even distances in the order of their returns.

    Episodes with the same return are in the order in which they were played, so the choice is always the same.
    """
    returns = table["episode_return"].to_numpy()
    order = np.argsort(-returns, kind="stable")
    places = np.linspace(0, len(order) - 1, min(most, len(order))).round().astype(int)
    return [int(row) for row in order[places]]


def samples(results: Mapping[str, Result]) -> dict[str, Any]:
    """What the page's viewer reads.

    Args:
        results: by the names that the page's links use.

    Returns:
        ``texts``, each text once; ``results`` by name, whose episodes refer to the texts by number; ``backdrops`` by
        task and config.
    """
    texts: dict[str, int] = {}
    backdrops: dict[str, Any] = {}
    shown = {}
    for name, result in results.items():
        scene = f"{result.task} {result.config}"
        if scene not in backdrops:
            backdrops[scene] = backdrop(result.task, result.config)
        rows = chosen(result.table)
        episodes = zip(rows, result.table.take(rows).to_pylist(), strict=True)
        shown[name] = {
            "task": result.task,
            "config": result.config,
            "policy": result.policy,
            "method": result.method,
            "kind": kind_of(result.task),
            "scene": scene,
            "of": result.episodes,
            "episodes": [_episode(result, number, row, texts) for number, row in episodes],
        }
    return {"texts": list(texts), "backdrops": backdrops, "results": shown}


def _episode(result: Result, number: int, row: Mapping[str, Any], texts: dict[str, int]) -> dict[str, Any]:
    return {
        "row": number,
        "seed": str(row["seed"]),  # more digits than a number in JavaScript has
        "return": row["episode_return"],
        "success": row["success"],
        "end": "terminated" if row["terminated"] else "truncated",
        "texts": [texts.setdefault(_shortened(message["content"]), len(texts)) for message in row["messages"]],
        "rewards": row["rewards"],
        "facts": _facts(row["info"]),
        "frames": frames(result.task, result.config, row),
    }


def _shortened(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}… ({len(text):,} characters; the rest is not shown)"


def _facts(info: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The fields of an episode's info that are about all of it, as texts; those with a value per turn are left out."""
    facts = []
    for name, value in info.items():
        if value in (None, "") or name.startswith(_PER_TURN):
            continue
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        facts.append((name.replace("_", " "), text[:_LONGEST_FACT]))
    return facts

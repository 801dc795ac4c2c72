"""The leaderboard: results ranked per task and config, as a table, as Markdown and as JSON."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lmrl_data.errors import LmrlError
from lmrl_data.registry import tasks
from lmrl_data.starts import make_starts
from lmrl_evaluation.metrics import Estimate
from lmrl_evaluation.published import NOTE, SOURCE, Published, published
from lmrl_evaluation.result import RESULT_FILE, Result

if TYPE_CHECKING:
    from rich.table import Table

_HEADINGS = ("rank", "policy", "method", "score", "95 %", "return", "success", "length", "episodes", "seed")
_PUBLISHED_HEADINGS = ("method", "score", "return")
RANKS = (
    "Rank: 1 + the number of policies whose whole interval lies above; policies that overlap share a rank. "
    "Evaluations that did not play every start have none."
)


@dataclass(frozen=True)
class Entry:
    """A result and its rank; None where its episodes do not hold every start, so that it cannot be compared."""

    rank: int | None
    result: Result


@dataclass(frozen=True)
class Board:
    """The results of one config of a task, best first, and the published baselines beside them."""

    task: str
    config: str
    entries: tuple[Entry, ...]
    published: tuple[Published, ...]


def find_results(paths: Iterable[str | Path]) -> list[Path]:
    """The `result.json` files that paths stand for, each once: files, result folders, and folders of result folders.

    Raises:
        LmrlError: a path stands for none.
    """
    found: dict[Path, Path] = {}
    for path in map(Path, paths):
        files = [path]
        if path.is_dir():
            files = [path / RESULT_FILE] if (path / RESULT_FILE).exists() else sorted(path.glob(f"*/{RESULT_FILE}"))
        if not files:
            raise LmrlError(f"{path} holds no results; make some with `lmrl evaluate`")
        for file in files:
            found.setdefault(file.resolve(), file)
    return list(found.values())


def leaderboard(results: Sequence[Result]) -> list[Board]:
    """Rank results by normalised score, separately for each config of each task.

    A rank is 1 + the number of policies that are clearly better: whose whole interval lies above. So all those are
    first of whom none is clearly worse than another, and no policy takes a rank from one it cannot be told from.
    """
    boards = []
    for task in tasks().values():
        for config in task.configs:
            # The score rises with the mean return, and is cut off at 0: the return also tells apart what is below.
            same = sorted(
                (result for result in results if (result.task, result.config) == (task.name, config)),
                key=lambda result: (-result.estimates["mean_return"].value, result.policy),
            )
            if same:
                whole = [result for result in same if _is_whole(result)]
                rest = [result for result in same if not _is_whole(result)]
                entries = (*(Entry(_rank(result, whole), result) for result in whole), *(Entry(None, r) for r in rest))
                boards.append(Board(task.name, config, entries, tuple(published(task.name, config))))
    return boards


def _is_whole(result: Result) -> bool:
    """Whether every start was played; where they are one or too many, whether all the published episodes were."""
    starts = make_starts(result.task, result.config)
    if starts.few:
        return result.starts == starts.count
    published = tasks()[result.task].configs[result.config].evaluation_episodes
    return result.seed == 0 and result.episodes >= published


def _rank(result: Result, others: Sequence[Result]) -> int:
    high = result.estimates["mean_return"].interval[1]
    return 1 + sum(other.estimates["mean_return"].interval[0] > high for other in others)


def as_json(boards: Sequence[Board]) -> str:
    """The leaderboard as JSON: a list of boards."""
    data = [
        {
            "task": board.task,
            "config": board.config,
            "entries": [{"rank": entry.rank, **json.loads(entry.result.to_json())} for entry in board.entries],
            "published": {"source": SOURCE, "note": NOTE, "baselines": [vars(row) for row in board.published]},
        }
        for board in boards
    ]
    return json.dumps(data, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def as_markdown(boards: Sequence[Board]) -> str:
    """The leaderboard as Markdown, a section per board."""
    lines = ["# lmrl-gym leaderboard", "", RANKS, ""]
    for board in boards:
        lines += [f"## {board.task}, {_escaped(board.config)}", ""]
        lines += [*_markdown_table(_HEADINGS, map(_cells, board.entries)), ""]
        if board.published:
            rows = map(_published_cells, board.published)
            lines += [f"Published ({SOURCE}). {NOTE}", "", *_markdown_table(_PUBLISHED_HEADINGS, rows), ""]
    return "\n".join(lines)


def as_tables(boards: Sequence[Board]) -> list["Table"]:
    """The leaderboard as tables for a terminal."""
    from rich.box import SIMPLE
    from rich.table import Table
    from rich.text import Text

    def table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
        made = Table(title=title, box=SIMPLE, padding=0, show_edge=False, title_justify="left")
        for heading in headings:
            long = heading in ("policy", "method")
            made.add_column(heading, no_wrap=not long, overflow="fold", justify="left" if long else "right")
        for row in rows:
            # Text, because a name in brackets is no markup.
            made.add_row(*map(Text, row))
        return made

    tables_ = []
    for board in boards:
        tables_.append(table(f"{board.task}, {board.config}", _HEADINGS, map(_cells, board.entries)))
        if board.published:
            rows = map(_published_cells, board.published)
            tables_.append(table(f"{board.task}, {board.config}: published", _PUBLISHED_HEADINGS, rows))
    return tables_


def _cells(entry: Entry) -> list[str]:
    result, estimates = entry.result, entry.result.estimates
    score, mean_return = estimates["normalized_score"], estimates["mean_return"]
    return [
        "–" if entry.rank is None else str(entry.rank),
        result.policy,
        result.method,
        f"{score.value:.1f}",
        interval_text(score, 1),
        f"{mean_return.value:.2f}",
        f"{estimates['success_rate'].value:.1%}",
        f"{estimates['mean_length'].value:.2f}",
        f"{result.episodes}",
        f"{result.seed}",
    ]


def _published_cells(row: Published) -> list[str]:
    return [row.method, f"{row.normalized_score:.1f}", "–" if row.mean_return is None else f"{row.mean_return:g}"]


def interval_text(estimate: Estimate, digits: int) -> str:
    """An interval as ``[low, high]``."""
    low, high = estimate.interval
    return f"[{low:.{digits}f}, {high:.{digits}f}]"


def _markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(headings)} |", f"|{' --- |' * len(headings)}"]
    return lines + [f"| {' | '.join(map(_escaped, row))} |" for row in rows]


def _escaped(text: str) -> str:
    """A text that Markdown shows as it is. HTML goes by entities, because a backslash does not stop every renderer."""
    text = "".join(f"\\{char}" if char in "\\`*_[]|~#!" else char for char in text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

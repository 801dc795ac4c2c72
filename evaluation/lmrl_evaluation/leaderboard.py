"""The leaderboard: results ranked per task and config, as a table, as Markdown and as JSON."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lmrl_data.errors import LmrlError
from lmrl_data.registry import tasks
from lmrl_data.starts import make_starts
from lmrl_evaluation.metrics import Estimate
from lmrl_evaluation.published import NOTE, SOURCE, Published, published
from lmrl_evaluation.result import RESULT_FILE, Result
from lmrl_evaluation.verify import Check

if TYPE_CHECKING:
    from rich.table import Table

_HEADINGS = ("rank", "policy", "method", "score", "95 %", "return", "success", "length", "episodes", "seed")
_PUBLISHED_HEADINGS = ("method", "score", "return")
RANKS = (
    "Rank: 1 + the number of policies whose whole interval lies above; policies that overlap share a rank. "
    "Evaluations have none that are of another set than the published one, that stop amid a round of the starts, or "
    "whose engine or oracle could not be asked again."
)


@dataclass(frozen=True)
class Entry:
    """A result on a board.

    Attributes:
        rank: None where its episodes are such that it cannot be compared (see `RANKS`).
        result: the result.
        notes: what the check had to take on trust.
    """

    rank: int | None
    result: Result
    notes: tuple[str, ...] = ()


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
        if not files or not path.exists():
            problem = "holds no results" if path.exists() else "does not exist"
            raise LmrlError(f"{path} {problem}; make results with `lmrl evaluate`")
        for file in files:
            found.setdefault(file.resolve(), file)
    return list(found.values())


def leaderboard(results: Sequence[Result], notes: Mapping[str, tuple[str, ...]] | None = None) -> list[Board]:
    """Rank results by normalised score, separately for each config of each task.

    A rank is 1 + the number of policies that are clearly better: whose whole interval lies above. So all those are
    first of whom none is clearly worse than another, and no policy takes a rank from one it cannot be told from.

    Args:
        results: results that have been checked; one that lies in two folders counts once.
        notes: what the check had to take on trust, by the hash of the episodes.
    """
    taken = notes or {}

    def comparable(result: Result) -> bool:
        return is_whole(result) and not taken.get(result.episodes_sha256)

    different = {(r.task, r.config, r.policy, r.episodes_sha256): r for r in results}.values()
    boards = []
    for task in tasks().values():
        for config in task.configs:
            # The score rises with the mean return, and is cut off at 0: the return also tells apart what is below.
            same = sorted(
                (result for result in different if (result.task, result.config) == (task.name, config)),
                key=lambda result: (-result.estimates["mean_return"].value, result.policy),
            )
            if same:
                whole = [result for result in same if comparable(result)]
                ranked = [Entry(_rank(result, whole), result) for result in whole]
                rest = [
                    Entry(None, result, taken.get(result.episodes_sha256, ()))
                    for result in same
                    if not comparable(result)
                ]
                boards.append(Board(task.name, config, (*ranked, *rest), tuple(published(task.name, config))))
    return boards


def is_whole(result: Result) -> bool:
    """Whether the episodes are of the published set and hold every start equally often.

    Where the starts are one or too many for that, whether all the published episodes were played.
    """
    starts = make_starts(result.task, result.config)
    if starts.few:
        return result.seed == 0 and result.starts == starts.count and result.episodes % starts.count == 0
    published = tasks()[result.task].configs[result.config].evaluation_episodes
    return result.seed == 0 and result.episodes >= published


def _rank(result: Result, others: Sequence[Result]) -> int:
    high = result.estimates["mean_return"].interval[1]
    return 1 + sum(other.estimates["mean_return"].interval[0] > high for other in others)


def as_json(boards: Sequence[Board], refused: Sequence[Check] = ()) -> str:
    """The leaderboard as JSON: ``boards``, and the ``refused`` results with what is wrong with each."""
    data = {
        "boards": [
            {
                "task": board.task,
                "config": board.config,
                "entries": [_entry_data(entry) for entry in board.entries],
                "published": {"source": SOURCE, "note": NOTE, "baselines": [vars(row) for row in board.published]},
            }
            for board in boards
        ],
        "refused": [{"file": str(check.file), "findings": list(map(str, check.findings))} for check in refused],
    }
    return json.dumps(data, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def _entry_data(entry: Entry) -> dict[str, object]:
    data = {"rank": entry.rank, **json.loads(entry.result.to_json())}
    return {**data, "notes": list(entry.notes)} if entry.notes else data


def as_markdown(boards: Sequence[Board], refused: Sequence[Check] = ()) -> str:
    """The leaderboard as Markdown, a section per board."""
    lines = ["# lmrl-gym leaderboard", "", RANKS, ""]
    for board in boards:
        lines += [f"## {board.task}, {_escaped(board.config)}", ""]
        lines += [*_markdown_table(_HEADINGS, map(_cells, board.entries)), ""]
        lines += [f"{_escaped(f'{entry.result.policy}: {note}')}\n" for entry in board.entries for note in entry.notes]
        if board.published:
            rows = map(_published_cells, board.published)
            lines += [f"Published ({SOURCE}). {NOTE}", "", *_markdown_table(_PUBLISHED_HEADINGS, rows), ""]
    if refused:
        findings = [f"- {_escaped(f'{check.file}: {text}')}" for check in refused for text in check.summary()]
        lines += ["## Refused", "", *findings, ""]
    return "\n".join(lines)


def print_boards(boards: Sequence[Board]) -> None:
    """Print the leaderboard."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console.width = 120
    for table in _tables(boards):
        console.print(table)
        console.print()
    if boards:
        print(RANKS)
    if any(board.published for board in boards):
        print(f"Published: {SOURCE}. {NOTE}")


def _tables(boards: Sequence[Board]) -> list["Table"]:
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

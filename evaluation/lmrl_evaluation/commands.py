"""The commands of lmrl_evaluation: ``lmrl evaluate`` and ``lmrl leaderboard``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmrl_data.errors import LmrlError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.progress import Progress

    from lmrl_data.episode import Episode
    from lmrl_evaluation.result import Result

app = typer.Typer()


@app.command()
def evaluate(
    task: Annotated[str, typer.Option(help="Name of a task.")],
    policy: Annotated[str, typer.Option(help="Spec of a policy: a scripted one of the task, or hf:PATH.")],
    config: Annotated[str | None, typer.Option(help="Config of the task; its default if left out.")] = None,
    episodes: Annotated[int | None, typer.Option(help="Episodes to play; the config's number if left out.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the evaluation set; 0 is the published one.")] = 0,
    batch_size: Annotated[int, typer.Option(help="Episodes played side by side.")] = 128,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the result; results/TASK-CONFIG-POLICY if left out.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Score a policy on a task's fixed evaluation episodes."""
    from lmrl_data.registry import get_task
    from lmrl_evaluation import evaluate as evaluation
    from lmrl_evaluation.result import check_writable, write_result

    total = episodes or get_task(task).config(config)[1].evaluation_episodes
    check_writable(out or Path("results"))
    scored = _ReturnSoFar()
    with _progress("mean return {task.fields[mean_return]}", quiet) as progress:
        bar = progress.add_task("playing", total=total, mean_return="")

        def on_episodes(batch: "Sequence[Episode]") -> None:
            progress.update(bar, advance=len(batch), mean_return=scored.with_batch(batch))

        result = evaluation.evaluate(
            task, policy, config=config, episodes=episodes, seed=seed, batch_size=batch_size, on_episodes=on_episodes
        )
    folder = out or Path("results") / result.folder_name
    write_result(result, folder)
    if as_json:
        print(result.to_json(), end="")
    elif not quiet:
        _show(result, folder)


class _ReturnSoFar:
    """The mean return of the episodes so far, as a text."""

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0

    def with_batch(self, batch: "Sequence[Episode]") -> str:
        self.count += len(batch)
        self.total += sum(episode.episode_return for episode in batch)
        return f"{self.total / self.count:.3f}"


def _progress(more: str, quiet: bool) -> "Progress":
    """A progress bar on standard error, only on a terminal."""
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = [
        *Progress.get_default_columns()[:2],
        MofNCompleteColumn(),
        TextColumn(more, markup=False),
        TimeRemainingColumn(),
    ]
    return Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal)


def _show(result: "Result", folder: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    from lmrl_evaluation.leaderboard import interval_text

    table = Table("", "estimate", "95 % interval", "standard error")
    for column in table.columns[1:]:
        column.justify = "right"
    for name, estimate in result.estimates.items():
        digits = 2 if name == "normalized_score" else 4
        interval = interval_text(estimate, digits)
        table.add_row(
            name.replace("_", " "), f"{estimate.value:.{digits}f}", interval, f"{estimate.standard_error:.{digits}f}"
        )
    print(f"{result.policy} ({result.method}) on {result.task}, {result.config} ({result.env_id})")
    print(f"{result.episodes} episodes from {result.starts} starts, evaluation set {result.seed}")
    Console().print(table)
    print(f"Wrote {folder}")


@app.command()
def leaderboard(
    results: Annotated[list[Path], typer.Argument(help="Result folders, result.json files, or folders of them.")],
    out: Annotated[Path | None, typer.Option(help="File to write: Markdown (.md) or JSON (.json).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the leaderboard as JSON.")] = False,
) -> None:
    """Check results against the simulator, replaying their episodes, and rank them."""
    from lmrl_data.files import write_bytes
    from lmrl_evaluation import leaderboard as ranking
    from lmrl_evaluation.published import NOTE, SOURCE
    from lmrl_evaluation.result import check_writable
    from lmrl_evaluation.verify import verify_result

    writers = {".md": ranking.as_markdown, ".json": ranking.as_json}
    if out is not None and out.suffix not in writers:
        raise LmrlError(f"cannot tell from the name {out} what to write; end it in {' or '.join(writers)}")
    if out is not None:
        check_writable(out.parent)
    files = ranking.find_results(results)
    checked = []
    with _progress("{task.fields[file]}", quiet=False) as progress:
        bar = progress.add_task("checking", total=len(files), file="")
        for file in files:
            progress.update(bar, file=str(file))
            checked.append(verify_result(file))
            progress.advance(bar)
    boards = ranking.leaderboard(checked)
    if out is not None:
        write_bytes(out, writers[out.suffix](boards).encode())
    if as_json:
        print(ranking.as_json(boards), end="")
        return
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console.width = 120
    for table in ranking.as_tables(boards):
        console.print(table)
        console.print()
    print(ranking.RANKS)
    if any(board.published for board in boards):
        print(f"Published: {SOURCE}. {NOTE}")
    if out is not None:
        print(f"Wrote {out}")

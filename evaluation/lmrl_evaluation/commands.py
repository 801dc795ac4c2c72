"""``lmrl evaluate`` and ``lmrl compare``, joined with the commands about finished results in `board_commands`."""

import json
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lmrl_data.errors import LmrlError
from lmrl_evaluation import board_commands

if TYPE_CHECKING:
    from rich.progress import Progress

    from lmrl_data.ray_executor import RayCluster
    from lmrl_data.registry import Bounds
    from lmrl_evaluation.evaluate import Evaluation
    from lmrl_evaluation.result import Result

app = typer.Typer()
app.add_typer(board_commands.app)


@app.command()
def evaluate(
    policy: Annotated[
        str,
        typer.Option(
            help="Spec of a policy: a scripted one of the task (best: the best known), hf:PATH, ilql:PATH, "
            "openai:MODEL@URL?shots=2, or python:MODULE:CLASS."
        ),
    ],
    task: Annotated[str | None, typer.Argument(metavar="TASK", help="Name of a task, or `all`.")] = None,
    task_option: Annotated[str | None, typer.Option("--task", help="The same as TASK.")] = None,
    config: Annotated[
        str | None, typer.Option(help="Config of the task; its default, or with `all` each of them, if left out.")
    ] = None,
    episodes: Annotated[int | None, typer.Option(help="Episodes to play; the config's number if left out.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the evaluation set; 0 is the published one.")] = 0,
    batch_size: Annotated[
        int | None, typer.Option(help="Episodes played side by side; 128, or fewer with an engine, if left out.")
    ] = None,
    executor: Annotated[str, typer.Option(help="Where batches are played: local (this process) or ray.")] = "local",
    address: Annotated[
        str | None, typer.Option(help="Address of the Ray cluster; one is started on this machine if left out.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the result, or with `all` of the results; results/… if left out."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Score a policy on a task's fixed evaluation episodes. Run again after an interruption it goes on."""
    from lmrl_data.ray_executor import chosen_cluster
    from lmrl_evaluation.evaluate import prepare
    from lmrl_evaluation.result import check_writable

    name = task or task_option
    if name is None or (task and task_option and task != task_option):
        raise LmrlError("name one task, or all: `lmrl evaluate wordle --policy random`")
    check_writable(out or Path("results"))
    settings: dict[str, Any] = {"episodes": episodes, "seed": seed, "batch_size": batch_size}
    if name == "all":
        if config is not None:
            raise LmrlError("`all` evaluates every config; give a task to choose one of its configs")
        with chosen_cluster(executor, address, None) as cluster:
            _evaluate_all(policy, settings, out or Path("results"), cluster, as_json, quiet)
        return
    evaluation = prepare(name, policy, config=config, **settings)
    folder = out or Path("results") / evaluation.folder_name
    with chosen_cluster(executor, address, None) as cluster:
        result = _play(evaluation, folder, cluster, quiet)
    if as_json:
        print(result.to_json(), end="")
    elif not quiet:
        _show(result, folder)


def _evaluate_all(
    policy: str, settings: dict[str, Any], out: Path, cluster: "RayCluster | None", as_json: bool, quiet: bool
) -> None:
    """Every config of every task, one after another; one that fails does not stop the others."""
    from lmrl_data.console import print_table
    from lmrl_data.registry import tasks
    from lmrl_evaluation.evaluate import prepare

    scripted = ":" not in policy and policy != "best"
    if scripted and not any(policy in task.policies for task in tasks().values()):
        raise LmrlError(f"no task has a policy {policy[:80]!r}; `lmrl tasks` lists those of each")
    results, failed = [], False
    for task in tasks().values():
        for name, config in task.configs.items():
            if scripted and policy not in task.policies:
                best = config.bounds.maximum_from
                print(f"{task.name} ({name}): skipped: no policy {policy!r}; best known is {best}", file=sys.stderr)
                continue
            try:
                evaluation = prepare(task.name, policy, config=name, **settings)
                results.append(_play(evaluation, out / evaluation.folder_name, cluster, quiet))
            except LmrlError as error:
                print(f"lmrl: {task.name} ({name}): {' '.join(str(error).split())}", file=sys.stderr)
                failed = True
    if as_json:
        print(json.dumps([json.loads(result.to_json()) for result in results], indent=2, ensure_ascii=False))
    elif results and not quiet:
        print_table("evaluated", [_row(result) for result in results])
        print(f"Wrote {len(results)} results into {out}")
    if failed:
        raise typer.Exit(2)


def _row(result: "Result") -> dict[str, object]:
    score, mean_return = result.estimates["normalized_score"], result.estimates["mean_return"]
    return {
        "task": result.task,
        "config": result.config,
        "policy": result.policy,
        "score, 95 %": f"{score.value:.1f} {_interval(score.interval, 1)}",
        "return": f"{mean_return.value:.3f}",
        "success": f"{result.estimates['success_rate'].value:.1%}",
        "episodes": result.episodes,
        "seconds": f"{result.run.seconds:.1f}" if result.run else "",
    }


def _interval(interval: tuple[float, float], digits: int) -> str:
    return f"[{interval[0]:.{digits}f}, {interval[1]:.{digits}f}]"


class _Tally:
    """What has been played so far."""

    def __init__(self, bounds: "Bounds") -> None:
        self.bounds = bounds
        self.episodes = self.turns = 0
        self.total = 0.0

    def __str__(self) -> str:
        turns = f"{self.turns:,} turns"
        if not self.episodes:
            return turns
        mean = self.total / self.episodes
        return f"return {mean:.3f} · score {self.bounds.normalise(mean):.1f} · {turns}"


def _play(evaluation: "Evaluation", folder: Path, cluster: "RayCluster | None", quiet: bool) -> "Result":
    """Play, with progress on a terminal; an interruption says how to go on."""
    from lmrl_evaluation.unfinished import kept_episodes

    tally = _Tally(evaluation.task.configs[evaluation.config].bounds)
    with _progress(quiet) as progress, _termination():
        bar = progress.add_task(f"{evaluation.task.name} ({evaluation.config})", total=evaluation.episodes, tally=tally)

        def on_returns(returns: Sequence[float]) -> None:
            tally.episodes += len(returns)
            tally.total += sum(returns)
            progress.advance(bar, len(returns))

        def on_turns(turns: int) -> None:
            tally.turns += turns

        try:
            return evaluation.play(folder, cluster=cluster, on_returns=on_returns, on_turns=on_turns)
        except (KeyboardInterrupt, SystemExit):
            kept = f"{kept_episodes(folder):,} of {evaluation.episodes:,} episodes are kept in {folder}"
            print(f"lmrl: stopped; {kept}; run the same command to go on", file=sys.stderr)
            raise


def _progress(quiet: bool) -> "Progress":
    """A progress bar with the running score and the time left on standard error, only on a terminal."""
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = [
        *Progress.get_default_columns()[:2],
        MofNCompleteColumn(),
        TextColumn("{task.fields[tally]}", markup=False),
        TimeRemainingColumn(),
    ]
    return Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal)


@contextmanager
def _termination() -> Iterator[None]:
    """A request to terminate, which batch systems send, ends the run as an interruption does: engines are closed."""

    def stop(*_: object) -> None:
        raise SystemExit(128 + signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _show(result: "Result", folder: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("", "estimate", "95 % interval", "standard error")
    for column in table.columns[1:]:
        column.justify = "right"
    for name, estimate in result.estimates.items():
        digits = 2 if name == "normalized_score" else 4
        table.add_row(
            name.replace("_", " "),
            f"{estimate.value:.{digits}f}",
            _interval(estimate.interval, digits),
            f"{estimate.standard_error:.{digits}f}",
        )
    print(f"{result.policy} ({result.method}) on {result.task}, {result.config} ({result.env_id})")
    print(f"{result.episodes} episodes from {result.starts} starts, evaluation set {result.seed}")
    Console().print(table)
    if result.run is not None:
        print(result.run)
    print(f"Wrote {folder}")


@app.command()
def compare(
    a: Annotated[Path, typer.Argument(help="A result, or a folder of results: one method trained with several seeds.")],
    b: Annotated[Path, typer.Argument(help="Another one on the same episodes.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say how sure it is that one policy or method is better than another, on the same evaluation episodes.

    The results are taken as they are; `lmrl replay` checks them.
    """
    from lmrl_evaluation.comparison import compare as run
    from lmrl_evaluation.leaderboard import find_results
    from lmrl_evaluation.result import read_result

    groups = [[read_result(file) for file in find_results([path])] for path in (a, b)]
    found = run(*groups)
    if as_json:
        difference = found.difference
        data = {
            "policies": [[result.policy for result in group] for group in groups],
            "difference": difference.value,
            "confidence_interval": list(difference.interval),
            "standard_error": difference.standard_error,
            "probability_better": found.probability_better,
        }
        print(json.dumps(data, indent=2, ensure_ascii=False))
        return
    first, second = (", ".join(result.policy for result in group) for group in groups)
    print(f"A: {first}\nB: {second}")
    difference = found.difference
    print(
        f"Mean return of A less that of B: {difference.value:.4f} {_interval(difference.interval, 4)} (95 %), standard "
        f"error {difference.standard_error:.4f}"
    )
    print(f"Probability that A is better: {found.probability_better:.1%}")

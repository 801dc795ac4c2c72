"""Commands about finished results: ``lmrl replay``, ``lmrl leaderboard`` and ``lmrl submit``."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmrl_data.errors import LmrlError

if TYPE_CHECKING:
    from lmrl_evaluation.verify import Check

app = typer.Typer()

Results = Annotated[list[Path], typer.Argument(help="Result folders, result.json files, or folders of them.")]


@app.command()
def replay(
    results: Results,
    every: Annotated[
        bool, typer.Option("--all", help="Print every finding, not only the first ten of a result.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print findings and notes as JSON.")] = False,
) -> None:
    """Play every action of results again and compare all that is recorded; exit code 1 where something is wrong."""
    checks = _check(results)
    if as_json:
        print(json.dumps(list(map(_as_data, checks)), indent=2, ensure_ascii=False))
    else:
        for check in checks:
            _show(check, every)
    if any(check.findings for check in checks):
        raise typer.Exit(1)


def _check(results: Sequence[Path]) -> "list[Check]":
    from lmrl_data.console import progress
    from lmrl_evaluation.leaderboard import find_results
    from lmrl_evaluation.verify import check_result

    files = find_results(results)
    checks = []
    with progress("replaying", len(files)) as advance:
        for file in files:
            checks.append(check_result(file))
            advance(1)
    return checks


def _as_data(check: "Check") -> dict[str, object]:
    findings = [{**vars(finding), "message": str(finding)} for finding in check.findings]
    return {"file": str(check.file), "right": not findings, "findings": findings, "notes": check.notes}


def _show(check: "Check", every: bool = False) -> None:
    """Print what a check found, a line each."""
    lines = check.summary(len(check.findings) if every else 10)
    if check.result is not None and not lines:
        result = check.result
        print(f"{check.file.parent}: right: {result.episodes} episodes of {result.policy} on {result.env_id} replayed")
    for line in [*lines, *(f"note: {note}" for note in check.notes)]:
        print(f"{check.file.parent}: {' '.join(line.split())}")


@app.command()
def leaderboard(
    results: Results,
    out: Annotated[
        Path | None, typer.Option(help="File to write: a page (.html), Markdown (.md) or JSON (.json).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the leaderboard as JSON.")] = False,
) -> None:
    """Check results by replay and rank those that are right; exit code 1 where some were refused."""
    from lmrl_data.files import write_bytes
    from lmrl_evaluation import leaderboard as ranking
    from lmrl_evaluation.page import as_html
    from lmrl_evaluation.result import check_writable

    writers = {".html": as_html, ".md": ranking.as_markdown, ".json": ranking.as_json}
    if out is not None and out.suffix not in writers:
        raise LmrlError(f"cannot tell from the name {out} what to write; end it in {', '.join(writers)}")
    if out is not None:
        check_writable(out.parent)
    checks = _check(results)
    refused = [check for check in checks if check.findings]
    right = [(check.result, check.notes) for check in checks if check.result and not check.findings]
    notes = {result.episodes_sha256: noted for result, noted in right}
    boards = ranking.leaderboard([result for result, _ in right], notes)
    if out is not None:
        write_bytes(out, writers[out.suffix](boards, refused).encode())
    if as_json:
        print(ranking.as_json(boards, refused), end="")
    else:
        ranking.print_boards(boards)
        for check in checks:
            if check.findings or check.notes:
                _show(check)
        if refused:
            print(f"Refused {len(refused)} of {len(checks)} results.")
        if out is not None:
            print(f"Wrote {out}")
    if refused:
        raise typer.Exit(1)


@app.command()
def submit(
    results: Results,
    model_repo: Annotated[Path, typer.Option(help="Local folder of the model repository to write to.")],
    source: Annotated[str | None, typer.Option(help="Address of a page about the evaluation.")] = None,
) -> None:
    """Check results of a model by replay and write them into its repository as the Hub reads them; uploads nothing."""
    from lmrl_evaluation.hub import prepare_submission
    from lmrl_evaluation.result import check_writable

    check_writable(model_repo)
    checks = _check(results)
    for check in checks:
        _show(check)
    if any(check.findings for check in checks):
        print("Nothing was written: mend or leave out what is wrong.")
        raise typer.Exit(1)
    for path in prepare_submission([check.result for check in checks if check.result], model_repo, source):
        print(f"Wrote {path}")

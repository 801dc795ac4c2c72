"""The command ``lmrl import``."""

import json
from pathlib import Path
from typing import Annotated

import typer

from lmrl_data.console import progress

app = typer.Typer()


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A raw file as it was published, unpacked.")],
    task: Annotated[str, typer.Option(help="Name of the task whose data it holds.")],
    config: Annotated[str | None, typer.Option(help="Config of the task; its default if left out.")] = None,
    out: Annotated[Path, typer.Option(help="Folder that gets a folder per task.")] = Path("lmrl-gym-imported"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Import a raw file that was published with the paper as a dataset of episodes.

    Reports what could not be read, and which rewards differ from the rules. Exit code 2 when nothing could be read.
    """
    from lmrl_generators.importing.report import lines_of
    from lmrl_generators.importing.run import import_file

    size = file.stat().st_size if file.is_file() else 0
    with progress(f"importing {file.name} (bytes)", size, quiet=quiet) as advance:
        report = import_file(file, task, config=config, out=out, on_bytes=advance)
    if as_json:
        print(json.dumps({"task": task, "folder": str(out / task), **report.content}, indent=2))
    elif not quiet:
        print("\n".join([*lines_of(report.content), f"written to {out / task}"]))

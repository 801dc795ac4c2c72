"""The command of lmrl_cards: ``lmrl card``."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer()


@app.command()
def card(
    folder: Annotated[Path, typer.Argument(help="Dataset folder, such as lmrl-gym/wordle.")],
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Write the card of a dataset folder from its files: README.md, plots and eval.yaml.

    The task is the one that generation.json names, or else the folder's name.
    """
    from lmrl_cards.card import write_card
    from lmrl_cards.contents import read_contents, task_of
    from lmrl_data.console import progress
    from lmrl_data.cores import available_cores

    task = task_of(folder)
    with progress(f"reading {folder}", read_contents(folder, task).episodes, quiet=quiet) as advance:
        path = write_card(folder, task, workers=available_cores(), on_episodes=advance)
    if not quiet:
        print(path)

"""The commands of lmrl_loaders: ``lmrl train bc``."""

import json
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer()
train = typer.Typer(help="Train a policy on a dataset.", no_args_is_help=True)
app.add_typer(train, name="train")


@train.callback()
def methods() -> None:
    """Train a policy on a dataset."""


@train.command()
def bc(
    task: Annotated[str, typer.Option(help="Name of a task.")],
    config: Annotated[str | None, typer.Option(help="Config of the task; its default if left out.")] = None,
    model: Annotated[
        str, typer.Option(help="'tiny' (from scratch), or the folder or Hub name of a pretrained model.")
    ] = "tiny",
    data: Annotated[Path | None, typer.Option(help="Dataset folder; lmrl-gym/TASK if left out.")] = None,
    output: Annotated[Path | None, typer.Option(help="Where to save; models/TASK[-CONFIG]-bc if left out.")] = None,
    max_steps: Annotated[int | None, typer.Option(min=1, help="Optimiser steps; 400 if left out.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of the weights and of the order of the data.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Behaviour cloning: imitate the agent of the data."""
    from lmrl_loaders.extra import train_extra

    with train_extra():
        from lmrl_loaders.bc import BCConfig, train_bc

    args = BCConfig(seed=seed) if max_steps is None else BCConfig(seed=seed, max_steps=max_steps)
    result = train_bc(task, config=config, model=model, data=data, output=output, args=args)
    if as_json:
        print(json.dumps(result, indent=2))
        return
    print(
        f"Saved {result['output']}: {result['steps']} steps on {result['sequences']} sequences of "
        f"{result['episodes']} episodes, loss {result['train_loss']:.3f}"
    )

"""The commands of lmrl_loaders: ``lmrl train``."""

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from lmrl_data.errors import LmrlError

app = typer.Typer()


@app.command()
def train(
    task: Annotated[str, typer.Option(help="Name of a task.")],
    method: Annotated[
        str | None, typer.Argument(help="bc, filtered-bc, mc, ilql, ppo or online-bc.", show_default=False)
    ] = None,
    config: Annotated[str | None, typer.Option(help="Config of the task; its default if left out.")] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="'tiny' or 'small' (from scratch), or the folder or Hub name of a pretrained model; what the recipe "
            "says if left out."
        ),
    ] = None,
    data: Annotated[Path | None, typer.Option(help="Dataset folder; lmrl-gym/TASK if left out.")] = None,
    stream: Annotated[
        bool, typer.Option("--stream", help="Read while training, from a folder or OWNER/NAME on the Hub.")
    ] = False,
    output: Annotated[Path | None, typer.Option(help="Where to save; models/TASK[-CONFIG]-METHOD if left out.")] = None,
    max_steps: Annotated[
        int | None, typer.Option(min=1, help="Optimiser steps; those of the recipe if left out.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of the weights and of the order of the data.")] = 0,
    settings: Annotated[list[str] | None, typer.Option("--set", help="NAME=VALUE; may be given again.")] = None,
    show: Annotated[bool, typer.Option("--settings", help="List the settings and what they would be.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Train by every method, one after another.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Train a policy on a dataset, with the recipe of the task."""
    from lmrl_loaders.extra import train_extra
    from lmrl_loaders.recipes import METHODS, read_settings, recipe, run_method

    if (method is None) == (not everything):
        raise LmrlError(f"say which method trains ({', '.join(METHODS)}), or --all for each of them")
    if everything and (output or settings or show):
        raise LmrlError("--all trains with the recipes; leave --output, --set and --settings out")
    speaks = os.environ.get("RANK", "0") == "0"  # one of several processes does, as torchrun and accelerate number them
    results = []
    recipes = {name: recipe(task, config, name) for name in ([method] if method else METHODS)}
    # Those that begin with another's model come behind it.
    for name in sorted(recipes, key=lambda name: recipes[name].get("model") in METHODS):
        chosen = {**recipes[name], "seed": seed}
        if max_steps is not None:
            chosen["max_steps"] = max_steps
        with train_extra():
            chosen |= read_settings(name, settings or [])
        if show:
            _show_settings(name, chosen)
            return
        places: dict[str, Any] = {"config": config, "model": model, "data": data, "stream": stream, "output": output}
        result = run_method(name, task, chosen, {place: value for place, value in places.items() if value is not None})
        results.append(result)
        if speaks and not as_json:
            print(f"Saved {result['output']}: {_summary(result)}")
    if speaks and as_json:
        print(json.dumps(results if everything else results[0], indent=2))


def _summary(result: dict[str, Any]) -> str:
    if "played" in result:
        return f"{result['steps']} steps, {result['played']} episodes played, loss {result['train_loss']:.3f}"
    if result["sequences"] is None:
        return f"{result['steps']} steps on a stream, loss {result['train_loss']:.3f}"
    return (
        f"{result['steps']} steps on {result['sequences']} sequences of {result['episodes']} episodes, "
        f"loss {result['train_loss']:.3f}"
    )


def _show_settings(method: str, chosen: dict[str, Any]) -> None:
    from dataclasses import fields

    from lmrl_data.console import print_table
    from lmrl_data.registry import locate
    from lmrl_loaders.recipes import METHODS

    config = locate(METHODS[method].config)
    rows = [
        {
            "setting": setting.name,
            "value": str(chosen.get(setting.name, setting.default)),
            "meaning": setting.metadata["help"],
        }
        for setting in fields(config)
        if setting.metadata.get("help") and (setting.name in chosen or setting.name in config.__annotations__)
    ]
    print_table(f"{METHODS[method].about} ({method})", rows)

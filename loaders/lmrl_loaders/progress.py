"""Progress of a training run: steps, time left and loss in a bar on standard error, only on a terminal."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from transformers import Trainer, TrainerCallback


@contextmanager
def show_progress(trainer: Trainer) -> Iterator[None]:
    """Show a trainer's steps and loss while it trains."""
    console = Console(stderr=True)
    columns = (TextColumn("training"), BarColumn(), MofNCompleteColumn(), TextColumn("loss {task.fields[loss]}"))
    with Progress(*columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal) as bar:
        trainer.add_callback(_ShowProgress(bar))
        yield


class _ShowProgress(TrainerCallback):
    """Steps and loss in a bar."""

    def __init__(self, bar: Progress) -> None:
        self.bar = bar
        self.row = bar.add_task("training", total=None, loss="-")

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.bar.update(self.row, total=state.max_steps, completed=state.global_step)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        if "loss" in logs:
            self.bar.update(self.row, loss=f"{float(logs['loss']):.3f}")

"""What the trainers with value heads share: their losses are means over agent tokens, made of parts that are logged."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from transformers import Trainer

from lmrl_data.errors import LmrlError
from lmrl_loaders.runs import Run, RunArguments
from lmrl_loaders.tiny import SIZES
from lmrl_loaders.value_batches import Batch


@dataclass
class ValueArguments(RunArguments):
    """Settings of a `ValueTrainer`."""

    remove_unused_columns: bool = field(default=False, metadata={"help": "The losses use columns of their own."})


class ValueTrainer(Trainer):
    """transformers' `Trainer` for a model with heads (`lmrl_loaders.heads.attach_heads`)."""

    def __init__(self, **arguments: Any) -> None:
        """Make a trainer; arguments of `Trainer`."""
        super().__init__(**arguments)
        self.model_accepts_loss_kwargs = False  # losses are means over a batch's own steps
        self._measured: dict[str, list[Tensor]] = {}

    def losses(self, model: Any, heads: Any, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss of a batch of `ValueCollator`, and the parts of it to be logged.

        Args:
            model: the language model, perhaps wrapped by accelerate.
            heads: its value heads; None where it has none.
            batch: of `ValueCollator`.
        """
        raise NotImplementedError

    def compute_loss(
        self, model: Any, inputs: Batch, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """The loss of a batch."""
        heads = getattr(getattr(model, "module", model), "value_heads", None)
        loss, parts = self.losses(model, heads, inputs)
        for name, value in parts.items():
            self._measured.setdefault(f"loss_{name}", []).append(value.detach())
        return (loss, {}) if return_outputs else loss

    def log(self, logs: dict[str, float], *arguments: Any, **settings: Any) -> None:
        """Log, with the means of the parts since the last time, over all processes."""
        parts = {name: torch.stack(values).mean() for name, values in self._measured.items()}
        means = {name: self.accelerator.reduce(part, "mean").item() for name, part in parts.items()}
        self._measured.clear()
        super().log({**logs, **means}, *arguments, **settings)


def freeze_model(run: Run) -> None:
    """Leave a run's language model as it is: only heads that are attached to it afterwards learn.

    Raises:
        LmrlError: the model is fresh, and so there is nothing to leave.
    """
    if run.training["model"] in SIZES:
        raise LmrlError("heads_only leaves the language model as it is; give a trained one, such as --model bc")
    run.network.requires_grad_(False)

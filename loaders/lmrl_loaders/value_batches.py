"""Batches of windows for value-based training, and the agent's steps in them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from lmrl_loaders.sequences import IGNORED

Batch = dict[str, Tensor]
# Settings by which models of transformers cap or scale what comes out of their output layer.
_RESCALED = ("final_logit_softcapping", "logit_scale", "logits_scaling", "lm_head_multiplier")


class ValueCollator:
    """Puts rows of `lmrl_loaders.transitions.transitions` into a batch, padded on the right.

    Args:
        pad_token: for ``input_ids``.

    A batch has ``input_ids``, ``attention_mask``, ``labels``, ``rewards`` and ``returns`` of shape (B, L), and
    ``successor_ids`` and ``successor_mask`` of shape (S, M): those of the rows that go on, which ``successor_row`` (S,)
    names.
    """

    def __init__(self, pad_token: int) -> None:
        self.pad_token = pad_token

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> Batch:
        """The batch of some rows."""
        batch = {
            "input_ids": padded([row["input_ids"] for row in rows], self.pad_token, np.int64),
            "labels": padded([row["labels"] for row in rows], IGNORED, np.int64),
            "attention_mask": padded([np.ones(len(row["input_ids"])) for row in rows], 0, np.int64),
        }
        for name in rows[0].keys() & {"rewards", "returns", "advantages", "values", "log_probs"}:
            batch[name] = padded([row[name] for row in rows], 0, np.float32)
        if "successor_ids" in rows[0]:
            going_on = [place for place, row in enumerate(rows) if len(row["successor_ids"])]
            prompts = [rows[place]["successor_ids"] for place in going_on]
            batch["successor_row"] = torch.tensor(going_on, dtype=torch.int64)
            batch["successor_ids"] = padded(prompts, self.pad_token, np.int64)
            batch["successor_mask"] = padded([np.ones(len(prompt)) for prompt in prompts], 0, np.int64)
        return batch


def padded(rows: Sequence[Any], value: float, dtype: Any) -> Tensor:
    """Rows of different lengths as one array, filled up on the right."""
    width = max(map(len, rows), default=0)
    filled = np.full((len(rows), width), value, dtype)
    for place, row in enumerate(rows):
        filled[place, : len(row)] = row
    return torch.from_numpy(filled)


class Steps(NamedTuple):
    """The N agent tokens of a batch, in the order of its rows.

    Attributes:
        row, place: of the position that predicts the token, shape (N,).
        action: the token, shape (N,).
    """

    row: Tensor
    place: Tensor
    action: Tensor

    @classmethod
    def of(cls, labels: Tensor) -> "Steps":
        """The steps of labels of shape (B, L)."""
        row, place = (labels[:, 1:] != IGNORED).nonzero(as_tuple=True)
        return cls(row, place, labels[row, place + 1])

    def at(self, values: Tensor) -> Tensor:
        """What stands at the tokens themselves in an array of shape (B, L), such as their rewards; shape (N,)."""
        return values[self.row, self.place + 1]

    def before(self, states: Tensor) -> Tensor:
        """The hidden states from which the tokens are chosen, of an array of shape (B, L, width); shape (N, width)."""
        return states[self.row, self.place]

    def turns(self, end_token: int) -> tuple[Tensor, Tensor, Tensor]:
        """Which steps begin and end the K turns of a batch, shape (K,) each, and the turn of each step, shape (N,)."""
        ends = self.action == end_token
        turn = ends.cumsum(0) - ends.long()
        begins = torch.cat([ends.new_ones(1), ends[:-1]])
        return begins.nonzero().squeeze(1), ends.nonzero().squeeze(1), turn


def next_values(values: Tensor, row: Tensor, after: Tensor) -> Tensor:
    """The value of the state that follows each of K steps.

    Args:
        values: of the states of the steps, shape (K,).
        row: of each step, ascending, shape (K,).
        after: the value behind each row, 0 behind a terminal one, shape (B,).
    """
    follows = pad(row[1:] == row[:-1], (0, 1))
    return torch.where(follows, values.roll(-1), after[row])


def run_model(model: Any, batch: Batch, steps: Steps) -> tuple[Tensor, Tensor]:
    """The hidden states (N, width) from which the steps of a batch are chosen, and their logits (N, vocabulary).

    Logits are worked out for the steps only: where most tokens are the environment's, that is most of the work saved.
    Models that do more to their logits than their output layer does are asked for all of them.
    """
    settings = {
        "input_ids": batch["input_ids"],
        "attention_mask": batch["attention_mask"],
        "output_hidden_states": True,
        "use_cache": False,
    }
    network = getattr(model, "module", model)
    config, head = network.config.get_text_config(), network.get_output_embeddings()
    if all(getattr(config, name, None) in (None, 1) for name in _RESCALED):
        out = model(**settings, logits_to_keep=1)
        states, ends = steps.before(out.hidden_states[-1]), out.hidden_states[-1][:, -1]
        # For those that do more and do not say so in their settings.
        with torch.no_grad():
            alike = torch.allclose(head(ends).float(), out.logits[:, -1].float(), rtol=1e-2, atol=1e-2)
        if alike:
            return states, head(states)
    out = model(**settings)
    return steps.before(out.hidden_states[-1]), steps.before(out.logits)


@torch.no_grad()
def successor_states(model: Any, batch: Batch) -> Tensor:
    """The hidden states at the end of the successor prompts, shape (S, width)."""
    mask = batch["successor_mask"]
    out = model(
        input_ids=batch["successor_ids"],
        attention_mask=mask,
        output_hidden_states=True,
        use_cache=False,
        logits_to_keep=1,
    )
    states: Tensor = out.hidden_states[-1]
    return states[torch.arange(len(mask), device=mask.device), mask.sum(1) - 1]

"""Value heads of a language model: what a token is worth, and what a state is worth, read off its last hidden layer.

They are a module of the model, `model.value_heads`, and are saved with it in the same file. transformers loads the
model as a plain one and leaves them out; `load_heads` reads them back.
"""

import copy
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor, nn
from transformers import PreTrainedModel, TrainerCallback

from lmrl_data.errors import LmrlError

_PREFIX = "value_heads."


class ValueHeads(nn.Module):
    """Q heads over the vocabulary, a V head, and target Q heads that follow them slowly.

    Args:
        width: of the model's hidden layer.
        vocabulary: tokens.
        q_heads: how many Q functions; 0 where only V is of use (PPO).
    """

    def __init__(self, width: int, vocabulary: int, *, q_heads: int) -> None:
        super().__init__()
        self.v = _mlp(width, 1)
        self.q = nn.ModuleList(_mlp(width, vocabulary) for _ in range(q_heads))
        self.target_q = copy.deepcopy(self.q).requires_grad_(False)

    @torch.no_grad()
    def begin_at(self, value: float) -> None:
        """Let all fresh heads begin at a value, such as the mean return: the way there from 0 can take very long."""
        for head in (self.v, *self.q, *self.target_q):
            head[-1].bias.fill_(value)

    def least_target_q(self, hidden: Tensor) -> Tensor:
        """The least of the target Q heads, shape (..., vocabulary)."""
        least: Tensor = torch.stack([q(hidden) for q in self.target_q]).amin(0)
        return least

    @torch.no_grad()
    def follow(self, rate: float) -> None:
        """Move the target heads towards the heads by a share of the way (Polyak averaging)."""
        for target, source in zip(self.target_q.parameters(), self.q.parameters(), strict=True):
            target.lerp_(source, rate)


def _mlp(width: int, out: int) -> nn.Sequential:
    """Two layers; the last begins at zero, so that all values begin alike."""
    last = nn.Linear(2 * width, out)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), last)


def attach_heads(model: PreTrainedModel, *, q_heads: int) -> ValueHeads:
    """Give a model fresh heads, as `model.value_heads`."""
    config = model.config.get_text_config()
    vocabulary = model.get_output_embeddings().weight.shape[0]  # type: ignore[no-untyped-call]
    heads = ValueHeads(config.hidden_size, vocabulary, q_heads=q_heads)
    model.value_heads = heads.to(model.device)
    return heads


def load_heads(model: PreTrainedModel, folder: Path) -> ValueHeads:
    """Give a model the heads that are saved in its folder.

    Raises:
        LmrlError: the folder has none.
    """
    weights: dict[str, Tensor] = {}
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, "pt") as opened:
            names = [name for name in opened.keys() if name.startswith(_PREFIX)]  # noqa: SIM118 - no mapping
            weights |= {name.removeprefix(_PREFIX): opened.get_tensor(name) for name in names}
    if not weights:
        raise LmrlError(f"the model {folder} has no value heads; train them with `lmrl train ilql` or `lmrl train mc`")
    heads = attach_heads(model, q_heads=len({name.split(".")[1] for name in weights if name.startswith("q.")}))
    heads.load_state_dict(weights)
    heads.to(model.device, model.dtype)
    return heads


class TargetsFollow(TrainerCallback):
    """After each optimiser step the target heads follow."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def on_step_end(self, args: Any, state: Any, control: Any, *, model: Any = None, **kwargs: Any) -> None:
        """Move the target heads."""
        getattr(model, "module", model).value_heads.follow(self.rate)


class GuidedHead(nn.Module):
    """An output layer that gives log π(a|s) + β (min Q(s, a) − V(s)): behaviour, tilted towards what is worth more.

    Put in the place of a model's own output layer, it makes `generate` and everything else that samples from logits
    play the value-guided policy, with its cache (Snell et al. 2022, ILQL, equation 7).
    """

    def __init__(self, output: nn.Module, heads: ValueHeads, beta: float) -> None:
        super().__init__()
        self.output = output
        self.heads = heads
        self.beta = beta

    def forward(self, hidden: Tensor) -> Tensor:
        """Logits of the guided policy, shape (..., vocabulary)."""
        behaviour = self.output(hidden).float().log_softmax(-1)
        advantage = self.heads.least_target_q(hidden) - self.heads.v(hidden)
        guided: Tensor = behaviour + self.beta * advantage.float()
        return guided

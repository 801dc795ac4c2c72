"""A value-guided policy: a language model whose tokens are weighed by what they are worth (ILQL, MC returns)."""

from math import inf
from typing import ClassVar

from lmrl_data.errors import LmrlError
from lmrl_data.policy_options import Readers, with_options
from lmrl_loaders.extra import train_extra
from lmrl_loaders.hf_policy import HFPolicy

with train_extra():
    from lmrl_loaders.heads import GuidedHead, load_heads


class ValuePolicy(HFPolicy):
    """Plays log π(a|s) + β (min Q(s, a) − V(s)) with a model of `lmrl train ilql` or `lmrl train mc`.

    β says how far the values are followed: 0 is the language model alone.
    """

    kind = "ilql"
    takes: ClassVar[Readers] = {"beta": float, "temperature": float}

    def __init__(self, spec: str, *, task: str, config: str) -> None:
        """Load a model.

        Args:
            spec: its folder. With ``?beta=B`` behind it β is B and not what is stored with the model; with
                ``temperature=T`` the sum above is divided by T.
            task: what to play.
            config: of the task.

        Raises:
            LmrlError: as of `HFPolicy`; also where the model has no value heads, or β is no number from 0 up.
        """
        super().__init__(spec, task=task, config=config)
        self.beta: float = self.options.setdefault("beta", self.training.get("beta", 1.0))
        if not 0 <= self.beta < inf:
            raise LmrlError(f"beta is {self.beta}; it must be a number from 0 (the language model alone) up")
        heads = load_heads(self.model, self.folder)
        output = self.model.get_output_embeddings()  # type: ignore[no-untyped-call]
        self.model.set_output_embeddings(GuidedHead(output, heads, self.beta))  # type: ignore[no-untyped-call]
        self.name = with_options(self.name.partition("?")[0], dict(sorted(self.options.items())))

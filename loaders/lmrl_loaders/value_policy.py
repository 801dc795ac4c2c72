"""A value-guided policy: a language model whose tokens are weighed by what they are worth (ILQL, MC returns)."""

from pathlib import Path

from lmrl_data.errors import LmrlError
from lmrl_loaders.extra import train_extra
from lmrl_loaders.hf_policy import HFPolicy

with train_extra():
    from lmrl_loaders.heads import GuidedHead, load_heads
    from lmrl_loaders.model_folder import read_info


class ValuePolicy(HFPolicy):
    """Plays log π(a|s) + β (min Q(s, a) − V(s)) with a model of `lmrl train ilql` or `lmrl train mc`.

    β says how far the values are followed: 0 is the language model alone.
    """

    def __init__(self, spec: str, *, task: str, config: str, temperature: float = 1.0) -> None:
        """Load a model.

        Args:
            spec: its folder; with ``?beta=B`` behind it β is B and not what is stored with the model.
            task: what to play.
            config: of the task.
            temperature: as of `HFPolicy`.

        Raises:
            LmrlError: as of `HFPolicy`; also where the model has no value heads, or β is no number from 0 up.
        """
        path, asked, given = spec.partition("?")
        info = read_info(Path(path))
        super().__init__(path, task=task, config=config, temperature=temperature)
        beta = info.training.get("beta", 1.0) if info else 1.0
        if asked:
            beta = _number(given.removeprefix("beta=")) if given.startswith("beta=") else -1.0
        if not 0 <= beta < float("inf"):
            raise LmrlError(f"the policy ilql:{spec} does not say what beta is; write ilql:{path}?beta=4")
        heads = load_heads(self.model, Path(path))
        self.beta = float(beta)
        output = self.model.get_output_embeddings()  # type: ignore[no-untyped-call]
        self.model.set_output_embeddings(GuidedHead(output, heads, self.beta))  # type: ignore[no-untyped-call]
        self.name = f"ilql:{self.name.removeprefix('hf:')}?beta={self.beta:g}"


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return -1.0

"""Behaviour cloning: imitate the agent of the data, with TRL's SFTTrainer; filtered: of the better part of it.

The loss is on what the agent says and on the end of its turn, nothing else. Episodes go in as token sequences with
labels, cut into windows (`lmrl_loaders.windows`); where an episode fits into the context that is the same as TRL's
``messages`` with ``assistant_only_loss=True``.

Filtered behaviour cloning (%BC in the paper, section 5; Chen et al. 2021, Decision Transformer, section 5.1) keeps the
share of the episodes with the highest returns, or the successful ones. Where the border runs through episodes of equal
return, a draw with the run's seed decides which of them are kept, and not which come first in the file.
"""

from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy
from trl import SFTConfig, SFTTrainer  # type: ignore[attr-defined]

from lmrl_data.errors import LmrlError
from lmrl_loaders.chat import ChatEncoder
from lmrl_loaders.runs import Places, RunArguments, training_run
from lmrl_loaders.sequences import Utterances, training_sequences
from lmrl_loaders.value_batches import Batch, Steps, run_model
from lmrl_loaders.windows import WindowRule

SUCCESS = "success"


@dataclass
class BCConfig(RunArguments, SFTConfig):  # type: ignore[misc]
    """Settings of behaviour cloning: TRL's `SFTConfig` with the defaults of `RunArguments`."""

    activation_checkpointing: bool | None = field(
        default=False, metadata={"help": "Compute activations twice, which saves memory and costs time."}
    )
    keep: float | str | None = field(
        default=None,
        metadata={
            "help": "Filtered BC: 'success' keeps the successful episodes, a number from 0 to 1 the share with the "
            "highest returns. None keeps all."
        },
    )


class BCTrainer(SFTTrainer):
    """TRL's `SFTTrainer`. On a CPU, where its kernel for the loss takes ten times as long, by torch's cross entropy."""

    def compute_loss(
        self, model: Any, inputs: Batch, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """The mean surprise at the agent's tokens."""
        if not self.args.use_cpu:
            return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)  # type: ignore[no-untyped-call]
        steps = Steps.of(inputs["labels"])
        surprise = cross_entropy(run_model(model, inputs, steps)[1].float(), steps.action, reduction="sum")
        loss = surprise / (max(1, len(steps.action)) if num_items_in_batch is None else num_items_in_batch)
        if num_items_in_batch is not None and self.args.average_tokens_across_devices:
            loss = loss * self.accelerator.num_processes  # it counts the tokens of all, whose gradients are averaged
        return (loss, {}) if return_outputs else loss


def train_bc(task: str, *, args: BCConfig | None = None, **places: Unpack[Places]) -> dict[str, Any]:
    """Train a policy by behaviour cloning and save it; filtered where ``args.keep`` says so.

    Args:
        task: name of a task.
        args: settings of the training.
        **places: see `Places`. The method in the name of the output is ``bc`` or ``filtered-bc``.

    Returns:
        ``output``, ``task``, ``config``, ``episodes``, ``sequences``, ``steps``, ``train_loss``.

    Raises:
        LmrlError: see `training_run`; also where ``keep`` leaves no episode.
    """
    args = args or BCConfig()
    method, settings = ("bc", {}) if args.keep is None else ("filtered-bc", {"keep": args.keep})
    with training_run(method, task, args, settings, places) as run:
        chosen = None
        if args.keep is not None:
            chosen = best_episodes(run.episodes.scores(), args.keep, seed=args.seed)
            run.result["episodes"] = len(chosen)
        rows = run.rows(imitation, chosen)
        run.args.dataset_kwargs = {"skip_prepare_dataset": True}  # it is tokens and labels already
        run.args.remove_unused_columns = False  # lengths are of use where batches are grouped by them
        run.train(
            BCTrainer(
                model=run.network,
                args=run.args,
                train_dataset=rows.dataset.with_format(None),
                processing_class=run.encoder.tokenizer,
            )
        )
    return run.result


def imitation(table: pa.Table, utterances: Utterances, encoder: ChatEncoder, rule: WindowRule) -> pa.Table:
    """The rows of behaviour cloning: only what is said matters."""
    return training_sequences(utterances, encoder, rule)


def best_episodes(table: pa.Table, keep: float | str, *, seed: int) -> NDArray[np.int64]:
    """The rows of the episodes to imitate.

    Args:
        table: episodes.
        keep: ``"success"``, or the share with the highest returns.
        seed: decides which of the episodes with the return at the border are kept.

    Raises:
        LmrlError: keep is neither, or no episode is left.
    """
    if keep == SUCCESS:
        chosen = np.flatnonzero(table["success"].to_numpy())
        if not len(chosen):
            raise LmrlError("the dataset has no successful episode; keep a share with the highest returns instead")
        return chosen
    if not isinstance(keep, float) or not 0 < keep <= 1:
        raise LmrlError(f"keep is {keep!r}; it must be 'success' or a number above 0 and up to 1")
    returns = table["episode_return"].to_numpy()
    count = max(1, round(keep * len(returns)))
    # Among equals at the border a draw decides: the order of the file is that of the collecting policies.
    tie = np.random.Generator(np.random.PCG64(seed)).random(len(returns))
    return np.sort(np.lexsort((tie, -returns))[:count])

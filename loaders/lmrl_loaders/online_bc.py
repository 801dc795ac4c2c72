"""Online filtered behaviour cloning: the model plays, and imitates the better part of it (paper, section 5).

Each round it plays episodes in the simulator; those of the share with the highest returns, or the successful ones, are
imitated for some optimiser steps: −log π(a|s) over their agent tokens. In a round in which no episode succeeds, where
success is what counts, those with the highest return are.
"""

from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
from torch import Tensor
from torch.nn.functional import cross_entropy

from lmrl_data.episode import to_table
from lmrl_data.registry import get_task
from lmrl_loaders.bc import SUCCESS, best_episodes
from lmrl_loaders.online import Player, Rounds, Row, rows_of, summary
from lmrl_loaders.runs import Places, own_settings, training_run
from lmrl_loaders.value_batches import Batch, Steps, ValueCollator, run_model
from lmrl_loaders.value_trainer import ValueArguments, ValueTrainer


@dataclass
class OnlineBCConfig(ValueArguments):
    """Settings of online filtered BC. ``max_steps`` counts optimiser steps: rounds times ``steps_per_round``."""

    max_steps: int = field(default=800, metadata={"help": "Optimiser steps, of all rounds together."})
    episodes_per_round: int = field(default=128, metadata={"help": "Episodes that are played in a round."})
    steps_per_round: int = field(default=16, metadata={"help": "Optimiser steps on the episodes of a round."})
    keep: float | str = field(
        default=0.1,
        metadata={"help": "Share of a round with the highest returns that is imitated, or 'success'."},
    )
    lr_scheduler_type: str = field(default="constant", metadata={"help": "Course of the learning rate."})
    ignore_data_skip: bool = field(default=True, metadata={"help": "A resumed run plays on; it plays nothing again."})


class OnlineBCTrainer(ValueTrainer):
    """transformers' `Trainer` with the loss of imitation."""

    def losses(self, model: Any, heads: Any, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss of a batch."""
        steps = Steps.of(batch["labels"])
        _, logits = run_model(model, batch, steps)
        loss = cross_entropy(logits.float(), steps.action)
        return loss, {"bc": loss}


def train_online_bc(task: str, *, args: OnlineBCConfig | None = None, **places: Unpack[Places]) -> dict[str, Any]:
    """Train a policy by online filtered BC in the simulator and save it.

    Args:
        task: name of a task.
        args: settings of the training.
        **places: see `Places`. The model to begin with, if left out, is that of behaviour cloning.

    Returns:
        ``output``, ``task``, ``config``, ``episodes`` (of the data), ``played``, ``steps``, ``train_loss``. The model's
        log has mean return, success and length of each round.

    Raises:
        LmrlError: see `training_run`; also where there is no model to begin with.
    """
    args = args or OnlineBCConfig()
    places.setdefault("model", "bc")
    history: list[dict[str, float]] = []
    with training_run("online-bc", task, args, own_settings(args), places) as run:
        player = Player(run, "online-bc", args.episodes_per_round)

        def play(number: int) -> list[Row]:
            played = player.play(number)
            history.append({"round": number, **summary(played.episodes)})
            table = to_table(played.episodes, get_task(task))
            succeeded = table["success"].to_numpy().any()
            keep = 1 / len(table) if args.keep == SUCCESS and not succeeded else args.keep
            chosen = np.isin(played.cut.episode, best_episodes(table, keep, seed=args.seed + number))
            rows = rows_of(played.tokens)
            return [row for row, wanted in zip(rows, chosen, strict=True) if wanted and (row["labels"] >= 0).any()]

        try:
            trainer = OnlineBCTrainer(
                model=run.network,
                args=run.args,
                train_dataset=Rounds(
                    play,
                    rows=args.steps_per_round * args.per_device_train_batch_size,
                    first=lambda: trainer.state.global_step // args.steps_per_round,
                    seed=args.seed,
                ),
                data_collator=ValueCollator(run.encoder.tokenizer.pad_token_id),
            )
            run.train(trainer)
        finally:
            player.close()
        run.result["played"] = len(history) * args.episodes_per_round
        run.log += history
    return run.result

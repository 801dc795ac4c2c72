"""The order of length-grouped batches, from the run's seed."""

from typing import Any

import torch
from transformers import TrainerCallback
from transformers.trainer_pt_utils import LengthGroupedSampler


class OrderBySeed(TrainerCallback):
    """Lets ``train_sampling_strategy="group_by_length"`` draw each epoch's order from the seed and the epoch.

    transformers' own draws it from torch's global generator, so a run that is resumed in a later epoch would go on with
    another order: some rows would come twice in the epoch, and others not at all.
    """

    def on_epoch_begin(
        self, args: Any, state: Any, control: Any, *, train_dataloader: Any = None, **kwargs: Any
    ) -> None:
        """Seed the sampler."""
        batches = train_dataloader.batch_sampler
        sampler = getattr(getattr(batches, "batch_sampler", batches), "sampler", None)
        if isinstance(sampler, LengthGroupedSampler):
            sampler.generator = torch.Generator().manual_seed(args.seed + int(state.epoch or 0))

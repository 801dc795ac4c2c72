"""Length-grouped batches: every row once an epoch, little padding, an order from the seed and the epoch alone."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from loader_data import episodes_table, write_dataset

from lmrl_loaders.ilql import ILQLConfig, train_ilql
from lmrl_loaders.value_batches import Batch, ValueCollator

BATCH = 4


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lmrl-gym") / "maze"
    return write_dataset(folder, episodes_table("maze", "optimal", 40), "fully_observed")


def batches(data: Path, output: Path, **settings: Any) -> list[list[tuple[int, ...]]]:
    """The rows of each batch of two epochs, or of what is left of them in a resumed run."""
    seen: list[list[tuple[int, ...]]] = []

    class Watched(ValueCollator):
        def __call__(self, rows: Any) -> Batch:
            seen.append([tuple(row["input_ids"].tolist()) for row in rows])
            return super().__call__(rows)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lmrl_loaders.ilql.ValueCollator", Watched)
        args = ILQLConfig(max_steps=20, per_device_train_batch_size=BATCH, max_length=1024, **settings)
        train_ilql("maze", data=data, output=output, args=args)
    return seen


def padding(found: list[list[tuple[int, ...]]]) -> float:
    room = sum(len(rows) * max(map(len, rows)) for rows in found)
    return 1 - sum(len(row) for rows in found for row in rows) / room


def test_batches_of_like_length(data: Path, tmp_path: Path) -> None:
    random = batches(data, tmp_path / "random")
    grouped = batches(data, tmp_path / "grouped", train_sampling_strategy="group_by_length")
    torch.rand(7)  # what the process drew before must not matter
    again = batches(data, tmp_path / "again", train_sampling_strategy="group_by_length")
    assert grouped == again
    assert padding(grouped[:20]) < 0.7 * padding(random[:20])
    first, second = ([row for rows in part for row in rows] for part in (grouped[:10], grouped[10:20]))
    assert sorted(first) == sorted(second) == sorted(row for rows in random[:10] for row in rows)
    assert first != second


def test_a_resumed_epoch_has_the_rows_that_are_left(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"train_sampling_strategy": "group_by_length", "save_strategy": "steps", "save_steps": 14}
    whole = batches(data, tmp_path / "whole", train_sampling_strategy="group_by_length")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("lmrl_loaders.runs.save_model", _interrupt)
        batches(data, tmp_path / "model", **settings)
    shutil.rmtree(tmp_path / ".model.checkpoints" / "checkpoint-20")
    # torch is asked for other numbers than in the first run: the order of the second epoch is not to depend on them.
    original = torch.manual_seed
    with monkeypatch.context() as patch:
        patch.setattr(torch, "manual_seed", lambda seed: original(seed + 1))
        left = batches(data, tmp_path / "model", resume_from_checkpoint=True, **settings)
    assert left[-6:] == whole[14:20]
    assert np.unique([len(rows) for rows in left]).tolist() == [BATCH]


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt

"""Training in two processes: they see the batches that one would see, and hold the same weights."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from loader_data import episodes_table, weights, write_dataset, write_published

# Trains, interrupted at a step if told so, and writes the hash of all weights of its process, target heads included.
PROGRAM = """
import hashlib, json, os, sys
from lmrl_loaders import runs
from lmrl_loaders.recipes import run_method
from transformers import Trainer

method, settings, places, stop = json.loads(sys.argv[1])
train, step = runs.Run.train, Trainer.training_step

def stepped(trainer, *arguments, **more):
    if trainer.state.global_step == stop:
        raise KeyboardInterrupt
    return step(trainer, *arguments, **more)

def trained(run, trainer):
    train(run, trainer)
    digest = hashlib.sha256()
    for name, weight in sorted(run.network.state_dict().items()):
        digest.update(name.encode() + weight.numpy().tobytes())
    with open(places["output"] + ".rank" + os.environ["RANK"], "w") as file:
        file.write(digest.hexdigest())

Trainer.training_step, runs.Run.train = stepped, trained
try:
    run_method(method, "maze", settings, places)
except KeyboardInterrupt:
    pass
"""


def train(
    method: str,
    data: Path,
    output: Path,
    *,
    processes: int = 2,
    stop: int = -1,
    stream: bool = False,
    **settings: object,
) -> list[str]:
    """Train in some processes; the hash of the weights of each."""
    chosen = {"max_steps": 4, "include_num_input_tokens_seen": "non_padding", "save_steps": 2, **settings}
    chosen["per_device_train_batch_size"] = 8 // processes
    places = {"data": str(data), "output": str(output), "stream": stream}
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    program = output.parent / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    arguments = [str(program), json.dumps([method, chosen, places, stop])]
    done = subprocess.run([*command, *arguments], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    found = sorted(output.parent.glob(f"{output.name}.rank*"))
    return [path.read_text("utf-8") for path in found]


def tokens_seen(output: Path) -> int:
    last = (output / "training_log.jsonl").read_text("utf-8").splitlines()[-1]
    return int(json.loads(last)["num_input_tokens_seen"])


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    table = pa.concat_tables([episodes_table("maze", "optimal", 30), episodes_table("maze", "random", 4)])
    return write_dataset(tmp_path_factory.mktemp("lmrl-gym") / "maze", table, "fully_observed")


@pytest.mark.slow
def test_ilql_in_two_processes(data: Path, tmp_path: Path) -> None:
    hashes = train("ilql", data, tmp_path / "two")
    assert len(hashes) == 2 and hashes[0] == hashes[1]
    train("ilql", data, tmp_path / "one", processes=1)
    assert tokens_seen(tmp_path / "two") == tokens_seen(tmp_path / "one")
    two, one = weights(tmp_path / "two"), weights(tmp_path / "one")
    assert any("target_q" in name for name in one)
    # The same batches, but for a mean of two means of steps: the weights are near each other, and have moved alike.
    assert all(np.abs(two[name] - one[name]).mean() < 0.01 for name in one)
    train("ilql", data, tmp_path / "more", save_strategy="steps", stop=3)
    assert not (tmp_path / "more").exists() and (tmp_path / ".more.checkpoints" / "checkpoint-2").is_dir()
    resumed = train("ilql", data, tmp_path / "more", save_strategy="steps", resume_from_checkpoint=True)
    assert resumed == hashes
    assert not (tmp_path / ".more.checkpoints").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("method", "stream"), [("bc", False), ("mc", False), ("ilql", True)])
def test_the_other_ways_in_two_processes(method: str, stream: bool, tmp_path: Path) -> None:
    table = episodes_table("maze", "optimal", 30)
    data = write_published(tmp_path / "maze", table, "fully_observed", files=3)
    hashes = train(method, data, tmp_path / "two", stream=stream)
    assert len(hashes) == 2 and hashes[0] == hashes[1]
    train(method, data, tmp_path / "one", processes=1, stream=stream)
    assert tokens_seen(tmp_path / "two") == tokens_seen(tmp_path / "one")


@pytest.mark.slow
def test_play_in_two_processes_is_refused(data: Path, tmp_path: Path) -> None:
    train("bc", data, tmp_path / "bc", processes=1)
    with pytest.raises(AssertionError, match="training by play is for one process"):
        train("online-bc", data, tmp_path / "two", model=str(tmp_path / "bc"))

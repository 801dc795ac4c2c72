"""What training and playing with a language model cost: ``python -m benchmarks.training``.

Training: an optimiser step of each offline method and of a plain language model (the model's own loss on all labels) on
the same batches, in turns, so that a busy machine slows all of them alike. Playing: the same episodes with a model that
remembers what it has read and with one that reads everything anew at each token's turn. Waiting: the share of a
training's processor time in which it gets its batches, from the mapped rows of a folder or from a stream of it.
"""

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import torch
from datasets import Dataset
from rich.console import Console
from rich.table import Table
from transformers import Trainer

from lmrl_data.episode import game_table
from lmrl_data.game import rollout_game
from lmrl_data.policy import GamePolicy
from lmrl_data.registry import get_task, make_game, make_policy, make_vec
from lmrl_data.rollouts import rollout
from lmrl_data.seeding import episode_seeds
from lmrl_loaders.bc import BCConfig, train_bc
from lmrl_loaders.chat import ChatEncoder
from lmrl_loaders.heads import attach_heads
from lmrl_loaders.hf_policy import ModelPolicy
from lmrl_loaders.ilql import ILQLConfig, ILQLTrainer, train_ilql
from lmrl_loaders.mc import MCConfig, MCTrainer, train_mc
from lmrl_loaders.runs import RunArguments
from lmrl_loaders.sequences import longest_reply, read_utterances
from lmrl_loaders.tiny import SIZES, tiny_model
from lmrl_loaders.tokenizer import build_tokenizer
from lmrl_loaders.transitions import transitions
from lmrl_loaders.value_batches import Batch, ValueCollator
from lmrl_loaders.windows import WindowRule

TASK, POLICY, CONTEXT = "maze", "region-0", 128
EPISODES, BATCH, STEPS = 200, 32, 40
ROWS, TURNS = 64, 40


def episodes() -> pa.Table:
    """Episodes of a scripted policy."""
    task = get_task(TASK)
    name, config = task.config()
    game, policy = make_game(TASK, name), make_policy(POLICY, TASK)
    assert game is not None and isinstance(policy, GamePolicy)
    seeds = episode_seeds(0, "benchmarks/training", 0, EPISODES)
    played = rollout_game(game, policy.array_policy, seeds)
    return game_table(task, config.env_id, game, played, [POLICY] * EPISODES, [str(seed) for seed in seeds])


def stepper(trainer: Trainer) -> Callable[[Batch], None]:
    """A function that does one optimiser step of a trainer."""
    model: Any = trainer.model
    trainer.create_optimizer()
    optimizer: Any = trainer.optimizer
    model.train()

    def step(batch: Batch) -> None:
        trainer.compute_loss(model, dict(batch)).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def training(size: str, folder: Path) -> dict[str, tuple[float, float]]:
    """Seconds of a step, and trained tokens (of all kinds) a second, by method."""
    table = episodes()
    utterances = read_utterances(table)
    tokenizer = build_tokenizer(utterances.counts())
    encoder = ChatEncoder(tokenizer)
    rule = WindowRule(CONTEXT, longest_reply(utterances, encoder))
    rows = Dataset(transitions(table, utterances, encoder, rule, gamma=0.99, credit="turn")).with_format("numpy")
    collate = ValueCollator(tokenizer.pad_token_id)
    batches = [collate([rows[row] for row in range(first, first + BATCH)]) for first in range(0, BATCH * STEPS, BATCH)]
    end = encoder.format.end[-1]
    trainers: dict[str, Trainer] = {}
    for name in ("language model", "mc", "ilql"):
        model = tiny_model(tokenizer, context=CONTEXT, seed=0, size=size)
        common: dict[str, Any] = {"model": model, "data_collator": collate}
        places: dict[str, Any] = {"output_dir": str(folder), "learning_rate": 1e-3}
        if name == "language model":
            trainers[name] = Trainer(args=RunArguments(**places), **common)
        elif name == "mc":
            attach_heads(model, q_heads=1)
            trainers[name] = MCTrainer(args=MCConfig(**places), **common)
        else:
            attach_heads(model, q_heads=2)
            trainers[name] = ILQLTrainer(args=ILQLConfig(**places), end_token=end, **common)
    steps = {name: stepper(trainer) for name, trainer in trainers.items()}
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for number, batch in enumerate(batches):
        for name, step in steps.items():
            given = {key: batch[key] for key in ("input_ids", "attention_mask", "labels")}
            began = time.perf_counter()
            step(given if name == "language model" else batch)
            if number >= 5:
                seconds[name].append(time.perf_counter() - began)
    tokens = statistics.mean(float(batch["attention_mask"].sum()) for batch in batches)
    return {name: (statistics.median(times), tokens / statistics.median(times)) for name, times in seconds.items()}


def playing(size: str) -> dict[str, tuple[float, float]]:
    """Seconds, and tokens said a second, with and without the memory of what was read."""
    utterances = read_utterances(episodes())
    encoder = ChatEncoder(build_tokenizer(utterances.counts()))
    rule = WindowRule(4 * CONTEXT, longest_reply(utterances, encoder))
    model = tiny_model(encoder.tokenizer, context=4 * CONTEXT, seed=0, size=size).eval()  # type: ignore[no-untyped-call]
    env = make_vec(TASK, ROWS)
    env.game.max_turns = TURNS  # type: ignore[attr-defined]
    found = {}
    try:
        for name, remembers in (("remembers", True), ("reads anew", False)):
            policy = ModelPolicy("benchmark", model, encoder, rule)
            policy._reader.remembers = remembers
            began = time.perf_counter()
            rollout(env, policy, range(ROWS))
            seconds = time.perf_counter() - began
            found[name] = (seconds, policy.usage.completion_tokens / seconds)
    finally:
        del env.game.max_turns  # type: ignore[attr-defined]
    return found


def waiting(size: str, folder: Path) -> dict[str, tuple[float, float]]:
    """Seconds of the processor for a step, and the share of them that getting the batch takes, by method."""
    name, _ = get_task(TASK).config()
    file = folder / TASK / "data" / name / "train-00000-of-00001.parquet"
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(episodes(), file)
    card = f"---\nconfigs:\n- config_name: {name}\n  data_files: data/{name}/train-*.parquet\n---\n"
    (folder / TASK / "README.md").write_text(card, encoding="utf-8")
    found = {}
    for method, train, config, stream in (
        ("bc", train_bc, BCConfig, False),
        ("mc", train_mc, MCConfig, False),
        ("ilql", train_ilql, ILQLConfig, False),
        ("ilql, stream", train_ilql, ILQLConfig, True),
    ):
        times: list[tuple[float, float]] = []
        get = Trainer.get_batch_samples

        def timed(*arguments: Any, get: Any = get, times: Any = times) -> Any:
            began = time.process_time()
            batches = get(*arguments)
            times.append((began, time.process_time()))
            return batches

        args: Any = config(max_steps=STEPS, per_device_train_batch_size=BATCH, max_length=CONTEXT)
        with patch.object(Trainer, "get_batch_samples", timed):
            train(TASK, model=size, data=folder / TASK, output=folder / "model", args=args, stream=stream)
        steps = times[5:]  # the first ones open files and reserve memory
        whole = steps[-1][0] - steps[0][0]
        found[method] = whole / (len(steps) - 1), sum(end - began for began, end in steps[:-1]) / whole
    return found


def main() -> None:
    """Measure and print."""
    torch.set_num_threads(1)
    table = Table("model", "what", "seconds", "tokens/s", "relative", title="Training (a step) and playing")
    with TemporaryDirectory() as folder:
        for size in SIZES:
            steps = training(size, Path(folder))
            for name, (seconds, rate) in steps.items():
                relative = f"{seconds / steps['language model'][0]:.2f}"
                table.add_row(size, f"step: {name}", f"{seconds:.4f}", f"{rate:,.0f}", relative)
            for name, (seconds, share) in waiting(size, Path(folder)).items():
                table.add_row(size, f"waiting for data: {name}", f"{seconds:.4f}", "", f"{share:.1%}")
            played = playing(size)
            for name, (seconds, rate) in played.items():
                relative = f"{seconds / played['remembers'][0]:.2f}"
                table.add_row(size, f"play: {name}", f"{seconds:.2f}", f"{rate:,.0f}", relative)
    Console(width=100).print(table)


if __name__ == "__main__":
    main()

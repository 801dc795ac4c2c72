"""Datasets, models and tokenizers that the tests of lmrl_loaders make for themselves."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from lmrl_data.episode import Episode, game_table, to_table
from lmrl_data.game import rollout_game
from lmrl_data.policy import GamePolicy
from lmrl_data.registry import get_task, make_game, make_policy
from lmrl_data.seeding import episode_seeds
from lmrl_loaders.chat import ChatEncoder
from lmrl_loaders.model_folder import ModelInfo, save_model
from lmrl_loaders.sequences import read_utterances, sizes_of
from lmrl_loaders.tiny import tiny_model
from lmrl_loaders.tokenizer import build_tokenizer
from lmrl_loaders.windows import WindowRule

# ChatML as many instruction models have it, without generation marks.
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
MARKED_CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% if message['role'] == 'assistant' %}"
    "{% generation %}{{ message['content'] }}<|im_end|>{% endgeneration %}{{ '\n' }}"
    "{% else %}{{ message['content'] }}<|im_end|>\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def episodes_table(task: str, policy: str, count: int, *, config: str | None = None) -> pa.Table:
    """Episodes of a scripted policy."""
    found = get_task(task)
    name, chosen = found.config(config)
    game = make_game(task, name)
    scripted = make_policy(policy, task, config=name)
    assert game is not None and isinstance(scripted, GamePolicy)
    seeds = episode_seeds(0, f"tests/{policy}", 0, count)
    ids = [f"{policy}-{seed}" for seed in seeds]
    episodes = rollout_game(game, scripted.array_policy, seeds)
    return game_table(found, chosen.env_id, game, episodes, [policy] * count, ids)


def write_dataset(folder: Path, table: pa.Table, config: str) -> Path:
    """A dataset folder with a train split."""
    file = folder / "data" / config / "train-00000-of-00001.parquet"
    file.parent.mkdir(parents=True)
    pq.write_table(table, file)
    return folder


def write_published(folder: Path, table: pa.Table, config: str, files: int) -> Path:
    """A dataset folder with a train split in several files, and a card by which `load_dataset` finds it."""
    data = folder / "data" / config
    data.mkdir(parents=True)
    size = -(-len(table) // files)
    for number in range(files):
        file = data / f"train-{number:05d}-of-{files:05d}.parquet"
        pq.write_table(table.slice(number * size, size), file)
    card = (
        f"configs:\n- config_name: {config}\n  data_files:\n  - split: train\n    path: data/{config}/train-*.parquet\n"
    )
    (folder / "README.md").write_text(f"---\n{card}---\n", encoding="utf-8")
    return folder


def talk(*contents: str) -> pa.Table:
    """A table with one maze episode that says these things, the environment first."""
    messages = [
        {"role": ("user", "assistant")[place % 2], "content": content} for place, content in enumerate(contents)
    ]
    episode = Episode(
        messages=messages,  # type: ignore[arg-type]
        rewards=[-1.0] * (len(contents) // 2),
        success=False,
        terminated=False,
        truncated=True,
        seed=0,
        policy="test",
        env_id="lmrl/Maze-v0",
        info={"start": [1, 1], "goal": [8, 6]},
    )
    return to_table([episode], get_task("maze"))


def pretrained_tokenizer(template: str | None) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer with ChatML's tokens, as pretrained models have them."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(["The goal is at row 8, column 6. Walls: left, right. move left move right"], trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        extra_special_tokens=["<|im_start|>"],
        chat_template=template,
    )


def save_untrained(folder: Path, task: str, *, context: int, seed: int = 0) -> Path:
    """A model folder of a tiny model that has learnt nothing: its replies are as diverse as can be."""
    table = episodes_table(task, "random", 20)
    utterances = read_utterances(table)
    tokenizer = build_tokenizer(utterances.counts())
    rule = WindowRule(context, sizes_of(utterances, ChatEncoder(tokenizer)).reply)
    name, _ = get_task(task).config()
    info = ModelInfo(task, name, "bc", seed, rule, {}, {}, {})
    save_model(folder, tiny_model(tokenizer, context=context, seed=seed), tokenizer, info)
    return folder


def weights(folder: Path) -> dict[str, np.ndarray]:
    """The weights in a model folder."""
    from safetensors.numpy import load_file

    return load_file(folder / "model.safetensors")

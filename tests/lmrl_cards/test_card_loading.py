"""What users do with a dataset folder that has a card: everything in fresh processes, offline."""

import json
import os
import re
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from card_folders import TASKS

from lmrl_data.episode import episode_schema, evaluation_schema
from lmrl_data.registry import get_task

LOAD = """
import json, sys
from datasets import load_dataset

def load(name, configs):
    found = {}
    for config in [None, *configs]:
        dataset = load_dataset(name, config)
        split = next(iter(dataset))
        stream = load_dataset(name, config, split=split, streaming=True)
        # To its end: one that is left half-read may abort the interpreter when it exits (huggingface/datasets#7566).
        assert list(stream) == list(dataset[split])
        found[str(config)] = {
            "rows": {split: len(rows) for split, rows in dataset.items()},
            "schema": str(dataset[split].features.arrow_schema.remove_metadata()),
            "last": [rows[-1]["episode_id"] for rows in dataset.values()],
        }
    return found

print(json.dumps({name: load(f"lmrl-gym/{name}", configs) for name, configs in json.loads(sys.argv[1]).items()}))
"""

RUN = """
import contextlib, io, json, sys

said = {}
for task, blocks in json.load(sys.stdin).items():
    said[task] = []
    for block in blocks:
        with contextlib.redirect_stdout(io.StringIO()) as output:
            exec(compile(block, f"card of {task}", "exec"), {})
        said[task].append(output.getvalue())
print(json.dumps(said))
"""


def python(code, *arguments, cwd, home, given=None):
    """The last line that a fresh process prints, as JSON."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(home), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=cwd, env=environment, input=given, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def blocks_of(folder):
    return re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def loaded(carded, tmp_path_factory):
    """What `load_dataset` finds by task and config."""
    configs = {name: [*get_task(name).configs, "evaluation"] for name in TASKS}
    return python(LOAD, json.dumps(configs), cwd=carded, home=tmp_path_factory.mktemp("hf"))


@pytest.fixture(scope="module")
def said(carded, tmp_path_factory):
    """What the code of each card prints, block by block, apart from TRL's. It evaluates on eight episodes, not all."""
    blocks = {name: blocks_of(carded / "lmrl-gym" / name) for name in TASKS}
    assert {len(found) for found in blocks.values()} == {6}
    given = {
        name: [
            block.replace('split="test")\nepisodes', 'split="test[:8]")\nepisodes')
            for block in found
            if "trl" not in block
        ]
        for name, found in blocks.items()
    }
    return python(RUN, cwd=carded, home=tmp_path_factory.mktemp("hf"), given=json.dumps(given))


@pytest.mark.parametrize("task", TASKS)
def test_load_dataset_gives_the_rows_and_types_of_the_files(carded, loaded, task):
    registered, found = get_task(task), loaded[task]
    for config in [*registered.configs, "evaluation"]:
        tables = {}
        for path in sorted((carded / "lmrl-gym" / task / "data" / config).iterdir()):
            tables.setdefault(path.name.split("-")[0], []).append(pq.read_table(path))
        assert found[config]["rows"] == {split: sum(map(len, parts)) for split, parts in tables.items()}
        assert found[config]["last"] == [parts[-1]["episode_id"][-1].as_py() for parts in tables.values()]
        schema = evaluation_schema(registered) if config == "evaluation" else episode_schema(registered)
        assert found[config]["schema"] == str(schema)
    assert found["None"] == found[registered.config()[0]]


@pytest.mark.parametrize("task", TASKS)
def test_the_code_of_the_card_runs(carded, said, task):
    folder, (_, config) = carded / "lmrl-gym" / task, get_task(task).config()
    first, streamed, pandas, polars, evaluated = said[task]
    shards = [pq.read_table(path) for path in sorted(folder.glob(f"data/{get_task(task).config()[0]}/train-*"))]
    assert first.startswith("[{'role': 'user', 'content': ") or first.startswith("[{'content': ")
    solved = pq.read_table(next(folder.glob(f"data/{get_task(task).config()[0]}/validation-*")))["success"]
    assert streamed == f"{sum(solved.to_pylist())} episodes solved\n"
    # Both print a row per policy; pandas those of the first file.
    policies = [set(shard["policy"].to_pylist()) for shard in shards]
    assert len(pandas.strip().splitlines()) == 2 + len(policies[0])
    assert all(name in pandas for name in policies[0]) and "episode_return" in pandas
    assert all(name in polars for name in set.union(*policies)) and "episode_return" in polars
    mean_return, score = map(float, evaluated.split())
    assert score == pytest.approx(config.bounds.normalise(mean_return))


MODEL = """
import json, sys
from pathlib import Path
import trl
from tokenizers import Tokenizer, models, pre_tokenizers, decoders
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
tokenizer = Tokenizer(models.BPE(vocab={char: i for i, char in enumerate(alphabet)}, merges=[]))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
template = (Path(trl.__file__).parent / "chat_templates/qwen2_5.jinja").read_text()
fast = PreTrainedTokenizerFast(
    tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>", chat_template=template
)
fast.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
config = Qwen3Config(
    vocab_size=len(fast), hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
    num_key_value_heads=1, head_dim=8,
)
Qwen3ForCausalLM(config).save_pretrained("model")
fast.save_pretrained("model")

learnt = {}
for task, block in json.load(sys.stdin).items():
    names = {}
    exec(compile(block, f"card of {task}", "exec"), names)
    trainer = names["trainer"]
    labels = next(iter(trainer.get_train_dataloader()))["labels"][0]
    learnt[task] = trainer.state.global_step, trainer.processing_class.decode(labels[labels >= 0])
print()
print(json.dumps(learnt))
"""


@pytest.mark.slow
def test_trl_trains_on_the_turns_of_the_agent_only(carded, tmp_path):
    small = "max_steps=1, per_device_train_batch_size=1, use_cpu=True, bf16=False, gradient_checkpointing=False"
    given = {}
    for task in TASKS:
        (block,) = [block for block in blocks_of(carded / "lmrl-gym" / task) if "trl" in block]
        block = block.replace("Qwen/Qwen2.5-0.5B-Instruct", "model").replace("max_steps=1000", small)
        given[task] = block.replace('split="train"', 'split="train[:4]"').replace("lmrl-gym/", f"{carded}/lmrl-gym/")
    found = python(MODEL, cwd=tmp_path, home=tmp_path / "hf", given=json.dumps(given))
    assert set(found) == set(TASKS)
    for task, (steps, learnt) in found.items():
        tables = [pq.read_table(path) for path in (carded / "lmrl-gym" / task).glob("data/*/train-*")]
        messages = [message for table in tables for row in table["messages"].to_pylist() for message in row]
        said = {message["content"] for message in messages if message["role"] == "assistant"}
        turns = learnt.split("<|im_end|>")
        assert steps == 1 and turns.pop().strip() == "" and len(turns) > 0
        assert {turn.strip("\n") for turn in turns} <= {text.strip("\n") for text in said}, task
        assert (tmp_path / f"models/{task}-sft/model.safetensors").exists()

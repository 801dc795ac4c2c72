"""What users do with a dataset folder that has a card: everything in fresh processes, offline."""

import json
import os
import re
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from card_folders import GAME_TASKS

LOAD = """
import json, sys
from datasets import load_dataset

name, configs = sys.argv[1], sys.argv[2:]
found = {}
for config in [None, *configs]:
    dataset = load_dataset(name, config)
    split = next(iter(dataset))
    stream = load_dataset(name, config, split=split, streaming=True)
    # To its end: a stream that is left half-read may abort the interpreter when it exits (huggingface/datasets#7566).
    assert list(stream) == list(dataset[split])
    found[str(config)] = {
        "rows": {split: len(rows) for split, rows in dataset.items()},
        "schema": str(dataset[split].features.arrow_schema.remove_metadata()),
        "last": [rows[-1]["episode_id"] for rows in dataset.values()],
    }
print(json.dumps(found))
"""


def python(code, *arguments, cwd, tmp_path):
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def blocks_of(folder):
    return re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("task", GAME_TASKS)
def test_load_dataset_gives_the_rows_and_types_of_the_files(carded, tmp_path, task):
    from lmrl_data.episode import episode_schema, evaluation_schema
    from lmrl_data.registry import get_task

    registered = get_task(task)
    output = python(LOAD, f"lmrl-gym/{task}", *registered.configs, "evaluation", cwd=carded, tmp_path=tmp_path)
    found = json.loads(output)
    for config in [*registered.configs, "evaluation"]:
        tables = {}
        for path in sorted((carded / "lmrl-gym" / task / "data" / config).iterdir()):
            tables.setdefault(path.name.split("-")[0], []).append(pq.read_table(path))
        assert found[config]["rows"] == {split: sum(map(len, parts)) for split, parts in tables.items()}
        assert found[config]["last"] == [parts[-1]["episode_id"][-1].as_py() for parts in tables.values()]
        schema = evaluation_schema(registered) if config == "evaluation" else episode_schema(registered)
        assert found[config]["schema"] == str(schema)
    assert found["None"] == found[registered.config()[0]]


@pytest.mark.parametrize("task", GAME_TASKS)
def test_the_code_of_the_card_runs(carded, tmp_path, task):
    """All blocks in one process, each with names of its own; TRL's is only compiled here, as is that of polars."""
    blocks = blocks_of(carded / "lmrl-gym" / task)
    runnable = [block for block in blocks if "trl" not in block and "polars" not in block]
    assert len(blocks) == 6 and len(runnable) == 4
    for block in blocks:
        compile(block, "card", "exec")
    script = "\n".join(f"exec({block!r}, {{}})" for block in runnable)
    output = python(script, cwd=carded, tmp_path=tmp_path)
    assert "episodes solved" in output and "episode_return" in output


MODEL = """
import sys
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
Qwen3ForCausalLM(config).save_pretrained(sys.argv[1])
fast.save_pretrained(sys.argv[1])
"""


@pytest.mark.slow
def test_the_trl_block_trains_on_agent_turns_only(carded, tmp_path):
    python(MODEL, str(tmp_path / "model"), cwd=tmp_path, tmp_path=tmp_path)
    (block,) = [block for block in blocks_of(carded / "lmrl-gym/wordle") if "trl" in block]
    block = block.replace("Qwen/Qwen2.5-0.5B-Instruct", str(tmp_path / "model"))
    block = block.replace("models/wordle-sft", str(tmp_path / "bc"))
    block = block.replace("max_steps=1000", "max_steps=2, use_cpu=True, bf16=False, gradient_checkpointing=False")
    script = f"""
{block}
batch = next(iter(trainer.get_train_dataloader()))
labels = batch["labels"][0]
print(json.dumps([trainer.state.global_step, trainer.processing_class.decode(labels[labels >= 0])]))
"""
    steps, learnt = json.loads(python(f"import json\n{script}", cwd=carded, tmp_path=tmp_path).strip().splitlines()[-1])
    turns = learnt.replace("\n", "").split("<|im_end|>")
    assert steps == 2 and turns.pop() == "" and len(turns) > 0
    assert all(re.fullmatch(r"([a-z] ){4}[a-z]", turn) for turn in turns), learnt

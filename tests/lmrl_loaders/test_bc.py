import hashlib
import json
import random
from pathlib import Path

import numpy as np
import pytest
import torch
from loader_data import CHATML, MARKED_CHATML, episodes_table, pretrained_tokenizer, weights, write_dataset
from safetensors import SafetensorError
from transformers import AutoModelForCausalLM, AutoTokenizer, GPT2Config, GPT2LMHeadModel
from trl.chat_template_utils import has_generation_markers
from typer.testing import CliRunner

from lmrl_data.errors import LmrlError
from lmrl_data.registry import make_policy, make_vec
from lmrl_data.rollouts import rollout
from lmrl_data.starts import evaluation_seeds
from lmrl_loaders import bc, runs
from lmrl_loaders.bc import BCConfig, train_bc
from lmrl_loaders.commands import app
from lmrl_loaders.hf_policy import HFPolicy
from lmrl_loaders.model_folder import read_info


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dataset(
        tmp_path_factory.mktemp("lmrl-gym") / "maze", episodes_table("maze", "optimal", 60), "fully_observed"
    )


def train(data: Path, output: Path, **settings: object) -> dict[str, object]:
    return train_bc("maze", data=data, output=output, args=BCConfig(**{"max_steps": 4, **settings}))  # type: ignore[arg-type]


def same(first: Path, second: Path) -> bool:
    a, b = weights(first), weights(second)
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def test_same_seed_same_weights_and_no_global_random_state_touched(data: Path, tmp_path: Path) -> None:
    states = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state()  # type: ignore[index, union-attr]
    train(data, tmp_path / "a")
    assert random.getstate() == states[0]
    assert np.random.get_state()[1].tolist() == states[1]  # type: ignore[index, union-attr]
    assert torch.equal(torch.get_rng_state(), states[2])
    torch.manual_seed(99)
    train(data, tmp_path / "b")
    train(data, tmp_path / "c", seed=1)
    assert same(tmp_path / "a", tmp_path / "b")
    assert not same(tmp_path / "a", tmp_path / "c")
    assert (tmp_path / "a" / "tokenizer.json").read_bytes() == (tmp_path / "b" / "tokenizer.json").read_bytes()
    assert (tmp_path / "a" / "lmrl.json").read_bytes() == (tmp_path / "b" / "lmrl.json").read_bytes()


def test_the_saved_model_loads_with_transformers_alone(data: Path, tmp_path: Path) -> None:
    result = train(data, tmp_path / "models" / "maze-bc")
    assert result["steps"] == 4 and result["episodes"] == 60
    model, loading = AutoModelForCausalLM.from_pretrained(tmp_path / "models" / "maze-bc", output_loading_info=True)
    assert not any(loading.values())
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "models" / "maze-bc")
    assert has_generation_markers(tokenizer.chat_template)
    assert model.config.eos_token_id == tokenizer.convert_tokens_to_ids("<|end|>")
    # Nothing but the model is left behind.
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["maze-bc"]


def test_the_model_says_where_it_comes_from(data: Path, tmp_path: Path) -> None:
    train(data, tmp_path / "model", seed=3)
    info = read_info(tmp_path / "model")
    assert info is not None
    assert (info.task, info.config, info.method, info.seed) == ("maze", "fully_observed", "bc", 3)
    file = "data/fully_observed/train-00000-of-00001.parquet"
    assert info.data == {file: hashlib.sha256((data / file).read_bytes()).hexdigest()}
    assert info.training["steps"] == 4
    assert set(info.versions) >= {"lmrl-gym", "torch", "transformers", "trl"}


def test_training_replaces_a_model_but_nothing_else(data: Path, tmp_path: Path) -> None:
    train(data, tmp_path / "model")
    train(data, tmp_path / "model", seed=1)
    info = read_info(tmp_path / "model")
    assert info is not None and info.seed == 1
    precious = tmp_path / "thesis"
    precious.mkdir()
    (precious / "chapter.txt").write_text("x", encoding="utf-8")
    with pytest.raises(LmrlError, match="choose another --output"):
        train(data, precious)
    assert (precious / "chapter.txt").exists()


def test_an_interrupted_run_leaves_nothing(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(bc.SFTTrainer, "training_step", interrupt)
    with pytest.raises(KeyboardInterrupt):
        train(data, tmp_path / "model")
    monkeypatch.undo()
    monkeypatch.setattr("transformers.PreTrainedTokenizerBase.save_pretrained", interrupt)
    with pytest.raises(KeyboardInterrupt):
        train(data, tmp_path / "model")
    assert not list(tmp_path.glob("*"))


def test_a_run_resumes_from_its_checkpoint(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    settings = {"save_strategy": "steps", "save_steps": 2}
    train(data, tmp_path / "whole")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(runs, "save_model", interrupt)
        train(data, tmp_path / "model", **settings)
    assert not (tmp_path / "model").exists()
    # The last checkpoint is of the last step; take it away, so that there is something left to do.
    checkpoints = tmp_path / ".model.checkpoints"
    (checkpoints / "checkpoint-4").rename(tmp_path / "elsewhere")
    train(data, tmp_path / "model", resume_from_checkpoint=True, **settings)
    assert same(tmp_path / "model", tmp_path / "whole")
    assert not checkpoints.exists()


def pretrained(folder: Path, template: str | None) -> Path:
    tokenizer = pretrained_tokenizer(template)
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=len(tokenizer), n_positions=512, n_embd=32, n_layer=1, n_head=2)
    GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.parametrize(("template", "end"), [(None, "<|end|>"), (CHATML, "<|end|>"), (MARKED_CHATML, "<|im_end|>")])
def test_a_pretrained_model_is_trained_with_a_marked_template(
    data: Path, tmp_path: Path, template: str | None, end: str
) -> None:
    start = pretrained(tmp_path / "start", template)
    args = BCConfig(max_steps=3, learning_rate=1e-3)
    for seed, name in enumerate(("a", "b")):
        torch.manual_seed(seed)  # what the process did before must not matter
        train_bc("maze", model=str(start), data=data, output=tmp_path / name, args=args)
    assert same(tmp_path / "a", tmp_path / "b")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "a")
    assert has_generation_markers(tokenizer.chat_template)
    assert tokenizer.eos_token == end
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "a")
    assert model.get_input_embeddings().num_embeddings == len(tokenizer)
    policy = HFPolicy(str(tmp_path / "a"), task="maze", config="fully_observed")
    policy.reset([0])
    assert isinstance(policy.act([[{"role": "user", "content": "Walls: left."}]])[0], str)


def test_a_number_of_messages_below_zero_is_refused(data: Path, tmp_path: Path) -> None:
    with pytest.raises(LmrlError, match="whole_messages is -5; it must be 0 or more"):
        train(data, tmp_path / "m", whole_messages=-5)


def test_a_context_beyond_the_model_is_refused(data: Path, tmp_path: Path) -> None:
    start = pretrained(tmp_path / "start", None)
    with pytest.raises(LmrlError, match=r"max_length is 600.*512 positions"):
        train_bc("maze", model=str(start), data=data, output=tmp_path / "m", args=BCConfig(max_length=600))


def test_a_context_too_short_for_the_task_is_refused(data: Path, tmp_path: Path) -> None:
    with pytest.raises(LmrlError, match="max_length"):
        train(data, tmp_path / "model", max_length=20)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"data": "nowhere"}, "lmrl generate"),
        ({"model": "nowhere"}, "no model folder"),
        ({"task": "chequers"}, "unknown task"),
        ({"config": "dark"}, "no config 'dark'"),
    ],
)
def test_bad_arguments(data: Path, tmp_path: Path, arguments: dict[str, str], message: str) -> None:
    given = {"task": "maze", "data": str(data), "output": str(tmp_path / "model"), **arguments}
    with pytest.raises(LmrlError, match=message):
        train_bc(given.pop("task"), **given)  # type: ignore[arg-type]
    assert not list(tmp_path.glob("*"))


def test_command_prints_json_only(data: Path, tmp_path: Path) -> None:
    output = tmp_path / "model"
    arguments = ["bc", "--task", "maze", "--data", str(data), "--output", str(output), "--max-steps", "2"]
    done = CliRunner().invoke(app, [*arguments, "--json"])
    assert done.exit_code == 0
    result = json.loads(done.stdout)
    assert result["output"] == str(output) and result["steps"] == 2
    assert (output / "model.safetensors").is_file()


@pytest.mark.parametrize("accumulation", [1, 2])
def test_the_loss_on_a_cpu_is_that_of_trl(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, accumulation: int
) -> None:
    settings = {"learning_rate": 1e-3, "logging_steps": 1, "gradient_accumulation_steps": accumulation}
    ours = train(data, tmp_path / "ours", **settings)
    monkeypatch.setattr(bc.BCTrainer, "compute_loss", bc.SFTTrainer.compute_loss)
    theirs = train(data, tmp_path / "theirs", **settings)
    assert ours["train_loss"] == pytest.approx(theirs["train_loss"], rel=1e-4)
    a, b = weights(tmp_path / "ours"), weights(tmp_path / "theirs")
    assert all(np.allclose(a[name], b[name], atol=1e-3) for name in a)


@pytest.mark.slow
def test_bc_on_optimal_episodes_plays_nearly_optimally(tmp_path: Path) -> None:
    data = write_dataset(tmp_path / "maze", episodes_table("maze", "optimal", 1240), "fully_observed")
    args = BCConfig(max_steps=400, whole_messages=100, max_length=64)
    train_bc("maze", data=data, output=tmp_path / "model", args=args)
    policy = make_policy(f"hf:{tmp_path / 'model'}", "maze")
    episodes = rollout(make_vec("maze", 100), policy, evaluation_seeds("maze", episodes=100).tolist())
    # Optimal is -6.84 over the starts, which come equally often among the evaluation seeds.
    assert np.mean([episode.episode_return for episode in episodes]) > -8
    assert np.mean([episode.success for episode in episodes]) >= 0.99


def test_a_model_that_cannot_be_written_leaves_nothing(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr("transformers.PreTrainedModel.save_pretrained", fail)
    with pytest.raises(LmrlError, match=r"cannot write the model to .*No space left"):
        train(data, tmp_path / "models" / "m", max_steps=1)
    assert list((tmp_path / "models").iterdir()) == []


def test_models_of_two_configs_do_not_take_each_others_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for config in ("fully_observed", "partially_observed"):
        table = episodes_table("maze", "optimal", 20, config=config)
        folder = write_dataset(tmp_path / "lmrl-gym" / "maze", table, config)
        train_bc("maze", config=config, data=folder, args=BCConfig(max_steps=1))
    infos = {path.name: read_info(path) for path in (tmp_path / "models").iterdir()}
    assert {name: info.config for name, info in infos.items() if info} == {
        "maze-bc": "fully_observed",
        "maze-partially_observed-bc": "partially_observed",
    }

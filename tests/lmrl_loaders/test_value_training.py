"""The trainers with value heads, end to end: on the maze, and on a chain whose true values are known."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from loader_data import episodes_table, save_untrained, weights, write_dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM

from lmrl_data.episode import Episode, to_table
from lmrl_data.errors import LmrlError
from lmrl_data.registry import get_task, make_policy, make_vec
from lmrl_data.rollouts import rollout
from lmrl_data.text import Message
from lmrl_loaders.ilql import ILQLConfig, ILQLTrainer, train_ilql
from lmrl_loaders.mc import MCConfig, MCTrainer, train_mc
from lmrl_loaders.model_folder import read_info
from lmrl_loaders.runs import training_run
from lmrl_loaders.value_policy import ValuePolicy

TRAINERS: dict[str, Any] = {"ilql": (train_ilql, ILQLConfig, ILQLTrainer), "mc": (train_mc, MCConfig, MCTrainer)}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    table = pa.concat_tables([episodes_table("maze", "optimal", 30), episodes_table("maze", "random", 4)])
    return write_dataset(tmp_path_factory.mktemp("lmrl-gym") / "maze", table, "fully_observed")


def train(method: str, data: Path, output: Path, **settings: Any) -> dict[str, Any]:
    train_it, config, _ = TRAINERS[method]
    places = {name: settings.pop(name) for name in ("model", "peft_config") if name in settings}
    args = config(**{"max_steps": 4, "per_device_train_batch_size": 4, **settings})
    result: dict[str, Any] = train_it("maze", data=data, output=output, args=args, **places)
    return result


@pytest.mark.parametrize("method", TRAINERS)
def test_a_model_is_a_plain_one_with_heads_beside_it(method: str, data: Path, tmp_path: Path) -> None:
    result = train(method, data, tmp_path / "model", gamma=0.9)
    assert result["steps"] == 4 and result["episodes"] == 34
    _, loading = AutoModelForCausalLM.from_pretrained(tmp_path / "model", output_loading_info=True)
    assert not loading["missing_keys"]
    assert all(name.startswith("value_heads.") for name in loading["unexpected_keys"])
    info = read_info(tmp_path / "model")
    assert info is not None and info.method == method and info.training["gamma"] == 0.9
    policy = make_policy(f"ilql:{tmp_path / 'model'}", "maze")
    assert isinstance(policy, ValuePolicy) and policy.beta == TRAINERS[method][1]().beta
    assert policy.name == f"ilql:model?beta={policy.beta:g}"
    lines = (tmp_path / "model" / "training_log.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[-1])["step"] == 4


@pytest.mark.parametrize(
    "setting", [{"awac_weight": 2.0}, {"credit": "token"}, {"returns_share": 1.0}, {"bc_weight": 0.2}]
)
def test_settings_of_ilql_change_what_is_learnt(setting: dict[str, Any], data: Path, tmp_path: Path) -> None:
    train("ilql", data, tmp_path / "plain")
    train("ilql", data, tmp_path / "other", **setting)
    plain, other = weights(tmp_path / "plain"), weights(tmp_path / "other")
    assert any(not np.array_equal(plain[name], other[name]) for name in plain)


@pytest.mark.parametrize("method", TRAINERS)
def test_heads_alone_leave_the_language_model(method: str, data: Path, tmp_path: Path) -> None:
    train("mc", data, tmp_path / "first")
    train(method, data, tmp_path / "second", heads_only=True, model=str(tmp_path / "first"))
    first, second = weights(tmp_path / "first"), weights(tmp_path / "second")
    learnt = {name for name in first if not np.array_equal(first[name], second[name])}
    assert learnt and all(name.startswith("value_heads.") for name in learnt)
    with pytest.raises(LmrlError, match="give a trained one"):
        train(method, data, tmp_path / "third", heads_only=True)
    assert not (tmp_path / "third").exists()


def test_beta_zero_is_the_language_model_and_a_large_one_is_not(data: Path, tmp_path: Path) -> None:
    train("ilql", data, tmp_path / "model", max_steps=12)
    env = make_vec("maze", 8)
    env.game.max_turns = 6  # type: ignore[attr-defined]
    try:
        plain, at_zero, guided = (
            [episode.actions for episode in rollout(env, make_policy(spec, "maze"), range(8))]
            for spec in (f"hf:{tmp_path}/model", f"ilql:{tmp_path}/model?beta=0", f"ilql:{tmp_path}/model?beta=90")
        )
    finally:
        del env.game.max_turns  # type: ignore[attr-defined]
    assert at_zero == plain
    assert guided != plain


def test_generate_plays_the_guided_policy(data: Path, tmp_path: Path) -> None:
    """The model itself is guided: `generate` with its cache says what the policy says."""
    train("ilql", data, tmp_path / "model", max_steps=12)
    policy = ValuePolicy(f"{tmp_path}/model?beta=9&temperature=0", task="maze", config="fully_observed")
    messages: list[Message] = [{"role": "user", "content": "Walls: left, right."}]
    policy.reset([0])
    said = policy.act([messages])[0]
    prompt = policy.encoder.prompt(messages)
    spoken = policy.model.generate(torch.tensor([prompt]), max_new_tokens=policy.rule.reply_tokens, do_sample=False)
    assert policy.tokenizer.decode(spoken[0, len(prompt) :], skip_special_tokens=True) == said


@pytest.mark.parametrize("spec", ["?beta=", "?beta=-1", "?beta=x", "?temperature=-1", "?beta=inf", "?alpha=1", "?"])
def test_a_beta_that_cannot_be(data: Path, tmp_path: Path, spec: str) -> None:
    train("mc", data, tmp_path / "model", max_steps=1)
    with pytest.raises(LmrlError, match=r"beta is|the temperature is|it takes .beta=NUMBER, temperature=NUMBER"):
        make_policy(f"ilql:{tmp_path / 'model'}{spec}", "maze")


def test_a_model_without_heads_is_refused(tmp_path: Path) -> None:
    save_untrained(tmp_path / "model", "maze", context=128)
    with pytest.raises(LmrlError, match=r"no value heads.*lmrl train ilql"):
        make_policy(f"ilql:{tmp_path / 'model'}", "maze")


@pytest.mark.parametrize("method", TRAINERS)
def test_same_seed_same_weights_and_a_run_resumes(
    method: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(method, data, tmp_path / "whole")
    train(method, data, tmp_path / "again")
    settings = {"save_strategy": "steps", "save_steps": 2}
    step = TRAINERS[method][2].training_step

    def interrupt(trainer: Any, *arguments: Any, **more: Any) -> Any:
        if trainer.state.global_step == 3:
            raise KeyboardInterrupt
        return step(trainer, *arguments, **more)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(TRAINERS[method][2], "training_step", interrupt)
        train(method, data, tmp_path / "model", **settings)
    assert not (tmp_path / "model").exists() and (tmp_path / ".model.checkpoints" / "checkpoint-2").is_dir()
    train(method, data, tmp_path / "model", resume_from_checkpoint=True, **settings)
    whole = weights(tmp_path / "whole")
    for name in ("again", "model"):
        other = weights(tmp_path / name)
        assert other.keys() == whole.keys()
        assert all(np.array_equal(other[key], whole[key]) for key in whole)


def test_an_adapter_is_merged_into_a_plain_model(data: Path, tmp_path: Path) -> None:
    train("ilql", data, tmp_path / "base", max_steps=1)
    lora = LoraConfig(r=2, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    train("ilql", data, tmp_path / "tuned", model=str(tmp_path / "base"), peft_config=lora, learning_rate=1e-2)
    base, tuned = weights(tmp_path / "base"), weights(tmp_path / "tuned")
    assert base.keys() == tuned.keys()
    changed = {name for name in base if not np.array_equal(base[name], tuned[name])}
    assert "model.layers.0.self_attn.q_proj.weight" in changed
    assert "model.layers.0.mlp.up_proj.weight" not in changed
    make_policy(f"ilql:{tmp_path / 'tuned'}", "maze")


# A corridor of four places with the goal behind the last: "right" leads on, "left" back. Each move costs 1.
PLACES = ("one", "two", "three", "four")
GAMMA = 0.8


def chain(count: int, seed: int, *, limit: int) -> pa.Table:
    """Episodes of a walk in the corridor that goes right with probability 1/2; cut off after so many moves."""
    draw = np.random.Generator(np.random.PCG64(seed))
    episodes = []
    for number in range(count):
        place, rewards = int(draw.integers(4)), []
        messages: list[Message] = [{"role": "user", "content": PLACES[place]}]
        while place < 4 and len(rewards) < limit:
            right = draw.random() < 0.5
            place = place + 1 if right else max(0, place - 1)
            rewards.append(-1.0)
            messages.append({"role": "assistant", "content": "right" if right else "left"})
            messages.append({"role": "user", "content": PLACES[place] if place < 4 else "goal"})
        episodes.append(
            Episode(
                messages=messages,
                rewards=rewards,
                success=place == 4,
                terminated=place == 4,
                truncated=place < 4,
                seed=number,
                policy="walk",
                env_id="lmrl/Maze-v0",
                info={"start": [1, 1], "goal": [8, 6]},
            )
        )
    return to_table(episodes, get_task("maze"))


def true_q(best: bool) -> np.ndarray:
    """Q of the best policy, or of the walk, by iteration over the four places; columns left, right; shape (4, 2)."""
    values = np.zeros(5)
    for _ in range(500):
        q = np.array([[-1 + GAMMA * values[max(0, place - 1)], -1 + GAMMA * values[place + 1]] for place in range(4)])
        values[:4] = q.max(1) if best else q.mean(1)
    return q


def learnt_q(folder: Path) -> np.ndarray:
    policy = ValuePolicy(str(folder), task="maze", config="fully_observed")
    heads = policy.model.get_output_embeddings().heads  # type: ignore[no-untyped-call]
    found = []
    for place in PLACES:
        prompt = policy.encoder.prompt([{"role": "user", "content": place}])
        with torch.no_grad():
            hidden = policy.model.model(torch.tensor([prompt])).last_hidden_state[0, -1]
            worth = heads.least_target_q(hidden)
        found.append([float(worth[policy.encoder.encode(action)[0]]) for action in ("left", "right")])
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "best", "limit"), [("ilql", True, 12), ("mc", False, 100)])
def test_values_of_a_chain_are_the_true_ones(method: str, best: bool, limit: int, tmp_path: Path) -> None:
    # ILQL bootstraps where an episode was cut off; recorded returns are the true ones only if hardly any was.
    data = write_dataset(tmp_path / "maze", chain(1500, 0, limit=limit), "fully_observed")
    settings: dict[str, Any] = {"gamma": GAMMA, "cql_weight": 0.0, "bc_weight": 0.1, "learning_rate": 1e-2}
    if method == "ilql":
        settings |= {"tau": 0.95, "target_rate": 0.1}
    # The corridor is Markov: one turn is all that need be seen.
    train(method, data, tmp_path / "model", max_steps=500, per_device_train_batch_size=64, max_length=16, **settings)
    found, expected = learnt_q(tmp_path / "model"), true_q(best)
    assert np.abs(found - expected).max() < 0.35, f"{found}\n{expected}"
    assert (found.argmax(1) == expected.argmax(1)).all()


def test_an_error_in_training_leaves_nothing(data: Path, tmp_path: Path) -> None:
    with (
        pytest.raises(ZeroDivisionError),
        training_run("ilql", "maze", ILQLConfig(), {}, {"data": data, "output": tmp_path / "model"}),
    ):
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())

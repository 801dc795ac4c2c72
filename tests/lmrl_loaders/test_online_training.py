"""PPO, online filtered BC and TRL's GRPO, playing in the simulators."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from loader_data import episodes_table, weights, write_dataset
from trl import GRPOConfig, GRPOTrainer  # type: ignore[attr-defined]

from lmrl_data.errors import LmrlError
from lmrl_data.registry import make_policy, make_vec
from lmrl_data.rollouts import rollout
from lmrl_data.text import Message
from lmrl_loaders import online
from lmrl_loaders.bc import BCConfig, train_bc
from lmrl_loaders.chat import ChatEncoder
from lmrl_loaders.grpo import GRPORollouts, episode_return, grpo_prompts
from lmrl_loaders.hf_policy import HFPolicy, ModelPolicy
from lmrl_loaders.online import Rounds, said
from lmrl_loaders.online_bc import OnlineBCConfig, train_online_bc
from lmrl_loaders.ppo import PPOConfig, train_ppo
from lmrl_loaders.sequences import IGNORED

TRAINERS: dict[str, Any] = {"ppo": (train_ppo, PPOConfig), "online-bc": (train_online_bc, OnlineBCConfig)}
SMALL = {"max_steps": 4, "steps_per_round": 2, "episodes_per_round": 6, "per_device_train_batch_size": 4}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    table = episodes_table("maze", "optimal", 60)
    return write_dataset(tmp_path_factory.mktemp("lmrl-gym") / "maze", table, "fully_observed")


@pytest.fixture(scope="module")
def cloned(data: Path) -> Path:
    """A model that knows what moves look like, and plays some of them well."""
    output = data.parent / "models" / "maze-bc"
    train_bc("maze", data=data, output=output, args=BCConfig(max_steps=60))
    return output


def train(method: str, data: Path, cloned: Path, output: Path, **settings: Any) -> dict[str, Any]:
    function, config = TRAINERS[method]
    args = config(**{**SMALL, **settings})
    result: dict[str, Any] = function("maze", data=data, model=str(cloned), output=output, args=args)
    return result


@pytest.mark.parametrize("method", TRAINERS)
def test_rounds_are_played_logged_and_repeated_bit_for_bit(
    method: str, data: Path, cloned: Path, tmp_path: Path
) -> None:
    result = train(method, data, cloned, tmp_path / "a")
    train(method, data, cloned, tmp_path / "b")
    train(method, data, cloned, tmp_path / "c", seed=1)
    assert result["steps"] == 4 and result["played"] >= 12
    a, b, c = (weights(tmp_path / name) for name in "abc")
    assert all(np.array_equal(a[name], b[name]) for name in a)
    assert not all(np.array_equal(a[name], c[name]) for name in a)
    log = [json.loads(line) for line in (tmp_path / "a" / "training_log.jsonl").read_text("utf-8").splitlines()]
    rounds = [entry for entry in log if "round" in entry]
    assert [entry["round"] for entry in rounds][:2] == [0, 1]
    assert all(-100 <= entry["return"] <= 0 and 0 <= entry["success"] <= 1 for entry in rounds)
    make_policy(f"hf:{tmp_path / 'a'}", "maze")


@pytest.mark.parametrize("method", TRAINERS)
def test_without_a_first_model_the_error_says_how_to_get_one(
    method: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LmrlError, match=r"models/maze-bc.*lmrl train bc --task maze"):
        TRAINERS[method][0]("maze", data=data)


def test_a_resumed_run_goes_on_with_its_round(data: Path, cloned: Path, tmp_path: Path) -> None:
    numbers: list[int] = []

    class Interrupted(Exception):
        pass

    play = online.Player.play

    def spy(player: online.Player, number: int) -> online.Played:
        numbers.append(number)
        if numbers == [0, 1, 2]:
            raise Interrupted
        return play(player, number)

    settings = {"max_steps": 8, "save_strategy": "steps", "save_steps": 2}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(online.Player, "play", spy)
        with pytest.raises(Interrupted):
            train("ppo", data, cloned, tmp_path / "model", **settings)
        numbers.clear()
        patch.setattr(online.Player, "play", lambda player, number: (numbers.append(number), play(player, number))[1])
        result = train("ppo", data, cloned, tmp_path / "model", resume_from_checkpoint=True, **settings)
    assert result["steps"] == 8
    assert numbers[0] in (1, 2) and 0 not in numbers


def test_what_is_trained_on_is_what_was_said(cloned: Path) -> None:
    """The tokens of the policy, in windows, are predicted with the log probabilities that it drew them with."""
    policy = HFPolicy(str(cloned), task="maze", config="fully_observed")
    with make_vec("maze", 5) as env:
        env.game.max_turns = 12  # type: ignore[attr-defined]
        try:
            episodes = rollout(env, policy, range(5))
        finally:
            del env.game.max_turns  # type: ignore[attr-defined]
    played = said(episodes, policy.spoken, policy.encoder, policy.rule)
    labels = played.tokens.labels
    assert labels[labels != IGNORED].tolist() == [
        token for turns in policy.spoken for tokens in turns for token in tokens
    ]
    assert len(played.cut.start) > 5, "some episodes should have more than one window"


def test_an_end_that_the_model_did_not_say_is_not_trained_on(cloned: Path) -> None:
    policy = HFPolicy(str(cloned), task="maze", config="fully_observed")
    encoder, rule = policy.encoder, policy.rule
    with make_vec("maze", 1) as env:
        (episode,) = rollout(env, policy, [0])
    spoken = [[*turn] for turn in policy.spoken[0]]
    cut_short = [spoken[0][:-1], *spoken[1:]]
    whole, short = (said([episode], [turns], encoder, rule).tokens for turns in (spoken, cut_short))
    assert (whole.labels != IGNORED).sum() == (short.labels != IGNORED).sum() + 1
    assert short.input_ids.tolist() == whole.input_ids.tolist()


def test_rounds_give_each_row_as_often_as_the_others() -> None:
    rounds = Rounds(
        lambda number: [{"x": np.array([number, row])} for row in range(3)], rows=6, first=lambda: 4, seed=0
    )
    taken = [tuple(row["x"].tolist()) for row, _ in zip(rounds, range(12), strict=False)]
    assert sorted(taken[:6]) == sorted(2 * [(4, row) for row in range(3)])
    assert sorted(taken[6:]) == sorted(2 * [(5, row) for row in range(3)])


@pytest.mark.slow
def test_ppo_finds_the_way(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From random moves to the shortest ways of a small maze, by play alone."""
    table = episodes_table("maze", "random", 60)
    folder = write_dataset(tmp_path / "maze", table, "fully_observed")
    train_bc("maze", data=folder, output=tmp_path / "random", args=BCConfig(max_steps=150, max_length=72))
    layout = np.array([[1, 1, 1, 1, 1], [1, 0, 0, 0, 1], [1, 1, 1, 0, 1], [1, 1, 1, 1, 1]])
    make = online.make_vec
    monkeypatch.setattr(
        online, "make_vec", lambda task, count, config: make(task, count, config=config, layout=layout, goal=(2, 3))
    )
    args = PPOConfig(
        max_steps=320,
        steps_per_round=8,
        episodes_per_round=32,
        per_device_train_batch_size=32,
        learning_rate=1e-3,
        reward_scale=0.1,
        gamma=0.95,
        # With the default's 0.01 the same run learns on one machine and loops on another; why is not known.
        kl_weight=0.03,
        max_length=72,
    )
    train_ppo("maze", data=folder, model=str(tmp_path / "random"), output=tmp_path / "ppo", args=args)
    policy = make_policy(f"hf:{tmp_path / 'ppo'}", "maze")
    with make("maze", 60, layout=layout, goal=(2, 3)) as env:
        episodes = rollout(env, policy, range(60))
    # The three starts are 3, 2 and 1 moves from the goal, and the last move costs nothing: the best is about -1.
    assert np.mean([episode.episode_return for episode in episodes]) > -1.6
    assert all(episode.success for episode in episodes)


def test_grpo_trains_on_whole_episodes(cloned: Path, tmp_path: Path) -> None:
    seen: dict[str, Any] = {}

    class Spied(GRPORollouts):
        def __call__(self, prompts: Any, trainer: Any) -> dict[str, list[Any]]:
            seen.update(super().__call__(prompts, trainer))
            return seen

    args = GRPOConfig(
        output_dir=str(tmp_path),
        max_steps=1,
        per_device_train_batch_size=4,
        num_generations=2,
        max_completion_length=4000,
        use_cpu=True,
        bf16=False,
        report_to="none",
        disable_tqdm=True,
    )
    trainer = GRPOTrainer(
        model=str(cloned),
        args=args,
        train_dataset=grpo_prompts("maze", episodes=8),
        rollout_func=Spied("maze"),
        reward_funcs=episode_return,
    )
    before = {name: value.clone() for name, value in trainer.model.named_parameters()}
    trainer.train()
    assert any(not torch.equal(value, before[name]) for name, value in trainer.model.named_parameters())
    encoder = ChatEncoder(trainer.processing_class)
    for prompt, completion, mask, worth in zip(
        seen["prompt_ids"], seen["completion_ids"], seen["env_mask"], seen["episode_return"], strict=True
    ):
        assert prompt[-len(encoder.format.reply) :] == list(encoder.format.reply)
        assert (len(completion) == len(mask) and mask[0] == 1 and 0 < sum(mask) < len(mask)) or len(mask) < 8
        assert -400 <= worth <= 0
    # Two generations of a prompt begin alike and go on differently.
    assert seen["prompt_ids"][0] == seen["prompt_ids"][1] and seen["completion_ids"][0] != seen["completion_ids"][1]


def test_grpo_prompts_name_their_episodes() -> None:
    prompts = grpo_prompts("maze", episodes=5, seed=3)["prompt"]
    first, _ = make_vec("maze", 5).reset([prompt[0]["seed"] for prompt in prompts])
    assert [prompt[0]["content"] for prompt in prompts] == first.tolist()
    with pytest.raises(LmrlError, match="grpo_prompts"):
        GRPORollouts("maze")([[{"role": "user", "content": "hello"}]], None)


def test_a_policy_goes_on_with_the_tokens_that_it_said(cloned: Path) -> None:
    """A reply may be spelt in several ways; what is read at the next turn is the one that was said."""
    policy = HFPolicy(str(cloned), task="maze", config="fully_observed")
    messages: list[Message] = [{"role": "user", "content": "Walls: left."}]
    policy.reset([0])
    (reply,) = policy.act([messages])
    spelt = [policy.tokenizer.convert_tokens_to_ids("▁" if char == " " else char) for char in reply]
    assert policy.tokenizer.decode(spelt) == reply
    policy.spoken[0][0] = spelt
    following: list[Message] = [*messages, {"role": "assistant", "content": reply}, messages[0]]
    assert isinstance(policy, ModelPolicy)
    assert policy._prompt(0, following) == policy.encoder.joined([policy.encoder.encode("Walls: left.")] * 2, [spelt])

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from loader_data import CHATML, pretrained_tokenizer, save_untrained
from transformers import GPT2Config, GPT2LMHeadModel

from lmrl_data.errors import LmrlError
from lmrl_data.registry import make_policy, make_vec
from lmrl_data.rollouts import rollout
from lmrl_data.text import Message
from lmrl_loaders.hf_policy import REPLY_TOKENS, HFPolicy

SEEDS = list(range(40, 52))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_untrained(tmp_path_factory.mktemp("models") / "untrained", "maze", context=128)


def play(policy: HFPolicy, seeds: list[int], num_envs: int) -> list[list[str]]:
    """The first replies of each episode; the untrained model's are long and of all lengths."""
    env = make_vec("maze", num_envs)
    env.game.max_turns = 12  # type: ignore[attr-defined]
    try:
        return [episode.actions for episode in rollout(env, policy, seeds)]
    finally:
        del env.game.max_turns  # type: ignore[attr-defined]


def test_replies_do_not_depend_on_the_batch(model: Path) -> None:
    policy = HFPolicy(str(model), task="maze", config="fully_observed")
    together = play(policy, SEEDS, len(SEEDS))
    assert play(policy, SEEDS, 1) == together
    assert play(policy, SEEDS[::-1], 5) == together[::-1]
    assert len({tuple(actions) for actions in together}) == len(SEEDS)


def test_sampling_follows_the_model(model: Path) -> None:
    """Over many seeds each first token comes as often as the model says."""
    policy = HFPolicy(str(model), task="maze", config="fully_observed")
    with torch.no_grad():  # an untrained model is nearly uniform: make it sharper
        policy.model.get_output_embeddings().weight.mul_(6)
    observation: Message = {"role": "user", "content": "Walls: left, right."}
    with torch.inference_mode():
        logits = policy.model(torch.tensor([policy.encoder.prompt([observation])])).logits[0, -1]
    expected = logits.softmax(dim=0).numpy()
    assert expected.max() > 0.2, "a nearly uniform model would say nothing"
    count = 4000
    policy.reset(range(count))
    policy.act([[observation]] * count)
    drawn = [turns[0][0] for turns in policy.spoken]
    observed = np.bincount(drawn, minlength=len(expected)) / count
    assert np.abs(observed - expected).sum() / 2 < 0.06


def test_zero_temperature_plays_the_likeliest_token(model: Path) -> None:
    policy = HFPolicy(f"{model}?temperature=0", task="maze", config="fully_observed")
    messages: list[Message] = [{"role": "user", "content": "Walls: left, right."}]
    policy.reset([1, 2])
    first, second = policy.act([messages, messages])
    assert first == second
    ids = policy.encoder.prompt(messages)
    spoken: list[int] = []
    with torch.inference_mode():
        while len(spoken) < policy.rule.reply_tokens:
            token = int(policy.model(torch.tensor([ids + spoken])).logits[0, -1].argmax())
            if token in policy.encoder.format.end:
                break
            spoken.append(token)
    assert first == policy.tokenizer.decode(spoken, skip_special_tokens=True)


def test_a_temperature_close_to_zero_plays_what_zero_does(model: Path) -> None:
    messages: list[Message] = [{"role": "user", "content": "Walls: left, right."}]
    said = []
    for temperature in ("0", "1e-320"):
        policy = HFPolicy(f"{model}?temperature={temperature}", task="maze", config="fully_observed")
        policy.reset([1])
        policy.act([messages])
        said.append(policy.spoken)
    assert said[0] == said[1]


def test_only_conversations_that_go_on_are_answered(model: Path) -> None:
    policy = HFPolicy(f"{model}?temperature=0", task="maze", config="fully_observed")
    policy.reset([0, 1, 2])
    message: Message = {"role": "user", "content": "Walls: left."}
    assert policy.act([[], [], []]) == ["", "", ""]
    alone = policy.act([[], [message], []])
    assert alone[0] == alone[2] == ""
    assert alone[1] == policy.act([[message]] * 3)[1]


def test_the_model_sees_the_window_of_its_training(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = HFPolicy(str(model), task="maze", config="fully_observed")
    seen: list[list[int]] = []
    read = policy._reader.logits

    def spy(prompts: dict[int, list[int]]) -> torch.Tensor:
        seen.append(list(prompts[0]))
        return read(prompts)

    monkeypatch.setattr(policy._reader, "logits", spy)
    policy.reset([3])
    conversation: list[Message] = [{"role": "user", "content": "Walls: left, right."}]
    lengths = [len(policy.encoder.encode(conversation[0]["content"]))]
    for turn in range(40):
        seen.clear()
        policy.act([conversation])
        start = policy.rule.starts(policy.encoder, lengths[::2], lengths[1::2])[-1]
        # 16 tokens a turn and 10 for the last observation: the ninth prompt is the first beyond 122 of room.
        assert (start > 0) == (turn >= 8)
        assert seen[0] == policy.encoder.prompt(conversation[2 * start :])
        assert len(seen[0]) + policy.rule.reply_tokens <= policy.rule.context
        conversation.append({"role": "assistant", "content": "move up"})
        conversation.append({"role": "user", "content": "Walls: left, right."})
        lengths += [len(policy.encoder.encode(message["content"])) for message in conversation[-2:]]


def test_made_from_a_spec(model: Path) -> None:
    policy = make_policy(f"hf:{model}", "maze")
    assert policy.name == f"hf:{model.name}"  # and not where it lies on this disk


def foreign_model(folder: Path, template: str | None) -> Path:
    """A GPT-2 with a tokenizer of another kind, which knows nothing of lmrl."""
    tokenizer = pretrained_tokenizer(template)
    config = GPT2Config(vocab_size=len(tokenizer), n_positions=256, n_embd=16, n_layer=1, n_head=1)
    # What a model's authors may ask for must not change how it is scored.
    model = GPT2LMHeadModel(config)
    model.generation_config.update(do_sample=True, top_k=1, repetition_penalty=5.0, max_length=7)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_a_model_from_elsewhere_plays(tmp_path: Path) -> None:
    policy = HFPolicy(str(foreign_model(tmp_path, CHATML)), task="maze", config="partially_observed")
    assert policy.rule.context == 256
    assert policy.rule.reply_tokens < REPLY_TOKENS  # the task's longest action
    assert set(policy._ends) == {policy.tokenizer.convert_tokens_to_ids("<|im_end|>")}
    policy.reset([1, 2])
    replies = policy.act([[{"role": "user", "content": "Walls: left."}]] * 2)
    assert replies[0] != replies[1]


def test_a_model_without_chat_template_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LmrlError, match="no chat template"):
        HFPolicy(str(foreign_model(tmp_path, None)), task="maze", config="fully_observed")


@pytest.mark.parametrize("path", ["nowhere", "."])
def test_no_model_folder(tmp_path: Path, path: str) -> None:
    with pytest.raises(LmrlError, match=r"no model folder.*lmrl train bc"):
        HFPolicy(str(tmp_path / path), task="maze", config="fully_observed")


def test_a_broken_model_gives_one_clear_line(tmp_path: Path) -> None:
    folder = save_untrained(tmp_path / "model", "maze", context=128)
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(LmrlError, match="cannot be loaded"):
        HFPolicy(str(folder), task="maze", config="fully_observed")


@pytest.mark.parametrize("text", ["", "[]", "{}", "\x00"])
def test_a_broken_description_gives_one_clear_line(tmp_path: Path, text: str) -> None:
    folder = save_untrained(tmp_path / "model", "maze", context=128)
    (folder / "lmrl.json").write_text(text, encoding="utf-8")
    with pytest.raises(LmrlError, match=r"lmrl\.json cannot be read"):
        HFPolicy(str(folder), task="maze", config="fully_observed")


def test_a_model_of_another_task_is_refused(model: Path) -> None:
    with pytest.raises(LmrlError, match="trained on the task maze"):
        HFPolicy(str(model), task="wordle", config="default")


@pytest.mark.parametrize(
    "option",
    ["temperature=-1", "temperature=nan", "temperature=inf", "temperature=", "beta=1", "temperature=1&temperature=0"],
)
def test_options_that_cannot_be_are_refused(model: Path, option: str) -> None:
    with pytest.raises(LmrlError, match=r"the temperature is|it takes \?temperature=NUMBER|given twice"):
        HFPolicy(f"{model}?{option}", task="maze", config="fully_observed")


def test_the_temperature_is_part_of_the_name(model: Path) -> None:
    name = f"hf:{model.name}"
    assert make_policy(f"hf:{model}", "maze").name == name
    sharp = make_policy(f"hf:{model}?temperature=0.5", "maze")
    assert sharp.name == f"{name}?temperature=0.5" and sharp.temperature == 0.5  # type: ignore[attr-defined]


def test_without_the_extra_the_error_says_what_to_install(tmp_path: Path) -> None:
    code = """
import sys
sys.modules["torch"] = None
from lmrl_data.cli import main
from lmrl_data.registry import make_policy
try:
    make_policy("hf:models/x", "maze")
except Exception as error:
    print(type(error).__name__, error)
sys.argv = ["lmrl", "train", "bc", "--task", "maze"]
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout.startswith("LmrlError") and 'pip install "lmrl-gym[train]"' in done.stdout
    assert 'pip install "lmrl-gym[train]"' in done.stderr and "Traceback" not in done.stderr


def test_help_does_not_import_torch() -> None:
    code = "import sys, lmrl_loaders.commands; print([m for m in ('torch', 'transformers', 'trl') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.replace("'", '"')) == []


def test_a_model_is_loaded_by_its_name_on_the_hub(tmp_path: Path) -> None:
    # As a download leaves it in the cache, which is where a model of the Hub comes from without a network.
    repository = tmp_path / "hub" / "models--someone--tiny"
    save_untrained(repository / "snapshots" / "0123abc", "maze", context=128)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("0123abc")
    lmrl = Path(sys.executable).with_name("lmrl")
    for name, code, message in [("someone/tiny", 0, ""), ("someone/else", 2, "nor found on the Hub")]:
        command = [lmrl, "evaluate", "--task", "maze", "--episodes", "2", "--policy", f"hf:{name}", "--json"]
        environment = {**os.environ, "HF_HUB_CACHE": str(tmp_path / "hub"), "HF_HUB_OFFLINE": "1"}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        assert message in done.stderr and "Traceback" not in done.stderr


def test_tokens_are_counted(model: Path) -> None:
    policy = HFPolicy(str(model), task="maze", config="fully_observed")
    policy.reset([0, 1])
    messages: list[Message] = [{"role": "user", "content": "Walls: left."}]
    policy.act([messages, []])
    said = policy.spoken[0][0]
    assert policy.usage.requests == 1
    assert policy.usage.prompt_tokens == len(policy.encoder.prompt(messages))
    assert policy.usage.completion_tokens == len(said)

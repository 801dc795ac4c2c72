"""``lmrl train``, its recipes and its settings."""

import json
from dataclasses import fields
from pathlib import Path

import pytest
import torch
from loader_data import episodes_table, write_dataset
from safetensors.torch import load_file
from typer.testing import CliRunner

from lmrl_data.errors import LmrlError
from lmrl_data.registry import list_tasks, locate, tasks
from lmrl_loaders.commands import app
from lmrl_loaders.recipes import METHODS, read_settings, recipe, run_method


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lmrl-gym") / "maze"
    return write_dataset(folder, episodes_table("maze", "optimal", 30), "fully_observed")


@pytest.mark.parametrize("task", list_tasks())
@pytest.mark.parametrize("method", METHODS)
def test_every_recipe_can_be_followed(task: str, method: str) -> None:
    for config in tasks()[task].configs:
        settings = recipe(task, config, method)
        settings.pop("model", None)
        args = locate(METHODS[method].config)(**settings)
        assert all(getattr(args, name) == value for name, value in settings.items())


def test_a_recipe_of_a_config_has_precedence() -> None:
    assert recipe("maze", "fully_observed", "ilql")["max_length"] == 48
    assert "max_length" not in recipe("maze", "partially_observed", "ilql")
    assert recipe("maze", None, "filtered-bc")["keep"] == "success"


def test_settings_are_read_as_numbers_and_texts() -> None:
    read = read_settings("ilql", ["tau=0.9", "max_steps=7", "credit=token", "model=small", 'report_to="none"'])
    assert read == {"tau": 0.9, "max_steps": 7, "credit": "token", "model": "small", "report_to": "none"}


@pytest.mark.parametrize("text", ["tau", "nonsense=1", "=3"])
def test_settings_that_there_are_not(text: str) -> None:
    with pytest.raises(LmrlError, match=r"NAME=VALUE.*--settings"):
        read_settings("ilql", [text])


@pytest.mark.parametrize("text", ["tau=high", "learning_rate=fast", "max_steps=many", "gamma="])
def test_words_for_numbers_are_refused(text: str) -> None:
    with pytest.raises(LmrlError, match="is a number"):
        read_settings("ilql", [text])


def test_unknown_methods_are_refused() -> None:
    with pytest.raises(LmrlError, match="unknown method 'dqn'; there are: bc, filtered-bc"):
        recipe("maze", None, "dqn")


def test_settings_of_the_wrong_kind_are_refused(data: Path, tmp_path: Path) -> None:
    with pytest.raises(LmrlError, match="settings of bc cannot be"):
        run_method("bc", "maze", {"lr_scheduler_type": "wavy"}, {"data": data, "output": tmp_path / "m"})


def test_the_command_trains_by_a_recipe_with_changes(data: Path, tmp_path: Path) -> None:
    arguments = ["ilql", "--task", "maze", "--data", str(data), "--output", str(tmp_path / "m"), "--max-steps", "2"]
    done = CliRunner().invoke(app, [*arguments, "--set", "tau=0.6", "--set", "per_device_train_batch_size=4", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["steps"] == 2
    info = json.loads((tmp_path / "m" / "lmrl.json").read_text("utf-8"))
    assert info["training"]["tau"] == 0.6 and info["training"]["gamma"] == recipe("maze", None, "ilql")["gamma"]


def test_all_methods_one_after_another(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained = []

    def note(method: str, task: str, settings: dict[str, object], places: dict[str, object]) -> dict[str, object]:
        trained.append((method, settings["seed"]))
        return {"output": method, "steps": 1, "sequences": 1, "episodes": 1, "train_loss": 0.0}

    monkeypatch.setattr("lmrl_loaders.recipes.run_method", note)
    done = CliRunner().invoke(app, ["--task", "maze", "--all", "--seed", "3"])
    assert done.exit_code == 0, done.output
    assert trained == [(method, 3) for method in METHODS]


def test_a_method_can_begin_with_the_model_of_another(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = {"model": "filtered-bc", "max_steps": 1, "learning_rate": 0.0}
    with pytest.raises(LmrlError, match=r"models/maze-filtered-bc.*lmrl train filtered-bc --task maze"):
        run_method("mc", "maze", settings, {"data": data})
    run_method("filtered-bc", "maze", {"max_steps": 1, "keep": "success"}, {"data": data})
    run_method("mc", "maze", settings, {"data": data})
    first, then = (load_file(f"models/maze-{name}/model.safetensors") for name in ("filtered-bc", "mc"))
    assert all(torch.equal(first[name], then[name]) for name in first)


def test_all_methods_are_trained_in_an_order_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[str] = []

    def note(method: str, *_: object) -> dict[str, object]:
        trained.append(method)
        return {"output": method, "steps": 1, "sequences": 1, "episodes": 1, "train_loss": 0.0}

    monkeypatch.setattr("lmrl_loaders.recipes.run_method", note)
    for task in list_tasks():
        trained.clear()
        assert CliRunner().invoke(app, ["--task", task, "--all"]).exit_code == 0
        assert sorted(trained) == sorted(METHODS)
        for method in METHODS:
            before = recipe(task, None, method).get("model")
            assert before not in METHODS or trained.index(before) < trained.index(method)


def test_the_settings_can_be_looked_up() -> None:
    done = CliRunner().invoke(app, ["ilql", "--task", "maze", "--settings"])
    assert done.exit_code == 0
    for setting in fields(locate(METHODS["ilql"].config)):
        if setting.name in ("tau", "gamma", "returns_share"):
            assert setting.name in done.stdout


@pytest.mark.parametrize("arguments", [[], ["ilql", "--all"]])
def test_a_method_or_all_must_be_said(arguments: list[str]) -> None:
    done = CliRunner().invoke(app, [*arguments, "--task", "maze"])
    assert isinstance(done.exception, LmrlError) and "say which method trains" in str(done.exception)

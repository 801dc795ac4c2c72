"""Tasks of one's own: registered in a program, or named by an installed package."""

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import gymnasium
import high_low
import pytest
from high_low import TASK, Bisector, HighLowEnv

import lmrl_data
from lmrl_data import make_policy, register_task, registration, registry, replay, rollout
from lmrl_data.errors import LmrlError
from lmrl_data.registration import registered_tasks, take_tasks
from lmrl_data.registry import Task, get_task, make_evaluation_vec, own_tasks
from lmrl_data.starts import evaluation_seeds

CONFIG = TASK.configs["default"]


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget what a test registers."""
    lmrl_data.list_tasks()
    monkeypatch.setattr(registry, "_known", registry._known)
    monkeypatch.setattr(registration, "_registered", {})
    specs = dict(gymnasium.registry)
    yield
    gymnasium.registry.clear()
    gymnasium.registry.update(specs)


def with_config(name: str = "default", **changes: object) -> Task:
    return replace(TASK, configs={name: replace(CONFIG, **changes)})


def test_a_registered_task_is_one_of_the_tasks() -> None:
    with pytest.raises(LmrlError, match="unknown task 'high-low'"):
        lmrl_data.make("high-low")
    register_task(TASK)
    assert lmrl_data.list_tasks() == [*own_tasks(), "high-low"]
    assert get_task("high-low") is TASK
    assert isinstance(lmrl_data.make("high-low"), HighLowEnv)
    assert isinstance(gymnasium.make("mine/HighLow-v0").unwrapped, HighLowEnv)
    assert isinstance(make_policy("best", "high-low"), Bisector)


def test_its_episodes_are_played_batched_and_replayed() -> None:
    register_task(TASK)
    seeds = evaluation_seeds("high-low", episodes=30)
    episodes = rollout(make_evaluation_vec("high-low", 8), make_policy("bisect", "high-low"), seeds)
    assert sum(episode.episode_return for episode in episodes) == 2 * -34
    assert replay(episodes) == [None] * 30
    episodes[3].rewards[0] = 0.0 if episodes[3].rewards[0] else -1.0
    assert [number for number, found in enumerate(replay(episodes)) if found is not None] == [3]


def test_code_may_be_given_itself_instead_of_its_place() -> None:
    register_task(
        replace(TASK, env=HighLowEnv, starts=high_low.starts, policies={"random": Bisector, "bisect": Bisector})
    )
    assert isinstance(lmrl_data.make("high-low"), HighLowEnv)
    assert isinstance(make_policy("random", "high-low"), Bisector)
    assert len(evaluation_seeds("high-low", episodes=15)) == 15


def test_a_cell_that_runs_again_replaces_its_task() -> None:
    register_task(TASK)
    register_task(TASK)
    register_task(with_config("other", env_id="mine/HighLow-v1"))
    assert [*get_task("high-low").configs] == ["other"]
    assert lmrl_data.make("high-low").env_id == gymnasium.make("mine/HighLow-v1").unwrapped.env_id == "mine/HighLow-v1"
    with pytest.raises(gymnasium.error.Error):
        gymnasium.make("mine/HighLow-v0")


@pytest.mark.parametrize("name", [*own_tasks()])
def test_a_name_that_is_taken_is_refused(name: str) -> None:
    before = get_task(name)
    with pytest.raises(LmrlError, match=rf"there is a task '{name}' already; choose another name"):
        register_task(replace(TASK, name=name))
    with pytest.raises(LmrlError, match="already"):
        register_task(replace(before, title="Mine"))
    register_task(before)  # it is there
    assert get_task(name) is before


def test_a_name_that_another_registered_task_has_is_refused() -> None:
    register_task(TASK)
    with pytest.raises(LmrlError, match="there is a task 'high-low' already"):
        register_task(replace(TASK, env="elsewhere.env:HighLowEnv"))
    assert get_task("high-low") is TASK


def test_an_environment_id_that_is_taken_is_refused() -> None:
    register_task(TASK)
    other = replace(TASK, name="other")
    with pytest.raises(LmrlError, match="there is an environment mine/HighLow-v0 already; choose another env_id"):
        register_task(other)
    twice = replace(TASK, name="twice", configs=dict.fromkeys("ab", replace(CONFIG, env_id="mine/Twice-v0")))
    with pytest.raises(LmrlError, match="mine/Twice-v0 already"):
        register_task(twice)
    assert lmrl_data.list_tasks() == [*own_tasks(), "high-low"]


@pytest.mark.parametrize(
    ("task", "said"),
    [
        (replace(TASK, name="High Low"), "small letters"),
        (replace(TASK, name="../etc"), "small letters"),
        (replace(TASK, name=""), "small letters"),
        (replace(TASK, configs={}), "no config"),
        (replace(TASK, starts=None), "`game`, or `starts`"),
        (replace(TASK, column_notes={}), "column_notes"),
        (replace(TASK, env="high_low.HighLowEnv"), "write module:name"),
        (replace(TASK, policies={**TASK.policies, "x": "high_low:"}), "write module:name"),
        (with_config("evaluation"), "another name than evaluation"),
        (with_config("a/b"), "letters and digits"),
        (with_config(env_id="HighLow"), "mine/HighLow-v0"),
        (with_config(env_id="lmrl/HighLow-v0"), "not lmrl"),
        (with_config(env_id="mine/HighLow-v0?x=1"), "mine/HighLow-v0"),
        (with_config(bounds=replace(CONFIG.bounds, mean=-9.0)), "do not rise"),
        (with_config(bounds=replace(CONFIG.bounds, maximum_from="nobody")), "'nobody'"),
        (with_config(collection={"nobody": 1.0}), "'nobody'"),
        (with_config(collection={"random": 0.5}), "add up to 1"),
    ],
)
def test_a_task_that_contradicts_itself_is_refused(task: Task, said: str) -> None:
    with pytest.raises(LmrlError, match="cannot be registered: ") as error:
        register_task(task)
    assert said in str(error.value) and "\n" not in str(error.value)
    assert lmrl_data.list_tasks() == [*own_tasks()]


def test_rules_are_in_the_task_or_beside_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert TASK.instructions == "Find the hidden number from 1 to 15 with as few guesses as you can."
    for silent in (replace(TASK, rules=None), replace(TASK, rules=None, env=HighLowEnv)):
        with pytest.raises(LmrlError, match="high-low does not say its rules"):
            _ = silent.instructions
    package = tmp_path / "their_tasks"
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    elsewhere = replace(TASK, rules=None, env="their_tasks.env:Env")
    with pytest.raises(LmrlError, match=r"instructions\.md"):
        _ = elsewhere.instructions
    (package / "instructions.md").write_text("Guess.\n", "utf-8")
    assert elsewhere.instructions == "Guess."


def returns_of(seeds: list[int]) -> list[float]:
    """In a worker process."""
    env = lmrl_data.make_vec("high-low", len(seeds))
    return [episode.episode_return for episode in rollout(env, make_policy("random", "high-low"), seeds)]


def test_worker_processes_are_told_of_registered_tasks() -> None:
    assert registered_tasks() == b""
    take_tasks(b"")

    # As in a notebook, there is no module that a worker could import this class from.
    class Shouting(HighLowEnv):
        def _play(self, action: str):
            return super()._play(action.strip("!"))

    register_task(replace(TASK, env=Shouting))
    with ProcessPoolExecutor(1, get_context("spawn"), take_tasks, (registered_tasks(),)) as pool:
        assert pool.submit(returns_of, [1, 2, 3]).result() == returns_of([1, 2, 3])
        assert pool.submit(lmrl_data.list_tasks).result() == lmrl_data.list_tasks()
    take_tasks(registered_tasks())  # they are known
    assert get_task("high-low").env is Shouting


def test_worker_processes_of_a_script_find_the_tasks_that_it_registers(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("""
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

sys.path.insert(0, sys.argv[1])
from high_low import TASK, HighLowEnv
from lmrl_data import list_tasks, make, register_task
from lmrl_data.registration import registered_tasks, take_tasks

class Mine(HighLowEnv):
    pass

def made(name):
    return type(make(name)).__qualname__

register_task(replace(TASK, env=Mine))  # a worker process runs this line too

if __name__ == "__main__":
    with ProcessPoolExecutor(1, get_context("spawn"), take_tasks, (registered_tasks(),)) as pool:
        print(pool.submit(made, "high-low").result())
""")
    done = run(str(script), str(Path(__file__).parent))
    assert (done.stdout, done.stderr) == ("Mine\n", "")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages with one that names the task, for other processes."""
    install(tmp_path, "high-low-task", "high-low = high_low:TASK")
    paths = [str(tmp_path), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    return tmp_path


def install(folder: Path, package: str, *points: str) -> None:
    info = folder / f"{package.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("\n".join(["[lmrl.tasks]", *points]))


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=280)


def test_a_task_of_an_installed_package_is_found_without_being_imported_before(installed: Path) -> None:
    code = """
import sys, gymnasium, lmrl_data
assert "high_low" not in sys.modules
print(*lmrl_data.list_tasks())
print(gymnasium.make("mine/HighLow-v0").unwrapped.env_id, lmrl_data.make_vec("high-low", 2).reset([1, 2]) is not None)
lmrl_data.register_task(sys.modules["high_low"].TASK)
"""
    done = run("-c", code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [f"{' '.join(own_tasks())} high-low", "mine/HighLow-v0 True"]


def test_the_command_line_knows_a_task_of_an_installed_package(installed: Path) -> None:
    code = "from lmrl_data.cli import main; main()"
    shared = ("--quiet", "--workers", "2", "--shard-size", "100")
    made = run("-c", code, "generate", "--task", "high-low", "--out", str(installed), *shared)
    assert (made.returncode, made.stderr) == (0, "")
    checked = run("-c", code, "validate", str(installed / "high-low"))
    assert checked.returncode == 0, checked.stderr
    assert (installed / "high-low" / "README.md").is_file()


def test_a_package_that_cannot_be_used_is_left_out_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "broken_tasks.py").write_text("NOTHING = 1\nraise RuntimeError('no\\nluck')")
    install(tmp_path, "bad", "bad = broken_tasks:TASK", "gone = nosuch_module:TASK", "none = high_low:GUESS")
    install(tmp_path, "good", "good = high_low:TASK", "maze = high_low:MAZE")
    monkeypatch.setattr(high_low, "MAZE", replace(TASK, name="maze"), raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "_known", {})
    with caplog.at_level(logging.WARNING):
        assert lmrl_data.list_tasks() == [*own_tasks(), "high-low"]
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 4
    assert said[0] == "the task bad of the package bad is left out (RuntimeError: no luck)"
    assert "ModuleNotFoundError" in said[1] and "there is a task 'maze' already" in said[2]
    assert "is no lmrl_data.registry.Task" in said[3]
    assert get_task("maze") is own_tasks()["maze"]


def test_a_package_may_register_the_task_that_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    code = "from high_low import TASK\nfrom lmrl_data import *\nregister_task(TASK)"
    (tmp_path / "tasks_of_high_low.py").write_text(code)  # a name that no other test imports
    install(tmp_path, "theirs", "high-low = tasks_of_high_low:TASK")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "_known", {})
    with caplog.at_level(logging.WARNING):
        assert lmrl_data.list_tasks() == [*own_tasks(), "high-low"]
    assert not caplog.records


def test_generation_in_processes_knows_a_task_of_a_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]))
    code = """
import sys
from dataclasses import replace
from pathlib import Path
from high_low import TASK, HighLowEnv
from lmrl_data import register_task
from lmrl_generators.generate import generate
from lmrl_generators.plan import make_plans

class Mine(HighLowEnv):
    __doc__ = HighLowEnv.__doc__

register_task(replace(TASK, env=Mine))
made = generate(make_plans("high-low", shard_size=100), Path(sys.argv[1]), workers=2)
print(made.episodes, made.shards)
"""
    done = run("-c", code, str(tmp_path / "high-low"))
    assert (done.stdout, done.stderr) == ("330 4\n", "")


@pytest.mark.slow
def test_the_conformance_suite_runs_on_a_task_of_an_installed_package(installed: Path) -> None:
    suite = [str(Path(__file__).with_name(f"test_conformance{name}.py")) for name in ("", "_batches", "_records")]
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "high-low", *suite)
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout and "failed" not in done.stdout

"""The package as a user meets it: what an import costs, who may import whom, and the command line."""

import ast
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lmrl_data import cli
from lmrl_data.errors import LmrlError

PACKAGES = {
    "lmrl_data": set(),
    "lmrl_cards": {"lmrl_data"},
    "lmrl_loaders": {"lmrl_data"},
    "lmrl_evaluation": {"lmrl_data"},
    "lmrl_generators": {"lmrl_data", "lmrl_cards"},
}
HEAVY = {
    "torch",
    "openai",
    "transformers",
    "trl",
    "datasets",
    "pandas",
    "matplotlib",
    "pyarrow",
    "rich",
    "typer",
    "ray",
}
LMRL = Path(sys.executable).with_name("lmrl")


def folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent


def imports(path: Path) -> set[str]:
    """The top-level names of everything that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(str(node.module).split(".")[0])
    return found


def lmrl(*arguments: str, stdin: bytes = b"", **variables: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [LMRL, *arguments], input=stdin, capture_output=True, timeout=60, env={**os.environ, **variables}
    )


def refused(done: subprocess.CompletedProcess[bytes]) -> str:
    """The one line of an error that the user can mend."""
    assert done.returncode == 2
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("lmrl: ")
    return line


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_only_what_they_may(package: str) -> None:
    files = sorted(folder(package).rglob("*.py"))
    assert files
    for path in files:
        assert imports(path) & set(PACKAGES) <= PACKAGES[package] | {package}, path


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_are_typed(package: str) -> None:
    assert (folder(package) / "py.typed").is_file()


@pytest.mark.parametrize("package", PACKAGES)
def test_import_is_light(package: str) -> None:
    code = f"import sys, {package}; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not HEAVY & set(done.stdout.split())


def test_public_names_are_there() -> None:
    import lmrl_data

    assert all(getattr(lmrl_data, name) is not None for name in lmrl_data.__all__)
    assert lmrl_data.__version__


def test_help_is_fast_and_lists_the_commands() -> None:
    code = """
import sys
from lmrl_data.cli import main
sys.argv = ["lmrl", "--help"]
try:
    main()
finally:
    print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    shown, loaded = done.stdout.rstrip().rsplit("\n", 1)
    assert all(command in shown for command in ("tasks", "play"))
    assert not {name.split(".")[0] for name in loaded.split()} & (HEAVY - {"rich", "typer"})


def test_version() -> None:
    import lmrl_data

    assert lmrl("--version").stdout.decode() == f"lmrl-gym {lmrl_data.__version__}\n"


def test_tasks_as_json() -> None:
    from lmrl_data.registry import tasks

    done = lmrl("tasks", "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    described = {entry["task"]: entry for entry in json.loads(done.stdout)}
    assert described.keys() == tasks().keys()
    for name, task in tasks().items():
        assert described[name]["policies"] == list(task.policies)
        for config_name, config in task.configs.items():
            shown = described[name]["configs"][config_name]
            assert shown["env_id"] == config.env_id
            assert shown["bounds"] == vars(config.bounds)


def test_tasks_as_a_table_without_colour_in_a_pipe() -> None:
    done = lmrl("tasks", COLUMNS="200")
    assert done.returncode == 0
    assert all(name in done.stdout.decode() for name in ("maze", "wordle", "lmrl/Wordle-v0"))
    assert b"\x1b[" not in done.stdout


def test_play_until_solved() -> None:
    from lmrl_data import make

    env = make("wordle")
    env.reset(seed=1)
    word = env.episode_info()["word"]
    done = lmrl("play", "wordle", "--seed", "1", stdin=f"zzzzz\n{word.upper()}\n".encode())
    assert (done.returncode, done.stderr) == (0, b"")
    shown = done.stdout.decode()
    assert "That word is not in the list." in shown
    assert "g g g g g" in shown
    assert "Solved in 2 turns" in shown and "-1" in shown
    assert word not in shown.split("g g g g g")[0]


def test_play_until_the_input_ends() -> None:
    done = lmrl("play", "maze", "--config", "partially_observed", "--seed", "3", stdin=b"move up\n\n")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().count("Walls:") == 3
    assert "Given up." in done.stdout.decode()


def test_play_without_a_seed_draws_one() -> None:
    shown = {lmrl("play", "maze", stdin=b"x\n" * 200).stdout for _ in range(2)}
    assert len(shown) == 2


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_play_with_input_that_is_not_utf8(errors: str) -> None:
    done = lmrl("play", "wordle", "--seed", "1", stdin=b"\xff\xfe\x80\n" * 9, PYTHONIOENCODING=f"utf-8:{errors}")
    if done.returncode:
        assert "UTF-8" in refused(done)
    else:  # read as something that is no word
        assert b"Not solved" in done.stdout


def test_mistakes_give_one_line_and_exit_code_2() -> None:
    assert all(name in refused(lmrl("play", "nosuch")) for name in ("nosuch", "maze", "wordle"))
    assert "default, full" in refused(lmrl("play", "wordle", "--config", "nosuch"))


@pytest.mark.parametrize(
    "arguments", [["nosuch"], ["play"], ["play", "wordle", "--seed", "-1"], ["play", "wordle", "--nosuch"]]
)
def test_wrong_usage_gives_exit_code_2_and_no_traceback(arguments: list[str]) -> None:
    done = lmrl(*arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Traceback" not in done.stderr


def test_interrupt_gives_exit_code_130() -> None:
    playing = subprocess.Popen(
        [LMRL, "play", "wordle", "--seed", "1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert playing.stdout is not None
    while b"six tries" not in (line := playing.stdout.readline()) and line:
        pass
    while b"6 tries" not in (line := playing.stdout.readline()) and line:
        pass
    time.sleep(0.1)
    playing.send_signal(signal.SIGINT)
    _, stderr = playing.communicate(timeout=30)
    assert playing.returncode == 130
    assert b"Traceback" not in stderr


@pytest.mark.parametrize("error", [TypeError("no owner"), LmrlError("cannot write"), OSError(28, "disk is full")])
def test_an_error_while_tidying_up_after_an_interrupt_is_the_interrupt(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted() -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise error

    monkeypatch.setattr(cli, "make_app", lambda: interrupted)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 130
    monkeypatch.setattr(cli, "make_app", lambda: {}["a real mistake"])
    with pytest.raises(KeyError):
        cli.main()

"""What the README says works: its code runs, and its commands have the options that it gives them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from lmrl_generators.generate import generate
from lmrl_generators.plan import make_plans

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
COMMANDS = re.findall(r"\| `lmrl ([^`]+)` \|", README)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("user")
    generate(make_plans("wordle", config="default", episodes=300, validation=30), folder / "lmrl-gym" / "wordle")
    return folder


def test_the_readme_has_code_and_commands():
    assert len(BLOCKS) >= 2
    assert {command.split()[0] for command in COMMANDS} >= {"generate", "validate", "train", "evaluate", "leaderboard"}


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.splitlines()[0])
def test_the_code_runs(folder, block, monkeypatch):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(folder / "cache"))
    done = subprocess.run([sys.executable, "-c", block], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_table_of_trained_models_is_the_measured_one():
    from benchmarks.results import cells, table

    shown = README.partition("<!-- python -m benchmarks.results table -->")[2].partition("<!-- end -->")[0]
    assert shown.strip() == table(cells())


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_have_these_options(command):
    words = command.split()
    names = [word for word in words[:2] if word.isidentifier() and word not in ("wordle", "results")]
    lmrl = Path(sys.executable).with_name("lmrl")
    done = subprocess.run([lmrl, *names, "--help"], capture_output=True, text=True, check=True, env={"COLUMNS": "200"})
    for option in re.findall(r"--[a-z-]+", command):
        assert option in done.stdout

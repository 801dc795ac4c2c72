"""A Hub on loopback, a dataset folder and a shell, for the tests of publishing."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hub_server import hub_server
from huggingface_hub import HfApi, constants
from publishing import TOKEN

from lmrl_generators.generate import generate
from lmrl_generators.plan import make_plans


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "maze"
    generate(make_plans("maze", config="fully_observed", episodes=20, validation=10, shard_size=10), folder)
    return folder


@pytest.fixture
def folder(made, tmp_path):
    return Path(shutil.copytree(made, tmp_path / "lmrl-gym" / "maze"))


@pytest.fixture
def hub(monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    with hub_server() as hub:
        hub.tokens |= {TOKEN: ("lmrl-gym", "my-lab"), "hf_of_a_stranger": ("stranger",)}
        yield hub


@pytest.fixture
def api(hub):
    return HfApi(endpoint=hub.url, token=TOKEN)


@pytest.fixture
def shell(hub, tmp_path):
    """Starts commands that see the Hub on loopback and nothing of this machine's settings."""
    settings = {
        "HF_ENDPOINT": hub.url,
        "HF_HOME": str(tmp_path / "home"),
        "HF_HUB_OFFLINE": "0",
        "OMP_NUM_THREADS": "1",
    }
    settings |= {"HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "HF_TOKEN": TOKEN}
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    (tmp_path / "elsewhere").mkdir()

    def start(*arguments, cwd=tmp_path / "elsewhere", **changed):
        environment = {**inherited, **settings, **changed}
        pipe = subprocess.PIPE
        return subprocess.Popen(arguments, env=environment, cwd=cwd, stdout=pipe, stderr=pipe, text=True)

    return start

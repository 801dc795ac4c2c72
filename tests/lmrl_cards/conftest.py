"""Small dataset folders."""

from collections.abc import Callable
from pathlib import Path

import pytest
from card_folders import TASKS, write_folder


@pytest.fixture(scope="session")
def carded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working directory that holds lmrl-gym/TASK with a card for each task. Not to be changed."""
    from lmrl_cards import write_card

    root = tmp_path_factory.mktemp("carded")
    for name in TASKS:
        write_folder(root / "lmrl-gym" / name, name)
        write_card(root / "lmrl-gym" / name, name)
    return root


@pytest.fixture
def fresh(tmp_path: Path) -> Callable[[str], Path]:
    """Make a dataset folder of a task, without a card, to be changed freely."""

    def make(name: str) -> Path:
        folder = tmp_path / "lmrl-gym" / name
        write_folder(folder, name)
        return folder

    return make

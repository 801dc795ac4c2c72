"""Tokens that the tests keep go to a folder of their own; the Hub on loopback is that of the tests of publishing."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "lmrl_generators"))


@pytest.fixture(scope="session", autouse=True)
def token_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LMRL_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield

"""Programs that some tests need: Stockfish and Chromium. In CI nothing may be missing."""

import os
import shutil

import pytest

from lmrl_data.errors import LmrlError
from lmrl_data.stockfish.binary import find_stockfish

_EVERYTHING = bool(os.environ.get("LMRL_TEST_ALL"))


def find_stockfish_or_none() -> str | None:
    """The path of a Stockfish."""
    try:
        return find_stockfish()
    except LmrlError:
        return None


def find_browser() -> str | None:
    """The path of a Chromium: `CHROMIUM_PATH`, else what is installed."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return os.environ.get("CHROMIUM_PATH") or next(filter(None, map(shutil.which, names)), None)


needs_stockfish = pytest.mark.skipif(
    find_stockfish_or_none() is None and not _EVERYTHING,
    reason="no Stockfish: `sudo apt-get install stockfish` (Debian), or set STOCKFISH_PATH to one",
)
needs_browser = pytest.mark.skipif(
    find_browser() is None and not _EVERYTHING,
    reason="no Chromium: `sudo apt-get install chromium` (Debian), or set CHROMIUM_PATH to one",
)

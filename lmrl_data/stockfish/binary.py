"""Where the Stockfish program is."""

import os
import shutil

from lmrl_data.errors import LmrlError

VARIABLE = "STOCKFISH_PATH"
# Debian's folder of games is on no ordinary user's PATH.
GAMES = "/usr/games/stockfish"


def find_stockfish() -> str:
    """The absolute path of the program: `STOCKFISH_PATH`, else `stockfish` on the PATH, else Debian's place.

    Raises:
        LmrlError: there is none, or `STOCKFISH_PATH` names something that cannot be run.
    """
    named = os.environ.get(VARIABLE)
    if named:
        found = shutil.which(os.path.abspath(named))
        if found is None:
            raise LmrlError(f"{VARIABLE}={named} is no program that can be run; set it to the path of Stockfish")
        return found
    found = shutil.which("stockfish") or shutil.which(GAMES)
    if found is None:
        raise LmrlError(
            "Stockfish is not installed: `sudo apt-get install stockfish` (Debian, Ubuntu), `brew install stockfish` "
            f"(macOS), or set {VARIABLE} to the path of the program; the option opponent='random' needs none"
        )
    return os.path.abspath(found)

"""Replies kept on disk: a run that was killed goes on without asking, or paying, twice."""

import hashlib
import json
import os
import sqlite3
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from lmrl_data.errors import LmrlError
from lmrl_data.llm.chat import Request

# Goes up when the same request would be put to a model in another way than before.
_VERSION = 1
# How long to wait for another process that writes, in seconds.
_PATIENCE = 60.0


def cache_folder() -> Path:
    """Where replies are kept: the environment variable LMRL_CACHE, or lmrl-gym in the user's cache folder.

    The folder must be on a disk of this machine: sqlite cannot share a file with other machines safely.

    Raises:
        LmrlError: there is no such variable and the user has no home.
    """
    if given := os.environ.get("LMRL_CACHE"):
        return Path(given)
    try:
        if sys.platform == "win32":
            base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError as error:
        raise LmrlError("there is no home folder to keep replies in; set LMRL_CACHE to a folder") from error
    return Path(base) / "lmrl-gym"


def request_key(identity: Mapping[str, str], request: Request) -> bytes:
    """The SHA-256 of everything that a reply depends on: the model and the request with its sampling."""
    everything = [_VERSION, dict(identity), vars(request)]
    return hashlib.sha256(json.dumps(everything, sort_keys=True).encode("ascii")).digest()


class ReplyCache:
    """The file of replies, which any number of threads and processes of this machine may use at once.

    It holds hashes of requests and the texts of replies, nothing else.
    """

    def __init__(self, folder: Path | None = None) -> None:
        """Open the file, and make it where there is none.

        Args:
            folder: where it is; None is `cache_folder`.

        Raises:
            LmrlError: it is damaged or cannot be written.
        """
        folder = folder or cache_folder()
        self.path = folder / "replies.sqlite"
        self._lock = threading.Lock()
        with self._clear_errors():
            folder.mkdir(parents=True, exist_ok=True)
            # Processes that begin together must not all turn the new file's write-ahead log on: sqlite refuses some.
            with FileLock(folder / "replies.lock"):
                self._file = sqlite3.connect(
                    self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
                )
                # With the log a write needs no wait for the disk: a killed process loses nothing, a power cut may lose
                # the last replies.
                self._file.execute("PRAGMA journal_mode=WAL")
                self._file.execute("PRAGMA synchronous=NORMAL")
                self._file.execute(
                    "CREATE TABLE IF NOT EXISTS replies (key BLOB PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID"
                )

    def get(self, key: bytes) -> str | None:
        """The reply to a request that was asked before; None for a new one.

        Raises:
            LmrlError: the file is damaged or cannot be read.
        """
        with self._clear_errors(), self._lock:
            row = self._file.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def put(self, key: bytes, reply: str) -> str:
        """Keep a reply, and give back what is kept: the first one, where another process has asked the same.

        Raises:
            LmrlError: the file is damaged or cannot be written.
        """
        with self._clear_errors(), self._lock:
            self._file.execute("INSERT OR IGNORE INTO replies VALUES (?, ?)", (key, reply))
            row = self._file.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        return str(row[0])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.OperationalError) as error:
            reason = getattr(error, "strerror", None) or error
            raise LmrlError(
                f"cannot use the reply cache {self.path}: {reason}; mend that or set LMRL_CACHE to another folder"
            ) from error
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.ProgrammingError):
                raise
            raise LmrlError(
                f"the reply cache {self.path} is damaged ({error}); remove it, and its replies are asked for again"
            ) from error

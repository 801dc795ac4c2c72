"""Files that are written whole or not at all."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from lmrl_data.errors import LmrlError

# A process that is killed leaves files of this name; the next `lmrl generate` removes them.
TEMPORARY = ".partial-"


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` make a file under a temporary name, flush it to the disk, and give it its own name.

    Raises:
        LmrlError: it cannot be written; nothing is left of it.
    """
    temporary = path.with_name(f"{TEMPORARY}{os.getpid()}-{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            write(temporary)
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            os.replace(temporary, path)
            _flush_folder(path.parent)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:  # pyarrow's errors of input and output are OSErrors too
        reason = error.strerror or str(error).splitlines()[0]
        raise LmrlError(f"cannot write {path}: {reason}; mend that and run the same command to go on") from error


def _flush_folder(folder: Path) -> None:
    """Make a rename outlast a power cut, where folders can be opened (not on Windows)."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_bytes(path: Path, data: bytes) -> None:
    """`write_whole` for bytes at hand."""
    write_whole(path, lambda temporary: _put(temporary, data))


def _put(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def file_hash(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

"""What is worked out of a dataset once and read by every training after that: a folder of files named by their key.

A key is everything that the content depends on: hashes of the data files, the tokenizer, the settings, and the code
itself. Files are written whole or not at all, so two processes may use the folder at once; deleting it loses nothing
but time. Where it grows beyond `MOST_BYTES`, the rows that were used longest ago are removed.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
from datasets import Dataset
from transformers import PreTrainedTokenizerBase

from lmrl_data.errors import LmrlError
from lmrl_data.files import file_hash, write_bytes, write_whole
from lmrl_data.llm.cache import cache_folder

MOST_BYTES = 20_000_000_000
# What turns episodes into rows: whoever changes it need not think of the cache.
_CODE = ("chat.py", "sequences.py", "tokenizer.py", "transitions.py", "windows.py")


def remembered(what: str, key: Mapping[str, Any], make: Callable[[], Any]) -> Any:
    """A value of JSON that has been made before, or is made now.

    Raises:
        LmrlError: the cache cannot be written.
    """
    path = _place(what, key, ".json")
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):  # not there, or damaged
        made = make()
        write_bytes(path, json.dumps(made).encode("utf-8"))
        return made


def mapped(key: Mapping[str, Any], make: Callable[[], Iterable[pa.Table]]) -> Dataset:
    """Rows that have been made before, or are made now; mapped into memory, of which they take none for good.

    Args:
        key: what they depend on.
        make: makes them, a part at a time.

    Raises:
        LmrlError: the cache cannot be written or is damaged.
    """
    path = _place("rows", key, ".arrow")
    if not path.is_file():
        write_whole(path, lambda temporary: _write(temporary, make()))
        _make_room(path)
    with suppress(OSError):  # a cache that can only be read
        os.utime(path)
    try:
        return Dataset.from_file(str(path))
    except (pa.ArrowInvalid, OSError) as error:
        raise LmrlError(f"{path} is damaged; remove it, and it is made again") from error


def tokenizer_hash(tokenizer: PreTrainedTokenizerBase) -> str:
    """The SHA-256 of what a tokenizer saves of itself."""
    with TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder)
        hashes = {path.name: file_hash(path) for path in sorted(Path(folder).iterdir())}
    return _hash(hashes)


def _place(what: str, key: Mapping[str, Any], suffix: str) -> Path:
    folder = cache_folder() / "tokens"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LmrlError(
            f"cannot keep tokens in {folder} ({error.strerror}); set LMRL_CACHE to a folder that can be written"
        ) from error
    return folder / f"{what}-{_hash([_code(), dict(key)])[:32]}{suffix}"


def _make_room(newest: Path) -> None:
    """Remove the rows that were used longest ago, until the rest is small enough; the newest stays in any case."""
    found: list[tuple[float, int, Path]] = []
    for path in newest.parent.glob("rows-*.arrow"):
        with suppress(FileNotFoundError):  # another process makes room too
            state = path.stat()
            found.append((state.st_mtime, state.st_size, path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= MOST_BYTES:
            return
        if path != newest:
            with suppress(OSError):  # where files in use cannot be removed, it stays
                path.unlink()
                total -= size


def _write(path: Path, tables: Iterable[pa.Table]) -> None:
    rest = iter(tables)
    first = next(rest)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, first.schema) as writer:
        writer.write_table(first)
        for table in rest:
            writer.write_table(table)


def _hash(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode("ascii")).hexdigest()


@cache
def _code() -> str:
    return _hash([(files("lmrl_loaders") / name).read_text("utf-8") for name in _CODE])

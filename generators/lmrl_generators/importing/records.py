"""Reading a raw file record by record, in bounded memory: JSON lines, or one JSON array of all records."""

import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from lmrl_data.errors import LmrlError

# The longest published record is far below 1 MiB; a longer one is no episode, and is not kept in memory.
LONGEST = 16 * 2**20
_CHUNK = 2**20
_DECODER = json.JSONDecoder()
_BETWEEN = re.compile(r"[\s,]*")
_JSON_ERRORS = (ValueError, RecursionError)


class Record(NamedTuple):
    """A record of a file.

    Attributes:
        where: such as ``"line 12"``.
        value: what it holds; None where it cannot be read.
        problem: why it cannot be read; empty where it can.
    """

    where: str
    value: Any
    problem: str = ""


def read_records(path: Path, list_records: bool, on_bytes: Callable[[int], None]) -> Iterator[Record]:
    """The records of a file in order, the unreadable ones too.

    Args:
        path: of a file with a JSON value a line, or with one array of records.
        list_records: whether a record may itself be an array, as the maze's are; then only an array of arrays is an
            array of records.
        on_bytes: called with a number of bytes each time some have been read.

    Raises:
        LmrlError: the file is missing, empty or packed.
    """
    try:
        with path.open("rb") as file:
            start = file.read(4096)
            _check_start(path, start)
            file.seek(0)
            opening = "".join(start.decode("utf-8", "replace").split()).removeprefix("\ufeff")
            is_array = opening.startswith("[[" if list_records else "[")
            yield from _elements(file, on_bytes) if is_array else _lines(file, on_bytes)
    except OSError as error:
        raise LmrlError(f"cannot read {path}: {error.strerror or error}; give one of the published files") from error


def _check_start(path: Path, start: bytes) -> None:
    if not start.strip():
        raise LmrlError(f"{path} is empty; download it again")
    packed = {
        b"\x1f\x8b": "gunzip",
        b"PK\x03\x04": "unzip",
        b"BZh": "bunzip2",
        b"\xfd7zXZ": "unxz",
        b"\x28\xb5\x2f\xfd": "unzstd",
    }
    for magic, command in packed.items():
        if start.startswith(magic):
            raise LmrlError(f"{path} is packed; unpack it first, with `{command}`")


def _lines(file: io.BufferedReader, on_bytes: Callable[[int], None]) -> Iterator[Record]:
    number = 0
    while line := file.readline(LONGEST + 1):
        number += 1
        where = f"line {number}"
        on_bytes(len(line))
        if len(line) > LONGEST:
            while line and not line.endswith(b"\n"):
                line = file.readline(_CHUNK)
                on_bytes(len(line))
            yield Record(where, None, f"longer than {LONGEST // 2**20} MiB")
        elif line.strip():
            yield _record(where, line)


def _record(where: str, line: bytes) -> Record:
    try:
        return Record(where, json.loads(line.decode("utf-8-sig" if where == "line 1" else "utf-8")))
    except UnicodeDecodeError:
        return Record(where, None, "not UTF-8")
    except _JSON_ERRORS:
        # Only the last line of a file has no end.
        return Record(
            where, None, "not JSON" if line.endswith(b"\n") else "cut off: the file ends within it, or not JSON"
        )


def _elements(file: io.BufferedReader, on_bytes: Callable[[int], None]) -> Iterator[Record]:
    """The elements of an array. What follows a broken one cannot be told apart, and is left."""
    text = io.TextIOWrapper(file, "utf-8-sig")
    number, buffer, place = 1, "", 0
    try:
        buffer = text.read(_CHUNK)
        on_bytes(len(buffer))
        place = buffer.index("[") + 1
        while True:
            place = _BETWEEN.match(buffer, place).end()  # type: ignore[union-attr]  # matches nothing as well
            if buffer.startswith("]", place):
                return
            value, end = _element(buffer, place)
            if end is not None:
                yield Record(f"record {number}", value)
                number, place = number + 1, end
                continue
            more = text.read(_CHUNK) if len(buffer) - place <= LONGEST else ""
            on_bytes(len(more))
            if not more:
                yield Record(f"record {number}", None, "not JSON, or cut off; the rest of the file is left")
                return
            buffer, place = buffer[place:] + more, 0
    except UnicodeDecodeError:
        yield Record(f"record {number}", None, "not UTF-8; the rest of the file is left")


def _element(buffer: str, place: int) -> tuple[Any, int | None]:
    """The element at a place and where it ends; no end where it is not whole."""
    try:
        return _DECODER.raw_decode(buffer, place)
    except _JSON_ERRORS:
        return None, None

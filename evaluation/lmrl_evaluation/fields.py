"""The fields of a JSON object in a file, each checked when it is read."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from lmrl_data.errors import LmrlError
from lmrl_evaluation.untrusted import check_regular

_MAX_BYTES = 2**20


def shown(value: object) -> str:
    """A value from a file for an error message: short, on one line."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def load_object(file: Path) -> dict[str, Any]:
    """The object in a JSON file.

    Raises:
        LmrlError: there is none.
    """
    check_regular(file)
    if file.stat().st_size > _MAX_BYTES:
        raise LmrlError(f"{file} has {file.stat().st_size} bytes, too many for a result; is it another file?")
    try:
        data = json.loads(file.read_bytes().decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise LmrlError(f"{file} is not JSON ({shown(str(error))}); make it again with `lmrl evaluate`") from error
    if not isinstance(data, dict):
        raise LmrlError(f"{file} is no result: it must hold a JSON object; make it again with `lmrl evaluate`")
    return data


class Fields:
    """The fields of a `result.json`, each checked when it is read; all methods raise LmrlError."""

    def __init__(self, file: Path, data: Mapping[str, Any], prefix: str = "") -> None:
        self.file = file
        self.data = data
        self.prefix = prefix

    def fail(self, message: str) -> NoReturn:
        """Raise an error about the file."""
        raise LmrlError(f"{self.file} {message}")

    def within(self, key: str) -> "Fields":
        """The fields of an object inside this one."""
        return Fields(self.file, self.mapping(key), f"{self.prefix}{key}.")

    def text(self, key: str) -> str:
        """A text."""
        value = self._get(key)
        return value if isinstance(value, str) else self._wrong(key, "a text")

    def integer(self, key: str) -> int:
        """A whole number from 0 to 2^63 - 1."""
        value = self._get(key)
        whole = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63
        return int(value) if whole else self._wrong(key, "a whole number from 0 to 2^63 - 1")

    def number(self, key: str) -> float:
        """A finite number."""
        value = self._get(key)
        return float(value) if _is_number(value) else self._wrong(key, "a finite number")

    def interval(self, key: str) -> tuple[float, float]:
        """Two finite numbers, the lower first."""
        ends = self._get(key)
        if not isinstance(ends, list) or len(ends) != 2 or not all(map(_is_number, ends)) or ends[0] > ends[1]:
            self._wrong(key, "two numbers [low, high]")
        return float(ends[0]), float(ends[1])

    def mapping(self, key: str) -> dict[str, Any]:
        """An object."""
        value = self._get(key)
        return value if isinstance(value, dict) else self._wrong(key, "an object")

    def _get(self, key: str) -> Any:
        if key not in self.data:
            self.fail(f"has no {self.prefix + key!r}; make it again with `lmrl evaluate`")
        return self.data[key]

    def _wrong(self, key: str, expected: str) -> NoReturn:
        self.fail(f"has {shown(self.data[key])} for {self.prefix + key!r}, which must be {expected}")


def _is_number(value: object) -> bool:
    # A whole number of more than 308 digits is finite, but no float.
    return isinstance(value, float | int) and not isinstance(value, bool) and -1e308 < value < 1e308 and value == value

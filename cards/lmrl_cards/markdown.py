"""Texts for a Markdown page. What comes from data files may hold anything, and must not become markup."""

import inspect
import math
import re
import textwrap
from typing import Any

import pyarrow as pa

from lmrl_data.episode import Episode

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#|~!$&])")
# Guards for texts that nobody wrote to be read: no message and no episode of the eight tasks is so long when shown.
_LONGEST = 2_000
_TURNS = 60
_MARGIN = 13  # the names of the speakers
_CELL = 32
_COLUMNS = 96  # of a code block that the Hub shows without a scroll bar


def cell(text: str) -> str:
    """A text from data as one cell of a table, or part of a paragraph: shown as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(_printable(text).split()))


def number(value: float | None, digits: int = 2) -> str:
    """A number with thousands separated and a true minus; a dash where there is none."""
    if value is None or math.isnan(value):
        return "–"
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−")


def short(value: float) -> str:
    """A number, without decimals where it is whole."""
    return number(value).removesuffix(".00")


def count(value: float | None) -> str:
    """A whole number."""
    return number(value, 0)


def percent(share: float | None) -> str:
    """A share from 0 to 1 in percent."""
    return "–" if share is None else f"{number(100 * share, 1)} %"


def megabytes(size: int) -> str:
    """A number of bytes in megabytes (10^6)."""
    return f"{number(size / 1e6, 2 if size < 1e7 else 0)} MB"


def plural(number: int, noun: str) -> str:
    """A whole number of things."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def excerpt(value: Any) -> str:
    """A value from data as one cell of a table: a list with commas between elements, what is long without its end."""
    if value is None or value == "" or value == []:
        return "–"
    if not isinstance(value, list):
        text = _plain(value)
        return cell(text if len(text) <= _CELL else f"{text[: _CELL - 1]}…")
    shown = [_plain(element) for element in value]
    while len(", ".join(shown)) > _CELL:
        shown.pop()
    return cell(", ".join([*shown, *(["…"] if len(shown) < len(value) else [])]))


def _plain(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return short(value)
    return str(value)


def type_name(kind: pa.DataType) -> str:
    """An Arrow type in the words of the task tables, such as ``list<float32>``."""
    if pa.types.is_list(kind):
        return f"list<{type_name(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(field.name for field in kind)}>"
    return "float32" if kind == pa.float32() else "float64" if kind == pa.float64() else str(kind)


def transcript(episode: Episode, shown: int = _TURNS) -> str:
    """An episode turn by turn, for a fenced code block.

    The lines of a message that follow its first are indented, so that none can close the block.

    Args:
        episode: the episode.
        shown: agent turns that are shown; of a longer episode the middle is left out.
    """
    first = episode.messages[0]["content"]
    lines = [_line("environment", first)]
    turns = list(zip(episode.messages[1::2], episode.messages[2::2], episode.rewards, strict=False))
    head = len(turns) if len(turns) <= shown else shown // 2
    tail = len(turns) - (shown - head) if head < len(turns) else head
    for turn, (action, observation, reward) in enumerate(turns):
        if head <= turn < tail:
            if turn == head:
                lines.append(f"{'':{_MARGIN}}… {plural(tail - head, 'turn')} left out …")
            continue
        lines.append(_line("agent", action["content"]))
        lines.append(_line("environment", observation["content"], f"  (reward {short(reward)})"))
    return "\n".join(lines)


def docstring_sections(documented: type) -> dict[str, str]:
    """The sections of a class's docstring under their ``##`` headings."""
    parts = re.split(r"^## (.+)\n", inspect.cleandoc(documented.__doc__ or ""), flags=re.MULTILINE)
    return {title: text.strip() for title, text in zip(parts[1::2], parts[2::2], strict=True)}


def _line(speaker: str, text: str, end: str = "") -> str:
    """What a speaker says, wrapped: a code block would hide the rest of a long line."""
    lines = [_printable(line) for line in text[:_LONGEST].splitlines()] or [""]
    lines[-1] += ("…" if len(text) > _LONGEST else "") + end
    width = _COLUMNS - _MARGIN
    wrapped = [
        part
        for line in lines
        for part in (textwrap.wrap(line, width, break_on_hyphens=False) if len(line) > width else [line])
    ]
    first, *rest = wrapped or [""]
    return "\n".join([f"{speaker + ':':{_MARGIN}}{first}", *(" " * _MARGIN + line for line in rest)]).rstrip()


def _printable(text: str) -> str:
    """The text with control characters, which can hide or reorder what is shown, replaced by U+FFFD."""
    return "".join(char if char.isprintable() else " " if char.isspace() else "\ufffd" for char in text)

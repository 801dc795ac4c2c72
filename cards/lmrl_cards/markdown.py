"""Texts for a Markdown page. What comes from data files may hold anything, and must not become markup."""

import inspect
import math
import re

import pyarrow as pa

from lmrl_data.episode import Episode

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#|~!$&])")
_LONGEST = 600


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


def type_name(kind: pa.DataType) -> str:
    """An Arrow type in the words of the task tables, such as ``list<float32>``."""
    if pa.types.is_list(kind):
        return f"list<{type_name(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(field.name for field in kind)}>"
    return "float32" if kind == pa.float32() else "float64" if kind == pa.float64() else str(kind)


def transcript(episode: Episode, shown: int = 8) -> str:
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
                left_out = "1 turn" if tail - head == 1 else f"{tail - head} turns"
                lines.append(f"             … {left_out} left out …")
            continue
        lines.append(_line("agent", action["content"]))
        lines.append(
            f"{_line('environment', observation['content'])}  (reward {number(reward, 2).removesuffix('.00')})"
        )
    return "\n".join(lines)


def docstring_sections(documented: type) -> dict[str, str]:
    """The sections of a class's docstring under their ``##`` headings."""
    parts = re.split(r"^## (.+)\n", inspect.cleandoc(documented.__doc__ or ""), flags=re.MULTILINE)
    return {title: text.strip() for title, text in zip(parts[1::2], parts[2::2], strict=True)}


def _line(speaker: str, text: str) -> str:
    lines = [_printable(line) for line in text[:_LONGEST].splitlines()] or [""]
    if len(text) > _LONGEST:
        lines[-1] += "…"
    return "\n".join([f"{speaker + ':':13}{lines[0]}", *(f"{'':13}{line}" for line in lines[1:])]).rstrip()


def _printable(text: str) -> str:
    """The text with control characters, which can hide or reorder what is shown, replaced by U+FFFD."""
    return "".join(char if char.isprintable() else " " if char.isspace() else "\ufffd" for char in text)

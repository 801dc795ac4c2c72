"""Questions of number: "Does it have two wheels?", "Can it carry more than ten people?"."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError
from lmrl_data.language.numerals import NUMERAL, read_numeral
from lmrl_data.language.stems import stem
from lmrl_data.tasks.twenty_questions.table import NO, SOMETIMES, YES, Table, Values, knowledge_table, listed
from lmrl_data.tasks.twenty_questions.yardsticks import Found

_ENTRY = re.compile(r"(?P<names>.+?) (?P<low>\d+)(?:-(?P<high>\d+))?")
_AMOUNT = (
    r"(?:(?P<more>more than|great than|upward of)|(?P<least>at least|no few than|no less than)"
    r"|(?P<less>less than|few than|fewer than)|(?P<most>at most|no more than|up to|only|just))? ?"
    rf"(?P<exactly>exactly |precisely )?(?:a |a whole |the )?(?P<number>{NUMERAL}|pair of|no|any)"
    r"(?: (?P<after>or more|or few|or less))?"
)
_QUANTITY = (
    rf"\b{_AMOUNT}(?: (?!(?:than|on|in|of|at|be|for)\b)\w+)?? (?P<noun>NOUNS)\b(?P<end> or (?:more|few|less)| only)?"
)
_NUMBER_OF = rf"\bnumber of (?P<noun>NOUNS)(?: (?:be|equal|\|))* {_AMOUNT}(?P<end>)"


class Counts:
    """How many of what the objects have. Make it with `counts`."""

    def __init__(self, table: Table, data: Mapping[str, Any]) -> None:
        self._ranges: dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
        self._only_with: dict[str, frozenset[str]] = {}
        for name, entry in data.items():
            low, high = np.zeros((2, len(table.names)), np.int64)
            for item in entry["has"].split(","):
                found = _ENTRY.fullmatch(" ".join(item.split()))
                if found is None:
                    raise LmrlError(f"counts.toml, [{name}]: {item.strip()!r} is no object with a number; correct it")
                columns = list(listed(found["names"], table.groups, f"counts.toml, [{name}]:"))
                low[columns], high[columns] = int(found["low"]), int(found["high"] or found["low"])
            for word in entry["words"]:
                key = " ".join(map(stem, word.split()))
                self._ranges[key] = low, high
                self._only_with[key] = frozenset(map(stem, entry.get("only_with", ())))
        nouns = "|".join(sorted(map(re.escape, self._ranges), key=len, reverse=True))
        self._quantities = [re.compile(pattern.replace("NOUNS", nouns)) for pattern in (_NUMBER_OF, _QUANTITY)]

    def find(self, stems: Sequence[str]) -> list[Found]:
        """The parts of a question that count something; `stems` as `stem` gives them."""
        text = " ".join(stems)
        found: list[Found] = []
        for match in (match for pattern in self._quantities for match in pattern.finditer(text)):
            needed = self._only_with[match["noun"]]
            bare = not any(match[name] for name in ("more", "least", "less", "most", "exactly", "after", "end"))
            if match["number"] in ("a", "an", "no", "any", "half") or (needed and not needed & set(stems)):
                continue
            if bare and read_numeral(match["number"].removesuffix(" of")) == 1:  # "one side", as people say for any
                continue
            number = 2.0 if match["number"] == "pair of" else read_numeral(match["number"])
            start = len(text[: match.start()].split())
            if number is not None and all(start >= other.end for other in found):
                row = self._compared(match, number)
                found.append(Found(start, start + len(match[0].split()), row, match[0].strip()))
        return found

    def _compared(self, match: re.Match[str], number: float) -> Values:
        low, high = self._ranges[match["noun"]]
        tail = f"{match['after'] or ''}{match['end'] or ''}"
        if match["more"]:
            sure, possible = low > number, high > number
        elif match["least"] or "more" in tail or (self._only_with[match["noun"]] and not match["exactly"]):
            sure, possible = low >= number, high >= number
        elif match["less"]:
            sure, possible = high < number, low < number
        elif "few" in tail or "less" in tail:
            sure, possible = high <= number, low <= number
        else:
            sure = (low == number) & (high == number)
            possible = (low <= number) & (high >= number) & (high > 0)
        return np.where(sure, YES, np.where(possible, SOMETIMES, NO)).astype(np.uint8)


@cache
def counts() -> Counts:
    """The counts of the task's table."""
    text = (files("lmrl_data.tasks.twenty_questions") / "phrases" / "counts.toml").read_text("utf-8")
    return Counts(knowledge_table(), tomllib.loads(text))

"""What an import found: episodes, records that could not be read, rewards that differ from the rules, known faults."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lmrl_generators.importing.plays import Reading

# Unreadable records that are named; the rest are counted.
_NAMED = 5


@dataclass
class Report:
    """What an import found.

    Attributes:
        episodes: how many were read.
        turns: agent turns in them.
        unreadable: how many records could not be read.
        problems: where and why, for the first of those.
        differences: how many rewards the rules would not give, by kind.
        faults: how many episodes have a known fault of the published data, by kind.
    """

    episodes: int = 0
    turns: int = 0
    unreadable: int = 0
    problems: list[str] = field(default_factory=list)
    differences: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)

    def add(self, reading: Reading) -> None:
        """Count an episode."""
        self.episodes += 1
        self.turns += reading.episode.num_turns
        self.differences.update(reading.differences)
        self.faults.update(set(reading.faults))

    def reject(self, where: str, why: str) -> None:
        """Count a record that could not be read."""
        self.unreadable += 1
        if len(self.problems) < _NAMED:
            # What is quoted from the file may hold anything, and is shown on terminals and in the card.
            plain = "".join(character if character.isprintable() else " " for character in why.replace("`", "'"))
            self.problems.append(f"{where}: {plain}")

    @property
    def content(self) -> dict[str, Any]:
        """As a JSON object."""
        return {**vars(self), "differences": _sorted(self.differences), "faults": _sorted(self.faults)}


def lines_of(content: Mapping[str, Any]) -> list[str]:
    """A report's content in words, a line each."""
    lines = [f"{content['episodes']:,} episodes with {content['turns']:,} agent turns read"]
    if content["unreadable"]:
        lines.append(f"{content['unreadable']:,} records not read, the first of them:")
        lines += [f"  {problem}" for problem in content["problems"]]
    for title, found in (
        ("rewards that differ from the rules", "differences"),
        ("known faults, in episodes", "faults"),
    ):
        if content[found]:
            lines.append(f"{title}:")
            lines += [f"  {count:,} × {kind}" for kind, count in content[found].items()]
    return lines


def _sorted(counts: Counter[str]) -> dict[str, int]:
    """The most frequent first, by name where they are equal."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

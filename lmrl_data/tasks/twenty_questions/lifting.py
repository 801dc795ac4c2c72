"""Questions of who can lift the thing: "Could a child carry it?", "Does it take two people to move it?"."""

import re
from collections.abc import Mapping, Sequence

from lmrl_data.tasks.twenty_questions.yardsticks import Floats, Found, found

# Who lifts, and how many grams; the first that a question speaks of counts.
_LIFTERS = (
    ("one finger|single finger|little finger|pinky", 1_000),
    ("baby|infant|newborn", 500),
    ("toddler", 3_000),
    ("child|kid|year old|little boy|little girl|grandson|granddaughter|boy|girl|five year old", 8_000),
    ("two people|2 people|two men|two person|2 person|help|together|friend|couple of people", 70_000),
    ("one hand|single hand|under arm", 7_000),
    ("forklift|crane|machine|truck", 5_000_000),
    ("weightlifter|strong man|bodybuilder|strongman|strong person", 100_000),
)
_PERSON = "(?:people|person|man|woman|adult|mover|friend|guy)"
# Grams that one person lifts, and litres that one arm reaches round.
_LIFTED_ALONE, _UNDER_AN_ARM = 26_000, 60
SEVERAL_LIFT = (
    r"(?:take|need|require) (?:at least )?(?:two|2|three|3|four|several|many|more than one|a couple of)"
    rf" (?:\w+ )?{_PERSON} .*?\b(?:lift|move|carry|shift|pick|haul)"
)
SOMEBODY_LIFTS = r"(?P<too>too heavy (?:for|to)|lift|carry|pick up|hold (?:it )?up|move|pick)"


class Lifting:
    """Reads what `SEVERAL_LIFT` and `SOMEBODY_LIFTS` find."""

    def __init__(self, numbers: Mapping[str, Floats]) -> None:
        self._numbers = numbers

    def by_several(self, match: re.Match[str], stems: Sequence[str], start: int, end: int, text: str) -> Found | None:
        """What is too heavy for one."""
        return found(start, end, self._numbers["weight_g"] > _LIFTED_ALONE, "too heavy for one")

    def by_somebody(self, match: re.Match[str], stems: Sequence[str], start: int, end: int, text: str) -> Found | None:
        """What somebody lifts, or cannot lift; None where nobody is named."""
        limit = next((grams for words, grams in _LIFTERS if re.search(rf"\b(?:{words})\b", text)), None)
        too_heavy = match["too"].startswith("too heavy")
        if limit is None and not too_heavy:
            return None
        row = self._numbers["weight_g"] <= (limit or _LIFTED_ALONE)
        if "one hand" in text or "under arm" in text:
            row = row & (self._numbers["volume_l"] < _UNDER_AN_ARM)
        if too_heavy:
            return found(start, len(stems), ~row, f"too heavy for {limit}")
        return found(start, end, row, f"lifted by {limit}")

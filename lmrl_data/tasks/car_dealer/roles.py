"""What a sum in a line of talk is, told by the words before and after it (``roles.toml``).

The roles: ``offer`` (what the seller asks), ``msrp``, ``discount`` and ``percent`` (what comes off), ``markup`` (what
comes on top of the dealer's cost), ``bid`` (the buyer's price, which the seller takes) and ``other`` (monthly rates,
deposits, prices of other cars, refused or past prices, and the like).
"""

import re
import tomllib
from importlib.resources import files
from typing import NamedTuple

_CONTENT = tomllib.loads((files(__package__) / "roles.toml").read_text("utf-8"))
STICKER: str = _CONTENT["words"]["sticker"]


class _Rule(NamedTuple):
    role: str
    before: re.Pattern[str]
    after: re.Pattern[str]
    both: bool

    def fits(self, before: str, after: str) -> bool:
        if self.both:
            return bool(self.before.search(before) and self.after.match(after))
        return bool(self.before.search(before) or self.after.match(after))


def _pattern(alternatives: list[str], opening: str, ending: str) -> re.Pattern[str]:
    """One of the alternatives; nothing where there are none."""
    if not alternatives:
        return re.compile(r"(?!)")
    pattern = "|".join(alternatives)
    for name, words in _CONTENT["words"].items():
        pattern = pattern.replace(f"{{{name}}}", words)
    return re.compile(f"{opening}(?:{pattern}){ending}")


_RULES = [
    _Rule(
        role=rule["role"],
        before=_pattern(rule.get("before", []), r"(?<![a-z])", "$"),
        after=_pattern(rule.get("after", []), "", ""),
        both="both" in rule,
    )
    for rule in _CONTENT["rule"]
]
_OFF = re.compile(r"\b(?:off|discount|less|under|below|lower|reduc\w*)\b")


def role_of(before: str, after: str, *, percent: bool) -> str:
    """The role of a sum.

    Args:
        before: the sentence up to the sum, from the last sum on; normalised.
        after: what follows, up to the next sum.
        percent: whether it is a share, not a sum.
    """
    if percent:
        return "percent" if _OFF.search(before + after) else "other"
    return next((rule.role for rule in _RULES if rule.fits(before, after)), "offer")

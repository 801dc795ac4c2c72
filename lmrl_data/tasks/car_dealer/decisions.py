"""What a buyer's last answer comes to, where a language model gives it in its own words."""

import re
from typing import Literal

from lmrl_data.text import normalise

_SIGNAL = re.compile(
    r"""(?P<no> \b(?:reject|declin|refus|leav|walk)[a-z]* | \bno(?:[ ]deal|[ ]thanks?|[ ]thank[ ]you)?(?=[,.!]|$)
        | \bpass\b | \bnot[ ]interested | \btoo[ ](?:much|expensive|high) | \bgoodbye)
      | (?P<yes> \b(?:accept|agree)[a-z]* | \bdeal\b | \bsold\b | \byes\b | \bok(?:ay)?\b
        | \bi(?:'ll|[ ]will)[ ](?:take|buy) | \bbuy(?:ing)?[ ]it)""",
    re.VERBOSE,
)
# What turns an acceptance round: before it, or anywhere in its sentence.
_DENIED = re.compile(r"\b(?:not|never|cannot|unable|no way|hardly|[a-z]+n't)\b[^.!?]{0,25}$")
_CONDITIONAL = re.compile(r"\b(?:if|unless|would|could|might|only|provided|when you)\b")
_LABEL = re.compile(r"\b(?:decision|answer|verdict|final)\W{1,6}(?=[a-z])")


def read_decision(text: str) -> Literal["accept", "leave"] | None:
    """Whether a buyer's last answer accepts the price; None where it says neither.

    The last word counts: ``"I turned you down before, but now I accept"`` accepts, ``"I would accept $25,000. At that
    price, no."`` leaves, and so does an acceptance with a condition, which comes too late.
    """
    line = re.sub(r"[*_`\"{}\[\]]", "", normalise(text).replace("’", "'"))
    labels = list(_LABEL.finditer(line))
    if labels:
        line = line[labels[-1].end() :]
    decision: Literal["accept", "leave"] | None = None
    for sentence in re.split(r"(?<=[.!?;]) ", line):
        for signal in _SIGNAL.finditer(sentence):
            takes = (
                signal["yes"] and not _DENIED.search(sentence[: signal.start()]) and not _CONDITIONAL.search(sentence)
            )
            decision = "accept" if takes else "leave"
    return decision

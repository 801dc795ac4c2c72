"""What a buyer's last answer comes to, where a language model gives it in its own words."""

import re
import string
from typing import Literal

from lmrl_data.text import normalise

# They end a conversation whose last words do not say how it ends.
CLOSINGS = {"accept": "Deal, I'll take it.", "leave": "No deal. Goodbye."}

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
_MARK = re.compile(r"\W*\bdecision\W{1,6}([a-z]+)\W*", re.IGNORECASE)
_MARKS: dict[str, Literal["accept", "leave"]] = {
    "accept": "accept",
    "accepted": "accept",
    "leave": "leave",
    "reject": "leave",
}
# Plain enough to hold without the mark.
_TAKES = re.compile(r"\bi(?:'ll| will) take it\b|\b(?:it's|have|got) a deal\b|\bi accept\b|^deal[.!]")
_NAME = re.compile(r"^\W*(?:buyer|customer|me) ?: *", re.IGNORECASE)
_PLAIN = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "...", "\u00a0": " "})


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


def decided(reply: str, *, last: bool) -> tuple[str, Literal["", "accept", "leave"]]:
    """What a language model's reply says, and what it decides.

    The mark that its prompt asks for (``DECISION: ACCEPT``) counts, or else words that accept beyond doubt; where it is
    the last one, any that accept or decline.

    Args:
        reply: the model's.
        last: whether the buyer must decide now.

    Returns:
        Its words in one line of plain letters, without the mark; they say the decision (`CLOSINGS`) where there is one.
    """
    line = " ".join(reply.translate(_PLAIN).split())
    line = "".join(character for character in line if character in string.printable)
    mark = next((_MARKS.get(word.casefold()) for word in reversed(_MARK.findall(line))), None)
    text = _NAME.sub("", _MARK.sub(lambda found: _stop_of(found[0]), line)).strip(' "*')
    read_as = read_decision(text)
    if mark is None:
        takes = read_as == "accept" and _TAKES.search(text.casefold())
        return text, (read_as or "") if last or takes else ""
    if read_as != mark:
        text = f"{text}{'' if text[-1:] in '.!?' else '.'} {CLOSINGS[mark]}".strip()
    return text, mark


def _stop_of(mark: str) -> str:
    """What remains of a mark: the stop of the sentence before it."""
    return f"{mark[0]} " if mark[0] in ".!?" else " "

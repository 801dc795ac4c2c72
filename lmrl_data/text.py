"""How texts are compared and stored."""

from typing import Literal, TypedDict


class Message(TypedDict):
    """One utterance: ``user`` is the environment, ``assistant`` is the agent."""

    role: Literal["user", "assistant"]
    content: str


def normalise(action: str) -> str:
    """An action trimmed, case-folded and with every run of white space made one blank: what tasks match against."""
    return " ".join(action.casefold().split())


def storable(text: str) -> str:
    """The text with lone surrogates, which UTF-8 cannot hold, replaced by U+FFFD; any other text as it is."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

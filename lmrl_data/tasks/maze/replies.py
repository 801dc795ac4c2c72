"""How a chat model's reply is read as a move."""

import re
from collections.abc import Sequence

from lmrl_data.text import Message, normalise

_MOVE = re.compile(r"\b(?:move|go|walk|step) (up|down|left|right)\b")
_DIRECTION = re.compile(r"\b(up|down|left|right)\b")


def read_move(text: str, conversation: Sequence[Message] = ()) -> str | None:
    """The one move in a text, as the environment takes it: ``"move up"``."""
    said = normalise(text)
    for pattern in (_MOVE, _DIRECTION):
        found = set(pattern.findall(said))
        if found:
            return f"move {found.pop()}" if len(found) == 1 else None
    return None

"""How a chat model's reply is read as a command."""

import re
from collections.abc import Sequence

from lmrl_data.text import Message, normalise

_LISTED = "\nCommands: "


def read_command(text: str, conversation: Sequence[Message]) -> str | None:
    """The one command that a text holds of those in the last observation; ``north`` will do for ``go north``."""
    commands = conversation[-1]["content"].rpartition(_LISTED)[2].rstrip(".").split(", ")
    said = normalise(text).rstrip(".!")
    if f"go {said}" in commands:
        return f"go {said}"
    held = [command for command in commands if re.search(rf"\b{re.escape(command)}\b", said)]
    # "put stale food on table" holds no shorter command, but another one might.
    longest = [command for command in held if not any(command != other and command in other for other in held)]
    return longest[0] if len(longest) == 1 else None

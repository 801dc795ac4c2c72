"""How a chat model's reply is read as a guess."""

import re
from collections.abc import Sequence

from lmrl_data.text import Message

_WORD = re.compile(r"[^\W\d_]+")
_SPACED = re.compile(r"(?<!\w)[^\W\d_](?:[ ,-]{1,2}[^\W\d_]){4}(?!\w)")
# Words of five letters that speak of guesses.
_TALK = frozenset("guess words tries right wrong green black".split())


def read_guess(text: str, conversation: Sequence[Message] = ()) -> str | None:
    """The one word of five letters in a text, as the environment writes it: ``"c r a n e"``."""
    spaced = {"".join(_WORD.findall(found)).lower() for found in _SPACED.findall(text)}
    # Feedback is spaced too.
    spaced = {word for word in spaced if not set(word) <= set("gyb")}
    words = [word for word in _WORD.findall(text) if len(word) == 5]
    shouted = {word.lower() for word in words if word.isupper()}
    said = {word.lower() for word in words} - _TALK if len(words) > 1 else {word.lower() for word in words}
    for found in (spaced, shouted, said):
        if len(found) == 1:
            return " ".join(found.pop())
    return None

"""The words that people use for the house's commands."""

import re

_DIRECTIONS = {"n": "north", "s": "south", "e": "east", "w": "west"}
_VERBS = {
    "get": "take",
    "grab": "take",
    "pick up": "take",
    "remove": "take",
    "place": "put",
    "lay": "put",
    "walk": "go",
    "move": "go",
    "run": "go",
    "head": "go",
    "shut": "close",
    "put down": "drop",
    "leave": "drop",
    "consume": "eat",
}
_MULTIWORD = sorted(_VERBS, key=len, reverse=True)


def interpret(text: str) -> str:
    """A normalised text in the canonical words of a command; unknown words stay as they are.

    Articles and a full stop are left out, synonyms of verbs replaced, and what is put in, inside or into a container is
    inserted, on or onto a table put.
    """
    text = re.sub(r"\b(the|a|an|my|some) ", "", text.rstrip(".! "))
    if text in _DIRECTIONS or text in _DIRECTIONS.values():
        return f"go {_DIRECTIONS.get(text, text)}"
    text = re.sub(r"^(pick|put) (?!up |down )(.+) (up|down)$", r"\1 \3 \2", text)
    for verb in _MULTIWORD:
        if text.startswith(f"{verb} "):
            text = f"{_VERBS[verb]} {text[len(verb) + 1 :]}"
            break
    text = re.sub(r"^go to ", "go ", text)
    if text.startswith("go "):
        return f"go {_DIRECTIONS.get(text[3:], text[3:])}"
    text = re.sub(r"^take (.+) (?:out of|off of|off|in|on) (\w+)$", r"take \1 from \2", text)
    text = re.sub(r"^(?:put|insert) (.+) (?:into|inside|in) (chest|fridge)$", r"insert \1 into \2", text)
    return re.sub(r"^(?:put|insert) (.+) (?:onto|on top of|on) table$", r"put \1 on table", text)

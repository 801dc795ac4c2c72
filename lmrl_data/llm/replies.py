"""What a chat model means by its reply: the places where an action may stand in it, the plainest first.

Models think aloud, write Markdown, put the action into quotes or a fence, or go on and play the environment as well.
`read_action` takes all that off; what a text must look like to be an action is for the task to say, in a `Reader`.
"""

import re
from collections.abc import Callable, Sequence

from lmrl_data.text import Message

MARKER = "Action:"

Reader = Callable[[str, Sequence[Message]], str | None]
"""Reads a text that may be an action in a conversation; None where it is none."""

# The end of a longer reply is looked at, where the action stands.
_LONGEST = 20_000
# Thoughts are no part of the reply. Some servers leave out the opening tag, and a reply may be cut off within them.
_THOUGHTS = re.compile(r"<(think|thinking|thought|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_REST_OF_THOUGHTS = re.compile(r"\A.*</(?:think|thinking|thought|reasoning)>", re.DOTALL | re.IGNORECASE)
_TAGGED = re.compile(r"<(action|answer|guess|move|command|question)>(?P<said>.*?)</\1>", re.DOTALL | re.IGNORECASE)
_MARKED = re.compile(
    r"(?:^(?:[^\w\n]|_)*|(?<=[.!?] ))(?:(?:my|the|your|final|next|best|chosen) )*"
    r"(?:action|answer|guess|move|command|question|reply|response|seller|assistant)"
    r"(?: is| #?\d+)?[*_` ]*:(?P<said>.*)$",
    re.IGNORECASE | re.MULTILINE,
)
# The model goes on and speaks for the environment.
_OTHERS = re.compile(
    r"^(?:[^\w\n]|_)*(?:observation|environment|user|feedback|oracle|buyer|customer)[*_` ]*:",
    re.IGNORECASE | re.MULTILINE,
)
_QUOTED = (
    re.compile(r"\\boxed\{(?:\\text\{)?([^{}]+)\}"),
    re.compile(r"```(?:\w*\n)?([^`]+)```"),
    re.compile(r"`([^`\n]+)`"),
    re.compile(r"\*\*([^*\n]+)\*\*"),
    re.compile(r"[\"“”]([^\"“”\n]+)[\"“”]"),
    re.compile(r"(?<!\w)['‘’]([^'‘’\n]+)['‘’](?!\w)"),
)
_FOLLOWING = re.compile(r"[\s\"'“”‘’`*_>#-]*(.*)")
_AROUND = " \t\r\n\"'“”‘’`*_"
_SENTENCE = re.compile(r"(?<=[a-z]{3}[.!?])\s+(?=[A-Z])")


def read_action(reply: str, reader: Reader | None, conversation: Sequence[Message]) -> str:
    """The action in a reply.

    Args:
        reply: what the model said.
        reader: of the task; None where every text is an action.
        conversation: what it replied to; the last message is the environment's.

    Returns:
        The action as the reader writes it. Where the reader finds none, what stands behind a marker such as
        ``Action:``, or else the reply as it is: the environment says what is wrong with it.
    """
    text = without_thoughts(reply)[-_LONGEST:]
    marked = _marked(text)
    for place in _bare(marked + _quoted(marked[0]) if marked else [text, *_quoted(text), *_edges(text)]):
        action = place if reader is None else reader(place, conversation)
        if action is not None:
            return action
    return next(iter(_bare(marked)), reply)


def without_thoughts(reply: str) -> str:
    """A reply without what its model only thought."""
    return _REST_OF_THOUGHTS.sub("", _THOUGHTS.sub("", reply)).strip()


def last_question(text: str, conversation: Sequence[Message] = ()) -> str:
    """The last question in a text, or all of it where it asks none: the `Reader` of games of questions."""
    sentences = _SENTENCE.split(" ".join(text.split()))
    return next((sentence for sentence in reversed(sentences) if sentence.endswith("?")), " ".join(sentences))


def _marked(text: str) -> list[str]:
    """What stands behind markers, the last one first, up to where the model speaks for the environment."""
    first = _MARKED.search(text)
    others = _OTHERS.search(text, first.end()) if first else None
    if others:
        text = text[: others.start()]
    found = [match["said"] for match in reversed(list(_TAGGED.finditer(text)))]
    for match in reversed(list(_MARKED.finditer(text))):
        # A marker at the end of its line speaks of the next.
        following = _FOLLOWING.match(text, match.end())
        found += [match["said"] if _bare([match["said"]]) or following is None else following[1]]
    return found


def _quoted(text: str) -> list[str]:
    """What is set apart in a text, the last one of a kind first."""
    return [part for pattern in _QUOTED for part in reversed(pattern.findall(text))]


def _edges(text: str) -> list[str]:
    """The last line of a text, and the first."""
    lines = [line for line in text.splitlines() if line.strip(_AROUND + "-#>")]
    return [lines[-1], lines[0]] if lines else []


def _bare(texts: list[str]) -> dict[str, None]:
    """Texts without the quotes, stars and the like around them, each once; none is empty."""
    return dict.fromkeys(bare for text in texts if (bare := text.strip(_AROUND)))

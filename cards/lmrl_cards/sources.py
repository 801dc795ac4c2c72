"""What the data of a task derive from: the sections of the package's NOTICE that concern it."""

import re
import textwrap
from dataclasses import dataclass
from importlib.metadata import distribution

from lmrl_data.errors import LmrlError

_HEADING = re.compile(r"^\d+\. (.+)\n-{3,}\n", re.MULTILINE)


@dataclass(frozen=True)
class Notice:
    """A section of NOTICE: the first paragraph says what derives from what, the rest is the source's own notice."""

    title: str
    summary: str
    terms: str


def notices_of(task: str) -> list[Notice]:
    """The notices that concern a task: those whose heading or first paragraph names it.

    Raises:
        LmrlError: the package was installed without its NOTICE.
    """
    text = distribution("lmrl-gym").read_text("licenses/NOTICE")
    if text is None:
        raise LmrlError("this installation of lmrl-gym lacks its NOTICE; install it again with `pip install lmrl-gym`")
    parts = _HEADING.split(text)
    found = []
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        summary, _, terms = body.strip().partition("\n\n")
        if re.search(rf"(?<![\w-]){re.escape(task)}(?![\w-])", f"{title}\n{summary}", re.IGNORECASE):
            found.append(Notice(title, " ".join(summary.split()), textwrap.dedent(terms).rstrip()))
    return found

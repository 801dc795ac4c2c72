"""The leaderboard as one self-contained HTML page: tables, and a viewer that steps through sampled episodes.

Whatever comes from a result is a stranger's: the tables are escaped by the template, the episodes travel as JSON in
which no `<` is left and are shown by the scripts as text only, and the page's own content security policy lets nothing
run or load but the scripts and styles that this module puts in, by their hashes.
"""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import jinja2
from markupsafe import Markup, escape

import lmrl_data
from lmrl_data.registry import Config, Task, get_task
from lmrl_evaluation.leaderboard import RANKS, Board, Entry
from lmrl_evaluation.metrics import OPTIONAL_METRICS, Estimate
from lmrl_evaluation.published import NOTE, SOURCE
from lmrl_evaluation.result import Result
from lmrl_evaluation.samples import MOST, samples
from lmrl_evaluation.verify import Check

SCRIPTS = ("tables.js", "scenes.js", "viewer.js")
STYLES = ("page.css", "viewer.css")

_BAR_WIDTH = 150
_OPTIONAL_NAMES = {"unusable_action_rate": "Unusable actions", "understood_rate": "Understood"}


@dataclass(frozen=True)
class Line:
    """An entry of a board and the name that links to its episodes use."""

    entry: Entry
    name: str

    @property
    def result(self) -> Result:
        """The entry's result."""
        return self.entry.result


@dataclass(frozen=True)
class Section:
    """What the page shows of a board.

    Attributes:
        board: the board.
        lines: its entries.
        axis: the score at the right end of the bars.
    """

    board: Board
    lines: Sequence[Line]
    axis: float

    @property
    def anchor(self) -> str:
        """The fragment that links to it."""
        return f"{self.board.task}-{self.board.config}"

    @property
    def task(self) -> Task:
        """The task."""
        return get_task(self.board.task)

    @property
    def config(self) -> Config:
        """The task's config."""
        return self.task.configs[self.board.config]

    @property
    def title(self) -> str:
        """Title of the task, and of the config where it has more than one."""
        config = f", {self.board.config.replace('_', ' ')}" if len(self.task.configs) > 1 else ""
        return f"{self.task.title}{config}"

    @property
    def optional(self) -> list[str]:
        """The metrics that only some tasks have: the same for all entries, or the check would have refused them."""
        return [name for name in OPTIONAL_METRICS if name in self.lines[0].result.estimates]

    def place(self, score: float) -> float:
        """Where a score lies on the bars, in pixels."""
        return round(_BAR_WIDTH * min(score, self.axis) / self.axis, 1)


@dataclass(frozen=True)
class Overall:
    """A policy's scores in all sections.

    Attributes:
        policy: its name.
        method: how it came about.
        scores: with the name of the result, by section; None where it has no rank there.
    """

    policy: str
    method: str
    scores: Sequence[tuple[float, str] | None]

    @property
    def mean(self) -> float | None:
        """The mean score; None unless there is one in every section."""
        scores = [score[0] for score in self.scores if score is not None]
        return sum(scores) / len(scores) if len(scores) == len(self.scores) else None


def as_html(boards: Sequence[Board], refused: Sequence[Check] = ()) -> str:
    """The page's text."""
    sections = _sections(boards)
    results = {line.name: line.result for section in sections for line in section.lines}
    script, style = (_joined(names) for names in (SCRIPTS, STYLES))
    environment = jinja2.Environment(
        autoescape=True,
        loader=jinja2.PackageLoader("lmrl_evaluation"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"number": number, "interval": interval, "percent": percent, "code": code}
    return environment.get_template("leaderboard.html.jinja").render(
        sections=sections,
        overall=_overall(sections),
        refused=refused,
        episodes=embedded_json(samples(results)),
        script=Markup(script),
        style=Markup(style),
        optional_names=_OPTIONAL_NAMES,
        policy=f"default-src 'none'; img-src data:; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'",
        bar_width=_BAR_WIDTH,
        most=MOST,
        ranks=RANKS,
        source=SOURCE,
        note=NOTE,
        version=lmrl_data.__version__,
    )


def embedded_json(data: object) -> Markup:
    """JSON that can stand in a `script` element, whatever texts are in it."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def number(value: float, digits: int) -> str:
    """A number with a minus sign, and no minus before a zero."""
    text = f"{value:,.{digits}f}"
    return text.lstrip("-") if float(text.replace(",", "")) == 0 else text.replace("-", "−")


def interval(estimate: Estimate, digits: int) -> str:
    """The ends of an interval."""
    low, high = (number(end, digits) for end in estimate.interval)
    return f"{low} to {high}"


def percent(value: float) -> str:
    """A share in percent."""
    return f"{100 * value:.1f} %"


def code(text: str) -> Markup:
    """A text with what stands in backquotes as code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _sections(boards: Sequence[Board]) -> list[Section]:
    names: dict[str, int] = {}
    sections = []
    for board in boards:
        lines = []
        for entry in board.entries:
            name = entry.result.folder_name
            names[name] = names.get(name, 0) + 1
            lines.append(Line(entry, name if names[name] == 1 else f"{name}.{names[name]}"))
        ends = [entry.result.estimates["normalized_score"].interval[1] for entry in board.entries]
        axis = max([100.0, *ends, *(row.normalized_score for row in board.published)])
        sections.append(Section(board, lines, axis))
    return sections


def _overall(sections: Sequence[Section]) -> list[Overall]:
    """A line per policy and method: those with a score everywhere first, by their mean; the others by their number."""
    found: dict[tuple[str, str], list[tuple[float, str] | None]] = {}
    for place, section in enumerate(sections):
        for line in section.lines:
            if line.entry.rank is not None:
                scores = found.setdefault((line.result.policy, line.result.method), [None] * len(sections))
                score = line.result.estimates["normalized_score"].value
                # Lines come best first; a policy that was evaluated twice shows its better result in both tables.
                scores[place] = scores[place] or (score, line.name)
    rows = [Overall(*key, scores) for key, scores in found.items()]
    return sorted(rows, key=_order)


def _order(row: Overall) -> tuple[float, float, str]:
    scores = [score[0] for score in row.scores if score is not None]
    return (-len(scores), -sum(scores) / len(scores), row.policy)


def _joined(names: Sequence[str]) -> str:
    folder = files("lmrl_evaluation") / "templates"
    return "\n" + "\n".join((folder / name).read_text("utf-8") for name in names)


def _hash(text: str) -> str:
    """A script or style as a content security policy names it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

"""The card's Markdown: what the template is filled with."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2

import lmrl_data
from lmrl_cards import markdown
from lmrl_cards.distribution import Distribution
from lmrl_cards.origin import Origin
from lmrl_cards.statistics import SplitStatistics
from lmrl_data.episode import Episode, episode_schema
from lmrl_data.registry import Config, Task, locate

_COLUMNS = {
    "episode_id": "unique in the dataset: task, config, split and number",
    "messages": "the conversation: `user` is the environment, `assistant` the agent; the environment begins and ends",
    "rewards": "reward of each agent turn",
    "episode_return": "undiscounted sum of the rewards",
    "success": "whether the task was solved",
    "terminated": "whether the game ended by itself",
    "truncated": "whether a time limit ended the episode, so that its last state is not terminal",
    "num_turns": "agent turns",
    "seed": "what the environment was reset with; it fixes the start and all chance in the environment",
    "policy": "the behaviour policy that played",
    "env_id": "the environment, with its version",
}
_PERCENTILES = (5, 25, 50, 75, 95)

Row = tuple[str, list[str], str]


@dataclass(frozen=True)
class FileView:
    """A split and its files.

    Attributes:
        config: name of the config.
        split: name of the split.
        rows: how many it has.
        paths: its files.
    """

    config: str
    split: str
    rows: int
    paths: Sequence[Path]

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(path.stat().st_size for path in self.paths)


@dataclass(frozen=True)
class ConfigView:
    """What the page shows of a config.

    Attributes:
        name: of the config.
        config: its registered facts.
        is_default: whether it is the task's default.
        files: its splits, train first.
        train: statistics of the train split.
        turns: agent turns in all splits.
        plot: path of its picture in the folder.
        seed: of its plan; None where it is not known.
        planned: shares of the behaviour policies by spec; empty where they are not known.
        evaluation_starts: different starts of its evaluation episodes.
        shared_starts: those of them that occur in the train split too.
    """

    name: str
    config: Config
    is_default: bool
    files: Sequence[FileView]
    train: SplitStatistics
    turns: int
    plot: str
    seed: int | None
    planned: Mapping[str, float]
    evaluation_starts: int
    shared_starts: int

    @property
    def episodes(self) -> int:
        """Episodes in all splits."""
        return sum(file.rows for file in self.files)

    @property
    def example(self) -> Episode | None:
        """The episode to show: the first success of the train split, or else its first failure."""
        return self.train.first_success or self.train.first_failure


def render(
    task: Task, configs: Sequence[ConfigView], evaluation: FileView | None, origin: Origin | None, front_matter: str
) -> str:
    """The text of a dataset card.

    Args:
        task: the task.
        configs: those that the folder holds, the default one first.
        evaluation: the evaluation episodes, if the folder holds them.
        origin: how the data were made, if that is known.
        front_matter: the YAML at its head.
    """
    environment = jinja2.Environment(
        # Markdown, not HTML: what comes from data goes through the filters `cell` and `transcript`.
        autoescape=False,
        loader=jinja2.PackageLoader("lmrl_cards"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "cell": markdown.cell,
        "count": markdown.count,
        "megabytes": markdown.megabytes,
        "number": markdown.number,
        "percent": markdown.percent,
        "transcript": markdown.transcript,
    }
    return environment.get_template("dataset_card.md.jinja").render(
        task=task,
        repo=f"lmrl-gym/{task.name}",
        front_matter=front_matter,
        configs=configs,
        evaluation=evaluation,
        # What the task says of its data is true of the published behaviour policies only.
        as_published=all(set(view.train.policies) == set(view.config.collection) for view in configs),
        rules=markdown.docstring_sections(locate(task.env)),
        columns=_columns(task),
        origin=origin,
        version=origin.versions["lmrl-gym"] if origin else lmrl_data.__version__,
        table=_table(task, [view.train for view in configs]),
        policy=next(iter(task.policies)),
        scripted=all(name in task.policies for view in configs for name in view.train.policies),
    )


def _columns(task: Task) -> list[tuple[str, str, str]]:
    """Name, type and meaning of each column and of each field of ``info``."""
    schema = episode_schema(task)
    rows = [(name, schema.field(name).type, meaning) for name, meaning in _COLUMNS.items()]
    rows += [(f"info.{field.name}", field.type, task.column_notes[field.name]) for field in schema.field("info").type]
    return [(name, markdown.type_name(kind), meaning) for name, kind, meaning in rows]


def _table(task: Task, trains: list[SplitStatistics]) -> list[Row]:
    """The statistics: label, a cell per config, and the paper's figure."""
    count, number, percent = markdown.count, markdown.number, markdown.percent
    groups = [train.overall for train in trains]

    def beside(key: str, label: str, values: list[float], show: Callable[[float | None], str]) -> Row:
        published = task.paper.get(key)
        cells = [show(value) if published is None else _compared(value, published, show) for value in values]
        return label, cells, show(published)

    rows = [
        beside("episodes", "episodes", [group.episodes for group in groups], count),
        beside("mean_length", "length, mean", [group.length.mean for group in groups], number),
        beside("std_length", "length, standard deviation", [group.length.std for group in groups], number),
        ("length, percentiles", [_percentiles(group.length, count) for group in groups], ""),
        beside("success_rate", "success", [group.success_rate for group in groups], percent),
        beside("mean_return", "return, mean", [group.returns.mean for group in groups], number),
        beside("std_return", "return, standard deviation", [group.returns.std for group in groups], number),
        ("return, percentiles", [_percentiles(group.returns, markdown.short) for group in groups], ""),
        ("return, lowest … highest", [_span(group.returns) for group in groups], ""),
        ("ended by the game", [percent(group.terminated_rate) for group in groups], ""),
        ("ended by a time limit", [percent(group.truncated_rate) for group in groups], ""),
        ("agent turns", [count(group.turns) for group in groups], ""),
        ("characters per agent message, mean (longest)", [_characters(train.agent_characters) for train in trains], ""),
        ("characters per observation, mean (longest)", [_characters(t.environment_characters) for t in trains], ""),
        ("different seeds", [count(train.seeds) for train in trains], ""),
    ]
    if any(train.starts for train in trains):
        rows.append(("different starts", [count(len(train.starts)) for train in trains], ""))
    if any(train.unusable_actions is not None for train in trains):
        rows.append(("unusable actions", [_unusable(train) for train in trains], ""))
    return rows


def _compared(value: float, published: float, show: Callable[[float | None], str]) -> str:
    # A difference of two percentages is in percentage points.
    difference = show(value - published).replace("%", "points")
    return f"{show(value)} ({difference if difference.startswith('−') else f'+{difference}'})"


def _percentiles(distribution: Distribution, show: Callable[[float], str]) -> str:
    return " · ".join(show(distribution.quantile(percent)) for percent in _PERCENTILES)


def _span(distribution: Distribution) -> str:
    return f"{markdown.short(distribution.minimum)} … {markdown.short(distribution.maximum)}"


def _characters(distribution: Distribution) -> str:
    return f"{markdown.number(distribution.mean, 1)} ({markdown.count(distribution.maximum)})"


def _unusable(train: SplitStatistics) -> str:
    if train.unusable_actions is None:
        return "–"
    return markdown.percent(train.unusable_actions / train.overall.turns if train.overall.turns else 0)

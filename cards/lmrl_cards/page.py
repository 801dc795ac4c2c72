"""The card's Markdown: what the template is filled with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2

import lmrl_data
from lmrl_cards import markdown
from lmrl_cards.columns import episode_columns, evaluation_columns
from lmrl_cards.contents import Contents
from lmrl_cards.example import READABLE
from lmrl_cards.figures import SplitStatistics
from lmrl_cards.origin import Origin, read_imports
from lmrl_cards.sources import notices_of
from lmrl_cards.tables import difficulty_rows, paper_rows, statistics_rows
from lmrl_data.errors import LmrlError
from lmrl_data.registry import Config, evaluation_env_id, locate

# The headings of an environment's docstring that the page needs.
_HEADINGS = (
    "Description",
    "Action Space",
    "Observation Space",
    "Starting State",
    "Rewards",
    "Episode End",
    "Differences from the paper",
)


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


def render(
    contents: Contents,
    configs: Sequence[ConfigView],
    evaluation: FileView | None,
    origin: Origin | None,
    front_matter: str,
) -> str:
    """The text of a dataset card.

    Args:
        contents: of the folder.
        configs: those that the folder holds, the default one first.
        evaluation: the evaluation episodes, if the folder holds them.
        origin: how the data were made, if that is known.
        front_matter: the YAML at its head.

    Raises:
        LmrlError: the task's code leaves out what the page is to say.
    """
    task, trains = contents.task, [view.train for view in configs]
    policies = {name for train in trains for name in train.policies}
    return _template().render(
        task=task,
        repo=contents.repo,
        front_matter=front_matter,
        configs=configs,
        evaluation=evaluation,
        # What the task says of its data is true of those that are made as it plans them only.
        as_published=origin is not None
        and origin.as_published
        and all(set(view.train.policies) <= set(view.config.collection) for view in configs),
        rules=rules_of(locate(task.env)),
        columns=episode_columns(task, configs[0].train.example),
        evaluation_columns=evaluation_columns(task),
        evaluation_env_id=evaluation_env_id,
        readable=READABLE,
        origin=origin,
        imports=read_imports(contents),
        version=origin.versions["lmrl-gym"] if origin else lmrl_data.__version__,
        difficulty=difficulty_rows(trains, [view.config.bounds for view in configs]),
        statistics=statistics_rows(trains),
        paper=paper_rows(task, trains),
        partners=sorted({name for train in trains for name in train.partners}),
        notices=notices_of(task.name),
        policy=next(iter(task.policies)),
        scripted=policies <= set(task.policies),
    )


def rules_of(documented: type) -> dict[str, str]:
    """The sections of an environment's docstring, those that the page needs among them.

    Raises:
        LmrlError: one of those is missing.
    """
    sections = markdown.docstring_sections(documented)
    for heading in _HEADINGS:
        if not sections.get(heading):
            raise LmrlError(
                f"the docstring of {documented.__module__}.{documented.__qualname__} has no text under "
                f"`## {heading}`, which the card shows; add it"
            )
    return sections


def _template() -> jinja2.Template:
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
        "plural": markdown.plural,
        "short": markdown.short,
        "transcript": markdown.transcript,
    }
    return environment.get_template("dataset_card.md.jinja")

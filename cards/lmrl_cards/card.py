"""The dataset card: `README.md` with its plots, and `eval.yaml`, from the files of a dataset folder."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from lmrl_cards.contents import EVALUATION, Contents, read_contents
from lmrl_cards.figures import SplitStatistics
from lmrl_cards.metadata import Sizes, evaluation_file, front_matter
from lmrl_cards.origin import Origin, read_origin
from lmrl_cards.page import ConfigView, FileView, render
from lmrl_cards.plots import distribution_plot
from lmrl_cards.statistics import observations, split_statistics, start_fields, start_keys
from lmrl_data.dataset import read_batches
from lmrl_data.episode import evaluation_schema
from lmrl_data.errors import LmrlError
from lmrl_data.files import write_bytes
from lmrl_data.registry import evaluation_env_id

Statistics = dict[str, dict[str, SplitStatistics]]


def write_card(
    folder: str | Path, task: str, *, workers: int = 1, on_episodes: Callable[[int], None] | None = None
) -> Path:
    """Write a dataset folder's card, its plots and `eval.yaml` from the files that are there.

    The same files give the same bytes. Each file is written whole or not at all, the card last.

    Args:
        folder: of the dataset, such as ``lmrl-gym/wordle``.
        task: name of its task.
        workers: files that are read at a time.
        on_episodes: called with a number of episodes each time some have been read.

    Returns:
        The path of the card, ``README.md``.

    Raises:
        LmrlError: unknown task; no data, or data of another task or version; files that cannot be read.
    """
    contents = read_contents(folder, task)
    origin = read_origin(contents)
    statistics = _statistics(contents, workers, on_episodes)
    evaluation = _evaluation(contents)
    views = list(_views(contents, statistics, evaluation, origin))
    written = {contents.folder / view.plot: _plot(contents, view) for view in views}
    if contents.evaluation:
        written[contents.folder / "eval.yaml"] = evaluation_file(contents.task).encode()
    else:
        # One from before would speak of episodes that are not there.
        (contents.folder / "eval.yaml").unlink(missing_ok=True)
    readme = contents.folder / "README.md"
    sizes = _sizes(contents, statistics, evaluation)
    file = FileView(EVALUATION, "test", len(evaluation), contents.evaluation) if contents.evaluation else None
    written[readme] = render(contents, views, file, origin, front_matter(contents, sizes)).encode()
    for path, data in written.items():
        write_bytes(path, data)
    return readme


def _statistics(contents: Contents, workers: int, on_episodes: Callable[[int], None] | None) -> Statistics:
    found: Statistics = {}
    folder, task = contents.folder, contents.task.name
    for name, splits in contents.configs.items():
        probe = None
        if "validation" in splits:
            probe = observations(folder, task, config=name, split="validation")
        found[name] = {
            split: split_statistics(
                folder,
                task,
                config=name,
                split=split,
                probe=probe if split == "train" else None,
                workers=workers,
                on_episodes=on_episodes,
            )
            for split in splits
        }
        if found[name]["train"].overall.episodes == 0:
            raise LmrlError(f"{contents.folder}/data/{name} has no train episodes; make some with `lmrl generate`")
        env_id = contents.task.configs[name].env_id
        # Data that were made with options, such as another oracle, name them after the id.
        played = {other for split in found[name].values() for other in split.env_ids}
        others = {other for other in played if other.partition("?")[0] != env_id}
        if others:
            raise LmrlError(
                f"{contents.folder}/data/{name} has episodes of {', '.join(sorted(others))}, but the config {name} of "
                f"this version of lmrl-gym is {env_id}; generate the folder again, or use the version that made it"
            )
    return found


def _evaluation(contents: Contents) -> pa.Table:
    """The evaluation episodes; an empty table where there are none."""
    schema = evaluation_schema(contents.task)
    batches = [batch for path in contents.evaluation for batch in read_batches(path, schema)]
    return pa.concat_tables([schema.empty_table(), *batches])


def _sizes(contents: Contents, statistics: Statistics, evaluation: pa.Table) -> dict[str, Sizes]:
    sizes: dict[str, Sizes] = {
        name: {split: (found.overall.episodes, found.num_bytes) for split, found in splits.items()}
        for name, splits in statistics.items()
    }
    if contents.evaluation:
        sizes[EVALUATION] = {"test": (len(evaluation), evaluation.nbytes)}
    return sizes


def _views(
    contents: Contents, statistics: Statistics, evaluation: pa.Table, origin: Origin | None
) -> Iterator[ConfigView]:
    task, fields = contents.task, start_fields(contents.task)
    for name, splits in contents.configs.items():
        train = statistics[name]["train"]
        mine = evaluation.filter(pc.equal(evaluation["env_id"], evaluation_env_id(task.configs[name])))
        starts = start_keys(mine["options"].combine_chunks(), fields)
        yield ConfigView(
            name=name,
            config=task.configs[name],
            is_default=name == task.config()[0],
            files=tuple(
                FileView(name, split, statistics[name][split].overall.episodes, files)
                for split, files in splits.items()
            ),
            train=train,
            turns=sum(found.overall.turns for found in statistics[name].values()),
            plot=f"assets/{name}.png",
            seed=origin.seeds[name] if origin else None,
            planned=origin.policies[name] if origin else {},
            evaluation_starts=len(starts),
            shared_starts=len(starts & train.starts),
        )


def _plot(contents: Contents, view: ConfigView) -> bytes:
    title = f"{contents.task.title}, {view.name}: returns and lengths of the train episodes"
    return distribution_plot(title, view.train)

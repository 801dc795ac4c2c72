"""What machines read of a dataset repository: the card's YAML front matter, and `eval.yaml`."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from datasets import DatasetInfo, Features, SplitDict, SplitInfo
from datasets.info import DatasetInfosDict
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import CardData, DatasetCardData

from lmrl_cards.contents import EVALUATION, Contents, Files
from lmrl_data.episode import episode_schema, evaluation_schema
from lmrl_data.registry import Task

# Made for data, unlike the MIT licence of the code, and asks for the attribution that the sources ask for in turn
# (SCOWL's notice, GeoNames).
LICENCE = "cc-by-4.0"

_TAGS = ("lmrl-gym", "multi-turn", "offline-rl")
_SIZES = {10**3: "n<1K", 10**4: "1K<n<10K", 10**5: "10K<n<100K", 10**6: "100K<n<1M", 10**7: "1M<n<10M"}

Sizes = Mapping[str, tuple[int, int]]
"""Rows and bytes in memory of each split of a config, by name."""


def front_matter(contents: Contents, sizes: Mapping[str, Sizes]) -> str:
    """The YAML at the head of a dataset card, without its fences.

    Args:
        contents: of the dataset folder.
        sizes: of each config, the evaluation episodes included.
    """
    task = contents.task
    files = {name: dict(splits) for name, splits in contents.configs.items()}
    if contents.evaluation:
        files[EVALUATION] = {"test": contents.evaluation}
    # Of data that `lmrl generate` did not make, neither the licence nor the makers are ours to name.
    ours: dict[str, Any] = (
        {}
        if contents.manifest is None
        else {
            "license": LICENCE,
            "annotations_creators": ["machine-generated"],
            "language_creators": ["machine-generated"],
            "source_datasets": ["original"],
        }
    )
    data = DatasetCardData(
        **ours,
        language=["en"],
        pretty_name=f"LMRL-Gym {task.title}" + (", imported" if contents.imported is not None else ""),
        task_categories=["text-generation", "reinforcement-learning"],
        tags=[*_TAGS, *task.tags],
        size_categories=[size_category(sum(rows for splits in sizes.values() for rows, _ in splits.values()))],
    )
    default, _ = task.config()
    configs = {name: _data_files(name, splits, default=name == default) for name, splits in files.items()}
    MetadataConfigs(configs).to_dataset_card_data(data)
    # datasets before 4.0 reads lists of structs as they are only where the card gives the features.
    infos = {name: _info(task, name, splits, sizes[name]) for name, splits in files.items()}
    DatasetInfosDict(infos).to_dataset_card_data(data)
    return str(data.to_yaml(line_break="\n"))


def evaluation_file(task: Task) -> str:
    """The text of `eval.yaml`, which registers a dataset as a benchmark on the Hub.

    The format has no field for a metric or its direction, so there is a task per config with one number, the normalised
    score, for which higher is better. The Hub takes the file as it is, and shows a leaderboard once the framework is in
    its list (huggingface.js, packages/tasks/src/eval.ts).
    """
    description = (
        f"{task.summary} The score of a policy is its mean return over the fixed evaluation episodes of a config, "
        "normalised so that 0 is the lowest return, 50 the mean of the published data and 100 the best known policy; "
        "higher is better."
    )
    content = CardData(
        name=f"LMRL-Gym {task.title}",
        description=description,
        evaluation_framework="lmrl-gym",
        tasks=[{"id": f"{name}_normalized_score", "config": EVALUATION, "split": "test"} for name in task.configs],
    )
    return content.to_yaml(line_break="\n") + "\n"


def size_category(rows: int) -> str:
    """The Hub's name for a number of rows."""
    return next((name for limit, name in _SIZES.items() if rows < limit), "10M<n<100M")


def _data_files(config: str, splits: Mapping[str, Files], *, default: bool) -> dict[str, Any]:
    patterns = [{"split": split, "path": f"data/{config}/{split}-*-of-*.parquet"} for split in splits]
    return {"data_files": patterns, **({"default": True} if default else {})}


def _info(task: Task, config: str, splits: Mapping[str, Files], sizes: Sizes) -> DatasetInfo:
    schema: pa.Schema = evaluation_schema(task) if config == EVALUATION else episode_schema(task)
    counts = {name: SplitInfo(name, num_bytes=size, num_examples=rows) for name, (rows, size) in sizes.items()}
    return DatasetInfo(
        config_name=config,
        features=Features.from_arrow_schema(schema),
        splits=SplitDict(counts),
        download_size=sum(path.stat().st_size for files in splits.values() for path in files),
        dataset_size=sum(size for _, size in sizes.values()),
    )

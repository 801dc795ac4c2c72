"""What machines read of a dataset repository: the card's YAML front matter, and `eval.yaml`."""

import json
import re
from importlib.resources import files

import hub_values
import pytest
import yaml
from card_folders import TASKS, episodes_of
from datasets.info import DatasetInfosDict
from datasets.utils import resources
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCard

from lmrl_cards.metadata import size_category
from lmrl_data.episode import episode_schema, evaluation_schema
from lmrl_data.registry import get_task


@pytest.fixture(params=TASKS)
def dataset(request, carded):
    return carded / "lmrl-gym" / request.param, get_task(request.param)


def test_the_front_matter_says_what_the_folder_holds(dataset):
    folder, task = dataset
    data = DatasetCard.load(folder / "README.md").data
    assert data.license == "cc-by-4.0" and data.language == ["en"]
    episodes = episodes_of(task.name)
    rows = sum(config.evaluation_episodes + sum(episodes.values()) for config in task.configs.values())
    assert data.size_categories == [size_category(rows)]
    assert {"text-generation", "reinforcement-learning"} == set(data.task_categories)
    assert {"lmrl-gym", "multi-turn", "offline-rl", *task.tags} == set(data.tags)

    configs = MetadataConfigs.from_dataset_card_data(data)
    assert set(configs) == {*task.configs, "evaluation"}
    assert configs.get_default_config_name() == task.config()[0]
    for config, content in configs.items():
        matched = {path for entry in content["data_files"] for path in folder.glob(entry["path"])}
        assert matched == set((folder / "data" / config).iterdir())

    infos = DatasetInfosDict.from_dataset_card_data(data)
    for config in task.configs:
        assert infos[config].features.arrow_schema.remove_metadata() == episode_schema(task)
        assert {name: split.num_examples for name, split in infos[config].splits.items()} == episodes
        assert infos[config].download_size == sum(path.stat().st_size for path in (folder / "data" / config).iterdir())
        assert infos[config].dataset_size == sum(split.num_bytes for split in infos[config].splits.values()) > 0
    assert infos["evaluation"].features.arrow_schema.remove_metadata() == evaluation_schema(task)
    episodes = sum(config.evaluation_episodes for config in task.configs.values())
    assert infos["evaluation"].splits["test"].num_examples == episodes


def test_the_front_matter_has_nothing_that_the_hub_does_not_know(dataset):
    folder, task = dataset
    data = DatasetCard.load(folder / "README.md").data.to_dict()
    assert set(data) <= hub_values.CARD_FIELDS
    assert set(data["task_categories"]) <= hub_values.TASK_CATEGORIES
    assert set(data["size_categories"]) <= hub_values.SIZE_CATEGORIES
    assert set(data["annotations_creators"]) <= hub_values.ANNOTATIONS_CREATORS
    assert set(data["language_creators"]) <= hub_values.LANGUAGE_CREATORS
    assert data["license"] in hub_values.LICENCES
    assert data["language"] == ["en"] and data["source_datasets"] == ["original"]
    assert data["pretty_name"] == f"LMRL-Gym {task.title}"
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9-]*", tag) for tag in data["tags"])
    assert len(set(data["tags"])) == len(data["tags"])


def test_the_lists_agree_with_those_of_datasets():
    def listed(name):
        return json.loads((files(resources) / f"{name}.json").read_text("utf-8"))

    assert set(listed("size_categories")) - {"unknown"} == hub_values.SIZE_CATEGORIES
    assert set(listed("creators")["language"]) == hub_values.LANGUAGE_CREATORS
    assert set(listed("creators")["annotations"]) == hub_values.ANNOTATIONS_CREATORS


@pytest.mark.parametrize(
    ("rows", "name"), [(999, "n<1K"), (1000, "1K<n<10K"), (99_999, "10K<n<100K"), (1_100_000, "1M<n<10M")]
)
def test_size_categories(rows, name):
    assert size_category(rows) == name


def test_the_benchmark_file_has_a_headline_number_per_config(dataset):
    folder, task = dataset
    content = yaml.safe_load((folder / "eval.yaml").read_text(encoding="utf-8"))
    assert set(content) == hub_values.EVALUATION_FIELDS
    assert all(set(entry) == hub_values.EVALUATION_TASK_FIELDS for entry in content["tasks"])
    assert [entry["id"] for entry in content["tasks"]] == [f"{config}_normalized_score" for config in task.configs]
    configs = MetadataConfigs.from_dataset_card_data(DatasetCard.load(folder / "README.md").data)
    for entry in content["tasks"]:
        assert entry["split"] in {files["split"] for files in configs[entry["config"]]["data_files"]}
    assert content["evaluation_framework"] == "lmrl-gym" and "higher is better" in content["description"]

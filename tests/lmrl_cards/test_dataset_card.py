import json
import re
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from card_folders import EPISODES, GAME_TASKS, play, write_parquet
from datasets.info import DatasetInfosDict
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCard
from markdown_it import MarkdownIt

from lmrl_cards import split_statistics, write_card
from lmrl_cards.metadata import size_category
from lmrl_data.episode import episode_schema, evaluation_schema
from lmrl_data.errors import LmrlError
from lmrl_data.registry import get_task


def files_of(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(params=GAME_TASKS)
def dataset(request, carded):
    return carded / "lmrl-gym" / request.param, get_task(request.param)


def test_the_front_matter_says_what_the_folder_holds(dataset):
    folder, task = dataset
    data = DatasetCard.load(folder / "README.md").data
    assert data.license == "cc-by-4.0" and data.language == ["en"]
    rows = sum(config.evaluation_episodes + sum(EPISODES.values()) for config in task.configs.values())
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
        assert {name: split.num_examples for name, split in infos[config].splits.items()} == EPISODES
        assert infos[config].download_size == sum(path.stat().st_size for path in (folder / "data" / config).iterdir())
        assert infos[config].dataset_size == sum(split.num_bytes for split in infos[config].splits.values()) > 0
    assert infos["evaluation"].features.arrow_schema.remove_metadata() == evaluation_schema(task)
    episodes = sum(config.evaluation_episodes for config in task.configs.values())
    assert infos["evaluation"].splits["test"].num_examples == episodes


@pytest.mark.parametrize(
    ("rows", "name"), [(999, "n<1K"), (1000, "1K<n<10K"), (99_999, "10K<n<100K"), (1_100_000, "1M<n<10M")]
)
def test_size_categories(rows, name):
    assert size_category(rows) == name


def test_the_benchmark_file_has_a_headline_number_per_config(dataset):
    folder, task = dataset
    content = yaml.safe_load((folder / "eval.yaml").read_text(encoding="utf-8"))
    assert set(content) == {"name", "description", "evaluation_framework", "tasks"}
    assert [entry["id"] for entry in content["tasks"]] == [f"{config}_normalized_score" for config in task.configs]
    assert {(entry["config"], entry["split"]) for entry in content["tasks"]} == {("evaluation", "test")}


def test_the_card_tells_the_facts(dataset):
    folder, task = dataset
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert task.summary in text and task.challenge in text and task.provenance in text
    for name, config in task.configs.items():
        found = split_statistics(folder, task.name, config=name)
        assert f"{found.overall.returns.mean:.2f}".replace("-", "−") in text
        assert f"{found.overall.success_rate:.1%}".replace("%", " %") in text
        assert config.env_id in text and f"](assets/{name}.png)" in text
        assert (folder / f"assets/{name}.png").read_bytes().startswith(b"\x89PNG")
        for action in found.first_success.actions[:3]:
            assert f"agent:       {action}\n" in text
    for column in [*episode_schema(task).names[:-1], *(f"info.{field}" for field in task.info)]:
        assert f"| `{column}` |" in text
    assert "eprint        = {2311.18232}" in text and "lmrl-gym 0.0.1, pyarrow 1.2.3" in text


def test_the_paper_stands_beside_the_data_with_the_difference(carded):
    text = (carded / "lmrl-gym/wordle/README.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| length, mean \| (.*) \|$", text, flags=re.MULTILINE)
    *ours, paper = row.split(" | ")
    assert paper == "4.82" and len(ours) == len(get_task("wordle").configs)
    for cell in ours:
        value, difference = re.fullmatch(r"(\S+) \((\S+)\)", cell.replace("−", "-")).groups()
        assert float(value) - 4.82 == pytest.approx(float(difference), abs=0.011)


def test_all_tables_are_tables(dataset):
    text = (dataset[0] / "README.md").read_text(encoding="utf-8")
    for table in re.findall(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(widths) == 1 and re.match(r"\|[-:|]+\|", table.splitlines()[1])


def test_the_same_folder_gives_the_same_bytes(fresh):
    folder = fresh("maze")
    assert write_card(folder, "maze") == folder / "README.md"
    first = files_of(folder)
    write_card(folder, "maze")
    assert files_of(folder) == first


def test_texts_from_the_data_stay_texts(fresh, carded):
    """Markup in messages and policy names must not become part of the page."""
    folder = fresh("maze")
    path = folder / "data/fully_observed/train-00000-of-00002.parquet"
    rows = pq.read_table(path).to_pylist()
    evil = "```\n# Hacked\n</details><script>alert(1)</script>\n---\n| a | b |\n{{ 7 * 7 }} {% raw %}"
    for row in rows:
        row["policy"] = "hf:`x` | <img src=x onerror=y> | [a](b)\n# Hacked"
        for message in row["messages"]:
            message["content"] = evil
    write_parquet(pa.Table.from_pylist(rows, episode_schema(get_task("maze"))), path)
    text = write_card(folder, "maze").read_text(encoding="utf-8")
    harmless = (carded / "lmrl-gym/maze/README.md").read_text(encoding="utf-8")
    assert "<script>alert(1)" in text and "{{ 7 * 7 }} {% raw %}" in text

    def outline(card):
        tokens = MarkdownIt("commonmark").enable("table").parse(card.split("\n---\n", 1)[1])
        headings = [tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open"]
        return headings, {token.type for token in tokens}

    headings, kinds = outline(harmless)
    # What the task says of its published data is not said of these.
    headings.remove("Why it is hard")
    assert outline(text) == (headings, kinds)
    inline = {kind for token in MarkdownIt("commonmark").parse(text) for kind in map(str, token.children or [])}
    assert not any("html_inline" in kind for kind in inline)


def test_a_folder_without_evaluation_episodes_and_manifest(fresh):
    folder = fresh("wordle")
    write_card(folder, "wordle")
    shutil.rmtree(folder / "data/evaluation")
    shutil.rmtree(folder / "data/full")
    (folder / "generation.json").unlink()
    card = DatasetCard.load(write_card(folder, "wordle"))
    assert set(MetadataConfigs.from_dataset_card_data(card.data)) == {"default"}
    assert not (folder / "eval.yaml").exists()
    assert (
        '"evaluation"' not in card.text
        and "lmrl generate --task" not in card.text
        and "full" not in card.text.split("## Columns")[0]
    )


def test_a_start_that_only_the_evaluation_has_is_counted(fresh):
    folder = fresh("wordle")
    text = write_card(folder, "wordle").read_text(encoding="utf-8")
    words = {row["word"] for row in play("wordle", "default", "train", EPISODES["train"])["info"].to_pylist()}
    assert f"Of the 400 different starts of `default`, {len(words)} also occur in its train split." in text


SHARD = "data/fully_observed/train-00001-of-00002.parquet"
EVALUATION = "data/evaluation/test-00000-of-00001.parquet"


def overwrite(file, data):
    return lambda folder: (folder / file).write_bytes(data)


def copy(source, target):
    return lambda folder: shutil.copy(folder / source, folder / target)


def other_config(folder):
    shutil.copytree(folder / "data/partially_observed", folder / "data/fully_observed", dirs_exist_ok=True)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (shutil.rmtree, "has no Parquet files"),
        (lambda folder: shutil.rmtree(folder / "data"), "has no Parquet files"),
        (lambda folder: (folder / SHARD).unlink(), "1 of 2 train files"),
        (lambda folder: [path.unlink() for path in folder.glob("data/fully_observed/train-*")], "no train split"),
        (lambda folder: (folder / "data/fully_observed").rename(folder / "data/other"), "no config 'other'"),
        (copy(SHARD, "data/fully_observed/train-00000-of-00001.parquet"), "more than one dataset"),
        (overwrite("data/fully_observed/notes.parquet", b""), "is not named SPLIT"),
        (overwrite(SHARD, b"PAR1"), "not a readable Parquet"),
        (overwrite(SHARD, b""), "not a readable Parquet"),
        (overwrite(EVALUATION, b"no"), "not a readable Parquet"),
        (copy(EVALUATION, SHARD), "has no column"),
        (other_config, "has episodes of lmrl/MazePartiallyObserved-v0"),
        (overwrite("generation.json", b"{"), "is unreadable"),
        (overwrite("generation.json", b"\xff\xfe"), "is unreadable"),
        (overwrite("generation.json", b"[" * 100_000), "is unreadable"),
        (overwrite("generation.json", b"[]"), "not a manifest"),
        (overwrite("generation.json", b'{"format": 1, "task": "maze"}'), "does not describe"),
        (overwrite("generation.json", b'{"format": 1, "task": "wordle"}'), "holds the task wordle"),
    ],
)
def test_a_bad_folder_gives_one_clear_line_and_nothing_is_written(fresh, spoil, message):
    folder = fresh("maze")
    spoil(folder)
    before = files_of(folder)
    with pytest.raises(LmrlError, match=message) as caught:
        write_card(folder, "maze")
    assert "\n" not in str(caught.value)
    assert files_of(folder) == before


def test_an_empty_train_split_is_refused(fresh):
    folder = fresh("maze")
    for path in folder.glob("data/fully_observed/train-*"):
        write_parquet(pq.read_table(path).slice(0, 0), path)
    with pytest.raises(LmrlError, match="has no train episodes"):
        write_card(folder, "maze")


def test_an_unknown_task_is_refused(fresh):
    with pytest.raises(LmrlError, match="the tasks are"):
        write_card(fresh("maze"), "labyrinth")


def test_nothing_is_left_of_a_write_that_fails(fresh, monkeypatch):
    folder = fresh("maze")
    before = files_of(folder)

    def fail(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(LmrlError, match="No space left"):
        write_card(folder, "maze")
    assert files_of(folder) == before


def commands_of(folder, manifest):
    (folder / "generation.json").write_text(json.dumps(manifest), encoding="utf-8")
    (block,) = re.findall(r"```bash\n(lmrl generate.*?)\n```", write_card(folder, "maze").read_text("utf-8"), re.DOTALL)
    return block.splitlines()


def test_the_commands_name_everything_that_the_bytes_depend_on(fresh):
    folder = fresh("maze")
    manifest = json.loads((folder / "generation.json").read_text(encoding="utf-8"))
    assert commands_of(folder, manifest) == [
        "lmrl generate --task maze --episodes 150 --validation 30 --seed 3 --shard-size 80"
    ]
    one, other = (manifest["configs"][config] for config in ("fully_observed", "partially_observed"))
    one["policies"] = {"random": 0.25, "hf:my model": 0.75}
    (train, validation) = get_task("maze").configs["partially_observed"].sizes["small"]
    other["splits"]["train"]["episodes"], other["splits"]["validation"]["episodes"] = train, validation
    assert commands_of(folder, manifest) == [
        "lmrl generate --task maze --config fully_observed --episodes 150 --validation 30 --policy random=0.25 "
        "--policy 'hf:my model=0.75' --seed 3 --shard-size 80",
        "lmrl generate --task maze --config partially_observed --size small --seed 3 --shard-size 80",
    ]

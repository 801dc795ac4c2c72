import dataclasses
import re
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from card_folders import EPISODES, TASKS, files_of, play, write_parquet
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCard
from markdown_it import MarkdownIt

from lmrl_cards import split_statistics, write_card
from lmrl_cards.columns import episode_columns
from lmrl_cards.markdown import cell, number, percent
from lmrl_data.episode import episode_schema, evaluation_schema
from lmrl_data.errors import LmrlError
from lmrl_data.registry import get_task
from lmrl_data.tasks.maze.env import MazeEnv

LINKS = {"https://arxiv.org/abs/2311.18232", "https://creativecommons.org/licenses/by/4.0/"}


@pytest.fixture(params=TASKS)
def dataset(request, carded):
    return carded / "lmrl-gym" / request.param, get_task(request.param)


def rows_of(text, label):
    """The cells of a table's row."""
    (row,) = re.findall(rf"^\| {re.escape(label)} \|(.*)\|$", text, flags=re.MULTILINE)
    return [cell.strip() for cell in row.split(" | ")]


def leaves(schema):
    """Names of the columns, of their fields instead where they are structs."""
    for field in schema:
        if pa.types.is_struct(field.type):
            yield from (f"{field.name}.{name}" for name in leaves(pa.schema(list(field.type))))
        else:
            yield field.name


def test_the_card_tells_the_facts(dataset):
    folder, task = dataset
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert task.summary in text and task.challenge in text and task.provenance in text
    for name, config in task.configs.items():
        found = split_statistics(folder, task.name, config=name)
        assert f"{number(found.overall.returns.mean)} ± {number(found.overall.returns.std)}" in text
        assert percent(found.overall.success_rate) in text
        assert config.env_id in text and f"](assets/{name}.png)" in text
        for policy, group in found.policies.items():
            share = percent(config.collection[policy])
            assert f"| {cell(policy)} | {share} | {group.episodes} | {percent(group.success_rate)} |" in text
        for partner in found.partners:
            assert f"Partner: {cell(partner)} (`info.{task.partner}`: " in text
    assert "eprint        = {2311.18232}" in text and "lmrl-gym 0.0.1, pyarrow 1.2.3" in text


def test_an_episode_of_the_data_is_shown_whole(dataset):
    folder, task = dataset
    text = (folder / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```text\nenvironment: (.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) == len(task.configs)
    for block, config in zip(blocks, task.configs, strict=True):
        episode = split_statistics(folder, task.name, config=config).example
        assert block.count("\nagent: ") == episode.num_turns and "left out" not in block
        shown = " ".join(block.split())
        for message in episode.messages:
            assert " ".join(message["content"].split()) in shown


def test_every_column_is_described(dataset):
    folder, task = dataset
    text = (folder / "README.md").read_text(encoding="utf-8")
    for schema in (episode_schema(task), evaluation_schema(task)):
        for name in leaves(schema):
            rows = re.findall(rf"^\| `{re.escape(name)}` \| `[^`]+` \| (.+?) \|", text, flags=re.MULTILINE)
            assert rows and all(len(meaning) > 5 for meaning in rows), name
    example = split_statistics(folder, task.name).example
    assert re.search(rf"^\| `seed` \| .* \| {example.seed} \|$", text, flags=re.MULTILINE)


def test_a_field_without_a_meaning_is_one_clear_line():
    task = dataclasses.replace(get_task("maze"), column_notes={"start": "row and column of the first cell"})
    with pytest.raises(LmrlError, match=r"the task maze does not say what info.goal means; add it to `column_notes`"):
        episode_columns(task, None)


def test_links_and_images_lead_somewhere(dataset):
    folder, _ = dataset
    text = (folder / "README.md").read_text(encoding="utf-8")
    found = {"href": set(), "src": set()}
    for token in MarkdownIt("commonmark").enable("table").parse(text.split("\n---\n", 1)[1]):
        for child in token.children or []:
            for kind, targets in found.items():
                targets |= {child.attrs[kind]} if kind in child.attrs else set()
    assert found["href"] == LINKS
    assert len(found["src"]) == len(list(folder.glob("assets/*.png"))) > 0
    for image in found["src"]:
        assert (folder / image).read_bytes().startswith(b"\x89PNG")


def test_what_makes_it_hard_is_counted(carded):
    text = (carded / "lmrl-gym/maze/README.md").read_text(encoding="utf-8")
    found = [split_statistics(carded / "lmrl-gym/maze", "maze", config=config) for config in get_task("maze").configs]
    steps = [train.overall.turns - train.overall.successes for train in found]  # all but the last cost 1
    shares = [step / train.overall.turns for step, train in zip(steps, found, strict=True)]
    label = "most frequent reward, and the share of turns that have it"
    assert rows_of(text, label) == [f"−1: {percent(share)}" for share in shares]
    best = [
        (train.overall.returns.values >= b) @ train.overall.returns.counts / 150
        for train, b in zip(found, (-6.84, -7.24), strict=True)
    ]
    assert rows_of(text, "train episodes that return as much, or more") == [percent(share) for share in best]


def test_the_paper_stands_beside_the_data_with_the_difference(carded):
    text = (carded / "lmrl-gym/wordle/README.md").read_text(encoding="utf-8")
    paper, *ours = rows_of(text, "mean length")
    assert paper == "4.82" and len(ours) == len(get_task("wordle").configs)
    for shown in ours:
        value, difference = re.fullmatch(r"(\S+) \((\S+)\)", shown.replace("−", "-")).groups()
        assert float(value) - 4.82 == pytest.approx(float(difference), abs=0.011)


def test_the_notices_of_the_sources_are_in_the_card(carded):
    wordle, maze = ((carded / "lmrl-gym" / name / "README.md").read_text("utf-8") for name in ("wordle", "maze"))
    assert "Copyright 2000-2011 by Kevin Atkinson" in wordle and "SCOWL" not in maze


def test_an_environment_without_a_heading_is_one_clear_line(fresh, monkeypatch):
    folder = fresh("maze")
    before = files_of(folder)
    monkeypatch.setattr(MazeEnv, "__doc__", MazeEnv.__doc__.replace("## Rewards", "## Prizes"))
    with pytest.raises(
        LmrlError, match=r"docstring of lmrl_data\.tasks\.maze\.env\.MazeEnv has no text under `## Rewards`"
    ):
        write_card(folder, "maze")
    assert files_of(folder) == before


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

    assert outline(text) == outline(harmless)
    # What the task says of its published data is not said of these.
    assert get_task("maze").challenge not in text and get_task("maze").provenance not in text
    inline = {kind for token in MarkdownIt("commonmark").parse(text) for kind in map(str, token.children or [])}
    assert not any("html_inline" in kind for kind in inline)


def test_a_folder_without_evaluation_episodes_and_manifest(fresh):
    folder = fresh("wordle")
    write_card(folder, "wordle")
    shutil.rmtree(folder / "data/evaluation")
    shutil.rmtree(folder / "data/full")
    (folder / "generation.json").unlink()
    card = DatasetCard.load(write_card(folder, "wordle"))
    assert card.data.license is None and "published under" not in card.text
    assert get_task("wordle").provenance not in card.text
    assert set(MetadataConfigs.from_dataset_card_data(card.data)) == {"default"}
    assert not (folder / "eval.yaml").exists()
    assert (
        '"evaluation"' not in card.text
        and "lmrl generate --task" not in card.text
        and "`full`" not in card.text.split("## Columns")[0]
    )


def test_a_start_that_only_the_evaluation_has_is_counted(fresh):
    folder = fresh("wordle")
    text = write_card(folder, "wordle").read_text(encoding="utf-8")
    words = {row["word"] for row in play("wordle", "default", "train", EPISODES["train"])["info"].to_pylist()}
    assert f"- `default`: 400 different starts, of which {len(words)} also occur in its train split." in text

"""The card of imported data: it has the statistics, and claims neither our licence nor our policies."""

import json

import pytest
from huggingface_hub import DatasetCard

from lmrl_cards import write_card
from lmrl_cards.contents import task_of
from lmrl_data.errors import LmrlError
from lmrl_data.registry import get_task
from lmrl_generators.importing.run import import_file

WON = [["Wordle:\n", 0], ["s t a r e\n", 1], ["b b g g b\n", 0], ["c h a r m\n", 1], ["g g g g g\n", 0]]


@pytest.fixture
def imported(tmp_path):
    path = tmp_path / "raw|file.jsonl"
    records = [{"sequence": WON, "reward": [-1.0, reward], "done": True} for reward in (0.0, -1.0)]
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records) + "broken\n", "utf-8")
    import_file(path, "wordle", out=tmp_path / "imports")
    return tmp_path / "imports" / "wordle"


def test_it_names_its_source_and_claims_nothing_of_ours(imported):
    card = DatasetCard.load(write_card(imported, "wordle"))
    data, task = card.data.to_dict(), get_task("wordle")
    assert not {"license", "source_datasets", "annotations_creators", "language_creators"} & set(data)
    assert data["pretty_name"] == "LMRL-Gym Wordle, imported"
    assert "was read from raw\\|file.jsonl; 1 record of it could not be read" in card.text
    assert "1 reward that the rules would not give: the guess that solves it, worth 0" in card.text
    assert "The episodes are not ours" in card.text
    ours = ("CC BY", "mixture", "plays back", "lmrl generate --task", "scripted", task.provenance, task.challenge)
    assert not [claim for claim in ours if claim in card.text]
    assert "| published | 2 | 100.0 % | 2.00 | " in card.text


def test_its_code_loads_the_folder_that_it_lies_in(imported):
    text = write_card(imported, "wordle").read_text("utf-8")
    assert 'load_dataset("imports/wordle")' in text and '"lmrl-gym/wordle"' not in text
    assert not (imported / "eval.yaml").exists()


def test_the_task_is_that_of_the_record(imported):
    folder = imported.rename(imported.with_name("elsewhere"))
    assert task_of(folder) == "wordle"
    with pytest.raises(LmrlError, match="holds the task wordle, not maze"):
        write_card(folder, "maze")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("{", "is unreadable"),
        ("[]", "is not a record"),
        ('{"task": "wordle"}', "does not describe"),
        ('{"task": "wordle", "configs": {"default": {"source": "x", "unreadable": 0}}}', "does not describe"),
    ],
)
def test_a_bad_record_is_one_clear_line(imported, record, message):
    (imported / "imported.json").write_text(record)
    before = (imported / "README.md").read_bytes()
    with pytest.raises(LmrlError, match=f"{message}.* import again") as caught:
        write_card(imported, "wordle")
    assert "\n" not in str(caught.value) and (imported / "README.md").read_bytes() == before

"""What `lmrl import` does with files of any layout: reading, reporting, writing, and bad input."""

import gzip
import json
import sys

import datasets
import pytest

from lmrl_data.cli import main
from lmrl_data.dataset import load_episodes
from lmrl_data.errors import LmrlError
from lmrl_data.registry import list_tasks
from lmrl_generators.importing import records
from lmrl_generators.importing.layouts import LAYOUTS, tasks_like
from lmrl_generators.importing.run import import_file

WON = {
    "sequence": [["Wordle:\n", 0], ["s t a r e\n", 1], ["b b g g b\n", 0], ["c h a r m\n", 1], ["g g g g g\n", 0]],
    "reward": [-1.0, 0.0],
    "done": True,
}
TALK = {"lines": ["Is it alive? Yes.", "Is it a cat? Yes."], "correct": True, "word": ["Cat"]}
GONE = {
    "buyer_info": {
        "personality": "polite",
        "preferred_brands": "a Volvo",
        "preferred_type": "SUV",
        "preferred_features": ["sunroof"],
        "budget": 30000,
    },
    "lines": [{"role": "Seller", "text": "Hello."}, {"role": "Buyer", "text": "Bye."}],
    "output": {"car_bought": False, "msrp": 30000, "buy_price": None},
}


@pytest.fixture
def write(tmp_path):
    """Write a file of JSON lines, given as values or as the bytes themselves."""

    def write(*lines, name="file.jsonl"):
        path = tmp_path / name
        path.write_bytes(b"".join(x if isinstance(x, bytes) else json.dumps(x).encode() + b"\n" for x in lines))
        return path

    return write


@pytest.fixture
def lmrl(monkeypatch, capsys, tmp_path):
    """Run the command line in this process: exit code, standard output and standard error."""

    def run(*arguments):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["lmrl", *map(str, arguments)])
        with pytest.raises(SystemExit) as exited:
            main()
        return exited.value.code, *capsys.readouterr()

    return run


def left_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_every_task_has_a_layout_which_is_recognised_by_its_fields():
    assert sorted(LAYOUTS) == sorted(list_tasks())
    for task, layout in LAYOUTS.items():
        for mark in layout.marks:
            assert task in tasks_like(dict.fromkeys(mark))


def test_episodes_are_loaded_as_any_dataset(write, tmp_path):
    import_file(write(WON, WON), "wordle", out=tmp_path / "out")
    data = datasets.load_dataset(str(tmp_path / "out/wordle"), cache_dir=str(tmp_path / "cache"))["train"]
    assert data[1]["messages"][1] == {"role": "assistant", "content": "s t a r e"}
    assert (data[1]["rewards"], data[1]["episode_return"], data[1]["num_turns"]) == ([-1, 0], -1, 2)
    first, second = load_episodes(tmp_path / "out/wordle", "wordle")
    assert (first.policy, first.seed, first.env_id) == ("published", -1, "lmrl/Wordle-v0")
    assert [first.episode_id, second.episode_id] == [f"wordle-default-published-0000000{n}" for n in (0, 1)]
    assert [message["role"] for message in first.messages] == ["user", "assistant"] * 2 + ["user"]


def test_what_cannot_be_read_is_named_by_its_line_and_the_rest_is_kept(write, tmp_path):
    path = write(WON, b"not json\n", b"\n", b'"\xff"\n', {"sequence": []}, [1], WON, b'{"sequence": [["Wor')
    report = import_file(path, "wordle", out=tmp_path / "out")
    assert (report.episodes, report.unreadable) == (2, 5)
    assert report.problems == [
        "line 2: not JSON",
        "line 4: not UTF-8",
        "line 5: no field reward, done; it has: sequence",
        "line 6: not an object with the fields sequence, reward, done",
        "line 8: cut off: the file ends within it, or not JSON",
    ]


def test_of_many_unreadable_lines_the_first_are_named_and_all_counted(write, tmp_path):
    report = import_file(write(WON, *[b"x\n"] * 100), "wordle", out=tmp_path / "out")
    assert report.unreadable == 100
    assert report.problems[-1] == "line 6: not JSON"


def test_what_is_quoted_from_a_file_is_plain_text_on_one_line(write, tmp_path):
    report = import_file(write(WON, {"\n```\x1b[31m": 1}), "wordle", out=tmp_path / "out")
    assert report.problems[0].endswith("it has:  ''' [31m")


def test_a_huge_line_is_skipped_without_being_kept(write, tmp_path, monkeypatch):
    monkeypatch.setattr(records, "LONGEST", 1000)
    monkeypatch.setattr(records, "_CHUNK", 100)
    path, sizes = write(WON, b"[" + b"1," * 5000 + b"\n", WON), []
    report = import_file(path, "wordle", out=tmp_path / "out", on_bytes=sizes.append)
    assert (report.episodes, report.unreadable) == (2, 1)
    assert report.problems[0].startswith("line 2: longer than")
    assert sum(sizes) == path.stat().st_size
    assert max(sizes) <= 1001


@pytest.mark.parametrize("indent", [None, 2])
def test_one_array_of_all_records_is_read_piece_by_piece(tmp_path, monkeypatch, indent):
    monkeypatch.setattr(records, "_CHUNK", 37)
    path = tmp_path / "convos.json"
    path.write_text(json.dumps([GONE] * 20, indent=indent))
    seen = []
    report = import_file(path, "car-dealer", out=tmp_path / "out", on_bytes=seen.append)
    assert (report.episodes, report.unreadable) == (20, 0)
    assert sum(seen) == path.stat().st_size


def test_an_array_that_is_cut_off_gives_what_is_before(tmp_path):
    path = tmp_path / "convos.json"
    path.write_text(json.dumps([GONE] * 3)[:-40])
    report = import_file(path, "car-dealer", out=tmp_path / "out")
    assert report.episodes == 2
    assert report.problems == ["record 3: not JSON, or cut off; the rest of the file is left"]


def test_a_lone_surrogate_and_a_byte_order_mark_do_no_harm(write, tmp_path):
    odd = {**GONE, "lines": [{"role": "Seller", "text": "So \ud800"}]}
    import_file(write(b"\xef\xbb\xbf" + json.dumps(odd).encode()), "car-dealer", out=tmp_path / "out")
    (episode,) = load_episodes(tmp_path / "out/car-dealer", "car-dealer")
    assert episode.actions == ["So \ufffd"]


@pytest.mark.parametrize(
    "reward",
    [[-1.0], [-1.0] * 3, -1.0, None, [-1.0, None], [-1.0, float("nan")], [-1, 10**400], [-1.0, "0"], [True, False]],
)
def test_rewards_that_are_no_numbers_for_the_turns_make_a_record_unreadable(write, tmp_path, reward):
    report = import_file(write(WON, {**WON, "reward": reward}), "wordle", out=tmp_path / "out")
    assert (report.episodes, report.unreadable) == (1, 1)


def test_shards_are_numbered_in_order_and_hold_all_episodes(write, tmp_path, monkeypatch):
    monkeypatch.setattr("lmrl_generators.importing.folder.ROW_GROUP", 4)
    monkeypatch.setattr("lmrl_generators.importing.folder._BATCH", 2)
    import_file(write(*[WON] * 9), "wordle", out=tmp_path / "out")
    names = [path.name for path in sorted((tmp_path / "out/wordle/data/default").iterdir())]
    assert names == [f"train-0000{n}-of-00003.parquet" for n in range(3)]
    episodes = load_episodes(tmp_path / "out/wordle", "wordle")
    assert [episode.episode_id[-1] for episode in episodes] == list("012345678")


def test_a_config_is_added_beside_another_but_never_replaced(write, tmp_path):
    path = write(WON)
    for config in ("default", "full"):
        import_file(path, "wordle", config=config, out=tmp_path)
    assert list(json.loads((tmp_path / "wordle/imported.json").read_text())["configs"]) == ["default", "full"]
    assert datasets.get_dataset_config_names(str(tmp_path / "wordle")) == ["default", "full"]
    before = left_in(tmp_path)
    with pytest.raises(LmrlError, match="is there already"):
        import_file(path, "wordle", out=tmp_path)
    assert left_in(tmp_path) == before


def test_generated_data_is_not_mixed_with_imported(write, tmp_path):
    (tmp_path / "wordle").mkdir()
    (tmp_path / "wordle/generation.json").write_text("{}")
    with pytest.raises(LmrlError, match="made by `lmrl generate`"):
        import_file(write(WON), "wordle", out=tmp_path)
    assert left_in(tmp_path) == ["file.jsonl", "wordle", "wordle/generation.json"]


def test_the_card_claims_no_licence_and_has_the_report(write, tmp_path):
    import_file(write({**WON, "reward": [-1.0, -1.0]}, b"x\n"), "wordle", out=tmp_path)
    card = (tmp_path / "wordle/README.md").read_text()
    assert "license" not in card
    assert "line 2: not JSON" in card
    assert "1 × the guess that solves it, worth 0" in card


def test_the_command_prints_the_report(write, lmrl):
    code, out, err = lmrl("import", "--task", "wordle", write(WON, b"x\n"))
    assert (code, err) == (0, "")
    assert out.splitlines()[:3] == [
        "1 episodes with 2 agent turns read",
        "1 records not read, the first of them:",
        "  line 2: not JSON",
    ]
    code, out, _ = lmrl("import", "--task", "wordle", "--config", "full", "--json", write(WON))
    assert (code, json.loads(out)["episodes"], json.loads(out)["folder"]) == (0, 1, "lmrl-gym-imported/wordle")


def bad_inputs():
    whole = json.dumps(WON).encode()
    yield "empty", b"", "is empty"
    yield "blank", b"\n \n", "is empty"
    yield "packed", gzip.compress(whole), "unpack it first, with `gunzip`"
    yield "cut", whole[:-20], "line 1: cut off"
    yield "latin", b'{"sequence": "\xe9"}\n', "line 1: not UTF-8"
    yield "text", b"some text\n", "line 1: not JSON"
    yield "deep", b'{"a": ' + b"[" * 100_000 + b"\n", "line 1: not JSON"
    yield "questions", json.dumps(TALK).encode() + b"\n", "give --task twenty-questions"
    yield "car", json.dumps([GONE]).encode(), "give --task car-dealer"
    yield "nothing", b"[]", "it has no records"


@pytest.mark.parametrize(("content", "message"), [case[1:] for case in bad_inputs()], ids=[c[0] for c in bad_inputs()])
def test_a_file_without_an_episode_is_one_line_and_exit_code_2(lmrl, tmp_path, content, message):
    (tmp_path / "file").write_bytes(content)
    code, out, err = lmrl("import", "--task", "wordle", "file")
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert left_in(tmp_path) == ["file"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--task", "wordle", "missing"], "cannot read missing: No such file"),
        (["--task", "wordle", "."], "cannot read .: Is a directory"),
        (["--task", "scrabble", "file"], "unknown task 'scrabble'"),
        (["--task", "wordle", "--config", "large", "file"], "has no config 'large'"),
        (["--task", "wordle", "--out", "file", "file"], "file"),
    ],
)
def test_wrong_arguments_are_one_line_and_exit_code_2(lmrl, tmp_path, arguments, message):
    (tmp_path / "file").write_text(json.dumps(WON))
    code, out, err = lmrl("import", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert left_in(tmp_path) == ["file"]


def test_nothing_is_left_of_an_import_whose_report_cannot_be_written(write, tmp_path, monkeypatch):
    path = write(WON)
    import_file(path, "wordle", out=tmp_path)
    (tmp_path / "wordle/imported.json").write_text("{")
    before = left_in(tmp_path)
    with pytest.raises(LmrlError, match="json is unreadable"):
        import_file(path, "wordle", config="full", out=tmp_path)
    assert left_in(tmp_path) == before


def test_nothing_is_left_of_an_import_that_breaks_off(write, tmp_path, monkeypatch):
    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lmrl_data.files._put", full)
    with pytest.raises(LmrlError, match="No space left"):
        import_file(write(WON), "wordle", out=tmp_path / "a/b")
    assert left_in(tmp_path) == ["file.jsonl"]

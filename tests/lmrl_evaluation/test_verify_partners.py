"""Results whose engine or oracle is not the one that is here: said to be so, and checked as far as they go."""

from dataclasses import replace

import pyarrow as pa
import pytest
from needed_programs import needs_stockfish

from lmrl_data.tasks.twenty_questions.yardsticks import names
from lmrl_data.text import normalise
from lmrl_evaluation.evaluate import evaluate
from lmrl_evaluation.result import write_result
from lmrl_evaluation.verify import check_result


def edited(result, folder, edit):
    """Write a result with edited rows, and everything else in order."""
    rows = result.table.to_pylist()
    edit(rows)
    write_result(replace(result, table=pa.Table.from_pylist(rows, result.table.schema)), folder)
    return check_result(folder)


def summary(check):
    """What was found but for the hash, which knows of every edit."""
    return [str(finding) for finding in check.findings if finding.field != "episodes_sha256"]


@pytest.fixture(scope="module")
def asked():
    return evaluate("twenty-questions", "random", episodes=6)


@pytest.fixture(scope="module")
def games():
    return evaluate("chess", "random", episodes=3)


def older_oracle(rows):
    for row in rows:
        row["info"]["oracle"] = "knowledge of long ago"


def other_answer(row):
    """Turn the first answer to a question that is no guess: whether a guess is right is not for the oracle to say."""
    said = [message["content"] for message in row["messages"]]
    turn = next(turn for turn, question in enumerate(said[1::2]) if names().guess(normalise(question)) is None)
    row["messages"][2 * turn + 2]["content"] = {"Yes.": "No.", "No.": "Yes."}[said[2 * turn + 2]]


def test_answers_of_another_oracle_are_taken_from_the_record(asked, tmp_path):
    check = edited(asked, tmp_path, older_oracle)
    assert summary(check) == []
    (note,) = check.notes
    assert note.startswith("6 of 6 episodes: partner 'knowledge of long ago' recorded, 'knowledge")


def test_another_oracle_may_answer_otherwise_but_rewards_must_follow(asked, tmp_path):
    def answers_otherwise(rows):
        older_oracle(rows)
        other_answer(rows[2])

    assert summary(edited(asked, tmp_path / "a", answers_otherwise)) == []

    def pays_otherwise(rows):
        answers_otherwise(rows)
        rows[2]["rewards"][4] = 0.0

    assert summary(edited(asked, tmp_path / "b", pays_otherwise)) == [
        "episode 2, turn 5: reward 0 recorded, -1 replayed"
    ]


def test_the_same_answers_of_the_oracle_that_is_here_are_found(asked, tmp_path):
    def answers_otherwise(rows):
        other_answer(rows[2])

    (finding,) = summary(edited(asked, tmp_path, answers_otherwise))
    assert finding.startswith("episode 2, turn ")
    assert "observation" in finding


def other_engine(rows):
    for row in rows[:2]:
        row["info"]["engine"] = "Stockfish 99 cafebabe"


def illegal_reply(rows):
    other_engine(rows)
    rows[1]["info"]["opponent_moves"][0] = "a1a8"


@needs_stockfish
def test_games_against_another_engine_are_followed(games, tmp_path):
    check = edited(games, tmp_path / "a", other_engine)
    assert summary(check) == []
    assert check.notes[0].startswith("2 of 3 episodes: partner 'Stockfish 99 cafebabe' recorded, 'Stockfish")
    assert summary(edited(games, tmp_path / "b", illegal_reply))[0].startswith("episode 1, turn 1: observation")


@needs_stockfish
def test_games_are_checked_as_far_as_they_go_where_no_engine_is(games, tmp_path, monkeypatch):
    monkeypatch.setenv("STOCKFISH_PATH", "/nowhere/stockfish")
    check = edited(games, tmp_path / "a", lambda rows: None)
    assert summary(check) == []
    (note,) = check.notes
    assert "because there is no engine here: STOCKFISH_PATH=/nowhere/stockfish" in note
    assert summary(edited(games, tmp_path / "b", illegal_reply))[0].startswith("episode 1, turn 1: observation")

    def wins(rows):
        rows[0]["success"] = True
        rows[0]["info"]["result"] = "1-0"

    assert summary(edited(games, tmp_path / "c", wins)) == [
        "episode 0: success true recorded, false replayed",
        f"episode 0: info.result '1-0' recorded, {games.table['info'][0]['result'].as_py()!r} replayed",
    ]

"""Stockfish's judgement of the agent's moves: signs, losses, and that nothing but the position decides."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chess
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engines import DIE, fake_engine, needs_stockfish, start_program

from lmrl_data import make, make_policy, rollout
from lmrl_data.episode import Episode, episode_schema, to_table
from lmrl_data.errors import LmrlError
from lmrl_data.registry import get_task
from lmrl_data.stockfish.search import Found, Line, Request
from lmrl_data.tasks.chess import labels
from lmrl_data.tasks.chess.labels import label
from lmrl_data.tasks.endgames.tablebase import best_moves

TASK = get_task("chess")
LABELS = ["best_moves", "cp_before", "mate_before", "cp_after", "mate_after", "cp_loss"]
NODES = 2000

pytestmark = needs_stockfish


@pytest.fixture(autouse=True)
def few_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels, "NODES", NODES)


def game(fen: str, actions: Sequence[str], replies: Sequence[str] = ()) -> Episode:
    """The record of a game in which Black plays given moves (UCI), as far as it goes."""
    env = make("chess", opponent="random")
    first, _ = env.reset(seed=0, options={"fen": fen})
    env.follow([], {"opponent_moves": list(replies), "engine": ""})
    steps = [env.step(action) for action in actions]
    said = [first, *(text for action, step in zip(actions, steps, strict=True) for text in (action, step[0]))]
    roles = ["user", "assistant"]
    return Episode(
        messages=[{"role": roles[place % 2], "content": text} for place, text in enumerate(said)],
        rewards=[step[1] for step in steps],
        success=steps[-1][1] == 1,
        terminated=steps[-1][2],
        truncated=False,
        seed=0,
        policy="test",
        env_id="lmrl/Chess-v0?opponent=random",
        info=env.episode_info(),
    )


def labelled(episode: Episode) -> list[dict[str, Any]]:
    """The labels of a record, turn by turn."""
    info = label(to_table([episode], TASK))["info"][0].as_py()
    assert {len(info[name]) for name in LABELS} == {episode.num_turns}
    return [dict(zip(LABELS, values, strict=True)) for values in zip(*(info[name] for name in LABELS), strict=True)]


def test_giving_mate_costs_nothing() -> None:
    (turn,) = labelled(game("7k/8/6K1/8/8/8/8/R7 w - - 0 1", ["Ra8#"]))
    assert turn == {
        "best_moves": "Ra8#",
        "cp_before": None,
        "mate_before": 1,
        "cp_after": None,
        "mate_after": 0,
        "cp_loss": 0,
    }


def test_moves_until_mate_are_counted_down_from_whites_side() -> None:
    board = chess.Board("8/8/8/3k4/8/8/7Q/K6R w - - 0 1")
    actions, replies = [], []
    while not board.is_checkmate():
        move = best_moves(board)[0]
        if board.turn == chess.WHITE:
            actions.append(board.san(move))
        else:
            replies.append(move.uci())
        board.push(move)
    turns = labelled(game(board.root().fen(), actions, replies))
    for turn, left in zip(turns[-2:], (2, 1), strict=True):
        assert left <= turn["mate_before"] <= left + 1  # few nodes do not find the shortest one
        assert (turn["mate_after"], turn["cp_loss"]) == (left - 1, 0)
    (lost,) = labelled(game("7k/8/8/8/8/6q1/7r/K7 w - - 0 1", ["Kb1"], ["g3g1"]))
    assert (lost["mate_before"], lost["mate_after"], lost["cp_before"], lost["cp_after"]) == (-1, -1, None, None)
    assert (lost["best_moves"], lost["cp_loss"]) == ("Kb1", 0)


@pytest.mark.parametrize(
    ("fen", "move", "reply", "sign"),
    [
        ("6k1/5pp1/7p/8/8/3N4/5PPP/6K1 w - - 0 1", "Kf1", "g8f8", 1),
        ("6k1/5ppp/3n4/8/8/7P/5PP1/6K1 w - - 0 1", "Kf1", "g8f8", -1),
    ],
)
def test_scores_are_positive_where_white_wins_and_negative_where_black_does(
    fen: str, move: str, reply: str, sign: int
) -> None:
    (turn,) = labelled(game(fen, [move], [reply]))
    assert sign * turn["cp_before"] > 200 and sign * turn["cp_after"] > 200


def test_a_blunder_costs_what_it_gives_away() -> None:
    fen = "6k1/5ppp/2r5/8/8/8/1Q3PPP/6K1 w - - 0 1"
    best, blunder = labelled(game(fen, ["Qb8+"], ["c6c8"]))[0], labelled(game(fen, ["Qc3"], ["c6c3"]))[0]
    assert (best["best_moves"], best["mate_before"], best["cp_loss"]) == ("Qb8+", blunder["mate_before"], 0)
    assert blunder["mate_before"] is not None and blunder["mate_before"] > 0
    assert blunder["mate_after"] is not None or blunder["cp_after"] < -300
    assert blunder["cp_loss"] == 1000 - (-1000 if blunder["mate_after"] else max(-1000, blunder["cp_after"])) > 1300


def test_stalemating_gives_a_won_game_away() -> None:
    (turn,) = labelled(game("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", ["Qf7"]))
    assert (turn["mate_before"], turn["cp_after"], turn["mate_after"], turn["cp_loss"]) == (1, 0, None, 1000)


def test_a_mate_that_is_not_the_engines_choice_costs_nothing_either() -> None:
    fen = "6k1/5ppp/8/8/8/8/8/RR4K1 w - - 0 1"
    assert [labelled(game(fen, [move]))[0]["cp_loss"] for move in ("Ra8#", "Rb8#")] == [0, 0]


class Judgement:
    """Stands in for a pool of engines: the line of White's positions, and the one of Black's."""

    def __init__(self, white: Line, black: Line) -> None:
        self.lines = {chess.WHITE: white, chess.BLACK: black}

    def search_all(self, requests: Sequence[Request]) -> list[Found]:
        lines = [self.lines[request.board.turn] for request in requests]
        return [Found(line.move, (line,)) for line in lines]


@pytest.mark.parametrize(
    ("before", "after", "loss"),
    [
        ((30, None), (-10, None), 20),
        ((30, None), (-80, None), 0),  # the second search thinks better of the move than the first did
        ((1500, None), (-1200, None), 0),  # decided either way
        ((1500, None), (-100, None), 900),
        ((None, 5), (-1001, None), 0),
        ((None, 5), (None, 3), 2000),
        ((-200, None), (None, 9), 800),
        ((None, -5), (None, 3), 0),
        ((None, -5), (None, -3), 0),
    ],
)
def test_losses_are_counted_within_ten_pawns(
    monkeypatch: pytest.MonkeyPatch,
    before: tuple[int | None, int | None],
    after: tuple[int | None, int | None],
    loss: int,
) -> None:
    """Scores are (centipawns, mate) from the side of who moves: Black's after the move."""
    judgement = Judgement(Line("d2d4", *before), Line("e7e5", *after))
    monkeypatch.setattr(labels, "shared_pool", lambda: judgement)
    (turn,) = labelled(game(chess.STARTING_FEN, ["e4"], ["e7e5"]))
    assert (turn["cp_before"], turn["mate_before"], turn["best_moves"]) == (*before, "d4")
    assert (turn["cp_after"], turn["mate_after"]) == tuple(None if x is None else -x for x in after)
    assert turn["cp_loss"] == loss
    (best,) = labelled(game(chess.STARTING_FEN, ["d4"], ["e7e5"]))
    assert best["cp_loss"] == 0


@pytest.mark.parametrize(
    ("fen", "move"),
    [("8/8/8/3k4/8/8/4r3/4K3 w - - 0 1", "Kxe2"), ("8/8/8/4k3/8/8/8/R3K3 w - - 99 80", "Kd1")],
)
def test_a_draw_on_the_board_is_worth_nothing(fen: str, move: str) -> None:
    (turn,) = labelled(game(fen, [move]))
    assert (turn["cp_after"], turn["mate_after"]) == (0, None)


def test_unusable_turns_have_the_position_judged_and_no_move() -> None:
    first, second, third = labelled(game(chess.STARTING_FEN, ["Ke2", "", "e4"], ["", "", "e7e5"]))
    assert [first[name] for name in ("cp_after", "mate_after", "cp_loss")] == [None] * 3
    assert first == second
    assert first["best_moves"] == third["best_moves"] and first["cp_before"] == third["cp_before"] is not None
    assert third["cp_after"] is not None and third["cp_loss"] is not None


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """Unlabelled games, cut to a few turns each: labels need no end."""
    episodes = rollout(make("chess", opponent="random"), make_policy("random", "chess", opponent="random"), [1, 2, 3])
    played = [game(chess.STARTING_FEN, ["e4", "no", "d4"], ["e7e5", "", "e5d4"])]
    for episode in episodes:
        count = min(8, episode.num_turns)
        replies = episode.info["opponent_moves"]
        played.append(game(chess.STARTING_FEN, episode.actions[:count], replies[:count]))
    return to_table(played, TASK)


@pytest.fixture(scope="module")
def labelled_table(table: pa.Table) -> pa.Table:
    labels.NODES, nodes = NODES, labels.NODES
    try:
        return label(table)
    finally:
        labels.NODES = nodes


def test_labels_fill_their_fields_and_touch_nothing_else(table: pa.Table, labelled_table: pa.Table) -> None:
    assert labelled_table.schema == table.schema == episode_schema(TASK)
    assert labelled_table.drop_columns("info").equals(table.drop_columns("info"))
    for before, after in zip(table["info"].to_pylist(), labelled_table["info"].to_pylist(), strict=True):
        assert all(before[name] is None for name in LABELS)
        assert {name: value for name, value in after.items() if name not in LABELS} == {
            name: value for name, value in before.items() if name not in LABELS
        }


def test_what_holds_for_every_label(labelled_table: pa.Table) -> None:
    losses = []
    for info in labelled_table["info"].to_pylist():
        board = chess.Board(info["fen"])
        for turn, (move, reply) in enumerate(zip(info["agent_moves"], info["opponent_moves"], strict=True)):
            best = board.parse_san(info["best_moves"][turn])
            assert board.san(best) == info["best_moves"][turn]
            assert (info["cp_before"][turn] is None) != (info["mate_before"][turn] is None)
            loss = info["cp_loss"][turn]
            assert (loss is None) == (not info["usable"][turn])
            if loss is not None:
                assert 0 <= loss <= 2000 and (loss == 0 or move != best.uci())
                assert (info["cp_after"][turn] is None) != (info["mate_after"][turn] is None)
                losses.append(loss)
            for uci in (move, reply):
                if uci:
                    board.push_uci(uci)
    assert sum(loss > 50 for loss in losses) > len(losses) / 4  # random moves are no good


def test_labels_do_not_depend_on_order_batch_or_earlier_labels(
    monkeypatch: pytest.MonkeyPatch, table: pa.Table, labelled_table: pa.Table
) -> None:
    assert label(labelled_table).equals(labelled_table)
    assert label(table.take([3, 2, 1, 0])).equals(labelled_table.take([3, 2, 1, 0]))
    assert label(table.slice(2, 1)).equals(labelled_table.slice(2, 1))
    assert label(table.slice(0, 0)).equals(labelled_table.slice(0, 0))
    monkeypatch.setattr(labels, "_BATCH", 5)
    assert pa.concat_tables([label(table[:1]), label(table[1:])]).equals(labelled_table)


def test_another_process_gives_the_same_labels(tmp_path: Path, table: pa.Table, labelled_table: pa.Table) -> None:
    pq.write_table(table, tmp_path / "games.parquet")
    program = start_program(
        f"""
import pyarrow.parquet as pq
from lmrl_data.tasks.chess import labels
labels.NODES = {NODES}
pq.write_table(labels.label(pq.read_table({str(tmp_path / "games.parquet")!r})), {str(tmp_path / "labelled.parquet")!r})
"""
    )
    assert program.communicate(timeout=60) == ("", "")
    assert pq.read_table(tmp_path / "labelled.parquet").equals(labelled_table)


def test_an_engine_that_fails_gives_an_error_and_no_labels(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, table: pa.Table
) -> None:
    monkeypatch.setenv("STOCKFISH_PATH", fake_engine(tmp_path, go=DIE))
    with pytest.raises(LmrlError, match="died in 'go nodes 2000' on 'fen"):
        label(table)

"""The endgames environment: distances along a game, starts of training and of testing, and positions that cannot be."""

from collections.abc import Sequence
from typing import Any

import chess
import numpy as np
import pyarrow as pa
import pytest
from engines import needs_stockfish

from lmrl_data import make, make_policy, make_vec, rollout
from lmrl_data.episode import Episode, episode_schema, to_table
from lmrl_data.errors import LmrlError
from lmrl_data.registry import get_task
from lmrl_data.replays import replay, replay_table
from lmrl_data.starts import evaluation_seeds, make_starts
from lmrl_data.tasks.endgames import positions
from lmrl_data.tasks.endgames.tablebase import MATERIALS, best_moves, distance_to_mate, read_board

TASK = get_task("endgames")
TEST = positions.test_positions()
KQR = "4k3/8/8/8/8/8/R7/K2Q4 w - - 0 1"


def play(fen: str, actions: Sequence[str], replies: Sequence[str]) -> tuple[list[Any], dict[str, Any]]:
    """The steps of a game in which Black plays given moves (UCI), and its record's info."""
    env = make("endgames", opponent="random")
    env.reset(seed=0, options={"fen": fen})
    env.follow([], {"opponent_moves": list(replies), "engine": ""})
    return [env.step(action) for action in actions], env.episode_info()


def check_distances(episode: Episode) -> None:
    """The labels of a record are those of the table, turn by turn."""
    info = episode.info
    board = chess.Board(info["fen"])
    labels = ("best_moves", "distance_before", "distance_after", "agent_moves", "opponent_moves")
    assert {len(info[name]) for name in labels} == {episode.num_turns}
    for best, before, after, made, answer in zip(*(info[name] for name in labels), strict=True):
        assert before == (-1 if distance_to_mate(board) is None else distance_to_mate(board))
        assert (board.parse_san(best) in best_moves(board)) if best else not best_moves(board)
        if made:
            board.push_uci(made)
        assert after == (-1 if distance_to_mate(board) is None else distance_to_mate(board))
        if answer:
            board.push_uci(answer)


# Distances


@pytest.fixture(scope="module")
def solved() -> list[Episode]:
    policy = make_policy("optimal", "endgames", opponent="random")
    return rollout(make_vec("endgames", 20, opponent="random"), policy, range(40))


def test_the_optimal_policy_comes_a_move_nearer_every_turn_and_mates(solved: list[Episode]) -> None:
    for episode in solved:
        before, after = episode.info["distance_before"], episode.info["distance_after"]
        assert episode.rewards == [0.0] * (episode.num_turns - 1) + [1.0]
        assert episode.success and episode.info["ending"] == "checkmate"
        assert after == [distance - 1 for distance in before] and after[-1] == 0
        assert all(later <= sooner for sooner, later in zip(after, before[1:], strict=False))
        assert episode.num_turns <= before[0]
        check_distances(episode)
    materials = {read_board(chess.Board(episode.info["fen"]))[0] for episode in solved}
    assert materials == set(MATERIALS)


def test_against_the_best_defence_the_mate_takes_as_long_as_the_table_says() -> None:
    for start in TEST[:8]:
        board, actions, replies = chess.Board(start.fen), [], []
        while not board.is_game_over():
            move = best_moves(board)[0]
            actions.append(board.san(move)) if board.turn == chess.WHITE else replies.append(move.uci())
            board.push(move)
        steps, info = play(start.fen, actions, replies)
        assert info["distance_before"] == list(range(start.distance, 0, -1))
        assert info["distance_after"] == list(range(start.distance - 1, -1, -1))
        assert [step[1] for step in steps] == [0.0] * (start.distance - 1) + [1.0]


@pytest.mark.parametrize("name", ["random", "greedy-20", "greedy-60", "greedy-80"])
def test_distances_of_games_with_slips(name: str) -> None:
    policy = make_policy(name, "endgames", opponent="random")
    for episode in rollout(make_vec("endgames", 15, opponent="random"), policy, range(15)):
        check_distances(episode)
        assert episode.episode_return == float(episode.success)


def test_a_lost_piece_leads_into_the_smaller_class() -> None:
    steps, info = play("8/8/8/4k3/8/8/8/KQ5R w - - 0 1", ["Qe4+", "Rh4+"], ["e5e4", "e4e5"])
    left = chess.Board(steps[0][0])
    assert read_board(left)[0] == "KR-K"
    assert info["distance_before"][1] == distance_to_mate(left) > info["distance_before"][0]
    assert info["distance_after"][0] > info["distance_before"][0]


@pytest.mark.parametrize(
    ("fen", "action", "reply", "ending"),
    [
        ("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", "Qf7", "", "stalemate"),
        ("8/8/8/6k1/8/8/8/K6R w - - 0 1", "Rh4", "g5h4", "insufficient material"),
    ],
)
def test_a_win_given_away_has_no_distance(fen: str, action: str, reply: str, ending: str) -> None:
    steps, info = play(fen, [action], [reply])
    assert (steps[-1][1:3], steps[-1][4]["success"]) == ((0.0, True), False)
    assert (info["ending"], info["result"], info["distance_after"]) == (ending, "1/2-1/2", [-1])


def test_an_unusable_action_leaves_the_distance_as_it_is() -> None:
    steps, info = play(KQR, ["Qe9", "", "Qd7"], ["", "", ""])
    distance = distance_to_mate(chess.Board(KQR))
    assert [step[1] for step in steps[:2]] == [-1.0, -1.0]
    assert info["distance_before"][:2] == info["distance_after"][:2] == [distance, distance]
    assert info["usable"][:2] == [False, False]


# Starts


def test_the_seed_gives_the_training_position_and_never_a_held_out_one() -> None:
    env = make("endgames", opponent="random")
    shown = [env.reset(seed=seed)[0] for seed in range(300)]
    assert shown == positions.train_positions(np.arange(300)).tolist()
    assert not any(positions.is_held_out(chess.Board(fen)) for fen in shown)
    assert {read_board(chess.Board(fen))[0] for fen in shown} == set(MATERIALS)
    assert len(set(shown)) > 290


def test_evaluation_plays_every_test_position_once() -> None:
    env = make("endgames", opponent="random", positions="test")
    seeds = evaluation_seeds("endgames", episodes=len(TEST)).tolist()
    starts = make_starts("endgames")
    shown = [env.reset(seed=seed)[0] for seed in seeds]
    assert sorted(shown) == sorted(start.fen for start in TEST)
    assert shown[:50] == [starts.options(starts.of(seed))["fen"] for seed in seeds[:50]]


@pytest.mark.parametrize("value", ["", "Test", "validation", None])
def test_unknown_positions_list_what_there_is(value: object) -> None:
    with pytest.raises(LmrlError, match="train, test"):
        make("endgames", opponent="random", positions=value)


@pytest.mark.parametrize(
    ("fen", "reason"),
    [
        ("", "read as a FEN"),
        ("{x} {0}", "read as a FEN"),
        ("x" * 100_000, "read as a FEN"),
        (None, "no text"),
        (3, "no text"),
        (chess.STARTING_FEN, "pieces"),
        ("8/8/8/4k3/8/8/8/4K3 w - - 0 1", "pieces"),
        ("8/8/8/4k3/8/8/8/1N2K3 w - - 0 1", "pieces"),
        ("8/8/8/4k3/8/8/7r/4K3 w - - 0 1", "pieces"),
        ("8/8/8/4k3/8/8/7r/R3K3 w - - 0 1", "pieces"),
        ("8/8/8/8/8/8/8/R3K3 w - - 0 1", "pieces"),
        ("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", "castling"),
        ("8/8/8/4k3/8/8/8/R3K3 b - - 0 1", "Black's turn"),
        ("8/8/8/R3k3/8/8/8/4K3 w - - 0 1", "not legal"),
        ("8/8/8/8/8/8/4k3/R3K3 w - - 0 1", "not legal"),
        ("8/8/8/4k3/8/8/8/R3K3 w - - 90 100", "fifty-move"),
        ("8/8/8/4k3/8/8/8/R3K3 w - - 100 100", "fifty-move"),
    ],
)
def test_positions_that_cannot_be(fen: object, reason: str) -> None:
    env = make("endgames", opponent="random")
    with pytest.raises(LmrlError, match=reason) as error:
        env.reset(seed=0, options={"fen": fen})
    assert "\n" not in str(error.value) and len(str(error.value)) < 400
    assert "KQ-K, KR-K, KQR-K, KRR-K" in str(error.value)


# With Stockfish


@needs_stockfish
def test_stockfish_is_mated_too_and_replay_is_exact_or_follows() -> None:
    policy = make_policy("optimal", "endgames")
    with make_vec("endgames", 4) as env:
        episodes = rollout(env, policy, range(6))
        assert all(episode.success and episode.episode_return == 1 for episode in episodes)
        assert replay(episodes, env) == [None] * 6
        table = to_table(episodes, TASK)
        rows = table.to_pylist()
        for row in rows:
            row["info"]["engine"] = "Stockfish 99 0badcafe"
        rows[2]["info"]["distance_before"][0] += 1
        rows[3]["info"]["distance_after"][-1] = 1
        rows[4]["info"]["best_moves"][0] = ""
        found = replay_table(pa.Table.from_pylist(rows, table.schema), env)
    assert [difference is None for difference in found] == [True, True, False, False, False, True]


def test_a_record_without_a_legal_answer_is_found() -> None:
    env = make_vec("endgames", 4, opponent="random")
    policy = make_policy("greedy-60", "endgames", opponent="random")
    episodes = [episode for episode in rollout(env, policy, range(20)) if episode.num_turns > 6][:4]
    rows = to_table(episodes, TASK).to_pylist()
    for row, turn in zip(rows, (0, 1, 5, 3), strict=True):
        row["info"]["engine"] = "another"
        row["info"]["opponent_moves"][turn] = "a1a1"
    assert all(replay_table(pa.Table.from_pylist(rows, episode_schema(TASK)), env))

"""The chess environment: rewards and endings in play, notations, opponents, and what engine trouble does to a game."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chess
import pytest
from engines import DIE, HANG, fake_engine, kill, needs_stockfish, processes_below, stockfish_behind

from lmrl_data import make, make_policy, make_vec, rollout
from lmrl_data.errors import LmrlError
from lmrl_data.stockfish.binary import find_stockfish
from lmrl_data.stockfish.levels import LEVELS, Level
from lmrl_data.stockfish.pool import EnginePool
from lmrl_data.tasks.chess import opponents
from lmrl_data.tasks.chess.opponents import PaperOpponent

MOVES = ["e4", "d4", "Nf3", "Nc3", "Ke2", "h3"]


@pytest.fixture(autouse=True)
def quick_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """A level with everything in it that is quick and does not follow the ladder's calibration."""
    monkeypatch.setitem(LEVELS, "level-1", Level(1, nodes=150, temperature=150, random=0.2))
    monkeypatch.setitem(LEVELS, "level-2", Level(2, nodes=150, temperature=150, random=0))


@pytest.fixture
def no_stockfish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("STOCKFISH_PATH", "/no/such/stockfish")


def begin(fen: str, replies: Sequence[str], **options: Any) -> Any:
    """An environment in a game in which Black plays given moves (UCI)."""
    env = make("chess", opponent="random", **options)
    env.reset(seed=0, options={"fen": fen})
    env.follow([], {"opponent_moves": list(replies), "engine": ""})
    return env


def play(env: Any, moves: Sequence[str] = MOVES, seed: int = 3) -> list[Any]:
    """Everything that the environment says in a game."""
    return [env.reset(seed=seed), *map(env.step, moves), env.episode_info()]


# Rewards and endings


@pytest.mark.parametrize(
    ("fen", "moves", "replies", "reward", "success", "result"),
    [
        (chess.STARTING_FEN, "e4 Bc4 Qh5 Qxf7#", "e7e5 b8c6 g8f6", 1.0, True, "1-0"),
        (chess.STARTING_FEN, "f3 g4", "e7e5 d8h4", -1.0, False, "0-1"),
        ("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", "Qf7", "", 0.0, False, "1/2-1/2"),
        ("2q5/8/8/8/8/1k6/8/1K6 w - - 0 1", "Ka1", "c8c2", 0.0, False, "1/2-1/2"),
        ("8/8/8/8/8/3k4/4R3/7K w - - 0 1", "Kg1", "d3e2", 0.0, False, "1/2-1/2"),
        (chess.STARTING_FEN, "Nf3 Ng1 Nf3 Ng1", "g8f6 f6g8 g8f6 f6g8", 0.0, False, "1/2-1/2"),
        ("8/8/8/4k3/8/8/8/R3K3 w - - 98 80", "Kd1", "e5e4", 0.0, False, "1/2-1/2"),
        ("7k/8/6K1/8/8/8/8/R7 w - - 99 80", "Ra8#", "", 1.0, True, "1-0"),
        ("8/8/8/8/8/k7/7r/1K6 w - - 98 80", "Ka1", "h2h1", -1.0, False, "0-1"),
    ],
)
def test_how_games_end(fen: str, moves: str, replies: str, reward: float, success: bool, result: str) -> None:
    env = begin(fen, replies.split())
    board = chess.Board(fen)
    for number, move in enumerate(moves.split()):
        observation, paid, terminated, truncated, info = env.step(move)
        board.push_san(move)
        if number < len(replies.split()):
            board.push_uci(replies.split()[number])
        assert observation == board.fen() and observation in env.observation_space
        over = number == len(moves.split()) - 1
        assert (paid, terminated, truncated) == (reward if over else 0.0, over, False)
        assert info == ({"success": success, "return": reward} if over else {})
    assert env.episode_info()["result"] == result


def test_a_promotion_of_either_side() -> None:
    env = begin("8/P6k/8/8/8/8/5p2/7K w - - 0 1", ["f2f1n", "h7g6"])
    assert env.step("a8=r")[0] == "R7/7k/8/8/8/8/8/5n1K w - - 0 2"


def test_an_unusable_action_costs_one_and_changes_nothing() -> None:
    fen = "4k3/8/8/8/8/8/r6P/7K w - - 3 9"
    env = begin(fen, [""] * 6 + ["a2a1"])
    for action in ("Kg2", "h2h4", "--", "", "h5", "resign"):
        observation, reward, terminated, truncated, info = env.step(action)
        assert (observation, reward, terminated, truncated) == (fen, -1.0, False, False)
        named = info["invalid_action"].split()[-1]
        assert named in {chess.Board(fen).san(move) for move in chess.Board(fen).legal_moves}
    assert env.step(" h4\n")[1] == 0.0
    info = env.episode_info()
    assert info["agent_moves"] == [""] * 6 + ["h2h4"] and info["usable"] == [False] * 6 + [True]


def test_four_hundred_actions() -> None:
    env = begin(chess.STARTING_FEN, [])
    steps = [env.step("no") for _ in range(400)]
    assert [step[3] for step in steps] == [False] * 399 + [True]
    assert not any(step[2] for step in steps)
    assert steps[-1][4]["return"] == -400.0
    assert (env.episode_info()["result"], env.episode_info()["ending"]) == ("*", "move limit")


def test_a_mate_with_the_last_action_counts() -> None:
    env = begin("7k/8/6K1/8/8/8/8/R7 w - - 0 1", [])
    for _ in range(399):
        env.step("")
    assert env.step("Ra8")[1:4] == (1.0, True, False)


# Notations


def test_spaced_games_are_the_same_letter_by_letter() -> None:
    plain, spaced = make("chess", opponent="random"), make("chess", opponent="random", spaced=True)
    actions = ["e4", "Nf3", "Be2", "0-0", "Qxh9", "d3"]
    for said, shown in zip(play(plain, actions)[:-1], play(spaced, [" ".join(a) for a in actions])[:-1], strict=True):
        assert shown[0] == " ".join(said[0]) and shown[0] in spaced.observation_space
        assert shown[0][::2] == said[0]
        assert shown[1:] == said[1:]
    assert [step[:4] for step in play(spaced, actions)[1:-1]] == [
        step[:4] for step in play(spaced, ["  ".join(action) for action in actions])[1:-1]
    ]
    policy = make_policy("random", "chess", opponent="random", spaced=True)
    (one,), (other,) = rollout(plain, policy, [7]), rollout(spaced, policy, [7])
    assert (one.actions, one.rewards, one.info) == (other.actions, other.rewards, other.info)


def test_uci_only_where_it_is_asked_for() -> None:
    for notation, reward in (("san", -1.0), ("uci", 0.0)):
        env = begin(chess.STARTING_FEN, ["e7e5", "b8c6"], notation=notation)
        assert env.step("e2e4")[1] == reward
        assert env.step("Nf3")[1] == 0.0
        assert env.step("0000")[1] == -1.0


@pytest.mark.parametrize(
    ("option", "value", "known"),
    [
        ("notation", "pgn", "san, uci"),
        ("opponent", "level-99", "level-10, paper, random"),
        ("opponent", "1200", "level-10, paper, random"),
        ("elo", 1200, "opponent, notation, spaced"),
        ("UCI_Elo", 1350, "opponent, notation, spaced"),
    ],
)
def test_unknown_options_list_what_there_is(option: str, value: object, known: str) -> None:
    with pytest.raises(LmrlError, match=known):
        make("chess", **{"opponent": "random", option: value})


# Opponents


@pytest.mark.usefixtures("no_stockfish")
def test_the_random_opponent_needs_no_engine() -> None:
    env, vec = make("chess", opponent="random"), make_vec("chess", 3, opponent="random")
    assert (env.partner, vec.partner) == ("", "")
    policy = make_policy("random", "chess", opponent="random")
    episodes = rollout(vec, policy, [1, 2, 3])
    assert rollout(env, policy, [3, 2, 1]) == episodes[::-1]
    assert {episode.info["engine"] for episode in episodes} == {""}
    assert len({str(episode.info["opponent_moves"]) for episode in episodes}) == 3


@pytest.mark.usefixtures("no_stockfish")
@pytest.mark.parametrize("opponent", ["level-1", "level-10", "paper"])
def test_other_opponents_name_the_program_that_is_missing(opponent: str) -> None:
    with pytest.raises(LmrlError, match=r"^STOCKFISH_PATH=/no/such/stockfish is no program"):
        make("chess", opponent=opponent)


def test_what_the_papers_opponent_asks_for(tmp_path: Path) -> None:
    """The weakest limit of strength, 100 ms a move, and a hash table that is carried from move to move."""
    listen = f"open({str(tmp_path / 'heard')!r}, 'a').write('\\n'.join(asked) + '\\n'); asked.clear()"
    pool = EnginePool(fake_engine(tmp_path, go=listen), size=1)
    paper, board = PaperOpponent(pool), chess.Board()
    assert paper.reply(board, seed=1).uci() == "e2e4"
    first = (tmp_path / "heard").read_text().splitlines()
    assert {f"setoption name {option}" for option in ("UCI_LimitStrength value true", "UCI_Elo value 1350")} < {*first}
    assert first[-3] == "ucinewgame" and first[-1] == "go movetime 100"
    board.push_san("Nf3")
    board.push_san("Nf6")
    paper.reply(board, seed=1)
    later = (tmp_path / "heard").read_text().splitlines()[len(first) :]
    assert later == [f"position fen {chess.STARTING_FEN} moves g1f3 g8f6", "go movetime 100"]
    pool.close()


@needs_stockfish
def test_the_papers_opponent_plays_and_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = EnginePool(find_stockfish(), size=1)
    monkeypatch.setattr(opponents, "shared_pool", lambda: pool)
    level, paper = make("chess", opponent="level-2"), make("chess", opponent="paper")
    before = play(level)
    steps = play(paper, MOVES[:3])
    assert steps[-1]["opponent"] == "paper" and all(steps[-1]["opponent_moves"])
    assert steps[-1]["engine"] == f"{level.partner}, not reproducible"
    assert play(level) == before
    pool.close()


# Determinism and trouble


def test_a_record_is_followed_in_its_own_episode_only() -> None:
    env = make("chess", opponent="random")
    expected = play(env)
    env.reset(seed=3)
    env.follow([], {"opponent_moves": ["a7a6"], "engine": "another"})
    assert env.step("e4") != expected[1]
    assert env.episode_info()["engine"] == "another"
    assert play(env) == expected


@pytest.fixture
def expected() -> list[Any]:
    return play(make("chess", opponent="level-2"))


@needs_stockfish
def test_a_game_follows_from_the_seed_and_the_moves(expected: list[Any]) -> None:
    env, other = make("chess", opponent="level-2"), make("chess", opponent="level-2")
    assert play(env, seed=4)[-1] != expected[-1]
    env.reset(seed=3)
    for number, move in enumerate(MOVES):
        assert env.step(move) == expected[1 + number]
        play(other, MOVES[:2], seed=number)
    vec = make_vec("chess", 5, opponent="level-2")
    observations, _ = vec.reset([3, 8, 3, 9, 3])
    for number, move in enumerate(MOVES):
        observations, rewards, *_ = vec.step([move] * 5)
        assert [(observations[row], rewards[row]) for row in (0, 2, 4)] == [expected[1 + number][:2]] * 3
    assert vec.episode_info(4) == expected[-1]
    vec.close()


def engine_with(monkeypatch: pytest.MonkeyPatch, folder: Path, trouble: str, seconds: float = 30) -> EnginePool:
    pool = EnginePool(stockfish_behind(folder, go=f"if once(): {trouble}"), size=1, timeout=seconds)
    monkeypatch.setattr(opponents, "shared_pool", lambda: pool)
    return pool


@needs_stockfish
@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (DIE, "died in"),
        (HANG, "did not answer"),
        ("say('info score cp 0 pv a7a6', 'bestmove a1a8')", "'a1a8' is no legal move"),
        ("say('info score cp 0 pv a7a6', 'bestmove (none)')", r"'\(none\)' is no legal move"),
    ],
)
def test_a_step_that_fails_can_be_repeated(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, expected: list[Any], trouble: str, reason: str
) -> None:
    pool = engine_with(monkeypatch, tmp_path, trouble, seconds=2)
    env = make("chess", opponent="level-2")
    env.reset(seed=3)
    for number, move in enumerate(MOVES):
        if number == 1:
            (tmp_path / "trouble").touch()
            with pytest.raises(LmrlError, match=reason) as error:
                env.step(move)
            assert re.search("'go nodes 150' on 'fen rnbqkbnr/.* moves e2e4 .* d2d4'", str(error.value))
        assert env.step(move) == expected[1 + number]
    assert env.episode_info() == expected[-1]
    pool.close()


@needs_stockfish
def test_a_reset_that_fails_can_be_repeated(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, expected: list[Any]
) -> None:
    pool = engine_with(monkeypatch, tmp_path, DIE)
    env = make("chess", opponent="level-2")
    (tmp_path / "trouble").touch()
    with pytest.raises(LmrlError, match="died"):
        env.reset(seed=3)
    assert play(env) == expected
    pool.close()


@needs_stockfish
def test_a_batch_with_a_failing_engine_raises_and_plays_on_after_reset(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, expected: list[Any]
) -> None:
    pool = engine_with(monkeypatch, tmp_path, DIE)
    vec = make_vec("chess", 3, opponent="level-2")
    vec.reset([3, 4, 3])
    (tmp_path / "trouble").touch()
    with pytest.raises(LmrlError, match="died"):
        vec.step([MOVES[0]] * 3)
    vec.reset([3, 4, 3])
    for number, move in enumerate(MOVES):
        observations, rewards, *_ = vec.step([move] * 3)
        assert [(observations[row], rewards[row]) for row in (0, 2)] == [expected[1 + number][:2]] * 2
    vec.close()
    pool.close()


@needs_stockfish
def test_a_game_goes_on_the_same_when_its_engine_is_killed_between_moves(
    monkeypatch: pytest.MonkeyPatch, expected: list[Any]
) -> None:
    before = processes_below()
    pool = EnginePool(find_stockfish(), size=1)
    monkeypatch.setattr(opponents, "shared_pool", lambda: pool)
    env = make("chess", opponent="level-2")
    env.reset(seed=3)
    for number, move in enumerate(MOVES):
        try:
            step = env.step(move)
        except LmrlError as error:  # where the end of the engine has not been noticed yet
            assert "died" in str(error)
            step = env.step(move)
        assert step == expected[1 + number]
        kill(processes_below() - before)
    assert env.partner == expected[-1]["engine"]
    pool.close()

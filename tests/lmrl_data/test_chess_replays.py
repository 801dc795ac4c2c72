"""Replay of chess: exact with the engine's build, and by following the record with another one."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from engines import needs_stockfish, stockfish_behind

from lmrl_data import make, make_policy, make_vec, rollout
from lmrl_data.episode import Episode, episode_schema, to_table
from lmrl_data.registry import get_task
from lmrl_data.replays import followed, replay, replay_table
from lmrl_data.stockfish.levels import LEVELS, Level

Row = dict[str, Any]

TASK = get_task("chess")
OTHER = "Stockfish 99 0badcafe"
LEVEL = Level(1, nodes=150, temperature=150, random=0.2)

pytestmark = needs_stockfish


@pytest.fixture(autouse=True)
def quick_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """A level that is quick and does not follow the ladder's calibration."""
    monkeypatch.setitem(LEVELS, "level-1", LEVEL)


@pytest.fixture(scope="module", autouse=True)
def engines() -> Iterator[None]:
    """Somebody who uses the shared engines all the time, so that they are not started anew for every test."""
    env = make("chess")
    yield
    env.close()


class Player:
    """Says the given moves, and then nothing of use until the limit ends the game."""

    name = "player"

    def __init__(self, *moves: str) -> None:
        self.moves = moves

    def reset(self, seeds: Sequence[int]) -> None: ...

    def act(self, conversations: Sequence[list[Any]]) -> list[str]:
        turns = [len(conversation) // 2 for conversation in conversations]
        return [self.moves[turn] if turn < len(self.moves) else "" for turn in turns]


@cache
def episodes() -> list[Episode]:
    """Games lost by random moves, and one with unusable actions among the moves."""
    env = make_vec("chess", 4, opponent="level-1")
    played = rollout(env, make_policy("random", "chess", opponent="level-1"), range(4))
    return [*played, *rollout(env, Player("e4", "Ke8", "d4", "", "Nf3", "Nc3"), [4])]


def rows(engine: str | None = OTHER) -> list[Row]:
    """Their records, as if another build had answered, or with the one that did (None)."""
    found: list[Row] = to_table(episodes(), TASK).to_pylist()
    for row in found:
        row["info"]["engine"] = engine or row["info"]["engine"]
    return found


def replayed(records: list[Row]) -> list[str | None]:
    return replay_table(pa.Table.from_pylist(records, episode_schema(TASK)))


def test_replay_with_the_same_build_is_exact() -> None:
    assert replay(episodes()) == [None] * 5
    assert replay(episodes(), make_vec("chess", 2, opponent="level-1")) == [None] * 5


def test_replay_tells_who_answered() -> None:
    env = make("chess", opponent="level-1")
    vec = make_vec("chess", 1, opponent="level-1")
    assert {episode.info["engine"] for episode in episodes()} == {env.partner}
    assert followed(to_table(episodes(), TASK), vec) == [None] * 5
    assert followed(pa.Table.from_pylist(rows(), episode_schema(TASK)), vec) == [OTHER] * 5


def test_replay_with_another_build_follows_the_record() -> None:
    assert replayed(rows()) == [None] * 5


def test_another_build_is_followed_only_where_it_answered() -> None:
    mixed = rows(None)
    mixed[1]["info"]["engine"] = mixed[3]["info"]["engine"] = OTHER
    assert replayed(mixed) == [None] * 5
    swap_first_reply(mixed[0])
    assert replayed(mixed)[0] is not None


def test_a_build_that_plays_otherwise(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Twice the nodes: the games come out otherwise when they are played anew, and the record is followed."""
    recorded = episodes()
    path = stockfish_behind(tmp_path, go='line = b"go nodes %d\\n" % (2 * int(line.split()[2]))')
    monkeypatch.setenv("STOCKFISH_PATH", path)
    env = make_vec("chess", 5, opponent="level-1")
    assert env.partner != recorded[0].info["engine"]
    again = rollout(env, Player(*recorded[0].actions), [recorded[0].seed])
    assert again[0].info["opponent_moves"] != recorded[0].info["opponent_moves"]
    assert replay(recorded, env) == [None] * 5
    env.close()


@pytest.fixture(scope="module")
def paper() -> list[Episode]:
    return rollout(make("chess", opponent="paper"), Player("e4", "d4", "Nf3"), [1])


def test_games_against_the_papers_opponent_say_that_they_are_not_reproducible(paper: list[Episode]) -> None:
    env = make("chess", opponent="paper")
    assert followed(to_table(paper, TASK), make_vec("chess", 1, opponent="paper")) == [env.partner]
    assert env.partner.endswith(", not reproducible")


def test_games_against_the_papers_opponent_are_followed(paper: list[Episode]) -> None:
    """Its moves cannot be had again, whatever the build."""
    assert replay(paper) == [None]


def test_tampering_with_a_game_against_the_papers_opponent_is_found(paper: list[Episode]) -> None:
    record = to_table(paper, TASK).to_pylist()
    swap_first_reply(record[0])
    assert replayed(record)[0] is not None


# Tampering: the change of a row's turn, where it has a move of the agent and an answer.


def swap_first_reply(row: Row, turn: int = 0) -> None:
    """Another legal answer than the one that the texts show."""
    moves = row["info"]["opponent_moves"]
    moves[turn] = "a7a5" if moves[turn] != "a7a5" else "h7h5"


def _text(place: int) -> Callable[[Row, int], None]:
    def change(row: Row, turn: int) -> None:
        message = row["messages"][2 * turn + place]
        message["content"] = message["content"].replace(message["content"][0], "x", 1)

    return change


def _info(name: str, value: object) -> Callable[[Row, int], None]:
    def change(row: Row, turn: int) -> None:
        assert row["info"][name][turn] != value
        row["info"][name][turn] = value

    return change


def _cut(name: str) -> Callable[[Row, int], None]:
    def change(row: Row, turn: int) -> None:
        del row["info"][name][turn]

    return change


def _reward(row: Row, turn: int) -> None:
    row["rewards"][turn] += 1
    row["episode_return"] += 1


def _say_otherwise(row: Row, turn: int) -> None:
    said = row["messages"][2 * turn + 1]
    said["content"] = "a3" if said["content"] != "a3" else "h3"


def _say_nothing(row: Row, turn: int) -> None:
    row["messages"][2 * turn + 1]["content"] = ""


def _swap_with_next(row: Row, turn: int) -> None:
    moves = row["info"]["opponent_moves"]
    moves[turn], moves[turn + 1] = moves[turn + 1], moves[turn]


TAMPERING: dict[str, Callable[[Row, int], None]] = {
    "a letter of the text before": _text(0),
    "a letter of the text after": _text(2),
    "another action": _say_otherwise,
    "no action": _say_nothing,
    "a reward": _reward,
    "another answer": swap_first_reply,
    "answers in another order": _swap_with_next,
    "an illegal answer": _info("opponent_moves", "e1e8"),
    "an unreadable answer": _info("opponent_moves", "garbage"),
    "an answer in SAN": _info("opponent_moves", "a6"),
    "a null move for an answer": _info("opponent_moves", "0000"),
    "an empty answer": _info("opponent_moves", ""),
    "no value for an answer": _info("opponent_moves", None),
    "a missing answer": _cut("opponent_moves"),
    "another move of the agent in UCI": _info("agent_moves", "a1a1"),
    "a missing move of the agent": _cut("agent_moves"),
    "unusable said of a move": _info("usable", False),
}


@pytest.mark.parametrize("name", TAMPERING)
def test_following_finds_tampering_with_any_turn(name: str) -> None:
    length = episodes()[0].num_turns
    turns = sorted({0, 1, length // 3, length // 2, length - 3, length - 2})
    tampered = [rows()[0] for _ in turns]
    for row, turn in zip(tampered, turns, strict=True):
        assert row["info"]["agent_moves"][turn] and row["info"]["opponent_moves"][turn + 1]
        TAMPERING[name](row, turn)
    found = replayed(tampered + rows())
    assert found[len(turns) :] == [None] * 5
    for turn, difference in zip(turns, found, strict=False):
        assert difference and "\n" not in difference, f"turn {turn} was not found"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("result", "1-0"),
        ("result", "1/2-1/2"),
        ("ending", "stalemate"),
        ("ending", "move limit"),
        ("fen", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN1 w Qkq - 0 1"),
        ("opponent", "level-9"),
        ("opponent_moves", []),
        ("opponent_moves", None),
        ("agent_moves", []),
        ("usable", []),
    ],
)
def test_following_finds_tampering_with_the_whole(field: str, value: object) -> None:
    records = rows()
    assert records[0]["info"][field] != value
    records[0]["info"][field] = value
    found, *others = replayed(records)
    assert found and "\n" not in found and others == [None] * 4


def test_an_answer_after_an_unusable_action_is_found() -> None:
    records = rows()
    assert records[4]["info"]["opponent_moves"][1] == ""
    records[4]["info"]["opponent_moves"][1] = "a7a6"
    assert replayed(records)[4]


def test_a_game_cannot_be_ended_by_the_replays_own_words() -> None:
    """A lost game, cut off at a turn without a legal answer, with whatever text a replay shows there."""
    (row,) = rows()[:1]
    turns = row["num_turns"] - 2
    env = make("chess", opponent="level-1")
    env.reset(seed=row["seed"])
    env.follow([], row["info"] | {"opponent_moves": row["info"]["opponent_moves"][: turns - 1]})
    steps = [env.step(message["content"]) for message in row["messages"][1 : 2 * turns : 2]]
    observation, _, terminated, truncated, info = steps[-1]
    row["messages"] = [*row["messages"][: 2 * turns], {"role": "user", "content": observation}]
    row |= {"rewards": [step[1] for step in steps], "num_turns": turns, "episode_return": info["return"]}
    row |= {"terminated": terminated, "truncated": truncated, "success": info["success"]}
    row["info"] |= env.episode_info()
    assert replayed([row])[0]

"""What `lmrl import` reads from each published layout, and what it finds to differ from the rules."""

import json

import chess
import pytest

from lmrl_data import make, make_policy, rollout
from lmrl_data.dataset import load_episodes
from lmrl_data.episode import to_table
from lmrl_data.registry import get_task
from lmrl_data.tasks.maze.game import maze_game
from lmrl_generators.importing.layouts import LAYOUTS
from lmrl_generators.importing.plays import Unreadable
from lmrl_generators.importing.run import import_file


@pytest.fixture
def imported(tmp_path):
    """Import records of a task as JSON lines: the report and the episodes."""

    def imported(task, *lines, config=None):
        path = tmp_path / "file.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        report = import_file(path, task, config=config, out=tmp_path / "out")
        assert report.problems == []
        return report, load_episodes(tmp_path / "out" / task, task, config=config)

    return imported


def game_of(words, colours, rewards, done=True):
    texts = ["Wordle:", *(text for pair in zip(words, colours, strict=True) for text in pair)]
    return {"sequence": [[" ".join(t) + "\n", n % 2] for n, t in enumerate(texts)], "reward": rewards, "done": done}


@pytest.mark.parametrize("rewards", [[-1, 0], [0, -1, 0, 0, 0], [-1, 0, 0, 0]])
def test_wordle_rewards_may_count_guesses_or_texts(imported, rewards):
    report, (episode,) = imported("wordle", game_of(["stare", "charm"], ["bbggb", "ggggg"], rewards))
    assert (episode.rewards, episode.success, episode.info) == ([-1, 0], True, {"word": "charm"})
    assert (episode.terminated, episode.truncated) == (True, False)
    assert not report.differences
    assert not report.faults


def test_wordle_colours_tell_the_rule_and_a_word_that_changed(imported):
    report, _ = imported(
        "wordle",
        game_of(["geese", "charm"], ["bbbbb", "ggggg"], [-1, 0]),
        game_of(["sassy", "glass"], ["yybgb", "ggggg"], [-1, 0]),
        game_of(["sassy", "glass"], ["yyygb", "ggggg"], [-1, 0]),
        game_of(["stare", "charm"], ["ggggb", "ggggg"], [-1, 0]),
    )
    assert report.faults == {
        "repeated letters are coloured by the paper's rule": 1,
        "colours of another word: the hidden word was drawn again": 1,
    }


def test_wordle_rewards_and_ends_are_held_against_the_rules(imported):
    lost = ["stare"] * 6
    report, episodes = imported(
        "wordle",
        game_of(["charm"], ["ggggg"], [-1]),
        game_of(lost, ["bbbbb"] * 6, [-1, -1, 0, -1, -10, -1]),
        game_of(lost[:2], ["bbbbb"] * 2, [-1, -1]),
        game_of(lost[:2], ["bbbbb"] * 2, [-1, -1], done=False),
    )
    assert report.differences == {"the guess that solves it, worth 0": 1, "another guess, worth -1": 2}
    assert report.faults == {"a time limit is flagged as the end of the game": 1}
    assert [(e.terminated, e.truncated, e.success) for e in episodes] == [
        (True, False, True),
        (True, False, False),
        (False, True, False),
        (False, True, False),
    ]
    assert episodes[1].info == {"word": None}


def published_position(cell):
    row, column = (" ".join(str(number)) for number in cell)
    return f"The goal is at position 8, 6. Your current position is at position {row}, {column}. There are walls.\n"


def walk(start, moves):
    """Transitions of the published maze, with the rewards that the rules give."""
    game = maze_game()
    cell, transitions = game.maze.number(start, "start"), []
    for move in moves:
        state = published_position(game.maze.cells[cell])
        cell, _, reward, done, _ = game.step_one(cell, game.action_index.get(move, -1))
        transitions.append({"state": state, "action": f"{move}\n", "reward": reward, "done": done})
    return transitions


def test_maze_positions_of_two_digits_are_read_and_its_rewards_agree(imported):
    home = ["move right", "move left", "move left", "move down", "move down", "move down", "move down"]
    home += ["move left"] * 3 + ["jump"] + ["move down"] * 3
    report, (episode,) = imported("maze", walk((1, 10), ["move right", *home[1:]]))
    assert episode.info == {"start": [1, 10], "goal": [8, 6]}
    assert episode.rewards[-1] == 0
    assert -4 in episode.rewards
    assert (episode.success, episode.terminated) == (True, True)
    assert episode.messages[0]["content"].startswith("The goal is at position 8, 6.")
    assert not report.differences
    assert not report.faults


def test_maze_faults_are_found(imported):
    twice = walk((7, 6), ["move down"]) * 2
    limit = walk((1, 1), ["move left"] * 100)
    limit[-1]["done"] = True
    wrong = walk((5, 6), ["jump", "move down", "move down", "move down"])
    for transition, reward in zip(wrong, (-1, -4, -1, 1), strict=True):
        transition["reward"] = reward
    jumping = walk((1, 1), ["move right"]) + walk((5, 6), ["move down"])
    report, episodes = imported("maze", twice, limit, wrong, jumping)
    assert [episode.num_turns for episode in episodes] == [1, 100, 4, 2]
    assert [episode.terminated for episode in episodes] == [True, False, True, False]
    assert report.differences == {
        "an unusable action, worth -4": 1,
        "another move, worth -1": 1,
        "the move that reaches the goal, worth 0": 1,
    }
    assert report.faults == {
        "the last transition is there twice": 1,
        "a time limit is flagged as the end of the game": 1,
        "a position does not follow from the move before": 1,
    }


def test_maze_history_without_positions(imported):
    walls = "There are walls to your left, to your right.\n"
    history = [walls, "move down\n", walls, "fly\n", walls, "move down\n", "Success\n"]
    full = {"text_history": history, "rewards": [0, -1, 0, -4, 0, 0, 0], "dones": [False] * 5 + [True] * 2}
    short = {"text_history": history[:5], "rewards": [-1, -1], "dones": [False, True]}
    report, (won, cut) = imported("maze", full, short, config="partially_observed")
    assert (won.rewards, won.success, won.info) == ([-1, -4, 0], True, {"start": None, "goal": [8, 6]})
    assert (cut.truncated, cut.success) == (True, False)
    assert report.differences == {"an unusable action, worth -4": 1}


def test_maze_of_the_other_config_is_not_read(tmp_path):
    path = tmp_path / "file.jsonl"
    path.write_text(json.dumps(walk((1, 1), ["move up"])))
    with pytest.raises(ValueError, match="give --config fully_observed"):
        import_file(path, "maze", config="partially_observed", out=tmp_path / "out")


def test_maze_of_another_shape_is_not_read(tmp_path):
    path = tmp_path / "file.jsonl"
    transition = walk((1, 1), ["move up"])[0]
    path.write_text(json.dumps([{**transition, "state": published_position((6, 5))}]))
    with pytest.raises(ValueError, match="another maze"):
        import_file(path, "maze", out=tmp_path / "out")


def test_text_nav_is_played_again_from_the_room_that_the_exits_tell(imported):
    (ours,) = rollout(make("text-nav"), make_policy("optimal", "text-nav"), [3])
    listed = [m["content"].replace("Commands:", "Admissible commands:") for m in ours.messages]
    right = {"text_history": listed, "rewards": ours.rewards, "dones": [False] * (ours.num_turns - 1) + [True]}
    wrong = {**right, "rewards": [1.0] * ours.num_turns}
    cut = {**right, "text_history": listed[:5], "rewards": [0, 0], "dones": [False, True]}
    lost = {**right, "text_history": ["A bare place.", *listed[1:]]}
    report, episodes = imported("text-nav", right, wrong, cut, lost)
    assert [episode.success for episode in episodes] == [True, True, False, True]
    assert [episode.info["room"] for episode in episodes] == [ours.info["room"]] * 3 + [None]
    assert episodes[2].truncated
    assert report.differences == {"another command, worth 0": ours.num_turns - 1}
    assert sorted(report.faults.values()) == [1, 1]


def moves_of(*sans, start=chess.STARTING_FEN, rewards=None):
    """A line per White move of a game given as SAN of both sides."""
    board, lines = chess.Board(start), []
    for number, san in enumerate(sans):
        if number % 2 == 0:
            lines.append({"from_state": board.fen(), "action": san, "reward": 0, "done": False})
        board.push_san(san)
    end = 1 if board.is_checkmate() and board.turn == chess.BLACK else -1 if board.is_checkmate() else 0
    lines[-1] |= {"reward": end, "done": board.is_game_over()}
    for line, reward in zip(lines, rewards or [], strict=False):
        line["reward"] = reward
    return lines


SCHOLAR = ("e4", "e5", "Qh5", "Nc6", "Bc4", "Nf6", "Qxf7#")
FOOL = ("f3", "e5", "g4", "Qh4#")


def test_chess_lines_are_gathered_into_games_with_both_sides_moves(imported):
    report, (won, lost) = imported("chess", *moves_of(*SCHOLAR), *moves_of(*FOOL))
    assert won.actions == ["e4", "Qh5", "Bc4", "Qxf7#"]
    assert won.info["agent_moves"] == ["e2e4", "d1h5", "f1c4", "h5f7"]
    assert won.info["opponent_moves"] == ["e7e5", "b8c6", "g8f6", ""]
    assert (won.info["result"], won.info["ending"], won.success) == ("1-0", "checkmate", True)
    assert chess.Board(won.messages[-1]["content"]).is_checkmate()
    assert (lost.rewards, lost.success, lost.info["result"]) == ([0, -1], False, "0-1")
    assert lost.info["opponent_moves"] == ["e7e5", "d8h4"]
    assert (won.terminated, lost.terminated) == (True, True)
    assert not report.differences
    assert not report.faults


def test_chess_castling_promotion_and_en_passant_of_the_opponent_are_found(imported):
    start = "r3k3/8/8/8/2p5/8/1P2K1pP/8 w q - 0 1"
    _, (episode,) = imported("chess", *moves_of("b4", "cxb3", "h3", "O-O-O", "h4", "g1=N+", "Ke3", start=start))
    assert episode.info["opponent_moves"] == ["c4b3", "e8c8", "g2g1n", ""]


def test_chess_games_may_be_listed_and_spelt_letter_by_letter(imported):
    listed = [
        {"state": " ".join(line["from_state"]), "action": " ".join(line["action"]) + "\n"}
        | {key: line[key] for key in ("reward", "done")}
        for line in moves_of(*SCHOLAR)
    ]
    report, (episode,) = imported("chess", listed)
    assert episode.messages[0]["content"] == chess.STARTING_FEN
    assert episode.actions[0] == "e4"
    assert (episode.success, report.differences) == (True, {})


def test_chess_illegal_moves_and_wrong_rewards(imported):
    game = moves_of(*SCHOLAR, rewards=[0, 1, 0, 0])
    game.insert(1, {**game[1], "action": "Qh6", "reward": -1})
    report, (episode,) = imported("chess", *game)
    assert episode.info["usable"] == [True, False, True, True, True]
    assert (episode.rewards, episode.success) == ([0, -1, 1, 0, 0], True)
    assert report.differences == {"another move, worth 0": 1, "the move that gives mate, worth 1": 1}


def test_chess_games_that_are_cut_off_end_where_the_next_begins(imported):
    cut = moves_of(*SCHOLAR[:6])
    flagged = moves_of(*SCHOLAR[:5])
    flagged[-1]["done"] = True
    jump = moves_of(*SCHOLAR)
    del jump[1]
    report, episodes = imported("chess", *cut, *moves_of(*FOOL), *moves_of(*FOOL)[-1:], *flagged, *jump)
    assert [episode.num_turns for episode in episodes] == [3, 2, 3, 1, 2]
    assert [episode.truncated for episode in episodes] == [True, False, True, True, False]
    assert episodes[0].info["result"] == "*"
    assert report.faults == {
        "the last transition is there twice": 1,
        "a time limit is flagged as the end of the game": 1,
    }


def test_endgames_are_read_as_chess(imported):
    start = "7k/8/5KQ1/8/8/8/8/8 w - - 0 1"
    report, (episode, stale) = imported(
        "endgames", *moves_of("Qg7#", start=start), *moves_of("Qf7", start="7k/8/6K1/8/8/8/8/5Q2 w - - 0 1")
    )
    assert (episode.env_id, episode.success, episode.info["fen"]) == ("lmrl/Endgames-v0", True, start)
    assert set(episode.info) == set(get_task("endgames").info)
    assert (stale.info["ending"], stale.rewards, stale.terminated) == ("stalemate", [0], True)
    assert not report.differences


def test_twenty_questions_wins_are_held_against_the_rules(imported):
    def talk(*lines, correct):
        return {"lines": list(lines), "correct": correct, "word": ["Cat"]}

    report, episodes = imported(
        "twenty-questions",
        talk("Is it alive? Yes.", "Is it a cat? Yes.", correct=True),
        talk("Is it alive? Yes.", "Is it like a cat? Yes.", correct=True),
        talk("Is it a cat? Yes.", "Is it blue? No.", correct=False),
        talk(*["Is it blue? No."] * 20, correct=False),
        {**talk("Is it a gnu? Yes.", correct=True), "word": ["Gnu"]},
    )
    assert episodes[0].rewards == [-1, 0]
    assert episodes[0].messages[1:3] == [
        {"role": "assistant", "content": "Is it alive?"},
        {"role": "user", "content": "Yes."},
    ]
    assert episodes[0].info == {"object": "Cat", "category": "Animals", "oracle": "published"}
    assert episodes[4].info == {"object": "Gnu", "category": None, "oracle": "published"}
    assert [episode.terminated for episode in episodes] == [True, True, False, True, True]
    assert report.differences == {
        "a question that does not name the object, worth -1": 1,
        "a question that names the object, worth 0": 1,
    }
    assert report.faults == {"the object is not one of ours: its rewards are not checked": 1}


def test_guess_my_city_takes_the_city_before_the_country(imported):
    lines = ["Is it warm? Not really? In winter it is cold.", "Are you from Paris? Yes."]
    report, (episode,) = imported("guess-my-city", {"lines": lines, "correct": True, "word": ["Paris,France"]})
    assert episode.actions == ["Is it warm? Not really?", "Are you from Paris?"]
    assert (episode.info["city"], episode.info["country"]) == ("Paris", "France")
    assert (episode.rewards, report.differences) == ([-1, 0], {})


def car_talk(*lines, bought, msrp=30000, price=None, budget=50000):
    buyer = {"personality": "rude", "preferred_brands": "an Audi", "preferred_type": "SUV"}
    return {
        "buyer_info": buyer | {"preferred_features": ["sunroof"], "budget": budget},
        "lines": [{"role": role, "text": text} for role, text in lines],
        "output": {"car_bought": bought, "msrp": msrp, "buy_price": price},
    }


def test_car_dealer_rewards_follow_from_price_budget_and_msrp(imported):
    sold = car_talk(("Seller", "Hi."), ("Seller", "$29,000?"), ("Buyer", "Fine."), bought=True, price=29000)
    report, (episode,) = imported("car-dealer", sold)
    assert [message["content"] for message in episode.messages] == [
        "Beginning of Conversation",
        "Hi. $29,000?",
        "Fine.",
    ]
    assert episode.rewards == [pytest.approx(29000 / 40000)]
    assert (episode.info["brand"], episode.info["msrp"], episode.info["price"]) == ("Audi", 30000, 29000)
    assert (episode.success, report.differences, report.faults) == (True, {}, {})


def test_car_dealer_faults_are_found(imported):
    talk = [("Buyer", "Hello?"), ("Dealer", "No.")]
    broken_off = {key: part for key, part in car_talk(*talk, bought=False).items() if key != "output"}
    report, episodes = imported(
        "car-dealer",
        car_talk(*talk, bought=False, price=20000),
        car_talk(*talk, bought=False, budget=30000),
        car_talk(*talk, bought=True, price=30),
        car_talk(*talk, bought=True),
        broken_off,
    )
    assert [episode.episode_return for episode in episodes] == [0, 0, pytest.approx(30 / 40000), 0, 0]
    assert [episode.truncated for episode in episodes] == [False, False, False, False, True]
    assert episodes[0].messages[0]["content"] == "Hello?"
    assert report.differences == {"a rejection, worth 0; the published code gives (MSRP - budget) / MSRP": 1}
    assert report.faults == {
        "a price below $1,000: thousands read as dollars": 1,
        "sold without a price: worth 0": 1,
    }


def test_maze_history_that_ends_with_an_action_is_no_success_by_itself(imported):
    history = {"text_history": ["walls", "move up", "walls", "fly"], "rewards": [-1, -4], "dones": [False, True]}
    _, (episode,) = imported("maze", history, config="partially_observed")
    assert (episode.success, episode.messages[-1]["content"]) == (False, "")


def test_text_nav_quest_that_fails_is_over_without_success(imported):
    commands = ["take stale food from table", "eat stale food"]
    history = ["Admissible commands: go east, go south, go west", commands[0], "Taken.", commands[1], "Lost."]
    _, (episode,) = imported("text-nav", {"text_history": history, "rewards": [0, 0], "dones": [False, True]})
    assert (episode.success, episode.terminated) == (False, True)


def test_chess_answer_that_mates_is_left_open_where_there_are_several(imported):
    line = {"from_state": "8/8/8/8/8/2r3k1/Pr6/7K w - - 0 1", "action": "a3", "reward": -1, "done": True}
    report, (episode,) = imported("chess", line)
    assert (episode.info["result"], episode.info["opponent_moves"], report.differences) == ("0-1", [""], {})
    assert episode.messages[-1]["content"] == ""


EXAMPLES = {
    "wordle": game_of(["stare", "charm"], ["bbggb", "ggggg"], [-1, 0]),
    "maze": walk((7, 6), ["move down"]),
    "text-nav": {"text_history": ["Admissible commands: go east", "go east", "x"], "rewards": [0], "dones": [True]},
    "chess": moves_of(*FOOL),
    "endgames": moves_of("Qf7", start="7k/8/6K1/8/8/8/8/5Q2 w - - 0 1"),
    "car-dealer": car_talk(("Seller", "Hi."), ("Buyer", "Fine."), bought=True, price=29000),
    "twenty-questions": {"lines": ["Is it a cat? Yes."], "correct": True, "word": ["Cat"]},
    "guess-my-city": {"lines": ["Are you from Paris? Yes."], "correct": True, "word": "Paris"},
}
WRONG = [None, True, -1, 10**30, 1e308, float("nan"), "", "x", "\ud800", "9" * 5000, [], [[]], {}, [None], ["", 0]]


def places(value):
    """The paths to all parts of a JSON value."""
    yield ()
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from ((key, *rest) for rest in places(part))


def put(value, path, new):
    if not path:
        return new
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    changed = {key: put(part, path[1:], new) if key == path[0] else part for key, part in parts}
    return changed if isinstance(value, dict) else list(changed.values())


@pytest.mark.parametrize("task", EXAMPLES)
def test_any_wrong_part_of_a_record_makes_it_unreadable_or_an_episode(task):
    config, chosen = get_task(task).config()
    outcomes = set()
    for path in places(EXAMPLES[task]):
        for new in WRONG:
            changed = put(EXAMPLES[task], path, new)
            try:
                episode = LAYOUTS[task].read(changed, config, chosen.env_id).episode
            except Unreadable:
                outcomes.add("unreadable")
                continue
            assert to_table([episode], get_task(task)).num_rows == 1
            outcomes.add("episode")
    assert outcomes == {"unreadable", "episode"}

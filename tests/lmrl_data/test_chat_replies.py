"""What is read out of the replies of chat models: an action where there is one, and nothing that was not meant."""

import time

import pytest
from engines import needs_stockfish

from lmrl_data import make, make_policy, rollout
from lmrl_data.llm.replies import last_question, read_action
from lmrl_data.registry import locate, tasks
from lmrl_data.tasks.chess.replies import read_move as read_chess_move
from lmrl_data.tasks.maze.replies import read_move
from lmrl_data.tasks.text_nav.replies import read_command
from lmrl_data.tasks.wordle.replies import read_guess

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
CASTLING = "r3k2r/8/8/8/8/8/1P6/R3K2R w KQkq - 0 1"
PROMOTION = "8/P7/8/8/8/6k1/8/K7 w - - 0 1"
KITCHEN = (
    "Exits: west.\nCommands: go west, open fridge, drop bowl, put stale food on table, put stale food on table mat."
)

EACH_TASK = [
    pytest.param(name, marks=needs_stockfish if task.partner == "engine" else ()) for name, task in tasks().items()
]


def heard(text):
    return [{"role": "user", "content": text}]


@pytest.mark.parametrize(
    "reply",
    [
        "crane",
        "CRANE",
        "c r a n e",
        "C-R-A-N-E",
        "  crane.\n",
        "Action: crane",
        "action : crane",
        "**Action:** crane",
        "**Action: crane**",
        "### Final answer: `crane`",
        "My next guess is: crane",
        "Guess 3: crane",
        "Action:\n\ncrane",
        "Action:\n```\ncrane\n```",
        "```text\ncrane\n```",
        "I weigh stare against slate.\n\nAction: crane",
        "Could be stare. Action: crane",
        "Action: stare\nNo, better.\nAction: crane",
        'I will guess "crane".',
        "I will guess ‘crane’.",
        "Let me think about slate. I choose **crane** now.",
        "Let me think. CRANE",
        "I guess crane",
        "The feedback g y b b b leaves c r a n e",
        '{"guess": "crane"}',
        "<answer>crane</answer>",
        r"so it is \boxed{crane}",
        r"\boxed{\text{crane}}",
        "<think>Is it slate? Action: slate</think>crane",
        "<think>slate</think>\n\nAction: crane",
        "Perhaps slate.</think>Action: crane",
        "Action: crane\nObservation: b b b b b\nAction: slate",
        "Assistant: crane\nUser: b b b b b",
    ],
)
def test_a_guess(reply):
    assert read_action(reply, read_guess, heard("b b b b b")) == "c r a n e"


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        ("crane or slate", "crane or slate"),
        ("Action: cranes", "cranes"),
        ("Action: I cannot say, crane or slate", "I cannot say, crane or slate"),
        ("", ""),
        ("<think>is it crane", "<think>is it crane"),
        ("You should ask me for a longer word.", "You should ask me for a longer word."),
    ],
)
def test_what_is_no_guess_goes_to_the_environment(reply, action):
    assert read_action(reply, read_guess, heard("b b b b b")) == action


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        ("move up", "move up"),
        ("UP", "move up"),
        ("Action: Move Left.", "move left"),
        ("There are walls left and right, so I go down: **move down**", "move down"),
        ("I go down, because up there is a wall.", "move down"),
        ("left or right", "left or right"),
        ("move left, then move right", "move left, then move right"),
        ("upwards", "upwards"),
    ],
)
def test_a_move_in_the_maze(reply, action):
    assert read_action(reply, read_move, heard("Walls: left, right.")) == action


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        ("Go West.", "go west"),
        ("west", "go west"),
        ("Action: open fridge!", "open fridge"),
        ("I think I should drop bowl here", "drop bowl"),
        ("put stale food on table mat", "put stale food on table mat"),
        ("Action: put stale food on table", "put stale food on table"),
        # The environment takes usual other words, so they are left to it.
        ("Action: get the spoon", "get the spoon"),
        ("either go west or drop bowl", "either go west or drop bowl"),
        ("Action: close fridge\n\nbut not `go west`", "close fridge"),
    ],
)
def test_a_command(reply, action):
    assert read_action(reply, read_command, heard(KITCHEN)) == action


@pytest.mark.parametrize(
    ("fen", "reply", "action"),
    [
        (START, "Nf3", "Nf3"),
        (START, "nf3", "Nf3"),
        (START, "N-f3", "Nf3"),
        (START, "Ng1f3", "Nf3"),
        (START, "g1f3", "Nf3"),
        (START, "1. e4", "e4"),
        (START, "1.e4 e5", "e4"),
        (START, "E2E4", "e4"),
        (START, "**e4!**", "e4"),
        (START, "Action: Knight to f3", "Nf3"),
        (START, "Action: e4, which opens the way for Bf1", "e4"),
        (START, "I like e4 and d4, but I play `d4`.", "d4"),
        (START, "e4 or d4", "e4 or d4"),
        (START, "Action: e5", "e5"),
        (START, "Action: Ke2", "Ke2"),
        (START, "resign", "resign"),
        (START, "--", "--"),
        (START, "0000", "0000"),
        (CASTLING, "0-0", "O-O"),
        (CASTLING, "o-o-o", "O-O-O"),
        (CASTLING, "e1g1", "O-O"),
        (PROMOTION, "a8=Q", "a8=Q"),
        (PROMOTION, "a8q", "a8=Q"),
        (PROMOTION, "a7a8q", "a8=Q"),
    ],
)
def test_a_move_in_chess(fen, reply, action):
    assert read_action(reply, read_chess_move, heard(fen)) == action


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        ("Is it alive?", "Is it alive?"),
        ("Sure! Let us begin. Is it alive?", "Is it alive?"),
        ("Question 3: Is it alive?", "Is it alive?"),
        ("Is it alive? Let me know!", "Is it alive?"),
        ("Action: Is it colder than in St. Petersburg?", "Is it colder than in St. Petersburg?"),
        ('I ask: "Is it alive?"', 'I ask: "Is it alive?'),
        ("a cat", "a cat"),
    ],
)
def test_a_question(reply, action):
    assert read_action(reply, last_question, heard("No.")) == action


def test_where_every_text_is_an_action():
    assert read_action('"Hello!\nIt costs $30k."', None, heard("Hello.")) == "Hello!\nIt costs $30k."
    assert read_action("<think>greedy</think>Seller: Hello!\nCustomer: Hi", None, heard("Hello.")) == "Hello!"


@pytest.mark.parametrize(
    "unit", ["<action>", "<think>", "\n", "a", "* ", "'", '"x', "Action: ", "Action:\n", "Aaa. A", "``", "**a", "x-"]
)
def test_long_replies_are_read_in_time(unit):
    reply = unit * (2_000_000 // len(unit))
    started = time.process_time()
    for reader in (None, read_guess, read_move, last_question):
        read_action(reply, reader, heard("No."))
    read_action(reply, read_chess_move, heard(START))
    assert time.process_time() - started < 5


@pytest.mark.parametrize("name", EACH_TASK)
def test_the_actions_of_scripted_policies_are_read_as_they_are(name):
    """In each task, what the data's policies say comes through, plain or marked, and plays the same episode."""
    task = tasks()[name]
    reader = locate(task.reading) if task.reading else None
    for policy in ("random", "best") if name not in ("chess", "endgames") else ("random",):
        env = make(name)
        for episode in rollout(env, make_policy(policy, name), [1, 2, 3]):
            for turn, action in enumerate(episode.actions):
                talk = episode.messages[: 2 * turn + 1]
                for reply in (
                    action,
                    f"Action: {action}",
                    f"<think>\nmove up e4 crane\n</think>\n**Action:** {action}",
                ):
                    assert read_action(reply, reader, talk) == action
        env.close()


@pytest.mark.parametrize("name", EACH_TASK)
def test_instructions_tell_the_task(name):
    text = tasks()[name].instructions
    assert 300 < len(text) < 2000
    example = text.splitlines()[-1].removeprefix("Example of an action: ")
    assert example != text.splitlines()[-1]
    env = make(name)
    env.reset(seed=0, options={"fen": "8/8/8/5K2/8/8/3k4/1Q6 w - - 0 1"} if name == "endgames" else None)
    if name not in ("text-nav",):  # not every room has a way north
        assert "invalid_action" not in env.step(example)[4]
    env.close()

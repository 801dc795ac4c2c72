"""Wordle: guess a hidden word in six tries."""

from lmrl_data.registry import Bounds, Config, Task

_POLICIES = ["random", "mixture", "consistent", "repeat", "never-consistent", "start-word", "entropy", "optimal"]
_SIZES = {"small": (100_000, 10_000), "full": (1_000_000, 100_000)}

TASK = Task(
    name="wordle",
    title="Wordle",
    summary=(
        "The agent guesses a hidden five-letter word in six tries. Each guess is answered with a colour per letter: "
        "`g` right place, `y` elsewhere in the word, `b` not in the word."
    ),
    challenge=(
        "A good guess is worth its information rather than its chance of being right, so the agent must plan over "
        "several turns and combine all the feedback so far. The data come from a policy that mostly ignores what it "
        "has learnt: a learner that only imitates plays no better than it."
    ),
    configs={
        "default": Config(
            env_id="lmrl/Wordle-v0",
            kwargs={},
            bounds=Bounds(minimum=-6, mean=-4.0334, maximum=-1.8125, maximum_from="optimal", exact=True),
            collection={"mixture": 1.0},
            sizes=_SIZES,
            evaluation_episodes=4000,
        ),
        "full": Config(
            env_id="lmrl/WordleFull-v0",
            kwargs={"vocabulary": "full"},
            bounds=Bounds(minimum=-6, mean=-4.7279, maximum=-2.4261, maximum_from="optimal", exact=False),
            collection={"mixture": 1.0},
            sizes=_SIZES,
            evaluation_episodes=4600,
        ),
    },
    env="lmrl_data.tasks.wordle.env:WordleEnv",
    game="lmrl_data.tasks.wordle.game:wordle_game",
    policies={name: f"lmrl_data.tasks.wordle.policies:{name.replace('-', '_')}" for name in _POLICIES},
    reading="lmrl_data.tasks.wordle.replies:read_guess",
    info={"word": "string"},
    options={"word": "string"},
    column_notes={"word": "the hidden word"},
    paper={
        "episodes": 1_000_000,
        "mean_length": 4.82,
        "std_length": 1.27,
        "success_rate": 0.70,
        "mean_return": -4.12,
        "std_return": 1.59,
    },
    provenance=(
        "Hidden words are drawn uniformly from the answers. The behaviour policy `mixture` plays, with probability "
        "1/3, a uniformly drawn answer that agrees with all feedback so far, and otherwise any answer at all. The word "
        "lists come from SCOWL (Debian's `wamerican` packages), ranked by frequency with `wordfreq`."
    ),
    tags=("wordle", "games"),
)

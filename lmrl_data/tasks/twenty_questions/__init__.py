"""Twenty Questions: find out a hidden object with yes/no questions in free words."""

from lmrl_data.registry import Bounds, Config, Task

_POLICIES = ["random", "person", "forgetful", "repetitive", "early-guesser", "optimal"]

TASK = Task(
    name="twenty-questions",
    title="Twenty Questions",
    summary=(
        "The agent finds out which of 158 everyday objects the environment thinks of, with at most twenty questions "
        "in its own words, which are answered with yes or no."
    ),
    challenge=(
        "Each question should halve what is still possible, so the agent must remember all answers, know the world, "
        "and plan over the whole dialogue; only naming the object wins. The data come from askers who forget, repeat "
        "themselves and guess too early, and most of whose games are lost."
    ),
    configs={
        "default": Config(
            env_id="lmrl/TwentyQuestions-v0",
            kwargs={},
            bounds=Bounds(minimum=-20, mean=-17.3625, maximum=-1072 / 158, maximum_from="optimal", exact=True),
            collection={
                "optimal": 0.09,
                "person": 0.05,
                "forgetful": 0.24,
                "repetitive": 0.12,
                "early-guesser": 0.12,
                "random": 0.38,
            },
            sizes={"small": (10_000, 1_000), "full": (100_000, 10_000)},
            evaluation_episodes=790,
        ),
    },
    env="lmrl_data.tasks.twenty_questions.env:TwentyQuestionsEnv",
    game="lmrl_data.tasks.twenty_questions.game:twenty_questions_game",
    partner="oracle",
    policies={name: f"lmrl_data.tasks.twenty_questions.policies:{name.replace('-', '_')}" for name in _POLICIES},
    reading="lmrl_data.llm.replies:last_question",
    info={"object": "string", "category": "string", "oracle": "string"},
    options={"object": "string"},
    column_notes={
        "object": "the hidden object",
        "category": "its category in the paper's list",
        "oracle": "who answered: `knowledge-1` (the embedded table, first version) or a language model",
    },
    paper={
        "episodes": 100_000,
        "mean_length": 14.9,
        "std_length": 4.38,
        "success_rate": 0.31,
        "mean_return": -17.3,
        "std_return": 2.56,
    },
    provenance=(
        "Objects are drawn uniformly. Six scripted askers choose among some 1,100 wordings of 370 questions and among "
        "direct guesses: one that asks what tells most, one that goes from the general to the special, one that "
        "forgets most answers, one that repeats itself, one that guesses early, and one that asks anything. The "
        "answers come from a table of knowledge that was written for this benchmark."
    ),
    tags=("dialogue", "twenty-questions", "games"),
)

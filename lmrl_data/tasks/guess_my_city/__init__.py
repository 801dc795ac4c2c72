"""Guess My City: find out by questions where somebody lives."""

from lmrl_data.registry import Bounds, Config, Task

_POLICIES = ("random", "greedy", "yes-no", "person", "expert", "curious", "hasty", "repetitive")

TASK = Task(
    name="guess-my-city",
    title="Guess My City",
    summary=(
        "The agent asks somebody about the city where they live, in its own words, and has to name it with at most 20 "
        "questions."
    ),
    challenge=(
        "The answers are sentences about food, history, the sea or the weather, and tell more to those who know the "
        "world. The data are of askers that learn little from what they hear and guess late; a learner has to find out "
        "which questions tell most, and when to guess."
    ),
    configs={
        "default": Config(
            env_id="lmrl/GuessMyCity-v0",
            kwargs={},
            bounds=Bounds(minimum=-20, mean=-18.8417, maximum=-1.0, maximum_from="greedy", exact=True),
            collection={
                "person": 0.36,
                "random": 0.235,
                "curious": 0.19,
                "repetitive": 0.185,
                "hasty": 0.02,
                "expert": 0.01,
            },
            sizes={"small": (10_000, 1_000), "full": (100_000, 10_000)},
            evaluation_episodes=800,
        ),
    },
    env="lmrl_data.tasks.guess_my_city.env:GuessMyCityEnv",
    starts="lmrl_data.tasks.guess_my_city.env:evaluation_starts",
    partner="oracle",
    policies={name: f"lmrl_data.tasks.guess_my_city.policies:{name.replace('-', '_')}" for name in _POLICIES},
    reading="lmrl_data.llm.replies:last_question",
    info={"city": "string", "country": "string", "oracle": "string", "usable": "list<bool>"},
    options={"city": "string"},
    column_notes={
        "city": "the hidden city",
        "country": "the country that it lies in",
        "oracle": "who answered: the built-in oracle with its version, or the language model",
        "usable": "whether each question was understood and answered",
    },
    paper={
        "episodes": 100_000,
        "mean_length": 18.8,
        "std_length": 4.57,
        "success_rate": 0.53,
        "mean_return": -18.8,
        "std_return": 4.12,
    },
    provenance=(
        "Six behaviour policies. `person` (36 % of the episodes) asks from the general to the special, makes use of "
        "plain answers (a continent, a yes) always and of those that take knowledge of the world with probability "
        "0.06, and guesses with its last questions; `curious` (19 %) asks about anything, `repetitive` (18.5 %) asks "
        "half of its questions again in other words, `hasty` (2 %) guesses early, `expert` (1 %) knows much, and "
        "`random` (23.5 %) asks and guesses without listening. The oracle's knowledge was written for this benchmark; "
        "coordinates, populations and time zones agree with GeoNames (CC BY 4.0)."
    ),
    batch_size=1024,
    shard_size=10_000,
    tags=("dialogue", "question-asking", "games"),
)

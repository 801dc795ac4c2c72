"""Text navigation: walk through a house and put the stale food into the fridge."""

from lmrl_data.registry import Bounds, Config, Task

_HALVES = {"half-east": 0.5, "half-west": 0.5}
_SIZES = {"small": (2500, 250), "full": (2500, 250)}

TASK = Task(
    name="text-nav",
    title="Text navigation",
    summary=(
        "The agent walks through a house of eight rooms with typed commands, finds the stale food, puts it into the "
        "fridge and closes the fridge, in at most 15 commands."
    ),
    challenge=(
        "The only reward comes at the end of a plan of six to nine commands, and each of the two behaviour policies "
        "knows its way in one half of the house only: a learner has to put the two halves together. In the partially "
        "observed config the agent must tell the room from what it sees."
    ),
    configs={
        "fully_observed": Config(
            env_id="lmrl/TextNav-v0",
            kwargs={"observe": "fully_observed"},
            bounds=Bounds(minimum=0, mean=0.2648, maximum=1, maximum_from="optimal", exact=True),
            collection=_HALVES,
            sizes=_SIZES,
            evaluation_episodes=800,
        ),
        "partially_observed": Config(
            env_id="lmrl/TextNavPartiallyObserved-v0",
            kwargs={"observe": "partially_observed"},
            bounds=Bounds(minimum=0, mean=0.26, maximum=1, maximum_from="optimal", exact=True),
            collection=_HALVES,
            sizes=_SIZES,
            evaluation_episodes=800,
        ),
    },
    env="lmrl_data.tasks.text_nav.env:TextNavEnv",
    game="lmrl_data.tasks.text_nav.game:text_nav_game",
    policies={
        "random": "lmrl_data.tasks.text_nav.policies:random",
        "half-east": "lmrl_data.tasks.text_nav.policies:half_east",
        "half-west": "lmrl_data.tasks.text_nav.policies:half_west",
        "optimal": "lmrl_data.tasks.text_nav.policies:optimal",
    },
    reading="lmrl_data.tasks.text_nav.replies:read_command",
    info={"room": "string"},
    options={"room": "string"},
    column_notes={"room": "the room that the episode starts in"},
    paper={
        "episodes": 2500,
        "mean_length": 12.2,
        "std_length": 8.77,
        "success_rate": 0.26,
        "mean_return": 0.258,
        "std_return": 0.424,
    },
    provenance=(
        "Two behaviour policies, half of the episodes each. `half-east` is at home in bedroom, living room, office and "
        "bathroom, `half-west` in dining room, kitchen, garden and backyard. At home a policy plays the best command "
        "with probability 0.9, elsewhere with probability 0.265; all other commands are drawn from the admissible ones."
    ),
    tags=("text-adventure", "navigation", "games"),
)

"""The maze: find the way to the goal, with the position shown or hidden."""

from lmrl_data.registry import Bounds, Config, Task

_REGIONS = {f"region-{region}": 1 / 3 for region in range(3)}
_SIZES = {"small": (1240, 124), "full": (1240, 124)}

TASK = Task(
    name="maze",
    title="Maze",
    summary=(
        "The agent walks through a maze of 26 cells by saying `move up`, `move down`, `move left` or `move right`, and "
        "is told its position and the walls around it, or (partially observed) only the walls."
    ),
    challenge=(
        "The data are mostly random moves, and each behaviour policy knows the way in one third of the maze only. No "
        "episode shows the whole way well, so a learner has to stitch parts of different episodes together; with the "
        "position hidden it must also tell cells apart that look alike."
    ),
    configs={
        "fully_observed": Config(
            env_id="lmrl/Maze-v0",
            kwargs={"observe": "fully_observed"},
            bounds=Bounds(minimum=-100, mean=-76.4290, maximum=-6.84, maximum_from="optimal", exact=True),
            collection=_REGIONS,
            sizes=_SIZES,
            evaluation_episodes=800,
        ),
        "partially_observed": Config(
            env_id="lmrl/MazePartiallyObserved-v0",
            kwargs={"observe": "partially_observed"},
            bounds=Bounds(minimum=-100, mean=-75.4137, maximum=-7.24, maximum_from="optimal", exact=True),
            collection=_REGIONS,
            sizes=_SIZES,
            evaluation_episodes=800,
        ),
    },
    env="lmrl_data.tasks.maze.env:MazeEnv",
    game="lmrl_data.tasks.maze.game:maze_game",
    policies={
        "random": "lmrl_data.tasks.maze.policies:random",
        "region-0": "lmrl_data.tasks.maze.policies:region_0",
        "region-1": "lmrl_data.tasks.maze.policies:region_1",
        "region-2": "lmrl_data.tasks.maze.policies:region_2",
        "optimal": "lmrl_data.tasks.maze.policies:optimal",
    },
    reading="lmrl_data.tasks.maze.replies:read_move",
    info={"start": "list<int32>", "goal": "list<int32>"},
    options={"start": "list<int32>", "goal": "list<int32>"},
    column_notes={"start": "row and column of the first cell", "goal": "row and column of the goal"},
    paper={
        "episodes": 1240,
        "mean_length": 19.7,
        "std_length": 24.5,
        "success_rate": 0.11,
        "mean_return": -19.7,
        "std_return": 24.5,
    },
    provenance=(
        "Three behaviour policies, a third of the episodes each. The cells are split into three regions by their "
        "distance to the goal; a policy plays the optimal move with probability 0.15 in its own region, and any move "
        "at random otherwise."
    ),
    tags=("maze", "navigation", "games"),
)

"""lmrl-gym: tasks, simulators, policies, rollouts and data of a benchmark for multi-turn RL with language models."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from lmrl_data.registration import register_envs, register_task
from lmrl_data.registry import get_task, list_tasks, make, make_policy, make_vec, own_tasks

if TYPE_CHECKING:
    from lmrl_data.dataset import load_episodes
    from lmrl_data.episode import Episode
    from lmrl_data.replays import replay
    from lmrl_data.rollouts import rollout

__version__ = version("lmrl-gym")

__all__ = [
    "Episode",
    "get_task",
    "list_tasks",
    "load_episodes",
    "make",
    "make_policy",
    "make_vec",
    "register_task",
    "replay",
    "rollout",
]

# Imported on first use: pyarrow alone would double the time of `import lmrl_data`.
_LAZY = {"Episode": "episode", "load_episodes": "dataset", "replay": "replays", "rollout": "rollouts"}

# Those of other packages follow when a task is first asked for: their code must not slow this import down, or break it.
for _task in own_tasks().values():
    register_envs(_task)


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"lmrl_data.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'lmrl_data' has no attribute {name!r}")

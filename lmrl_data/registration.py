"""Tasks from elsewhere: a notebook or script registers its own, an installed package names them as entry points."""

import logging
import re
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from math import isclose

import gymnasium

from lmrl_data.errors import LmrlError
from lmrl_data.registry import Config, Place, Task, add_task, tasks

GROUP = "lmrl.tasks"
"""The entry points in which an installed package names its tasks."""

# A task's name is a folder's, and so is a config's.
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_CONFIG_NAME = re.compile(r"(?!evaluation$)\w+")
# The namespace lmrl is the benchmark's own: nobody else's scores may pass for those of its tasks.
_ENV_ID = re.compile(r"(?!lmrl/)[\w-]+/[\w-]+-v\d+")
_log = logging.getLogger(__name__)

# What `register_task` was given: other processes do not find these by themselves.
_registered: dict[str, Task] = {}


def register_task(task: Task) -> None:
    """Add a task of your own to the benchmark's.

    From then on it is made, rolled out, generated, evaluated and replayed by its name like the others, its dataset gets
    a card, and gymnasium knows its environments. A notebook or a script calls this. An installed package does not need
    to: it names its tasks as entry points, and every process finds them, the command ``lmrl`` too::

        [project.entry-points."lmrl.tasks"]
        high-low = "my_package.high_low:TASK"

    A task that is registered again, with changes or without, takes the place of the former one as long as the code of
    its environment lies at the same place: a cell of a notebook may run twice.

    Args:
        task: its environment ids have a namespace of your own, and a version: ``"mine/HighLow-v0"``.

    Raises:
        LmrlError: the name or an environment id is taken, or the task contradicts itself; the message says how.
    """
    if tasks().get(task.name) == task:
        return
    former = _registered.get(task.name)
    if former is not None and _place(former.env) != _place(task.env):
        former = None
    _check(task, former)
    for config in former.configs.values() if former else []:
        del gymnasium.registry[config.env_id]
    _add(task)
    _registered[task.name] = task


def registered_tasks() -> bytes:
    """What `register_task` was given in this process, for `take_tasks` in a worker process."""
    if not _registered:
        return b""
    import cloudpickle  # type: ignore[import-untyped]  # takes along the classes of a notebook, which no other process could import

    data: bytes = cloudpickle.dumps(list(_registered.values()))
    return data


def take_tasks(data: bytes) -> None:
    """Register the tasks of another process, from `registered_tasks`, but those that are known here already."""
    import pickle

    for task in pickle.loads(data) if data else []:
        if task.name not in tasks():
            register_task(task)


def add_installed() -> None:
    """Add the tasks of installed packages. One that cannot be used is left out, with a warning."""
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        try:
            _add_installed(point)
        except Exception as error:  # whatever the package raises: the other tasks are none the worse for it
            package = point.dist.name if point.dist else point.value
            said = " ".join(f"{type(error).__name__}: {error}".split())
            _log.warning("the task %s of the package %s is left out (%s)", point.name, package, said)


def _add_installed(point: EntryPoint) -> None:
    task = point.load()
    if not isinstance(task, Task):
        raise LmrlError(f"{point.value} is no lmrl_data.registry.Task")
    if tasks().get(task.name) != task:  # the package may have registered it while it was imported
        _check(task)
        _add(task)


def _add(task: Task) -> None:
    add_task(task)
    register_envs(task)


def register_envs(task: Task) -> None:
    """Register every config of a task with gymnasium."""
    for config_name, config in task.configs.items():
        # Wordle's six tries and the like are counted by the environments, which know the last turn from the others.
        kwargs = {"name": task.name, "config": config_name}
        gymnasium.register(config.env_id, "lmrl_data.registry:make", kwargs=kwargs)


def _place(code: Place) -> str:
    return code if isinstance(code, str) else f"{code.__module__}:{code.__qualname__}"


def _check(task: Task, former: Task | None = None) -> None:
    """Make sure that a task can stand beside the others, or in the place of a former one of its name.

    Raises:
        LmrlError: the first fault that is found.
    """
    if former is None and task.name in tasks():
        raise LmrlError(f"there is a task {task.name!r} already; choose another name for yours")
    for fault in (*_faults(task), *(fault for item in task.configs.items() for fault in _config_faults(task, *item))):
        raise LmrlError(f"the task {task.name!r} cannot be registered: {fault}")
    taken = {*gymnasium.registry} - {config.env_id for config in (former.configs.values() if former else ())}
    for config in task.configs.values():
        if config.env_id in taken:
            raise LmrlError(f"there is an environment {config.env_id} already; choose another env_id for yours")
        taken.add(config.env_id)


def _faults(task: Task) -> Iterator[str]:
    if not _NAME.fullmatch(task.name):
        yield "its name is to be of small letters, digits and single hyphens, such as high-low"
    if not task.configs:
        yield "it has no config"
    if task.game is None and task.starts is None:
        yield "give `game`, or `starts` with which evaluation begins"
    if {*task.info} != {*task.column_notes}:
        yield "`info` and `column_notes` are to have the same names"
    for code in (task.env, task.game, task.starts, task.reading, task.label, *task.policies.values()):
        if isinstance(code, str) and not re.fullmatch(r"[\w.]+:\w+", code):
            yield f"{code!r} is no place of code; write module:name"


def _config_faults(task: Task, name: str, config: Config) -> Iterator[str]:
    bounds = config.bounds
    if not _CONFIG_NAME.fullmatch(name):
        yield f"a config cannot be called {name!r}; take letters and digits, and another name than evaluation"
    if not _ENV_ID.fullmatch(config.env_id):
        yield f"the env_id {config.env_id!r} is to be like mine/HighLow-v0, with a namespace that is not lmrl"
    if not bounds.minimum < bounds.mean < bounds.maximum:
        yield f"the bounds of {name} do not rise from the minimum over the mean to the maximum"
    for policy in (*config.collection, bounds.maximum_from):
        if policy not in task.policies:
            yield f"the config {name} names the policy {policy!r}, which is not among its policies"
    if not isclose(sum(config.collection.values()), 1):
        yield f"the shares in the collection of {name} do not add up to 1"

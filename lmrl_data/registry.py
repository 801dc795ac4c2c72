"""What a task is, the tasks there are, and how their environments and policies are made."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.resources import files
from threading import RLock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from lmrl_data.errors import LmrlError
from lmrl_data.tasks import TASK_NAMES

if TYPE_CHECKING:
    from lmrl_data.env import TextEnv
    from lmrl_data.game import Game
    from lmrl_data.policy import Policy
    from lmrl_data.vector import TextVectorEnv


FieldType: TypeAlias = "str | Mapping[str, FieldType]"
# Code of a task: ``"module:name"``, imported when it is needed, or the class or function itself, as a notebook has it.
Place: TypeAlias = str | Callable[..., Any]


@dataclass(frozen=True)
class Bounds:
    """The returns that a normalised score is measured with, fixed for a version of the environment.

    Attributes:
        minimum: the lowest return of a policy whose actions are usable (score 0).
        mean: the mean return of the published train split (score 50).
        maximum: the best known mean return (score 100).
        maximum_from: the policy that attains the maximum.
        exact: whether search proves that no policy does better.
    """

    minimum: float
    mean: float
    maximum: float
    maximum_from: str
    exact: bool

    def normalise(self, value: float) -> float:
        """The normalised score of a mean return: 0 at the minimum, 50 at the mean, 100 at the maximum (paper, sec. 6).

        Clipped below at 0; a score above 100 says that the best known policy has been beaten.
        """
        if value >= self.mean:
            return 50 + 50 * (value - self.mean) / (self.maximum - self.mean)
        return max(0.0, 50 * (value - self.minimum) / (self.mean - self.minimum))


@dataclass(frozen=True)
class Config:
    """A variant of a task with a dataset config, an environment id and score bounds of its own.

    Attributes:
        env_id: the gymnasium id, which names the version.
        kwargs: what the variant passes to the environment.
        bounds: score bounds.
        collection: behaviour policies of the published data and their shares.
        sizes: (train, validation) episodes of each size of the data.
        evaluation_episodes: episodes of the fixed evaluation set.
        evaluation: further arguments of the environment that evaluation plays in, where starts are held out for it.
    """

    env_id: str
    kwargs: Mapping[str, Any]
    bounds: Bounds
    collection: Mapping[str, float]
    sizes: Mapping[str, tuple[int, int]]
    evaluation_episodes: int
    evaluation: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """A task of the benchmark, or one of your own (see `lmrl_data.register_task`).

    Places of code are ``"module:name"``, imported when they are needed, or the class or function itself.

    Attributes:
        name: as in ``load_dataset("lmrl-gym/NAME")``.
        title: for headings.
        summary: what the agent has to do, in a sentence or two.
        challenge: why that is hard for a learner.
        configs: by name, the default one first.
        env: the environment class.
        game: where the rules run on arrays, the function that makes them from an environment's arguments; None for
            arguments with which they do not, such as a language model for a partner.
        starts: where they do not run on arrays, the function that makes the evaluation's `lmrl_data.starts.Starts` from
            the same arguments.
        partner: the field of ``info`` that says who answered (an engine's build, an oracle), where anybody does.
        label: a function of a table of episodes that fills in the fields of ``info`` which are not needed for replay,
            such as an engine's judgement of each move; generation calls it.
        policies: scripted policies by name; each is called with the config's kwargs.
        reading: the `lmrl_data.llm.replies.Reader` that finds an action in a chat model's reply; None where every text
            is an action.
        info: the fields of an episode's ``info`` struct, as Arrow type strings; a struct as a mapping of its fields.
        options: the fields of ``reset(options=…)`` stored with evaluation episodes, likewise.
        column_notes: what each info field means.
        provenance: how the data were made and what they are derived from, for the card.
        paper: the published statistics of the dataset (paper, table 1); empty where the paper has no such task.
        rules: the rules and goal in words, for an agent that can read; None reads them from ``instructions.md`` beside
            the environment's module.
        batch_size: episodes that are played side by side where nobody says how many; few where each needs an engine.
        shard_size: episodes in a file where nobody says how many: what a killed run may lose.
    """

    name: str
    title: str
    summary: str
    challenge: str
    configs: Mapping[str, Config]
    env: Place
    policies: Mapping[str, Place]
    info: Mapping[str, FieldType]
    options: Mapping[str, FieldType]
    column_notes: Mapping[str, str]
    provenance: str
    paper: Mapping[str, float] = field(default_factory=dict)
    rules: str | None = None
    game: Place | None = None
    starts: Place | None = None
    reading: Place | None = None
    partner: str | None = None
    label: Place | None = None
    batch_size: int = 4096
    shard_size: int = 50_000
    tags: tuple[str, ...] = ()

    def config(self, name: str | None = None) -> tuple[str, Config]:
        """A config and its name; the default one for None.

        Raises:
            LmrlError: no such config.
        """
        if name is None:
            return next(iter(self.configs.items()))
        if name not in self.configs:
            raise LmrlError(f"task {self.name} has no config {name!r}; it has: {', '.join(self.configs)}")
        return name, self.configs[name]

    @property
    def instructions(self) -> str:
        """The rules and goal of the task in words, for an agent that can read.

        Raises:
            LmrlError: the task has none.
        """
        if self.rules is not None:
            return self.rules
        module = self.env.partition(":")[0] if isinstance(self.env, str) else self.env.__module__
        package = module.rpartition(".")[0]
        file = files(package) / "instructions.md" if package else None
        if file is None or not file.is_file():
            raise LmrlError(
                f"task {self.name} does not say its rules to language models; give `rules` in its Task, or write an "
                "instructions.md beside the module of its environment"
            )
        return file.read_text("utf-8").strip()


def locate(place: Place) -> Any:
    """The object at ``"module:name"``; a class or function is what it is."""
    if not isinstance(place, str):
        return place
    module, name = place.split(":")
    return getattr(import_module(module), name)


_known: Mapping[str, Task] = MappingProxyType({})
# Reentrant: a package may ask for the tasks while its own are being found.
_finding = RLock()


def tasks() -> Mapping[str, Task]:
    """The tasks by name: the benchmark's, those of installed packages, and those of `lmrl_data.register_task`."""
    global _known
    from lmrl_data.registration import add_installed

    with _finding:
        if not _known:
            _known = MappingProxyType(own_tasks())
            add_installed()
        return _known


def add_task(task: Task) -> None:
    """Add a task to those that are known, or put it in the place of the one of its name; nothing is checked."""
    global _known
    with _finding:
        _known = MappingProxyType({**tasks(), task.name: task})


def own_tasks() -> dict[str, Task]:
    """The benchmark's tasks by name."""
    return {name: import_module(f"lmrl_data.tasks.{name.replace('-', '_')}").TASK for name in TASK_NAMES}


def list_tasks() -> list[str]:
    """The names of the tasks."""
    return list(tasks())


def get_task(name: str) -> Task:
    """A task by name.

    Raises:
        LmrlError: no such task; the message lists those there are.
    """
    if name not in tasks():
        raise LmrlError(f"unknown task {name!r}; the tasks are: {', '.join(tasks())}")
    return tasks()[name]


def find_env(env_id: str) -> tuple[Task, str, Config]:
    """The task and config of an environment id, with or without options.

    Raises:
        LmrlError: this version of the package has no such environment.
    """
    name = env_id.partition("?")[0]
    for task in tasks().values():
        for config_name, config in task.configs.items():
            if config.env_id == name:
                return task, config_name, config
    known = ", ".join(config.env_id for task in tasks().values() for config in task.configs.values())
    raise LmrlError(f"unknown environment {env_id!r}; this version of lmrl-gym has: {known}")


def env_id_of(config: Config, options: Mapping[str, Any]) -> str:
    """The id of an environment made with options: its episodes must not pass for those of the registered one."""
    query = [
        f"{name}={value if isinstance(value, str) else json.dumps(value)}"
        if isinstance(value, str | int | float)
        else name
        for name, value in sorted(options.items())
    ]
    return f"{config.env_id}?{'&'.join(query)}" if query else config.env_id


def options_of(env_id: str) -> dict[str, Any]:
    """The options in an environment id, the inverse of `env_id_of`.

    Raises:
        LmrlError: no such environment, or an option whose value the id does not hold.
    """
    task, _, config = find_env(env_id)
    options: dict[str, Any] = {}
    for part in env_id.partition("?")[2].split("&") if "?" in env_id else []:
        name, given, value = part.partition("=")
        if not given:
            raise LmrlError(
                f"{env_id!r} was made with the option {name!r}, whose value an id cannot hold; give the environment "
                "made with the same options (`lmrl_data.make_vec`)"
            )
        options[name] = _plain(value)
    if env_id_of(config, options) != env_id:
        raise LmrlError(f"{env_id!r} cannot be read as an environment of {task.name} with options")
    return options


def read_options(texts: Sequence[str]) -> dict[str, Any]:
    """Options as they are given on the command line, ``NAME=VALUE`` each.

    Raises:
        LmrlError: one of them is written otherwise.
    """
    options = {}
    for text in texts:
        name, given, value = text.partition("=")
        if not (name and given):
            raise LmrlError(f"cannot read the option {text!r}; write NAME=VALUE, such as opponent=random")
        options[name] = _plain(value)
    return options


def _plain(value: str) -> Any:
    """The number or truth value that a text is, else the text."""
    try:
        found = json.loads(value)
    except ValueError:
        return value
    return found if isinstance(found, int | float) else value


def _arguments(name: str, config: str | None, options: Mapping[str, Any]) -> tuple[Task, str, dict[str, Any]]:
    task = get_task(name)
    chosen = task.config(config)[1]
    if "env_id" in options:
        raise LmrlError("the env_id follows from the config; choose one of: " + ", ".join(task.configs))
    return task, env_id_of(chosen, options), {**chosen.kwargs, **options}


def _call(maker: Callable[..., Any], task: Task, arguments: Mapping[str, Any]) -> Any:
    """Call a maker of a task; an argument that it does not take is the user's mistake."""
    import inspect

    known = [name for name in inspect.signature(maker).parameters if name != "env_id"]
    for option in arguments:
        if option not in known and option != "env_id":
            raise LmrlError(f"task {task.name} has no option {option!r}; it has: config, {', '.join(known)}")
    return maker(**arguments)


def make(name: str, *, config: str | None = None, **options: Any) -> "TextEnv":
    """The environment of a task.

    ``gymnasium.make("lmrl/Wordle-v0")`` gives the same environment in gymnasium's usual wrappers.

    Args:
        name: of a task, as in `list_tasks`.
        config: of the task; None is its default.
        **options: arguments of the task's environment class, which override the config's.

    Raises:
        LmrlError: unknown task, config or option; the message lists what there is.
    """
    task, env_id, arguments = _arguments(name, config, options)
    env: TextEnv = _call(locate(task.env), task, {"env_id": env_id, **arguments})
    return env


def make_vec(name: str, num_envs: int, *, config: str | None = None, **options: Any) -> "TextVectorEnv":
    """The batched environment of a task: `num_envs` episodes side by side, as N times `make` would play them.

    Raises:
        LmrlError: unknown task, config or option; the message lists what there is.
    """
    from lmrl_data.vector import GameVectorEnv, SyncVectorEnv

    if num_envs < 1:
        raise LmrlError(f"num_envs is {num_envs}; it must be at least 1")
    env_id = _arguments(name, config, options)[1]
    game = make_game(name, config, **options)
    if game is not None:
        return GameVectorEnv(game, env_id, num_envs)
    return SyncVectorEnv(lambda: make(name, config=config, **options), num_envs)


def make_vec_of(env_id: str, num_envs: int) -> "TextVectorEnv":
    """The batched environment that an id names, as an episode's record does.

    Raises:
        LmrlError: this version of the package has no such environment, or the id does not hold all of its options.
    """
    task, config_name, _ = find_env(env_id)
    return make_vec(task.name, num_envs, config=config_name, **options_of(env_id))


def make_evaluation_vec(name: str, num_envs: int, *, config: str | None = None) -> "TextVectorEnv":
    """The batched environment that evaluation plays in: the config's, with the starts that are held out for it."""
    config, chosen = get_task(name).config(config)
    return make_vec(name, num_envs, config=config, **chosen.evaluation)


def evaluation_env_id(config: Config) -> str:
    """The id of the environment that evaluation plays in."""
    return env_id_of(config, config.evaluation)


def make_game(name: str, config: str | None = None, **options: Any) -> "Game | None":
    """The array rules of a task's config; None where the task has none, or not with these options."""
    task, _, arguments = _arguments(name, config, options)
    if task.game is None:
        return None
    game: Game | None = _call(locate(task.game), task, arguments)
    return game


def make_policy(spec: str, task: str, *, config: str | None = None, **options: Any) -> "Policy":
    """A policy from its spec: a scripted one of the task (``"random"``, ``"optimal"``), or ``KIND:ARGUMENT``.

    ``"best"`` is the scripted policy that attains the maximum of the score bounds. The kinds come from the installed
    packages (``hf:PATH``). A scripted policy takes the options of the environment that it plays in (see `make`).

    Raises:
        LmrlError: no such policy; the message lists what there is.
    """
    from importlib.metadata import entry_points

    found = get_task(task)
    config_name, chosen = found.config(config)
    policy: Policy
    if spec == "best":
        spec = chosen.bounds.maximum_from
    if spec in found.policies:
        policy = _call(locate(found.policies[spec]), found, {**chosen.kwargs, **options})
        return policy
    kinds = {point.name: point for point in entry_points(group="lmrl.policies")}
    kind, _, argument = spec.partition(":")
    if kind in kinds and argument:
        policy = kinds[kind].load()(argument, task=task, config=config_name)
        return policy
    known = ", ".join([*found.policies, *(f"{kind}:…" for kind in kinds)])
    raise LmrlError(f"unknown policy {spec[:80]!r} of task {task}; it has: {known}")

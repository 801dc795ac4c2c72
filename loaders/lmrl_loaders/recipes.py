"""Recipes: the settings with which a method is trained on a task, in ``recipes/TASK.toml``.

    [ilql]                      # for all configs of the task
    model = "small"
    tau = 0.9

    [ilql.fully_observed]       # and for one of them
    max_steps = 2000

What a recipe leaves out has the default of the method's config. A ``model`` that is a method's name stands for the
model of that method, which is to be trained first.
"""

import tomllib
from dataclasses import fields
from importlib.resources import files
from typing import Any, NamedTuple, get_args

from lmrl_data.errors import LmrlError
from lmrl_data.registry import get_task, locate


class Method(NamedTuple):
    """Where a method of training is found.

    Attributes:
        config: the dataclass of its settings, ``module:Class``.
        train: its function, ``module:function``.
        about: what it is, in a line.
    """

    config: str
    train: str
    about: str


METHODS = {
    "bc": Method("lmrl_loaders.bc:BCConfig", "lmrl_loaders.bc:train_bc", "behaviour cloning"),
    "filtered-bc": Method(
        "lmrl_loaders.bc:BCConfig", "lmrl_loaders.bc:train_bc", "behaviour cloning of the better episodes"
    ),
    "mc": Method("lmrl_loaders.mc:MCConfig", "lmrl_loaders.mc:train_mc", "Monte-Carlo returns"),
    "ilql": Method("lmrl_loaders.ilql:ILQLConfig", "lmrl_loaders.ilql:train_ilql", "implicit language Q-learning"),
    "ppo": Method("lmrl_loaders.ppo:PPOConfig", "lmrl_loaders.ppo:train_ppo", "proximal policy optimisation, online"),
    "online-bc": Method(
        "lmrl_loaders.online_bc:OnlineBCConfig",
        "lmrl_loaders.online_bc:train_online_bc",
        "behaviour cloning of the better part of its own play",
    ),
}
# What a recipe sets besides settings of the method.
_PLACES = ("model",)


def recipe(task: str, config: str | None, method: str) -> dict[str, Any]:
    """The settings of a method for a task's config, by name.

    Raises:
        LmrlError: unknown task, config or method.
    """
    name, _ = get_task(task).config(config)
    if method not in METHODS:
        raise LmrlError(f"unknown method {method!r}; there are: {', '.join(METHODS)}")
    file = files("lmrl_loaders") / "recipes" / f"{task}.toml"
    written = tomllib.loads(file.read_text("utf-8")).get(method, {}) if file.is_file() else {}
    shared = {key: value for key, value in written.items() if not isinstance(value, dict)}
    return {**({"keep": "success"} if method == "filtered-bc" else {}), **shared, **written.get(name, {})}


def read_settings(method: str, given: list[str]) -> dict[str, Any]:
    """Settings from texts ``NAME=VALUE``, as a command line has them.

    Raises:
        LmrlError: no such setting, or a value of another kind.
    """
    known = {setting.name: setting for setting in fields(locate(METHODS[method].config))}
    found: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or name not in (*known, *_PLACES):
            raise LmrlError(
                f"{text!r} sets nothing that {method} has; write NAME=VALUE, names as `--settings` lists them"
            )
        try:
            found[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[name] = value
        if isinstance(found[name], str) and name in known and _is_number(known[name].type):
            raise LmrlError(
                f"{name} is a number, and {value!r} is none; write for example {name}={known[name].default}"
            )
    return found


def _is_number(kind: object) -> bool:
    """Whether a field's type is made of numbers, truth values and None only."""
    parts = get_args(kind) or (kind,)
    return all(part in (int, float, bool, type(None)) for part in parts)


def run_method(method: str, task: str, settings: dict[str, Any], places: dict[str, Any]) -> dict[str, Any]:
    """Train.

    Args:
        method: one of `METHODS`.
        task: name of a task.
        settings: as of `recipe`, changed as one likes.
        places: see `lmrl_loaders.runs.Places`; a model in them has precedence over the settings'.

    Returns:
        What the method's function returns.

    Raises:
        LmrlError: see the method's function; or a setting that cannot be.
    """
    chosen = {**{name: settings[name] for name in _PLACES if name in settings}, **places}
    own = {name: value for name, value in settings.items() if name not in _PLACES}
    try:
        args = locate(METHODS[method].config)(**own)
    except (TypeError, ValueError) as error:
        raise LmrlError(f"the settings of {method} cannot be: {str(error).splitlines()[0]}") from error
    result: dict[str, Any] = locate(METHODS[method].train)(task, args=args, **chosen)
    return result

"""How a dataset was made, as its manifest tells it: seeds, behaviour policies, versions, and the commands."""

import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lmrl_cards.contents import MANIFEST, Contents
from lmrl_data.errors import LmrlError
from lmrl_data.registry import Config


@dataclass(frozen=True)
class Origin:
    """What the manifest says of a dataset.

    Attributes:
        versions: of the packages that made it, by name.
        seeds: of each config's plan.
        policies: specs and shares of each config's behaviour policies; shares add up to 1.
        commands: what makes the same files again.
    """

    versions: Mapping[str, str]
    seeds: Mapping[str, int]
    policies: Mapping[str, Mapping[str, float]]
    commands: tuple[str, ...]


def read_origin(contents: Contents) -> Origin | None:
    """How a dataset was made; None where the folder has no manifest.

    Raises:
        LmrlError: the manifest lacks a field, or a config that the folder holds.
    """
    if contents.manifest is None:
        return None
    try:
        plans = {name: contents.manifest["configs"][name] for name in contents.configs}
        arguments = {name: _arguments(plan, contents.task.configs[name]) for name, plan in plans.items()}
        return Origin(
            versions={str(name): str(version) for name, version in contents.manifest["versions"].items()},
            seeds={name: int(plan["seed"]) for name, plan in plans.items()},
            policies={
                name: {spec: float(share) for spec, share in plan["policies"].items()} for name, plan in plans.items()
            },
            commands=_commands(contents, arguments),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        path = contents.folder / MANIFEST
        raise LmrlError(
            f"{path} does not describe the files beside it ({type(error).__name__}: {error}); "
            "generate the folder again with --overwrite"
        ) from error


def _commands(contents: Contents, arguments: Mapping[str, str]) -> tuple[str, ...]:
    command = f"lmrl generate --task {contents.task.name}"
    if len(set(arguments.values())) == 1 and set(arguments) == set(contents.task.configs):
        return (f"{command}{next(iter(arguments.values()))}",)
    return tuple(f"{command} --config {name}{rest}" for name, rest in arguments.items())


def _arguments(plan: Mapping[str, Any], config: Config) -> str:
    """The arguments of `lmrl generate` after the config. Those that have defaults too, which may change one day."""
    splits = {name: int(split["episodes"]) for name, split in plan["splits"].items()}
    counts = (splits["train"], splits.get("validation", 0))
    size = next((name for name, size in config.sizes.items() if size == counts), None)
    words = ["--size", size] if size else ["--episodes", f"{counts[0]}", "--validation", f"{counts[1]}"]
    if not _same(plan["policies"], config.collection):
        words += [word for spec, share in plan["policies"].items() for word in ("--policy", f"{spec}={float(share)}")]
    words += ["--seed", f"{int(plan['seed'])}", "--shard-size", f"{int(plan['shard_size'])}"]
    return "".join(f" {shlex.quote(word)}" for word in words)


def _same(shares: Mapping[str, float], others: Mapping[str, float]) -> bool:
    # The order counts: it decides which policy plays which seed.
    return [*shares] == [*others] and all(math.isclose(shares[spec], others[spec]) for spec in shares)

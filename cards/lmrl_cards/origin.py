"""How a dataset was made, as its record tells it: seeds, policies, versions and commands, or the file that was read."""

import math
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmrl_cards.contents import IMPORT_RECORD, MANIFEST, Contents
from lmrl_data.errors import LmrlError
from lmrl_data.registry import Config


@dataclass(frozen=True)
class Origin:
    """What the manifest says of a dataset.

    Attributes:
        versions: of the packages that made it, by name.
        seeds: of each config's plan.
        policies: specs and shares of each config's behaviour policies; shares add up to 1.
        as_published: whether each config was made as the task plans its published data, apart from their number.
        commands: what makes the same files again.
    """

    versions: Mapping[str, str]
    seeds: Mapping[str, int]
    policies: Mapping[str, Mapping[str, float]]
    as_published: bool
    commands: tuple[str, ...]


def read_origin(contents: Contents) -> Origin | None:
    """How a dataset was made; None where the folder has no manifest.

    Raises:
        LmrlError: the manifest lacks a field, or a config that the folder holds.
    """
    if contents.manifest is None:
        return None
    with _read(contents.folder / MANIFEST, "generate the folder again with --overwrite"):
        plans = {name: contents.manifest["configs"][name] for name in contents.configs}
        arguments = {name: _arguments(plan, contents.task.configs[name]) for name, plan in plans.items()}
        return Origin(
            versions={str(name): str(version) for name, version in contents.manifest["versions"].items()},
            seeds={name: int(plan["seed"]) for name, plan in plans.items()},
            policies={
                name: {spec: float(share) for spec, share in plan["policies"].items()} for name, plan in plans.items()
            },
            as_published=all(_is_as_published(plan, contents.task.configs[name]) for name, plan in plans.items()),
            commands=_commands(contents, arguments),
        )


@contextmanager
def _read(path: Path, remedy: str) -> Iterator[None]:
    """What a record lacks is said in one line."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        kind = type(error).__name__
        raise LmrlError(f"{path} does not describe the files beside it ({kind}: {error}); {remedy}") from error


@dataclass(frozen=True)
class Import:
    """What `lmrl import` tells of a config.

    Attributes:
        source: name of the file that was read.
        unreadable: how many of its records could not be read.
        differences: how many rewards the rules would not give, by kind.
        faults: how many episodes have a known fault of the published data, by kind.
    """

    source: str
    unreadable: int
    differences: Mapping[str, int]
    faults: Mapping[str, int]


def read_imports(contents: Contents) -> Mapping[str, Import]:
    """Where imported data come from, by config; empty where the data were not imported.

    Raises:
        LmrlError: the record lacks a field, or a config that the folder holds.
    """
    if contents.imported is None:
        return {}
    with _read(contents.folder / IMPORT_RECORD, "remove the folder and import again"):
        reports = {name: contents.imported["configs"][name] for name in contents.configs}
        return {
            name: Import(
                source=str(report["source"]),
                unreadable=int(report["unreadable"]),
                differences={str(kind): int(count) for kind, count in report["differences"].items()},
                faults={str(kind): int(count) for kind, count in report["faults"].items()},
            )
            for name, report in reports.items()
        }


def _is_as_published(plan: Mapping[str, Any], config: Config) -> bool:
    return plan["env_id"] == config.env_id and _same(plan["policies"], config.collection)


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
        words += [word for spec, share in _written(plan["policies"]) for word in ("--policy", f"{spec}={share}")]
    options = str(plan["env_id"]).partition("?")[2]
    words += [word for option in options.split("&") if option for word in ("--option", option)]
    words += ["--seed", f"{int(plan['seed'])}", "--shard-size", f"{int(plan['shard_size'])}"]
    return "".join(f" {shlex.quote(word)}" for word in words)


def _written(shares: Mapping[str, float]) -> list[tuple[str, float]]:
    """Shares as one writes them (0.05, not 0.05000000000000001), where `lmrl generate` makes the same of them."""
    exact = [float(share) for share in shares.values()]
    short = [float(f"{share:.10g}") for share in exact]
    total = sum(short)
    return list(zip(shares, short if [share / total for share in short] == exact else exact, strict=True))


def _same(shares: Mapping[str, float], others: Mapping[str, float]) -> bool:
    # The order counts: it decides which policy plays which seed.
    return [*shares] == [*others] and all(math.isclose(shares[spec], others[spec]) for spec in shares)

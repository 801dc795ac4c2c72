"""The check of a result: whether its episodes are the evaluation episodes, replay, and give its numbers."""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from lmrl_data.errors import LmrlError
from lmrl_data.registry import get_task, make, make_evaluation_vec, make_vec
from lmrl_data.replays import followed, replay_table
from lmrl_data.starts import evaluation_seeds
from lmrl_data.vector import GameVectorEnv, SyncVectorEnv, TextVectorEnv
from lmrl_evaluation.differences import differences
from lmrl_evaluation.findings import Finding, differs
from lmrl_evaluation.metrics import Estimate, start_clusters, summarise
from lmrl_evaluation.result import EPISODES_FILE, RESULT_FILE, Result, read_result, sha256

# Differences are told of so many episodes; of the others only that they differ.
_EXPLAINED = 200


@dataclass(frozen=True)
class Check:
    """A result that has been checked.

    Attributes:
        file: its `result.json`.
        result: what it says; None where it cannot be read.
        findings: what is wrong with it.
        notes: what could not be checked, and how far the check went instead.
    """

    file: Path
    result: Result | None
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]

    def summary(self, most: int = 10) -> list[str]:
        """The findings, one line each; the rest as a number where they are more than `most`."""
        lines = [str(finding) for finding in self.findings[:most]]
        rest = len(self.findings) - most
        return [*lines, f"and {rest:,} more"] if rest > 0 else lines


def check_result(path: str | Path) -> Check:
    """Read a result and check all of it against the simulator.

    Episodes whose partner (an engine's build, a model) is not here, or does not answer the same again, are replayed
    with the partner's part taken from the record: what it did must be possible, and the rest must follow.

    Args:
        path: a result folder or its `result.json`.
    """
    path = Path(path)
    file = path / RESULT_FILE if path.is_dir() else path
    try:
        result = read_result(file)
    except LmrlError as error:
        return Check(file, None, (Finding("", str(error)),), ())
    if result.episodes < 2:
        return Check(file, result, (Finding("episodes", f"{result.episodes} recorded; a result has at least 2"),), ())
    replayed, notes = _replay(result)
    found = [*_check_rows(result), *_check_seeds(result), *replayed]
    if not found:  # numbers that follow from wrong episodes mean nothing
        found += _check_numbers(result)
    digest = sha256(file.with_name(EPISODES_FILE).read_bytes())
    if digest != result.episodes_sha256:
        found.append(Finding("episodes_sha256", differs(result.episodes_sha256, digest, f"of {EPISODES_FILE}")))
    return Check(file, result, tuple(found), tuple(notes))


def _check_rows(result: Result) -> Iterator[Finding]:
    """What the replay takes for granted: who played the episodes, where, and that they are different ones."""
    for name, right in (("policy", result.policy), ("env_id", result.env_id)):
        column = result.table[name]
        for row in np.flatnonzero(pc.not_equal(column, right).to_numpy()).tolist():
            yield Finding(name, differs(column[row].as_py(), right, f"in {RESULT_FILE}"), row)
    first_with: dict[str, int] = {}
    for row, name in enumerate(result.table["episode_id"].to_pylist()):
        if first_with.setdefault(name, row) != row:
            yield Finding("episode_id", f"is that of episode {first_with[name]}", row)


def _check_seeds(result: Result) -> Iterator[Finding]:
    """Whether the episodes are the first of the evaluation set, in their order and without a gap."""
    recorded = result.table["seed"].to_pylist()
    the_set = f"evaluation set {result.seed}"
    # Twice as many, to tell an episode from beyond a gap from one that is not in the set at all.
    right = evaluation_seeds(result.task, result.config, episodes=2 * len(recorded), seed=result.seed).tolist()
    place_of = {seed: place for place, seed in enumerate(right)}
    first_with: dict[int, int] = {}
    for row, seed in enumerate(recorded):
        if first_with.setdefault(seed, row) != row:
            yield Finding("seed", f"{seed} repeats episode {first_with[seed]}", row)
        elif seed not in place_of:
            yield Finding("seed", f"{seed} is not in {the_set}", row)
    places = [place_of[seed] for seed in first_with if seed in place_of]
    missing = sorted(set(range(max(places, default=-1) + 1)) - set(places))
    for place in missing:
        yield Finding("seed", f"{right[place]} of {the_set} is missing", place)
    if not missing and places != sorted(places):
        row = next(row for row, place in enumerate(places) if place != row)
        yield Finding("seed", differs(recorded[row], right[row], f"next in {the_set}"), row)


def _replay(result: Result) -> tuple[list[Finding], list[str]]:
    """Replay all episodes; returns what differs, and what was taken from the record."""
    task = get_task(result.task)
    size = min(task.batch_size, result.episodes)
    with ExitStack() as stack:
        try:
            env = stack.enter_context(make_evaluation_vec(task.name, size, config=result.config))
        except LmrlError as error:
            if task.partner != "engine":
                raise
            env = stack.enter_context(_without_engine(result, size))
            note = f"the engine's moves were taken from the record, because there is no engine here: {error}"
            return _explain(result, env, range(result.episodes), range(result.episodes), ("opponent",)), [note]
        partners = followed(result.table, env)
        if isinstance(env, GameVectorEnv) and any(partners):
            env = stack.enter_context(_one_by_one(result, size))
        differing = [row for row, differs in enumerate(replay_table(result.table, env)) if differs is not None]
        followed_rows = {row for row, partner in enumerate(partners) if partner is not None}
        return _explain(result, env, differing, followed_rows), _partner_notes(partners, env)


def _without_engine(result: Result, size: int) -> TextVectorEnv:
    """The environment of a game against an engine, for replaying without one: the moves come from the record."""
    chosen = get_task(result.task).config(result.config)[1]
    return make_vec(result.task, size, config=result.config, **{**chosen.evaluation, "opponent": "random"})


def _one_by_one(result: Result, size: int) -> TextVectorEnv:
    """The environment of an array game as single ones, which can take a partner's part from a record."""
    chosen = get_task(result.task).config(result.config)[1]
    return SyncVectorEnv(lambda: make(result.task, config=result.config, **chosen.evaluation), size)


def _explain(
    result: Result,
    env: TextVectorEnv,
    episodes: Sequence[int],
    follow: Collection[int],
    ignore: Collection[str] = (),
) -> list[Finding]:
    """What differs in episodes; of those after the first few that differ, only that they do."""
    found: list[Finding] = []
    explained = 0
    for first in range(0, len(episodes), env.num_envs):
        batch = list(episodes[first : first + env.num_envs])
        rows = result.table.take(batch).to_pylist()
        followed_here = [place for place, row in enumerate(batch) if row in follow]
        for row, problems in zip(batch, differences(rows, env, follow=followed_here, ignore=ignore), strict=True):
            explained += bool(problems)
            if explained <= _EXPLAINED:
                found += [replace(problem, episode=row) for problem in problems]
            elif problems:
                found.append(Finding("episode", "does not replay", row))
    return found


def _partner_notes(partners: Sequence[str | None], env: TextVectorEnv) -> list[str]:
    """What is said of the episodes in which the partner's part was taken from the record."""
    counts = Counter(partner for partner in partners if partner is not None)
    followed = "its part was taken from the record, and all that follows from it was checked"
    return [
        f"{count} of {len(partners)} episodes: partner {differs(partner, env.partner, 'here')}; {followed}"
        for partner, count in counts.items()
    ]


def _check_numbers(result: Result) -> Iterator[Finding]:
    """Whether the numbers follow from the episodes."""
    task = get_task(result.task)
    starts = int(start_clusters(result.table, task).max()) + 1
    if result.starts != starts:
        yield Finding("starts", differs(result.starts, starts, "in the episodes"))
    measured = summarise(result.table, task, result.config)
    for name in sorted(measured.keys() ^ result.estimates.keys()):
        yield Finding(name, "is missing" if name in measured else "is no metric of this task")
    for name in measured.keys() & result.estimates.keys():
        for field, claim, value in _numbers(name, result.estimates[name], measured[name]):
            # Other builds of numpy add in another order.
            if not math.isclose(claim, value, rel_tol=1e-9, abs_tol=1e-9):
                yield Finding(field, differs(claim, value, "from the episodes"))


def _numbers(name: str, claimed: Estimate, measured: Estimate) -> Iterator[tuple[str, float, float]]:
    """The numbers of an estimate: name, as claimed, as measured."""
    yield name, claimed.value, measured.value
    yield f"confidence_interval of {name}, low end", claimed.interval[0], measured.interval[0]
    yield f"confidence_interval of {name}, high end", claimed.interval[1], measured.interval[1]
    yield f"standard_error of {name}", claimed.standard_error, measured.standard_error

"""The check of a result: whether its episodes are the evaluation episodes, replay, and give its numbers."""

import math
from pathlib import Path

from lmrl_data.errors import LmrlError
from lmrl_data.registry import get_task, make_evaluation_vec
from lmrl_data.replays import replay_table
from lmrl_data.starts import evaluation_seeds
from lmrl_evaluation.evaluate import MAX_EPISODES
from lmrl_evaluation.fields import shown
from lmrl_evaluation.metrics import start_clusters, summarise
from lmrl_evaluation.result import EPISODES_FILE, RESULT_FILE, Result, read_result, sha256


def verify_result(path: str | Path) -> Result:
    """Read a result and check all of it against the simulator.

    Args:
        path: a result folder or its `result.json`.

    Returns:
        The result.

    Raises:
        LmrlError: the first thing that is wrong, with the file and, where there is one, the episode.
    """
    path = Path(path)
    folder = path if path.is_dir() else path.parent
    episodes, file = folder / EPISODES_FILE, (path / RESULT_FILE if path.is_dir() else path)
    result = read_result(file)
    # From the particular to the general, so that what is wrong is named rather than that something is.
    _check_rows(result, episodes)
    _check_seeds(result, episodes)
    _replay(result, episodes)
    _check_numbers(result, file)
    if sha256(episodes.read_bytes()) != result.episodes_sha256:
        raise LmrlError(f"{episodes} is not the file that {file} was made with (sha256 differs); evaluate again")
    return result


def _check_rows(result: Result, file: Path) -> None:
    """What the replay takes for granted or cannot see: the number of episodes, who played them, and where."""
    if not 2 <= result.episodes <= MAX_EPISODES:
        raise LmrlError(f"{file} has {result.episodes} episodes; a result has 2 to {MAX_EPISODES:,}")
    for name, expected in (("policy", result.policy), ("env_id", result.env_id)):
        for row, value in enumerate(result.table[name].to_pylist()):
            if value != expected:
                raise LmrlError(f"{file}: episode {row} has {name} {shown(value)}, but the result {shown(expected)}")


def _check_seeds(result: Result, file: Path) -> None:
    expected = evaluation_seeds(result.task, result.config, episodes=result.episodes, seed=result.seed).tolist()
    first_with: dict[int | None, int] = {}
    for row, (seed, right) in enumerate(zip(result.table["seed"].to_pylist(), expected, strict=True)):
        if seed != right:
            repeated = f" repeats episode {first_with[seed]}; it" if seed in first_with else ""
            raise LmrlError(
                f"{file}: episode {row}: seed {seed}{repeated} must be {right} in evaluation set {result.seed}"
            )
        first_with[seed] = row


def _replay(result: Result, file: Path) -> None:
    size = min(get_task(result.task).batch_size, result.episodes)
    with make_evaluation_vec(result.task, size, config=result.config) as env:
        for first in range(0, result.episodes, env.num_envs):
            differences = replay_table(result.table.slice(first, env.num_envs), env)
            for row, difference in enumerate(differences, start=first):
                if difference is not None:
                    seed = result.table["seed"][row].as_py()
                    raise LmrlError(f"{file}: episode {row} (seed {seed}) does not replay: {difference}")


def _check_numbers(result: Result, file: Path) -> None:
    task = get_task(result.task)
    starts = int(start_clusters(result.table, task).max()) + 1
    if result.starts != starts:
        raise LmrlError(f"{file} speaks of {result.starts} starts, but its episodes have {starts}")
    measured = summarise(result.table, task, result.config)
    if measured.keys() != result.estimates.keys():
        raise LmrlError(f"{file} must have the metrics {', '.join(measured)}; evaluate again")
    for name, correct in measured.items():
        claimed = result.estimates[name]
        for what, claim, value in (
            (name, claimed.value, correct.value),
            (f"confidence interval of {name}, low end", claimed.interval[0], correct.interval[0]),
            (f"confidence interval of {name}, high end", claimed.interval[1], correct.interval[1]),
            (f"standard error of {name}", claimed.standard_error, correct.standard_error),
        ):
            # Other builds of numpy add in another order.
            if not math.isclose(claim, value, rel_tol=1e-9, abs_tol=1e-9):
                raise LmrlError(f"{file}: {what} is {claim:g}, but the episodes give {value:g}")

"""Evaluation: a policy plays the fixed evaluation episodes of a task, and is measured."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import pyarrow as pa

from lmrl_data.episode import episode_schema, to_table
from lmrl_data.errors import LmrlError
from lmrl_data.policy import Policy
from lmrl_data.ray_executor import RayCluster
from lmrl_data.registry import Task, evaluation_env_id, get_task, make_evaluation_vec, make_policy
from lmrl_data.rollouts import rollout_batches
from lmrl_data.seeding import check_seed
from lmrl_data.starts import evaluation_seeds
from lmrl_evaluation.fields import load_object, shown
from lmrl_evaluation.meter import Meter, Run
from lmrl_evaluation.metrics import start_clusters, summarise
from lmrl_evaluation.on_arrays import play_on_arrays, plays_on_arrays
from lmrl_evaluation.provenance import hide_path, method_of, state_of_model, versions_of
from lmrl_evaluation.result import (
    RESULT_FILE,
    Result,
    check_name,
    folder_name,
    parquet_bytes,
    sha256,
    write_result,
)
from lmrl_evaluation.unfinished import Parts, stored_parts

BATCH_SIZE = 128
MAX_EPISODES = 1_000_000

OnReturns = Callable[[Sequence[float]], None]
OnTurns = Callable[[int], None]


def evaluate(
    task: str,
    policy: str | Policy,
    *,
    config: str | None = None,
    episodes: int | None = None,
    seed: int = 0,
    batch_size: int | None = None,
    folder: Path | None = None,
    cluster: RayCluster | None = None,
    on_returns: OnReturns | None = None,
    on_turns: OnTurns | None = None,
) -> Result:
    """Evaluate a policy: `prepare` and `Evaluation.play` in one."""
    prepared = prepare(task, policy, config=config, episodes=episodes, seed=seed, batch_size=batch_size)
    return prepared.play(folder, cluster=cluster, on_returns=on_returns, on_turns=on_turns)


def prepare(
    task: str,
    policy: str | Policy,
    *,
    config: str | None = None,
    episodes: int | None = None,
    seed: int = 0,
    batch_size: int | None = None,
) -> "Evaluation":
    """Check what is to be evaluated, and make the policy.

    Args:
        task: name of a task.
        policy: a spec, as `lmrl_data.make_policy` takes it, or a policy.
        config: of the task; None is its default.
        episodes: how many of the evaluation episodes, from the first; None is the config's number.
        seed: of the evaluation set; 0 is the published one.
        batch_size: episodes played side by side; None is 128, fewer where each needs an engine, and more where a
            scripted policy plays an array game.

    Raises:
        LmrlError: an unknown task, config or policy, or a number that cannot be.
    """
    found = get_task(task)
    name, chosen = found.config(config)
    count = chosen.evaluation_episodes if episodes is None else episodes
    if not 2 <= count <= MAX_EPISODES:
        raise LmrlError(f"{count} episodes cannot be evaluated; give a number from 2 to {MAX_EPISODES:,}")
    check_seed(seed)
    if batch_size is not None and batch_size < 1:
        raise LmrlError(f"batch size {batch_size} is too small; give at least 1")
    player, spec = (make_policy(policy, task, config=name), policy) if isinstance(policy, str) else (policy, None)
    if spec is not None:
        hide_path(player, spec)
    check_name(player.name, "the policy's name")
    most = found.batch_size if plays_on_arrays(player, found, name) else min(BATCH_SIZE, found.batch_size)
    size = most if batch_size is None else batch_size
    return Evaluation(found, name, player, spec, method_of(player, spec, found), count, seed, size)


@dataclass(frozen=True)
class Evaluation:
    """A policy and the evaluation episodes that it is to play.

    Attributes:
        task: the task.
        config: name of its config.
        player: the policy.
        spec: what it was made from; None where it was given as an object.
        method: how it came about.
        episodes: how many, from the first.
        seed: of the evaluation set.
        batch_size: episodes played side by side.
    """

    task: Task
    config: str
    player: Policy
    spec: str | None
    method: str
    episodes: int
    seed: int
    batch_size: int

    @property
    def folder_name(self) -> str:
        """The name of the folder for the result."""
        return folder_name(self.task.name, self.config, self.player.name, self.episodes, self.seed)

    def play(
        self,
        folder: Path | None = None,
        *,
        cluster: RayCluster | None = None,
        on_returns: OnReturns | None = None,
        on_turns: OnTurns | None = None,
    ) -> Result:
        """Play the episodes and measure them.

        Args:
            folder: where to write the result. Until it is there, the folder keeps the episodes of each finished batch:
                a run that was killed goes on after them. None writes nothing.
            cluster: plays the batches side by side, instead of this process; the policy must come from a spec.
            on_returns: called with the returns of episodes each time some have been finished; first with those that an
                earlier run has left.
            on_turns: called with a number each time so many more turns have been played.

        Raises:
            LmrlError: the folder holds something else, or cannot be written.
        """
        if folder is None:
            return self._played(Parts(), cluster, on_returns, on_turns)
        self._check_other_result(folder)
        with stored_parts(folder, self._identity(), episode_schema(self.task)) as parts:
            result = self._played(parts, cluster, on_returns, on_turns)
            write_result(result, folder)
            return result

    def _played(
        self, parts: Parts, cluster: RayCluster | None, on_returns: OnReturns | None, on_turns: OnTurns | None
    ) -> Result:
        if on_returns and parts.episodes:
            on_returns([value for table in parts.tables for value in table["episode_return"].to_pylist()])
        if parts.episodes < self.episodes:
            self._play_rest(parts, cluster, on_returns, on_turns)
        table = pa.concat_tables(parts.tables).combine_chunks()
        return Result(
            task=self.task.name,
            config=self.config,
            env_id=evaluation_env_id(self.task.configs[self.config]),
            policy=self.player.name,
            method=self.method,
            seed=self.seed,
            starts=int(start_clusters(table, self.task).max()) + 1,
            estimates=summarise(table, self.task, self.config),
            versions=versions_of(self.method),
            episodes_sha256=sha256(parquet_bytes(table)),
            table=table,
            run=parts.run,
        )

    def _play_rest(
        self, parts: Parts, cluster: RayCluster | None, on_returns: OnReturns | None, on_turns: OnTurns | None
    ) -> None:
        every = evaluation_seeds(self.task.name, self.config, episodes=self.episodes, seed=self.seed)
        seeds = every[parts.episodes :].tolist()
        if cluster is None:
            played = self.play_batches(seeds, on_turns)
        else:
            from lmrl_evaluation.on_ray import play_on_cluster

            played = play_on_cluster(cluster, self, seeds, on_turns)
        for table, run in played:
            parts.add(table, run)
            if on_returns:
                on_returns(table["episode_return"].to_pylist())

    def play_batches(self, seeds: Sequence[int], on_turns: OnTurns | None = None) -> Iterator[tuple[pa.Table, Run]]:
        """Play an episode per seed, and give out the episodes of each batch with what they took, in order."""
        if plays_on_arrays(self.player, self.task, self.config):
            yield from play_on_arrays(self.player, self.task, self.config, seeds, self.batch_size, on_turns)
            return
        name, size = self.task.name, min(self.batch_size, len(seeds))
        meter = Meter(self.player, lambda: make_evaluation_vec(name, size, config=self.config), on_turns)
        with meter.env as env:
            for batch in rollout_batches(env, meter.policy, seeds):
                yield to_table(batch, self.task), meter.lap()

    def _identity(self) -> dict[str, object]:
        """What makes it the same evaluation, so that an interrupted one may be gone on with; no paths."""
        spec = type(self.player).__qualname__ if self.spec is None else self.spec
        return {
            "task": self.task.name,
            "config": self.config,
            "env_id": evaluation_env_id(self.task.configs[self.config]),
            "policy": self.player.name,
            "seed": self.seed,
            "episodes": self.episodes,
            "version": version("lmrl-gym"),
            "spec": sha256(spec.encode()),
            "model": state_of_model(spec),
        }

    def _check_other_result(self, folder: Path) -> None:
        """A finished result is replaced by one of the same evaluation only."""
        file = folder / RESULT_FILE
        if not file.exists():
            return
        found = load_object(file)
        ours = {"task": self.task.name, "config": self.config, "policy": self.player.name, "seed": self.seed}
        if any(found.get(key) != value for key, value in ours.items()):
            other = ", ".join(shown(found.get(key)) for key in ours)
            raise LmrlError(f"{folder} holds another result ({other}); give another --out, or remove it")

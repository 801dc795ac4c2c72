"""Playing the batches of an evaluation side by side on a Ray cluster: the same episodes as in one process."""

from collections.abc import Iterator, Sequence
from functools import cache, partial

import pyarrow as pa

from lmrl_data.errors import LmrlError
from lmrl_data.ray_executor import RayCluster, check_node
from lmrl_data.registry import make_evaluation_vec
from lmrl_evaluation.evaluate import Evaluation, OnTurns, prepare
from lmrl_evaluation.meter import Run
from lmrl_evaluation.provenance import versions_of


def play_on_cluster(
    cluster: RayCluster, evaluation: Evaluation, seeds: Sequence[int], on_turns: OnTurns | None = None
) -> Iterator[tuple[pa.Table, Run]]:
    """`Evaluation.play_batches`, each batch on a core of a cluster.

    Raises:
        LmrlError: the policy did not come from a spec, or a node would play otherwise than this machine.
    """
    if evaluation.spec is None:
        raise LmrlError("a cluster makes the policy on its nodes; give it as a spec, such as python:MODULE:CLASS")
    size = evaluation.batch_size
    batches = list(enumerate(tuple(seeds[first : first + size]) for first in range(0, len(seeds), size)))
    made_from = (evaluation.task.name, evaluation.spec, evaluation.config, size)
    work = partial(_play, made_from=made_from, ground=_ground_of(evaluation))
    finished: dict[int, tuple[pa.Table, Run]] = {}
    given = 0
    for (number, _), (table, run) in cluster.run(work, batches):
        finished[number] = table, run
        if on_turns:
            on_turns(run.turns)
        # In order, because an interrupted run goes on after the last episode that is kept.
        while given in finished:
            yield finished.pop(given)
            given += 1


def _play(
    batch: tuple[int, tuple[int, ...]], made_from: tuple[str, str, str, int], ground: dict[str, str]
) -> tuple[pa.Table, Run]:
    evaluation, mine = _prepared(*made_from)
    check_node(ground, mine)
    (played,) = evaluation.play_batches(batch[1])
    return played


@cache
def _prepared(task: str, spec: str, config: str, batch_size: int) -> tuple[Evaluation, dict[str, str]]:
    # Once per process: the policy's tables (or its model) serve all the batches that a worker plays.
    evaluation = prepare(task, spec, config=config, batch_size=batch_size)
    return evaluation, _ground_of(evaluation)


def _ground_of(evaluation: Evaluation) -> dict[str, str]:
    """What the episodes depend on, and the command does not say: versions, and who answers the agent."""
    ground = versions_of(evaluation.method) | {"policy": evaluation.player.name}
    if evaluation.task.partner is not None:
        with make_evaluation_vec(evaluation.task.name, 1, config=evaluation.config) as env:
            ground["partner"] = env.partner
    return ground

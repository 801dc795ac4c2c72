"""Results: what an evaluation measured together with its episodes, and the two files that hold them.

A result folder holds `episodes.parquet`, the evaluated episodes in the schema of the datasets, and `result.json`:

- ``format``: 1.
- ``task``, ``config``, ``env_id``, ``policy``, ``method``, ``seed``, ``episodes``.
- ``starts``: the different start states among the episodes, which are what the intervals resample.
- ``mean_return``, ``confidence_interval`` (95 %, ``[low, high]``) and ``standard_error`` of it.
- ``normalized_score``, ``success_rate``, ``mean_length`` and ``unusable_action_rate`` or ``understood_rate``; what
  ``confidence_interval`` and ``standard_error`` are for the mean return, ``uncertainty[NAME]`` has for each of these.
- ``bounds``: the returns that the score is normalised with.
- ``versions``: of what played and measured.
- ``episodes_sha256``: of `episodes.parquet`.

No timestamps: the same evaluation gives the same bytes. What it took to play stands in `run.json`, which nothing else
depends on (see `lmrl_evaluation.meter.Run`).
"""

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from lmrl_data.dataset import read_batches
from lmrl_data.episode import episode_schema
from lmrl_data.errors import LmrlError
from lmrl_data.registry import Bounds, evaluation_env_id, get_task
from lmrl_evaluation.fields import Fields, load_object, shown
from lmrl_evaluation.findings import differing_fields, differs
from lmrl_evaluation.meter import Run
from lmrl_evaluation.metrics import METRICS, OPTIONAL_METRICS, Estimate
from lmrl_evaluation.untrusted import check_parquet_size

FORMAT = 1
RESULT_FILE = "result.json"
EPISODES_FILE = "episodes.parquet"
RUN_FILE = "run.json"
MAX_NAME = 200


@dataclass(frozen=True)
class Result:
    """An evaluated policy.

    Attributes:
        task: name of the task.
        config: name of its config.
        env_id: the environment's id with version.
        policy: name of the policy, as in its episodes.
        method: how the policy came about: ``scripted``, ``human``, ``bc``, …
        seed: of the evaluation set; 0 is the published one.
        starts: number of different start states.
        estimates: the metrics by name (see `lmrl_evaluation.metrics.summarise`).
        versions: of what played and measured, by package.
        episodes_sha256: of `episodes.parquet`, in hexadecimal.
        table: the episodes.
        run: what it took to play them; None for a result that was read.
    """

    task: str
    config: str
    env_id: str
    policy: str
    method: str
    seed: int
    starts: int
    estimates: Mapping[str, Estimate]
    versions: Mapping[str, str]
    episodes_sha256: str
    table: pa.Table
    run: Run | None = field(default=None, compare=False)

    @property
    def episodes(self) -> int:
        """Number of episodes."""
        return len(self.table)

    @property
    def bounds(self) -> Bounds:
        """The returns that the score is normalised with."""
        return get_task(self.task).config(self.config)[1].bounds

    @property
    def folder_name(self) -> str:
        """The name of the folder for the result (see `folder_name`)."""
        return folder_name(self.task, self.config, self.policy, self.episodes, self.seed)

    def to_json(self) -> str:
        """The text of `result.json`."""
        rest = {name: estimate for name, estimate in self.estimates.items() if name != "mean_return"}
        data = {
            "format": FORMAT,
            "task": self.task,
            "config": self.config,
            "env_id": self.env_id,
            "policy": self.policy,
            "method": self.method,
            "seed": self.seed,
            "episodes": self.episodes,
            "starts": self.starts,
            **{name: estimate.value for name, estimate in self.estimates.items()},
            **_uncertainty(self.estimates["mean_return"]),
            "uncertainty": {name: _uncertainty(estimate) for name, estimate in rest.items()},
            "bounds": vars(self.bounds),
            "versions": dict(self.versions),
            "episodes_sha256": self.episodes_sha256,
        }
        return json.dumps(data, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def _uncertainty(estimate: Estimate) -> dict[str, object]:
    return {"confidence_interval": list(estimate.interval), "standard_error": estimate.standard_error}


def folder_name(task: str, config: str, policy: str, episodes: int, seed: int) -> str:
    """``TASK-CONFIG-POLICY``, safe as the name of a folder, and different for each policy and evaluation set."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", policy).strip("-.")[:100]
    if safe != policy:
        safe += "-" + sha256(policy.encode())[:6]
    size = "" if episodes == get_task(task).config(config)[1].evaluation_episodes else f"-{episodes}episodes"
    return f"{task}-{config}-{safe}{size}{f'-seed{seed}' if seed else ''}"


def check_name(name: str, what: str) -> None:
    """Whether a name can stand in a table.

    Raises:
        LmrlError: it is empty, too long or has characters that cannot be printed.
    """
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise LmrlError(f"{what} {shown(name)} must have 1 to {MAX_NAME} characters, all of them printable; rename it")


def parquet_bytes(table: pa.Table) -> bytes:
    """Episodes as the bytes of a Parquet file."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    data: bytes = sink.getvalue().to_pybytes()
    return data


def sha256(data: bytes) -> str:
    """The hash of a file's bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def write_result(result: Result, folder: str | Path) -> None:
    """Write `result.json`, `episodes.parquet` and, of a new result, `run.json` to a folder, replacing an older result.

    At no time does the folder hold a `result.json` without its own episodes.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = {EPISODES_FILE: parquet_bytes(result.table), RESULT_FILE: result.to_json().encode()}
    if result.run is not None:
        files = {RUN_FILE: result.run.to_json().encode(), **files}
    staged: list[Path] = []
    try:
        for name, data in files.items():
            staged.append(_staging(folder / name))
            _write_synced(staged[-1], data)
        for name in (RESULT_FILE, RUN_FILE):
            (folder / name).unlink(missing_ok=True)
        for temporary, name in zip(staged, files, strict=True):
            os.replace(temporary, folder / name)
    finally:
        for temporary in staged:
            temporary.unlink(missing_ok=True)


def check_writable(folder: Path) -> None:
    """Whether a folder can be written or made, before hours are spent on what goes there; leaves nothing behind.

    Raises:
        LmrlError: it cannot.
    """
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise LmrlError(f"cannot write to {folder} ({there}: {error.strerror}); give another folder") from error


def _staging(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def _write_synced(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def read_result(path: str | Path) -> Result:
    """Read a result from its folder or its `result.json`.

    Whether its numbers follow from its episodes is for `lmrl_evaluation.verify.check_result` to say.

    Raises:
        LmrlError: a file is missing, is not what it should be, or is of another version.
    """
    path = Path(path)
    file = path / RESULT_FILE if path.is_dir() else path
    fields = Fields(file, load_object(file))
    if fields.integer("format") != FORMAT:
        fields.fail(f"has format {fields.integer('format')}, but this version of lmrl-gym reads {FORMAT}")
    task = get_task(fields.text("task"))
    config_name, config = task.config(fields.text("config"))
    env_id = evaluation_env_id(config)
    if fields.text("env_id") != env_id:
        fields.fail(
            f"is of {shown(fields.text('env_id'))}, but {task.name} ({config_name}) is now {env_id}; evaluate again"
        )
    for path, recorded, right in differing_fields(fields.mapping("bounds"), vars(config.bounds), "bounds"):
        fields.fail(f"was scored with another {path}: {differs(recorded, right, f'of {env_id}')}; evaluate again")
    policy, method = fields.text("policy"), fields.text("method")
    check_name(policy, f"{file}: policy")
    check_name(method, f"{file}: method")
    versions = fields.mapping("versions")
    for package in versions:
        check_name(package, f"{file}: package")
        check_name(fields.within("versions").text(package), f"{file}: version")
    episodes = file.with_name(EPISODES_FILE)
    check_parquet_size(episodes)
    schema = episode_schema(task)
    batches = list(read_batches(episodes, schema))
    table = pa.concat_tables(batches) if batches else schema.empty_table()
    if fields.integer("episodes") != len(table):
        fields.fail(f"speaks of {fields.integer('episodes')} episodes, but {episodes} has {len(table)}")
    return Result(
        task=task.name,
        config=config_name,
        env_id=env_id,
        policy=policy,
        method=method,
        seed=fields.integer("seed"),
        starts=fields.integer("starts"),
        estimates=_estimates(fields),
        versions=versions,
        episodes_sha256=fields.text("episodes_sha256"),
        table=table,
    )


def _estimates(fields: Fields) -> dict[str, Estimate]:
    """The metrics with their uncertainty."""
    uncertainty = fields.within("uncertainty")
    estimates = {}
    for name in (*METRICS, *(name for name in OPTIONAL_METRICS if name in fields.data)):
        around = fields if name == "mean_return" else uncertainty.within(name)
        interval, error = around.interval("confidence_interval"), around.number("standard_error")
        estimates[name] = Estimate(fields.number(name), interval, error)
    return estimates

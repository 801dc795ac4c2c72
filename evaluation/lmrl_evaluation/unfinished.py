"""Evaluations that were interrupted: the episodes of each finished batch are kept until the result is written.

They lie in the folder `unfinished` of the result's folder: `state.json`, which says of what evaluation, and a Parquet
file per batch, named by its first episode. Each is written whole or not at all, so a run that is killed at any moment
loses the batch that it was playing and nothing else. Batches that take less than a tenth of a second share a file, for
flushing each to the disk would take longer than playing it; then as much play may be lost besides.
"""

import json
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from lmrl_data.dataset import read_batches
from lmrl_data.errors import LmrlError
from lmrl_data.files import TEMPORARY, write_bytes, write_whole
from lmrl_evaluation.meter import Run

FOLDER = "unfinished"
_STATE = "state.json"
_RUN = b"lmrl_run"
_PART = re.compile(r"episodes-(\d{7})\.parquet")
_PAUSE = 0.1  # seconds from one file to the next


class Parts:
    """The episodes of an evaluation so far, in order, and what they cost.

    Attributes:
        tables: of each batch.
        run: what they took.
    """

    def __init__(self) -> None:
        self.tables: list[pa.Table] = []
        self.run = Run()

    @property
    def episodes(self) -> int:
        """How many there are."""
        return sum(map(len, self.tables))

    def add(self, table: pa.Table, run: Run) -> None:
        """Take in the next episodes."""
        self.tables.append(table)
        self.run += run


class StoredParts(Parts):
    """`Parts` that outlive the process."""

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        """Read what there is.

        Raises:
            LmrlError: a file cannot be read, or one is missing.
        """
        super().__init__()
        self._folder = folder
        self._waiting = Parts()
        self._kept = 0
        self._time = -float("inf")
        for leftover in folder.glob(f"{TEMPORARY}*"):
            leftover.unlink()
        for path in _parts_in(folder):
            try:
                if path.name != _name(self.episodes):
                    raise LmrlError(f"{folder / _name(self.episodes)} is missing")
                super().add(pa.concat_tables(read_batches(path, schema)), _run_of(path))
            except (LmrlError, ValueError, LookupError, TypeError) as error:
                raise LmrlError(f"{folder} is damaged ({error}); remove it to begin again") from error
        self._kept = self.episodes

    def add(self, table: pa.Table, run: Run) -> None:
        """Take in the next episodes, and keep them, now or with the next ones."""
        self._waiting.add(table, run)
        super().add(table, run)
        if time.monotonic() - self._time >= _PAUSE:
            self.keep()

    def keep(self) -> None:
        """Put the episodes that are not there yet on the disk."""
        if not self._waiting.tables:
            return
        metadata = {_RUN: json.dumps(asdict(self._waiting.run)).encode()}
        table = pa.concat_tables(self._waiting.tables).replace_schema_metadata(metadata)
        path = self._folder / _name(self._kept)
        write_whole(path, lambda path: pq.write_table(table, path, compression="zstd"))
        # In this order, for an interruption may come between the two, and nothing may be kept twice.
        self._waiting = Parts()
        self._kept += len(table)
        self._time = time.monotonic()


@contextmanager
def stored_parts(folder: Path, what: Mapping[str, Any], schema: pa.Schema) -> Iterator[StoredParts]:
    """The parts of an evaluation, those of an earlier run included; nothing is left of them when all goes well.

    Args:
        folder: of the result; made if need be.
        what: the evaluation: only the same one is gone on with.
        schema: of the episodes.

    Raises:
        LmrlError: the folder holds parts of another evaluation, or another process is writing there.
    """
    parts = folder / FOLDER
    new = [path for path in reversed(parts.parents) if not path.exists()]
    parts.mkdir(parents=True, exist_ok=True)
    keep = True
    try:
        with FileLock(parts / "lock", timeout=0):
            _check_state(parts, what)
            stored = StoredParts(parts, schema)
            try:
                yield stored
                keep = False
            except BaseException:
                stored.keep()
                # On the disk, for an interruption may come between a file and its being counted.
                keep = bool(_parts_in(parts))
                raise
    except Timeout as error:
        raise LmrlError(f"another process evaluates into {folder}; wait for it or give another --out") from error
    finally:
        if not keep:
            _remove(parts, new)


def kept_episodes(folder: Path) -> int:
    """How many episodes of an unfinished evaluation a result's folder keeps."""
    return sum(int(pq.read_metadata(path).num_rows) for path in _parts_in(folder / FOLDER))


def _name(first: int) -> str:
    """The file of the part that begins with an episode."""
    return f"episodes-{first:07d}.parquet"


def _parts_in(folder: Path) -> list[Path]:
    """The files of finished batches, in order."""
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted(path for path in found if _PART.fullmatch(path.name))


def _check_state(parts: Path, what: Mapping[str, Any]) -> None:
    """Begin, or make sure that what has been begun is the same evaluation."""
    state, content = parts / _STATE, json.dumps(what, indent=2) + "\n"
    if not state.is_file():
        write_bytes(state, content.encode())
        return
    if state.read_bytes() == content.encode():
        return
    try:
        found = json.loads(state.read_bytes())
        other = f"{found['episodes']} episodes of {found['task']} ({found['config']}) by {found['policy']}"
    except (ValueError, LookupError, TypeError) as error:
        raise LmrlError(f"{parts} is damaged; remove it to begin again") from error
    if all(found[key] == what[key] for key in ("episodes", "task", "config", "policy", "seed")):
        other += ", of another version or with another model behind the name"
    raise LmrlError(
        f"{parts.parent} holds an unfinished evaluation ({other}, set {found['seed']}); run that command to finish it, "
        f"remove {parts}, or give another --out"
    )


def _run_of(path: Path) -> Run:
    return Run(**json.loads(pq.read_schema(path).metadata[_RUN]))


def _remove(parts: Path, new: list[Path]) -> None:
    """Take back the folder, and those above it that were made for it and hold nothing."""
    shutil.rmtree(parts)
    for path in reversed(new):
        if any(path.iterdir()):
            break
        path.rmdir()

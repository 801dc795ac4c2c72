"""The dataset folder of imported episodes: Parquet files, `imported.json` with the report, and a card."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from lmrl_data.episode import Episode, to_table
from lmrl_data.errors import LmrlError
from lmrl_data.files import TEMPORARY, write_bytes
from lmrl_data.registry import Task
from lmrl_generators.importing.report import lines_of
from lmrl_generators.manifest import FILE as MANIFEST
from lmrl_generators.shards import ROW_GROUP, write_parquet

FILE = "imported.json"
# Episodes are Python objects until a batch of them is a table: these are ten times as large.
_BATCH = 500
_SHARD_BYTES = 256 * 2**20


class Staging:
    """The files of a config while they are being written, beside the folder that they go to.

    Args:
        out: folder that has a folder per task.
        task: of the episodes.
        config: of the task.

    Raises:
        LmrlError: the config is there already, or the folder cannot be written.
    """

    def __init__(self, out: Path, task: Task, config: str) -> None:
        self._task, self._config = task, config
        self._folder = out / f"{TEMPORARY}{os.getpid()}-{task.name}"
        self._goal = out / task.name / "data" / config
        self._made = [path for path in self._goal.parents if not path.exists()]
        if self._goal.exists():
            raise LmrlError(f"{self._goal} is there already; remove it, or give another --out")
        if (out / task.name / MANIFEST).exists():
            raise LmrlError(f"{out / task.name} holds data made by `lmrl generate`; give another --out")
        try:
            self._folder.mkdir(parents=True)
        except OSError as error:
            raise LmrlError(f"cannot write into {out}: {error.strerror or error}; give another --out") from error
        self._episodes: list[Episode] = []
        self._tables: list[pa.Table] = []
        self._shards = self._rows = 0

    def add(self, episode: Episode) -> None:
        """Write an episode, sooner or later."""
        episode.episode_id = f"{self._task.name}-{self._config}-published-{self._rows:08d}"
        self._rows += 1
        self._episodes.append(episode)
        if len(self._episodes) == _BATCH:
            self._end_batch()

    def finish(self, report: dict[str, Any]) -> None:
        """Write what is left, move the files to their place all at once, and add the report and the card."""
        self._end_batch()
        self._end_shard()
        for index in range(self._shards):
            name = f"train-{index:05d}-of-{self._shards:05d}.parquet"
            (self._folder / f"{index}.parquet").rename(self._folder / name)
        self._goal.parent.mkdir(parents=True, exist_ok=True)
        os.replace(self._folder, self._goal)
        try:
            _write_report(self._goal.parent.parent, self._task, self._config, report)
        except BaseException:
            shutil.rmtree(self._goal)
            raise

    def discard(self) -> None:
        """Remove what has not been moved to its place, and the folders made for it."""
        shutil.rmtree(self._folder, ignore_errors=True)
        for path in self._made:
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()

    def _end_batch(self) -> None:
        if self._episodes:
            self._tables.append(to_table(self._episodes, self._task))
            self._episodes = []
        rows, size = sum(map(len, self._tables)), sum(table.nbytes for table in self._tables)
        if rows >= ROW_GROUP or size >= _SHARD_BYTES:
            self._end_shard()

    def _end_shard(self) -> None:
        if self._tables:
            write_parquet(pa.concat_tables(self._tables), self._folder, f"{self._shards}.parquet")
            self._tables = []
            self._shards += 1


def _write_report(folder: Path, task: Task, config: str, content: dict[str, Any]) -> None:
    """Add a config's report to `imported.json` and write the card anew."""
    reports = _reports(folder) | {config: content}
    reports = {name: reports[name] for name in task.configs if (folder / "data" / name).is_dir() and name in reports}
    write_bytes(folder / FILE, (json.dumps({"task": task.name, "configs": reports}, indent=2) + "\n").encode())
    write_bytes(folder / "README.md", "".join(f"{line}\n" for line in _card(task, reports)).encode())


def _reports(folder: Path) -> dict[str, Any]:
    """The reports of the configs that are there."""
    try:
        found: dict[str, Any] = json.loads((folder / FILE).read_text("utf-8"))["configs"]
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LmrlError(f"{folder / FILE} is unreadable ({error}); remove {folder} and import again") from error
    return found


def _card(task: Task, reports: dict[str, Any]) -> Iterator[str]:
    """The card's lines. Unlike the card of our own data it claims no licence: that is the publishers' to give."""
    yield from ("---", f"pretty_name: {task.title}, published data", "configs:")
    for config in reports:
        yield from (f"- config_name: {config}", "  data_files:", "  - split: train")
        yield f"    path: data/{config}/train-*-of-*.parquet"
    yield from ("---", f"# {task.title}: the published data", "")
    yield "Imported by `lmrl import` from raw files that were published with the paper (arXiv 2311.18232)."
    yield "The texts, actions and rewards are the file's; `policy` is `published`, and `seed` is -1: it is not known."
    for config, content in reports.items():
        yield from ("", f"## {config}", "", f"From `{content['source']}`:", "", "```")
        yield from lines_of(content)
        yield "```"

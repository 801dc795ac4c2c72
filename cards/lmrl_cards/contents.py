"""What a dataset folder holds: its configs, splits and files, and the record that says where they come from."""

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmrl_data.errors import LmrlError
from lmrl_data.registry import Task, get_task

MANIFEST = "generation.json"
IMPORT_RECORD = "imported.json"
EVALUATION = "evaluation"

_FILE = re.compile(r"(?P<split>\w+)-(?P<index>\d{5})-of-(?P<total>\d{5})\.parquet")
_ORDER = ("train", "validation")

Files = tuple[Path, ...]


@dataclass(frozen=True)
class Contents:
    """The files of a dataset folder.

    Attributes:
        folder: the dataset folder.
        task: its task.
        configs: files by config and split; configs in the task's order, train first, each with a train split.
        evaluation: files of the evaluation episodes; empty where there are none.
        manifest: the object in `generation.json`; None where there is none.
        imported: that in `imported.json`, which `lmrl import` writes; None where there is none.
    """

    folder: Path
    task: Task
    configs: Mapping[str, Mapping[str, Files]]
    evaluation: Files
    manifest: Mapping[str, Any] | None
    imported: Mapping[str, Any] | None

    @property
    def repo(self) -> str:
        """The id of the repository that the card speaks of; that of imported data names the folder."""
        return f"lmrl-gym/{self.task.name}" if self.imported is None else "/".join(self.folder.resolve().parts[-2:])

    @property
    def episodes(self) -> int:
        """How many episodes the splits of all configs hold.

        Raises:
            LmrlError: a file cannot be read.
        """
        splits = [files for splits in self.configs.values() for files in splits.values()]
        return sum(_rows(path) for files in splits for path in files)


def read_contents(folder: str | Path, task: str) -> Contents:
    """Look at a dataset folder.

    Raises:
        LmrlError: unknown task; no data, or data of another task; missing shards; an unreadable record.
    """
    folder, found = Path(folder), get_task(task)
    manifest, imported = _read_manifest(folder), _read_import_record(folder)
    for record in (manifest, imported):
        if record is not None and record["task"] != task:
            raise LmrlError(f"{folder} holds the task {record['task']}, not {task}; give the folder of {task}")
    by_config = {path.name: _splits(path) for path in sorted(folder.glob("data/*/"))}
    by_config = {name: splits for name, splits in by_config.items() if splits}
    evaluation = by_config.pop(EVALUATION, {}).get("test", ())
    if not by_config:
        raise LmrlError(f"{folder} has no Parquet files in data/CONFIG/; make them with `lmrl generate --task {task}`")
    for name, splits in by_config.items():
        found.config(name)
        if "train" not in splits:
            raise LmrlError(f"{folder}/data/{name} has no train split; make it with `lmrl generate --task {task}`")
    configs = {name: by_config[name] for name in found.configs if name in by_config}
    return Contents(folder, found, configs, evaluation, manifest, imported)


def task_of(folder: str | Path) -> str:
    """The task of a dataset folder: what `generation.json` or `imported.json` says, or else the folder's name.

    Raises:
        LmrlError: none of them is the name of a task, or a record is unreadable.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise LmrlError(f"{folder} is not a folder; give a dataset folder such as lmrl-gym/wordle")
    record = _read_manifest(folder) or _read_import_record(folder)
    name: str = folder.resolve().name if record is None else record["task"]
    return get_task(name).name


def _splits(folder: Path) -> dict[str, Files]:
    """The files of a config by split."""
    shards: dict[str, dict[int, Path]] = defaultdict(dict)
    totals: dict[str, set[int]] = defaultdict(set)
    for path in sorted(folder.glob("*.parquet")):
        match = _FILE.fullmatch(path.name)
        if match is None:
            raise LmrlError(f"{path} is not named SPLIT-NNNNN-of-NNNNN.parquet; rename it, or move it elsewhere")
        shards[match["split"]][int(match["index"])] = path
        totals[match["split"]].add(int(match["total"]))
    for split, files in shards.items():
        if len(totals[split]) > 1:
            raise LmrlError(f"{folder} holds {split} files of more than one dataset; remove the old ones")
        (total,) = totals[split]
        if set(files) != set(range(total)):
            raise LmrlError(f"{folder} holds {len(files)} of {total} {split} files; run `lmrl generate` again")
    names = sorted(shards, key=lambda split: (_ORDER.index(split) if split in _ORDER else len(_ORDER), split))
    return {split: tuple(shards[split].values()) for split in names}


def _read_manifest(folder: Path) -> Mapping[str, Any] | None:
    remedy = "generate the folder again with --overwrite"
    manifest = _read_json(folder / MANIFEST, remedy)
    if manifest is not None and manifest.get("format") != 1:
        raise LmrlError(f"{folder / MANIFEST} is not a manifest of format 1; {remedy}")
    return manifest


def _read_import_record(folder: Path) -> Mapping[str, Any] | None:
    return _read_json(folder / IMPORT_RECORD, "remove the folder and import again")


def _read_json(path: Path, remedy: str) -> Mapping[str, Any] | None:
    """The object in a record, which names its task; None where there is no such file."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise LmrlError(f"{path} is unreadable ({error}); {remedy}") from error
    if not isinstance(record, dict) or not isinstance(record.get("task"), str):
        raise LmrlError(f"{path} is not a record of a dataset; {remedy}")
    return record


def _rows(path: Path) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows: int = pq.read_metadata(path).num_rows
    except (pa.ArrowException, OSError) as error:
        raise LmrlError(f"{path} is not a readable Parquet file; make it again with `lmrl generate`") from error
    return rows

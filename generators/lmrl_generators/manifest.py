"""`generation.json`: what a dataset folder was made from, and the hash of every file in it."""

import json
import time
from importlib.metadata import version
from typing import Any

from lmrl_data.errors import LmrlError
from lmrl_generators.folders import Folder, Place, open_folder
from lmrl_generators.plan import Plan, describe
from lmrl_generators.shards import FileRecord

FILE = "generation.json"
FORMAT = 1


class Manifest:
    """The manifest of a dataset folder, in step with its file.

    Attributes:
        folder: the dataset folder.
        content: the JSON object.
    """

    def __init__(self, folder: Folder, content: dict[str, Any]) -> None:
        self.folder = folder
        self.content = content
        self._saved = b""
        self._time = -float("inf")

    @classmethod
    def open(cls, folder: Folder, task: str, *, overwrite: bool = False) -> "Manifest":
        """The manifest of a folder, or an empty one; an unreadable one counts as none where it is to be overwritten.

        Raises:
            LmrlError: it is unreadable, or of another task.
        """
        empty = cls(folder, {"format": FORMAT, "task": task, "versions": versions(), "configs": {}})
        if folder.hash(FILE) is None:
            return empty
        try:
            manifest = cls.read(folder)
        except LmrlError:
            if overwrite:
                return empty
            raise
        if manifest.content["task"] != task:
            raise LmrlError(f"{folder} holds the task {manifest.content['task']}; give another --out for {task}")
        return manifest

    @classmethod
    def read(cls, place: Place) -> "Manifest":
        """The manifest of a generated folder.

        Raises:
            LmrlError: there is none, or it is unreadable.
        """
        folder = open_folder(place)
        path = f"{folder}/{FILE}"
        try:
            data = folder.read(FILE)
            content = json.loads(data.decode("utf-8"))
        except FileNotFoundError as error:
            raise LmrlError(f"{folder} has no {FILE}; it is not a folder made by `lmrl generate`") from error
        except LmrlError:
            raise
        except (OSError, ValueError, RecursionError) as error:
            raise LmrlError(f"{path} is unreadable ({error}); generate the folder again with --overwrite") from error
        if not isinstance(content, dict) or content.get("format") != FORMAT or not isinstance(content.get("task"), str):
            raise LmrlError(f"{path} is not a manifest of format {FORMAT}; generate the folder again with --overwrite")
        try:
            _check(content)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise LmrlError(f"{path} is damaged ({error!r}); generate the folder again with --overwrite") from error
        manifest = cls(folder, content)
        manifest._saved = data
        return manifest

    def forget(self, configs: set[str]) -> None:
        """Leave configs out, to make them anew.

        Raises:
            LmrlError: other configs remain that other versions made.
        """
        for config in configs:
            self.content["configs"].pop(config, None)
        if not self.content["configs"]:
            self.content["versions"] = versions()
        elif self.content["versions"] != versions():
            rest = ", ".join(self.content["configs"])
            raise LmrlError(
                f"{self.folder} also holds {rest}, made by other versions; overwrite all configs, or give another --out"
            )

    def begin(self, plan: Plan) -> None:
        """Enter a plan.

        Raises:
            LmrlError: the folder holds other data under the same name, or data of other versions.
        """
        wanted = describe(plan)
        config = self.content["configs"].setdefault(plan.config, wanted | {"splits": {}})
        split = config["splits"].setdefault(plan.split, {"episodes": plan.episodes, "shards": []})
        # The order of the policies counts: it decides which of them plays which seed.
        same = {key: config[key] for key in wanted} == wanted and [*config["policies"]] == [*wanted["policies"]]
        made_with = self.content["versions"]
        if not same or split["episodes"] != plan.episodes or made_with != versions():
            made_by = ", ".join(f"{name} {number}" for name, number in made_with.items())
            raise LmrlError(
                f"{self.folder} holds other data of config {plan.config} ({split['episodes']} {plan.split} episodes, "
                f"seed {config['seed']}, {made_by}); give another --out, or --overwrite to replace it"
            )

    def record(self, plan: Plan, file: str) -> FileRecord | None:
        """What is recorded of a shard's file."""
        shards: list[FileRecord] = self.content["configs"][plan.config]["splits"][plan.split]["shards"]
        return next((record for record in shards if record["file"] == file), None)

    def add(self, plan: Plan, record: FileRecord) -> None:
        """Record a finished shard, in place of an earlier record of it, and save, or leave that to a later one."""
        split = self.content["configs"][plan.config]["splits"][plan.split]
        others = [other for other in split["shards"] if other["file"] != record["file"]]
        split["shards"] = sorted([*others, record], key=lambda other: other["file"])
        if time.monotonic() - self._time >= self.folder.pause:
            self.save()

    def save(self) -> None:
        """Write the file, as a whole or not at all."""
        self.content["configs"] = dict(sorted(self.content["configs"].items()))
        data = (json.dumps(self.content, indent=2, sort_keys=False) + "\n").encode()
        if data != self._saved:
            self.folder.write(FILE, data)
        self._saved, self._time = data, time.monotonic()


def versions() -> dict[str, str]:
    """Of what the bytes of a dataset depend on."""
    return {"lmrl-gym": version("lmrl-gym"), "pyarrow": version("pyarrow")}


def _check(content: dict[str, Any]) -> None:
    """Look at every field that is relied on; raises what reading a wrong one raises."""
    for config in content["configs"].values():
        _number(config["shard_size"], 1), _number(config["seed"], 0)
        config["env_id"], {spec: float(share) for spec, share in config["policies"].items()}
        for split in config["splits"].values():
            _number(split["episodes"], 1)
            for shard in split["shards"]:
                shard["file"] + shard["sha256"], _number(shard["episodes"], 1), _number(shard["bytes"], 1)
    content["versions"]["lmrl-gym"] + content["versions"]["pyarrow"]


def _number(value: object, least: int) -> int:
    if not isinstance(value, int) or value < least:
        raise ValueError(f"{value!r} is no number from {least}")
    return value

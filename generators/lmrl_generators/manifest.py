"""`generation.json`: what a dataset folder was made from, and the hash of every file in it."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lmrl_data.errors import LmrlError
from lmrl_data.files import write_bytes
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

    def __init__(self, folder: Path, content: dict[str, Any]) -> None:
        self.folder = folder
        self.content = content

    @classmethod
    def open(cls, folder: Path, task: str) -> "Manifest":
        """The manifest of a folder, or an empty one.

        Raises:
            LmrlError: it is unreadable, or of another task.
        """
        if not (folder / FILE).exists():
            versions = {"lmrl-gym": version("lmrl-gym"), "pyarrow": version("pyarrow")}
            return cls(folder, {"format": FORMAT, "task": task, "versions": versions, "configs": {}})
        manifest = cls.read(folder)
        if manifest.content["task"] != task:
            raise LmrlError(f"{folder} holds the task {manifest.content['task']}; give another --out for {task}")
        return manifest

    @classmethod
    def read(cls, folder: Path) -> "Manifest":
        """The manifest of a generated folder.

        Raises:
            LmrlError: there is none, or it is unreadable.
        """
        path = folder / FILE
        try:
            content = json.loads(path.read_text("utf-8"))
        except FileNotFoundError as error:
            raise LmrlError(f"{folder} has no {FILE}; it is not a folder made by `lmrl generate`") from error
        except (OSError, ValueError) as error:
            raise LmrlError(f"{path} is unreadable ({error}); generate the folder again with --overwrite") from error
        if not isinstance(content, dict) or content.get("format") != FORMAT or not isinstance(content.get("task"), str):
            raise LmrlError(f"{path} is not a manifest of format {FORMAT}; generate the folder again with --overwrite")
        try:
            for config in content["configs"].values():
                config["env_id"], config["seed"], config["shard_size"], dict(config["policies"])
                for split in config["splits"].values():
                    split["episodes"], [(shard["file"], shard["sha256"]) for shard in split["shards"]]
            content["versions"]["lmrl-gym"]
        except (KeyError, TypeError, AttributeError) as error:
            raise LmrlError(f"{path} is damaged ({error!r}); generate the folder again with --overwrite") from error
        return cls(folder, content)

    def begin(self, plan: Plan) -> None:
        """Enter a plan.

        Raises:
            LmrlError: the folder holds other data under the same name.
        """
        found = version("lmrl-gym")
        made_by = self.content["versions"]["lmrl-gym"]
        config = self.content["configs"].setdefault(plan.config, describe(plan) | {"splits": {}})
        split = config["splits"].setdefault(plan.split, {"episodes": plan.episodes, "shards": []})
        same = {key: config[key] for key in describe(plan)} == describe(plan)
        if not same or split["episodes"] != plan.episodes or made_by != found:
            raise LmrlError(
                f"{self.folder} holds other data of config {plan.config} ({split['episodes']} {plan.split} episodes, "
                f"seed {config['seed']}, lmrl-gym {made_by}); give another --out, or --overwrite to replace it"
            )

    def record(self, plan: Plan, file: str) -> FileRecord | None:
        """What is recorded of a shard's file."""
        shards: list[FileRecord] = self.content["configs"][plan.config]["splits"][plan.split]["shards"]
        return next((record for record in shards if record["file"] == file), None)

    def add(self, plan: Plan, record: FileRecord) -> None:
        """Record a finished shard, in place of an earlier record of it, and save."""
        split = self.content["configs"][plan.config]["splits"][plan.split]
        others = [other for other in split["shards"] if other["file"] != record["file"]]
        split["shards"] = sorted([*others, record], key=lambda other: other["file"])
        self.save()

    def save(self) -> None:
        """Write the file, as a whole or not at all."""
        self.content["configs"] = dict(sorted(self.content["configs"].items()))
        text = json.dumps(self.content, indent=2, sort_keys=False) + "\n"
        write_bytes(self.folder / FILE, text.encode())

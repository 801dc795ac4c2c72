"""Where a policy comes from: what a result says of it, and what it must not say."""

import json
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from lmrl_data.errors import LmrlError
from lmrl_data.policy import GamePolicy, HumanPolicy, Policy
from lmrl_data.registry import Task
from lmrl_evaluation.fields import shown
from lmrl_evaluation.result import check_name, sha256

# How a policy of a kind came about, where no training run says it.
_METHODS = {"openai": "prompted", "python": "custom"}


def hide_path(player: Policy, spec: str) -> None:
    """Name a policy from a folder by the folder's name: where it lies on this machine is nobody's business."""
    folder = _folder_in(spec)
    if folder is not None:
        kind, _, argument = spec.partition(":")
        path = argument.partition("?")[0].rstrip("/")
        player.name = player.name.replace(f"{kind}:{path}", f"{kind}:{folder.resolve().name}", 1)


def state_of_model(spec: str) -> str:
    """A hash of names, sizes and times of the files of a spec's model: it tells one that has been trained anew."""
    folder = _folder_in(spec)
    stats = [(str(path.relative_to(folder)), path.stat()) for path in sorted(folder.rglob("*"))] if folder else []
    return sha256(json.dumps([(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]).encode())


def method_of(player: Policy, spec: str | None, task: Task) -> str:
    """How a policy came about; a trained one's folder says so in its `lmrl.json`."""
    if spec is None:
        return {GamePolicy: "scripted", HumanPolicy: "human"}.get(type(player), "custom")
    if spec == "best" or spec in task.policies:
        return "scripted"
    kind, _, argument = spec.partition(":")
    settings = Path(argument.partition("?")[0]) / "lmrl.json"
    if kind in _METHODS or not settings.is_file():
        return _METHODS.get(kind, kind)
    try:
        method = json.loads(settings.read_bytes())["method"]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise LmrlError(f"{settings} does not name the method that trained the model; train it again") from error
    if not isinstance(method, str):
        raise LmrlError(f"{settings} has {shown(method)} for a method, which must be a text; train the model again")
    check_name(method, f"{settings}: method")
    return method


def versions_of(method: str) -> dict[str, str]:
    """What the episodes and the numbers depend on."""
    packages = ["lmrl-gym", "numpy", "pyarrow"]
    if method not in ("scripted", "human", *_METHODS.values()):
        packages += ["torch", "transformers"]
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _folder_in(spec: str) -> Path | None:
    """The folder of a model in a spec such as ``hf:PATH``; None where there is none."""
    kind, _, argument = spec.partition(":")
    path = Path(argument.partition("?")[0])
    return path if argument and kind != "python" and path.is_dir() else None

"""`publish`: bring a dataset repository on the Hugging Face Hub in step with a dataset folder.

The files that differ go up in one commit, so that no reader sees half a dataset; what a broken upload has left on the
Hub is used again by the next run. A tag is a version of the data, and never moves.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, DatasetCard, HfApi
from huggingface_hub.errors import (
    HfHubHTTPError,
    LocalTokenNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
)
from huggingface_hub.hf_api import RepoFile

from lmrl_data.errors import LmrlError
from lmrl_data.files import file_hash
from lmrl_generators.manifest import FILE, Manifest
from lmrl_generators.validate import validate

_CARD = "README.md"
_PUBLISHED = (_CARD, "eval.yaml", FILE, "assets/*.png", "data/**/*.parquet")
_OWNED = ("data/", "assets/")  # in the repository: a file here that the folder lacks is of an earlier version
_ATTEMPTS = 3
_TOKENS = "https://huggingface.co/settings/tokens"
# The HTTP library under huggingface_hub is another one in some of its versions; this is the base of all its errors.
_HTTP_ERROR: type[Exception] = HfHubHTTPError.__mro__[1]


@dataclass(frozen=True)
class Dataset:
    """A dataset folder that may be published.

    Attributes:
        task: its name.
        folder: of the dataset.
        files: what is published, by the path in the repository.
        version: of lmrl-gym, which made it.
    """

    task: str
    folder: Path
    files: dict[str, Path]
    version: str


@dataclass(frozen=True)
class Changes:
    """What separates a repository from a dataset.

    Attributes:
        head: the commit compared with; None where there is no repository.
        added: paths that the repository lacks.
        changed: paths whose content differs.
        removed: paths of an earlier version.
        unchanged: how many files are the same.
        tagged: whether the version has its tag.
    """

    head: str | None
    added: list[str]
    changed: list[str]
    removed: list[str]
    unchanged: int
    tagged: bool


@dataclass(frozen=True)
class Published:
    """What a run did, or would do.

    Attributes:
        is_new: whether the repository was, or is to be, created.
        changes: carried out, or to be carried out.
        commit: the newest one now; None where there is no repository.
        tag: of the version.
    """

    is_new: bool
    changes: Changes
    commit: str | None
    tag: str


def check_revision(revision: str) -> str:
    """The revision, once it is seen to be a version and not the name of a branch.

    Raises:
        LmrlError: it is not.
    """
    if not re.fullmatch(r"v\d[\w.\-]*", revision):
        raise LmrlError(f"{revision!r} is no version; give a --revision such as v1.0")
    return revision


def check_dataset(
    folder: Path, task: str, *, replay: float = 0.01, on_episodes: Callable[[int], None] | None = None
) -> Dataset:
    """A dataset folder, once it has passed `validate` and its card agrees with its data.

    Args:
        folder: made by `lmrl generate`.
        task: name of the task that it is to hold.
        replay: the share of the episodes to play again in the simulator.
        on_episodes: called with a number of episodes each time some have been checked.

    Raises:
        LmrlError: it is of another task, does not pass, or has no card of these data.
    """
    manifest = Manifest.read(folder)
    if manifest.content["task"] != task:
        raise LmrlError(f"{folder} holds the task {manifest.content['task']}; give another --folder for {task}")
    problems = validate(folder, replay=replay, on_episodes=on_episodes).problems
    if problems:
        more = f" (and {len(problems) - 1} more: `lmrl validate {folder}` names them)" if len(problems) > 1 else ""
        raise LmrlError(f"{folder} is not published, because it is not valid: {problems[0]}{more}")
    if _rows_on_card(folder) != _rows_in_manifest(manifest):
        raise LmrlError(f"{folder}/{_CARD} is not the card of these data; write it with `lmrl card {folder}`")
    paths = sorted(path for pattern in _PUBLISHED for path in folder.glob(pattern))
    files = {path.relative_to(folder).as_posix(): path for path in paths}
    return Dataset(task, folder, files, manifest.content["versions"]["lmrl-gym"])


def publish(
    dataset: Dataset,
    repo: str,
    api: HfApi,
    *,
    revision: str | None = None,
    private: bool = False,
    dry_run: bool = False,
) -> Published:
    """Create or update a dataset repository: one commit with what differs, or none, and the version's tag.

    The card that goes up names this repository, and the folder keeps its own.

    Args:
        dataset: from `check_dataset`.
        repo: id of the repository, ``NAMESPACE/NAME``.
        api: the Hub, with a token that may write to it; a dry run only reads.
        revision: the tag, such as ``v1.0``; by default ``v`` and the version of lmrl-gym that made the data.
        private: make a new repository private.
        dry_run: only look.

    Raises:
        LmrlError: the Hub refuses or cannot be reached, or the tag stands for other data.
    """
    tag = check_revision(revision or f"v{dataset.version}")
    with hub_errors(repo), _named(dataset, repo) as dataset:
        is_new = False
        # The Hub refuses a commit if another one came between, and a tag that is there: then look again.
        for _ in range(_ATTEMPTS):
            changes = find_changes(dataset, repo, api, tag=tag, private=private)
            is_new = is_new or changes.head is None
            if dry_run:
                return Published(is_new, changes, changes.head, tag)
            if changes.head is None:
                api.create_repo(repo, repo_type="dataset", private=private or None, exist_ok=True)
                changes = find_changes(dataset, repo, api, tag=tag, private=private)
            try:
                return Published(is_new, changes, _upload(dataset, repo, api, changes, tag), tag)
            except HfHubHTTPError as error:
                if error.response.status_code not in (409, 412):
                    raise
    raise LmrlError(f"others keep changing {repo}; run the same command again when they are done")


def find_changes(dataset: Dataset, repo: str, api: HfApi, *, tag: str, private: bool = False) -> Changes:
    """Compare a repository with a dataset, by the hashes that the Hub keeps.

    Raises:
        LmrlError: the tag stands for other data, or a public repository is to be private.
        HfHubHTTPError: the Hub refuses.
    """
    try:
        info = api.dataset_info(repo)
    except RepositoryNotFoundError:
        return Changes(None, sorted(dataset.files), [], [], 0, False)
    if private and not info.private:
        raise LmrlError(f"{repo} is public; make it private in its settings on the Hub, or leave out --private")
    there = _tree(api, repo, info.sha)
    same = {path for path, file in dataset.files.items() if path in there and _is_same(file, there[path])}
    tags = {ref.name: ref.target_commit for ref in api.list_repo_refs(repo, repo_type="dataset").tags}
    if tag in tags and not _has_data(_tree(api, repo, tags[tag]), dataset):
        raise LmrlError(f"{repo} has other data under the tag {tag}, which never moves; give the next --revision")
    return Changes(
        head=info.sha,
        added=sorted(dataset.files.keys() - there.keys()),
        changed=sorted(dataset.files.keys() & there.keys() - same),
        removed=sorted(path for path in there.keys() - dataset.files.keys() if path.startswith(_OWNED)),
        unchanged=len(same),
        tagged=tag in tags,
    )


def _upload(dataset: Dataset, repo: str, api: HfApi, changes: Changes, tag: str) -> str | None:
    """Carry out the changes; the commit that then is the newest."""
    head = changes.head
    additions = [CommitOperationAdd(path, dataset.files[path]) for path in (*changes.added, *changes.changed)]
    deletions = [CommitOperationDelete(path, is_folder=False) for path in changes.removed]
    if additions or deletions:
        message = f"Publish {dataset.task} {tag}"
        head = api.create_commit(
            repo, [*additions, *deletions], commit_message=message, repo_type="dataset", parent_commit=head
        ).oid
    if not changes.tagged:
        api.create_tag(repo, repo_type="dataset", tag=tag, revision=head)
    return head


@contextmanager
def _named(dataset: Dataset, repo: str) -> Iterator[Dataset]:
    """The dataset with a card that speaks of the repository that it goes to: its code loads what was published."""
    with TemporaryDirectory() as folder:
        card = Path(folder) / _CARD
        text = dataset.files[_CARD].read_text("utf-8")
        card.write_text(text.replace(f"lmrl-gym/{dataset.task}", repo), "utf-8", newline="\n")
        yield replace(dataset, files={**dataset.files, _CARD: card})


def _tree(api: HfApi, repo: str, revision: str | None) -> dict[str, RepoFile]:
    entries = api.list_repo_tree(repo, recursive=True, revision=revision, repo_type="dataset")
    return {entry.path: entry for entry in entries if isinstance(entry, RepoFile)}


def _is_same(path: Path, there: RepoFile) -> bool:
    if path.stat().st_size != there.size:
        return False
    if there.lfs is not None:
        return file_hash(path) == there.lfs.sha256
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest() == there.blob_id  # as git names it


def _has_data(tree: dict[str, RepoFile], dataset: Dataset) -> bool:
    """Whether a tree has exactly the dataset's data; the card may differ."""
    ours = {path for path in dataset.files if path.startswith("data/")}
    theirs = {path for path in tree if path.startswith("data/")}
    return ours == theirs and all(_is_same(dataset.files[path], tree[path]) for path in ours)


def _rows_on_card(folder: Path) -> dict[tuple[str, str], int]:
    """Rows by config and split, as the card's metadata give them; empty where there is no such card."""
    try:
        infos: Any = DatasetCard.load(folder / _CARD).data.to_dict()["dataset_info"]
        return {
            (info["config_name"], split["name"]): split["num_examples"]
            for info in (infos if isinstance(infos, list) else [infos])
            for split in info["splits"]
            if info["config_name"] != "evaluation"
        }
    except (OSError, KeyError, TypeError, ValueError):
        return {}


def _rows_in_manifest(manifest: Manifest) -> dict[tuple[str, str], int]:
    return {
        (name, split): content["episodes"]
        for name, config in manifest.content["configs"].items()
        for split, content in config["splits"].items()
    }


def check_login(api: HfApi) -> None:
    """Ask the Hub whether it knows the token, before hours go into checking data.

    Raises:
        LmrlError: there is none, the Hub does not know it, or it cannot be reached.
    """
    with hub_errors(api.endpoint):
        api.whoami()


@contextmanager
def hub_errors(what: str) -> Iterator[None]:
    """Turn what the client raises into one line with a remedy. No message of the client holds the token."""
    again = "run the same command again: what has arrived is not sent twice"
    try:
        yield
    except LmrlError:
        raise
    except LocalTokenNotFoundError as error:
        raise LmrlError("no token for the Hub; log in with `hf auth login`, or set HF_TOKEN") from error
    except OfflineModeIsEnabled as error:
        raise LmrlError("HF_HUB_OFFLINE is set, so nothing can be published; unset it") from error
    except HfHubHTTPError as error:
        status, said = error.response.status_code, error.server_message or str(error)
        if status == 403 or isinstance(error, RepositoryNotFoundError):
            raise LmrlError(
                f"this token may not write to {what}; give a --namespace of yours, or make a token that may write "
                f"to it at {_TOKENS} and log in with `hf auth login`"
            ) from error
        if status == 401:
            raise LmrlError(
                f"the Hub does not know this token; make one at {_TOKENS} and log in with `hf auth login`, or set "
                "HF_TOKEN"
            ) from error
        raise LmrlError(f"the Hub answers {status} for {what} ({said}); later, {again}") from error
    except ValueError as error:
        raise LmrlError(f"{what} cannot be published: {error}") from error
    except (_HTTP_ERROR, OSError, RuntimeError) as error:
        cause = error.__cause__ or error
        raise LmrlError(f"the connection to the Hub failed for {what} ({cause}); when it is back, {again}") from error

"""The commands of lmrl_generators: ``lmrl generate``, ``validate``, ``publish`` and ``import``."""

import json
import posixpath
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from lmrl_data.console import print_table, progress
from lmrl_data.errors import LmrlError
from lmrl_generators import import_commands

app = typer.Typer()
app.add_typer(import_commands.app)


@app.command()
def generate(
    task: Annotated[str, typer.Option(help="Name of a task, or `all`.")],
    config: Annotated[str | None, typer.Option(help="Config of the task; all of them if left out.")] = None,
    size: Annotated[str, typer.Option(help="Size of the data: small or full.")] = "small",
    episodes: Annotated[int | None, typer.Option(help="Train episodes, instead of the size's.")] = None,
    validation: Annotated[int | None, typer.Option(help="Validation episodes, instead of the size's.")] = None,
    policy: Annotated[
        list[str] | None, typer.Option(help="SPEC=SHARE of a behaviour policy, instead of the task's; repeatable.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the plan; 0 is the published data.")] = 0,
    option: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE of an argument of the environment; repeatable.")
    ] = None,
    shard_size: Annotated[int | None, typer.Option(help="Episodes in a file; the task's if left out.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Worker processes; one per core if left out.")] = None,
    executor: Annotated[str, typer.Option(help="Where shards are made: local (this machine) or ray.")] = "local",
    address: Annotated[
        str | None, typer.Option(help="Address of the Ray cluster; one is started on this machine if left out.")
    ] = None,
    out: Annotated[
        str, typer.Option(help="Folder, or URL such as s3://BUCKET/FOLDER, that gets a folder per task.")
    ] = "lmrl-gym",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace other data in the folder.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Generate a task's dataset: Parquet shards, evaluation episodes, manifest and card.

    The same command gives the same bytes, whatever the workers and where; run again after an interruption it goes on.
    """
    from lmrl_data.cores import available_cores
    from lmrl_data.ray_executor import chosen_cluster
    from lmrl_data.registry import list_tasks, read_options
    from lmrl_generators.generate import generate as run
    from lmrl_generators.plan import make_plans
    from lmrl_generators.shards import check_policies

    shares = dict(_share(text) for text in policy) if policy else None
    if policy and shares is not None and len(shares) < len(policy):
        raise LmrlError("a behaviour policy is named twice; give each once with its whole share")
    names = list_tasks() if task == "all" else [task]
    # All plans before the first shard: what is wrong with the last one is said before hours are spent on the others.
    planned = [
        make_plans(
            name,
            config=config,
            size=size,
            episodes=episodes,
            validation=validation,
            shard_size=shard_size,
            seed=seed,
            policies=shares,
            options=read_options(option or []),
        )
        for name in names
    ]
    check_policies([plan for plans in planned for plan in plans])
    rows = []
    with chosen_cluster(executor, address, workers) as cluster:
        settings: dict[str, Any] = {"workers": workers or available_cores(), "cluster": cluster, "overwrite": overwrite}
        for name, plans in zip(names, planned, strict=True):
            started, folder = time.perf_counter(), posixpath.join(out, name)
            with progress(f"generating {name}", sum(plan.episodes for plan in plans), quiet=quiet) as advance:
                done = run(plans, folder, **settings, on_episodes=advance)
            seconds = time.perf_counter() - started
            rows.append({"task": name, "folder": folder, **vars(done), "seconds": round(seconds, 2)})
    if as_json:
        print(json.dumps(rows, indent=2))
    elif not quiet:
        print_table("generated", rows)


def _share(text: str) -> tuple[str, float]:
    spec, _, share = text.rpartition("=")
    try:
        return (spec, float(share)) if spec else (text, 1.0)
    except ValueError:
        raise LmrlError(f"cannot read the policy {text!r}; write SPEC or SPEC=SHARE, such as mixture=0.5") from None


@app.command()
def validate(
    folders: Annotated[list[str], typer.Argument(help="Dataset folders made by `lmrl generate`, or their URLs.")],
    replay: Annotated[float, typer.Option(help="Share of the episodes to play again in the simulator.")] = 0.01,
    everything: Annotated[bool, typer.Option("--all", help="Play every episode again.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but problems.")] = False,
) -> None:
    """Check dataset folders: hashes, schema, invariants of every row, and a replay in the simulator.

    Exit code 2 when something is wrong.
    """
    from lmrl_generators.validate import planned_episodes
    from lmrl_generators.validate import validate as run

    share = 1.0 if everything else replay
    rows, problems, partners = [], [], []
    for folder in folders:
        started = time.perf_counter()
        with progress(f"validating {folder}", planned_episodes(folder), quiet=quiet) as advance:
            found = run(folder, replay=share, on_episodes=advance)
        seconds = time.perf_counter() - started
        rows.append(
            {
                "folder": folder,
                "episodes": found.episodes,
                "replayed": share,
                "problems": len(found.problems),
                "seconds": round(seconds, 2),
            }
        )
        problems += [f"{folder}: {problem}" for problem in found.problems]
        partners += [
            f"{folder}: {count} episodes were answered by {name!r}, which cannot be asked again: its part was taken "
            "from the record"
            for name, count in found.partners.items()
        ]
    if as_json:
        print(json.dumps({"folders": rows, "problems": problems, "partners": partners}, indent=2))
    elif not quiet:
        print_table("validated", rows)
        print("".join(f"{line}\n" for line in partners), end="")
    if problems:
        for problem in problems:
            typer.echo(f"lmrl: {problem}", err=True)
        raise typer.Exit(2)


@app.command()
def publish(
    task: Annotated[str, typer.Option(help="Name of a task, or `all`.")],
    namespace: Annotated[str, typer.Option(help="User or organisation on the Hugging Face Hub.")],
    folder: Annotated[Path, typer.Option(help="Folder that has a folder per task.")] = Path("lmrl-gym"),
    revision: Annotated[
        str | None, typer.Option(help="Tag of this version, such as v1.0; by default lmrl-gym's version.")
    ] = None,
    private: Annotated[bool, typer.Option("--private", help="Make new repositories private.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Create or update the dataset repositories on the Hugging Face Hub, once the folders pass `lmrl validate`.

    Only files that differ are sent; after an interruption the same command goes on. The token is that of `hf auth
    login` or HF_TOKEN.
    """
    from huggingface_hub import HfApi, get_token
    from huggingface_hub.utils.tqdm import disable_progress_bars

    from lmrl_data.registry import get_task, list_tasks
    from lmrl_generators.publish import check_dataset, check_login, check_revision
    from lmrl_generators.publish import publish as run
    from lmrl_generators.validate import planned_episodes

    if quiet or not sys.stderr.isatty():
        disable_progress_bars()
    if revision is not None:
        check_revision(revision)
    api = HfApi()
    if get_token() or not dry_run:
        check_login(api)
    names = list_tasks() if task == "all" else [get_task(task).name]
    datasets = []
    # All checks before the first upload: a benchmark is not to be left half published for what is wrong with its rest.
    for name in names:
        with progress(f"validating {name}", planned_episodes(folder / name), quiet=quiet) as advance:
            datasets.append(check_dataset(folder / name, name, on_episodes=advance))
    rows = []
    for dataset in datasets:
        repo = f"{namespace}/{dataset.task}"
        done = run(dataset, repo, api, revision=revision, private=private, dry_run=dry_run)
        sent = sum(dataset.files[path].stat().st_size for path in done.changes.added + done.changes.changed)
        rows.append({"repository": repo, **vars(done), **vars(done.changes), "bytes": sent})
        del rows[-1]["changes"]
    if as_json:
        print(json.dumps({"dry_run": dry_run, "repositories": rows}, indent=2))
    elif not quiet:
        _print_published(rows, dry_run)


def _print_published(rows: list[dict[str, Any]], dry_run: bool) -> None:
    """A table with a row per repository; in a dry run also a line per file."""
    table = []
    for row in rows:
        files = {key: len(row[key]) for key in ("added", "changed", "removed")}
        done = "created" if row["is_new"] else "updated" if any(files.values()) else "unchanged"
        tag = row["tag"] if row["tagged"] else f"{row['tag']} (new)"
        commit = (row["commit"] or "none")[:8]
        table.append({"repository": row["repository"], "state": done, **files, "same": row["unchanged"]})
        table[-1] |= {"sent_MB": round(row["bytes"] / 1e6, 1), "tag": tag, "commit": commit}
        if dry_run:
            signs = (("+", "added"), ("~", "changed"), ("-", "removed"))
            print("".join(f"{sign} {row['repository']}/{path}\n" for sign, key in signs for path in row[key]), end="")
    print_table("dry run, nothing is sent; to be published" if dry_run else "published", table)

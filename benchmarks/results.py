"""Train and score every method: ``python -m benchmarks.results TASK [--config C] [--seed S]``, then ``… table``.

A cell is a method on a task's config with a training seed. Its model is trained with the recipe of the task
(`lmrl_loaders/recipes`) and scored on the published evaluation episodes. For value-guided methods β, and for the tasks
of `TEMPERATURES` the temperature, is chosen by 200 episodes of another evaluation set before. The columns ``random``
and ``best`` are scripted policies: random actions, and the one that the task's maximum is from. What was measured goes
to ``benchmarks/results/``: a line per cell in ``cells.jsonl``, and the learning curve beside it. Cells that are there
already are left out, so an interrupted run goes on.
"""

import argparse
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from lmrl_data.policy_options import with_options
from lmrl_data.registry import get_task, list_tasks
from lmrl_evaluation.evaluate import evaluate
from lmrl_evaluation.published import published
from lmrl_loaders.recipes import METHODS, recipe, run_method

FOLDER = Path(__file__).parent / "results"
CELLS = FOLDER / "cells.jsonl"
BETAS = (0.5, 1, 2, 4, 8, 16, 32, 64, 128)
PAPER_NAMES = {
    "bc": "BC",
    "filtered-bc": "filtered BC",
    "mc": "MC",
    "ilql": "ILQL",
    "ppo": "PPO",
    "online-bc": "online filtered BC",
}
COLUMNS = ("random", *METHODS, "best")
# Another evaluation set than the published one, to choose by.
CHOOSING_SEED = 1
CHOOSING_EPISODES = 200
# A move that is not legal costs as much as a win earns: there a model may do better to say what it is surest of.
TEMPERATURES = {"endgames": (1, 0.5, 0), "chess": (1, 0.5, 0)}
# A tenth of both sets where the opponent is an engine that thinks: of the published one, and to choose by.
FEWER_EPISODES = {"chess": (100, 20)}


def run_cell(method: str, task: str, config: str, seed: int, data: Path, models: Path) -> dict[str, Any]:
    """Train a model, unless the column is a scripted policy, and score it."""
    if method not in METHODS:
        policy = "random" if method == "random" else get_task(task).config(config)[1].bounds.maximum_from
        return _cell(method, task, config, seed, policy) | {"policy": policy}
    output = models / f"{task}-{config}-{method}-{seed}"
    places: dict[str, Any] = {"config": config, "data": data, "output": output}
    settings = recipe(task, config, method)
    before = settings.get("model", "bc" if method in ("ppo", "online-bc") else None)
    if before in METHODS:
        places["model"] = str(models / f"{task}-{config}-{before}-{seed}")
    began = time.perf_counter()
    trained = run_method(method, task, settings | {"seed": seed}, places)
    minutes = (time.perf_counter() - began) / 60
    played = _chosen(method, task, config, output)
    curve = [json.loads(line) for line in (output / "training_log.jsonl").read_text("utf-8").splitlines()]
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{task}-{config}-{method}-{seed}.curve.json").write_text(json.dumps(_thinned(curve)) + "\n", "utf-8")
    measured = {
        **played,
        "steps": trained["steps"],
        "played": trained.get("played", 0),
        "minutes": round(minutes, 1),
    }
    return _cell(method, task, config, seed, _spec(method, output, played)) | measured


def _chosen(method: str, task: str, config: str, output: Path) -> dict[str, float]:
    """How a model is to play: the options with the highest mean return on another evaluation set."""
    betas = [{"beta": beta} for beta in BETAS] if method in ("mc", "ilql") else [{}]
    options = [
        beta | ({} if temperature == 1 else {"temperature": temperature})
        for beta in betas
        for temperature in TEMPERATURES.get(task, (1,))
    ]
    if len(options) == 1:
        return options[0]
    episodes = FEWER_EPISODES.get(task, (None, CHOOSING_EPISODES))[1]
    returns = [
        evaluate(task, _spec(method, output, option), config=config, episodes=episodes, seed=CHOOSING_SEED)
        .estimates["mean_return"]
        .value
        for option in options
    ]
    return options[int(np.argmax(returns))]


def _spec(method: str, output: Path, played: dict[str, float]) -> str:
    return with_options(f"{'ilql' if method in ('mc', 'ilql') else 'hf'}:{output}", played)


def _cell(method: str, task: str, config: str, seed: int, policy: str) -> dict[str, Any]:
    episodes, _ = FEWER_EPISODES.get(task, (None, None))
    result = evaluate(task, policy, config=config, episodes=episodes)
    score, returned = result.estimates["normalized_score"], result.estimates["mean_return"]
    return {
        "task": task,
        "config": config,
        "method": method,
        "seed": seed,
        "score": round(score.value, 2),
        "interval": [round(end, 2) for end in score.interval],
        "mean_return": round(returned.value, 4),
        "success_rate": round(result.estimates["success_rate"].value, 4),
        "episodes": result.episodes,
    }


def _thinned(curve: list[dict[str, Any]], most: int = 100) -> list[dict[str, Any]]:
    """At most so many entries, evenly spread."""
    places = np.unique(np.linspace(0, len(curve) - 1, min(most, len(curve))).round().astype(int))
    return [{name: round(value, 4) for name, value in curve[place].items()} for place in places]


def cells() -> list[dict[str, Any]]:
    """The cells that have been measured."""
    return [json.loads(line) for line in CELLS.read_text("utf-8").splitlines()] if CELLS.is_file() else []


def table(measured: Iterable[dict[str, Any]]) -> str:
    """The results as Markdown: a row per config, a column per method, the paper's score behind ours."""
    rows: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = {}
    for cell in measured:
        rows.setdefault((cell["task"], cell["config"]), {}).setdefault(cell["method"], []).append(cell)
    lines = [
        "| task, config | " + " | ".join(COLUMNS) + " |",
        "|---|" + "--:|" * len(COLUMNS),
    ]
    order = [(task, config) for task in list_tasks() for config in get_task(task).configs]
    for task, config in sorted(rows, key=order.index):
        methods = rows[task, config]
        default = get_task(task).config()[0] == config and len(get_task(task).configs) == 1
        paper = {row.method: row.normalized_score for row in published(task, config)}
        entries = [_entry(methods.get(method, []), paper.get(PAPER_NAMES.get(method, ""))) for method in COLUMNS]
        lines.append(f"| {task}{'' if default else f', `{config}`'} | " + " | ".join(entries) + " |")
    return "\n".join(lines)


def _entry(found: list[dict[str, Any]], paper: float | None) -> str:
    """Mean over the seeds, with what it may be off by: of one seed its evaluation's, of several their spread's too."""
    behind = f" ({paper:.1f})" if paper is not None else ""
    if not found:
        return f"–{behind}"
    scores = np.array([cell["score"] for cell in found])
    own = np.mean([(cell["interval"][1] - cell["interval"][0]) / 2 for cell in found])
    if len(scores) == 1:
        return f"{scores[0]:.1f} ± {own:.1f}{behind}"
    between = 1.96 * scores.std(ddof=1) / np.sqrt(len(scores))
    return f"{scores.mean():.1f} ± {np.hypot(between, own / np.sqrt(len(scores))):.1f}{behind}"


def main() -> None:
    """Run the cells of a task, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("task", help="name of a task, or 'table'")
    parser.add_argument("--config")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--methods", nargs="+", default=list(COLUMNS), choices=COLUMNS)
    parser.add_argument("--data", type=Path, help="dataset folder; lmrl-gym/TASK if left out")
    parser.add_argument("--models", type=Path, default=Path("models"))
    given = parser.parse_args()
    if given.task == "table":
        print(table(cells()))
        return
    config, _ = get_task(given.task).config(given.config)
    done = {(cell["task"], cell["config"], cell["method"], cell["seed"]) for cell in cells()}
    for method in given.methods:
        scripted = method not in METHODS  # which have no training seed
        if (given.task, config, method, given.seed) in done or (scripted and given.seed):
            continue
        data = given.data or Path("lmrl-gym") / given.task
        cell = run_cell(method, given.task, config, given.seed, data, given.models)
        FOLDER.mkdir(exist_ok=True)
        with CELLS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(cell) + "\n")
        print(json.dumps(cell), flush=True)


if __name__ == "__main__":
    main()

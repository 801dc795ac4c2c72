"""Scores as the Hugging Face Hub reads them: `.eval_results/lmrl-gym.yaml` of a model repository, and the episodes.

The format is the Hub's (https://huggingface.co/docs/hub/eval-results): a list of values, each for a task of a benchmark
dataset, which the dataset's `eval.yaml` names.
"""

from collections.abc import Sequence
from pathlib import Path

import yaml

from lmrl_data.errors import LmrlError
from lmrl_data.files import write_bytes
from lmrl_evaluation.leaderboard import is_whole
from lmrl_evaluation.result import Result, write_result

SCORES_FILE = ".eval_results/lmrl-gym.yaml"
RESULTS_FOLDER = "lmrl-gym-results"


def eval_results(results: Sequence[Result], source: str | None = None) -> str:
    """The text of the file in `.eval_results/`.

    Args:
        results: of one model, at most one for each config of a task.
        source: address of a page about the evaluation.

    Raises:
        LmrlError: a result that did not play the published evaluation episodes, or two for one config.
    """
    seen = set()
    for result in results:
        if not is_whole(result):
            raise LmrlError(
                f"{result.folder_name} did not play the published evaluation episodes; evaluate without --episodes and "
                "--seed"
            )
        if (result.task, result.config) in seen:
            raise LmrlError(f"there are two results for {result.task}, {result.config}; give one for each config")
        seen.add((result.task, result.config))
    entries = [_entry(result, source) for result in results]
    return str(yaml.safe_dump(entries, sort_keys=False, allow_unicode=True, width=100))


def prepare_submission(results: Sequence[Result], folder: Path, source: str | None = None) -> list[Path]:
    """Put scores and episodes into the local folder of a model repository; nothing is uploaded.

    Returns:
        What was written: the file of scores, and a result folder each.

    Raises:
        LmrlError: see `eval_results`; then nothing is written.
    """
    text = eval_results(results, source)
    folders = [folder / RESULTS_FOLDER / result.folder_name for result in results]
    for result, target in zip(results, folders, strict=True):
        write_result(result, target)
    write_bytes(folder / SCORES_FILE, text.encode())
    return [folder / SCORES_FILE, *folders]


def _entry(result: Result, source: str | None) -> dict[str, object]:
    score = result.estimates["normalized_score"]
    low, high = score.interval
    entry: dict[str, object] = {
        # The ids are those of the dataset's eval.yaml (lmrl_cards.metadata.evaluation_file).
        "dataset": {"id": f"lmrl-gym/{result.task}", "task_id": f"{result.config}_normalized_score"},
        "value": round(score.value, 2),
        "notes": (
            f"95 % interval {low:.1f} to {high:.1f}; mean return {result.estimates['mean_return'].value:.3f} over "
            f"{result.episodes} episodes of {result.env_id}; {result.policy} ({result.method}); lmrl-gym "
            f"{result.versions.get('lmrl-gym', 'of unknown version')}; {RESULTS_FOLDER}/{result.folder_name}"
        ),
    }
    if source is not None:
        entry["source"] = {"url": source, "name": "lmrl-gym"}
    return entry

"""A folder with a trained model: weights and tokenizer as transformers saves them, and ``lmrl.json``, what it is.

Any tool that reads transformers models reads it; ``lmrl.json`` adds the task, the window rule and where it comes from.
"""

import json
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import logging

from lmrl_data.errors import LmrlError
from lmrl_loaders.windows import WindowRule

INFO_FILE, LOG_FILE = "lmrl.json", "training_log.jsonl"
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
# A longer context costs much and adds little in these tasks.
MAX_CONTEXT = 1024


@dataclass(frozen=True)
class ModelInfo:
    """What ``lmrl.json`` holds.

    Attributes:
        task: what the model plays.
        config: of the task.
        method: how it was trained, such as ``"bc"``.
        seed: of the training run.
        window: the rule that cut the episodes, and by which the model must play.
        training: what else the run depends on.
        data: SHA-256 of each file of training data.
        versions: of the libraries.
    """

    task: str
    config: str
    method: str
    seed: int
    window: WindowRule
    training: dict[str, Any]
    data: dict[str, str]
    versions: dict[str, str]


def check_output(folder: Path) -> None:
    """Make sure that a model may be saved here, before hours are spent on it.

    Raises:
        LmrlError: there is something else than a model of ours, which saving would delete.
    """
    if folder.exists() and not (folder / INFO_FILE).is_file():
        raise LmrlError(f"{folder} exists and is no model of `lmrl train`; choose another --output or remove it")


def save_model(
    folder: Path,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    info: ModelInfo,
    log: Sequence[dict[str, Any]] = (),
) -> None:
    """Write the folder under a temporary name and rename it: there is a whole model or none.

    A model of ours that is already there is replaced. The log of its training is written beside it, a JSON line each.

    Raises:
        LmrlError: something else is there, or it cannot be written.
    """
    check_output(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as temporary:
            new, old = Path(temporary, "new"), Path(temporary, "old")
            with _quietly():
                model.save_pretrained(new)
            tokenizer.save_pretrained(new)
            (new / INFO_FILE).write_text(json.dumps(asdict(info), indent=2) + "\n", encoding="utf-8")
            lines = "".join(json.dumps(entry) + "\n" for entry in log)
            (new / LOG_FILE).write_text(lines, encoding="utf-8")
            for file in new.iterdir():
                with file.open("rb") as opened:
                    os.fsync(opened.fileno())
            if folder.exists():
                folder.rename(old)
            new.rename(folder)
    except (OSError, SafetensorError) as error:  # the latter hides a full disk
        raise LmrlError(
            f"cannot write the model to {folder} ({error}); mend that or choose another --output"
        ) from error


def read_info(folder: Path) -> ModelInfo | None:
    """What a model folder says about itself; None for a model that was not trained here.

    Raises:
        LmrlError: its ``lmrl.json`` cannot be read.
    """
    path = folder / INFO_FILE
    if not path.is_file():
        return None
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return ModelInfo(**{**stored, "window": WindowRule(**stored["window"])})
    except (ValueError, TypeError, KeyError) as error:
        raise LmrlError(f"{path} cannot be read ({type(error).__name__}); train the model again") from error


def load_model(path: str, dtype: torch.dtype | str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A causal model and its tokenizer.

    Args:
        path: a folder as `save_pretrained` writes it, or, where there is no such folder, OWNER/NAME on the Hub.
        dtype: of the weights in memory; ``"auto"`` is what they were saved as.

    Raises:
        LmrlError: there is no such model, or it cannot be loaded.
    """
    folder = Path(path)
    on_hub = not folder.exists() and _HUB_NAME.fullmatch(path) is not None
    if not on_hub and not (folder / "config.json").is_file():
        raise LmrlError(
            f"{path} is no model folder (it has no config.json) and no OWNER/NAME on the Hub; "
            "make one with `lmrl train bc`"
        )
    model: PreTrainedModel
    loading: dict[str, Any]
    try:
        with _quietly():
            model, loading = AutoModelForCausalLM.from_pretrained(
                path, dtype=dtype, local_files_only=not on_hub, output_loading_info=True
            )  # type: ignore[misc]
        tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=not on_hub)
    except Exception as error:  # transformers, safetensors and tokenizers each raise their own
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        where = f"{path}, neither a folder here nor found on the Hub," if on_hub else f"in {path}"
        raise LmrlError(f"the model {where} cannot be loaded: {reason}") from error
    if loading["missing_keys"]:
        raise LmrlError(
            f"the model {path} lacks weights, such as {min(loading['missing_keys'])}; train or get it again"
        )
    return model, tokenizer


def model_context(model: PreTrainedModel) -> int:
    """The longest sequence that a model is trained and played with unless told otherwise, in tokens."""
    return min(getattr(model.config, "max_position_embeddings", MAX_CONTEXT), MAX_CONTEXT)


@contextmanager
def _quietly() -> Iterator[None]:
    """Without transformers' own bars and load reports, which it writes to log files and terminals alike.

    What a report may say is checked here: weights that are missing are an error, and those of value heads are left over
    in every model that has them.
    """
    shown, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]

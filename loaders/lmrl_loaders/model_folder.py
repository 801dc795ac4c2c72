"""A folder with a trained model: weights and tokenizer as transformers saves them, and ``lmrl.json``, what it is.

Any tool that reads transformers models reads it; ``lmrl.json`` adds the task, the window rule and where it comes from.
"""

import json
import os
import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from lmrl_data.errors import LmrlError
from lmrl_loaders.windows import WindowRule

INFO_FILE = "lmrl.json"
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
        data: SHA-256 of each file of training data, where the dataset's manifest tells them.
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


def save_model(
    folder: Path, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, info: ModelInfo
) -> None:
    """Write the folder under a temporary name and rename it, so that there is a whole model or none.

    A model that is already there is replaced.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        model.save_pretrained(temporary)
        tokenizer.save_pretrained(temporary)
        (temporary / INFO_FILE).write_text(json.dumps(asdict(info), indent=2) + "\n", encoding="utf-8")
        temporary.chmod(0o755)
        for file in temporary.iterdir():
            with file.open("rb") as opened:
                os.fsync(opened.fileno())
        if folder.exists():
            shutil.rmtree(folder)
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


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


def load_model(folder: Path) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A causal model and its tokenizer from a local folder; nothing is downloaded.

    Raises:
        LmrlError: there is no model in the folder, or it cannot be loaded.
    """
    if not (folder / "config.json").is_file():
        raise LmrlError(f"{folder} is no model folder (it has no config.json); make one with `lmrl train bc`")
    # On a GPU the model keeps the precision that it was saved with; most CPUs are fast in single precision only.
    dtype = "auto" if torch.cuda.is_available() else torch.float32
    try:
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, local_files_only=True)
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except Exception as error:  # transformers, safetensors and tokenizers each raise their own
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise LmrlError(f"the model in {folder} cannot be loaded: {reason}") from error
    return model, tokenizer


def model_context(model: PreTrainedModel) -> int:
    """The longest sequence that a model is trained and played with unless told otherwise, in tokens."""
    return min(getattr(model.config, "max_position_embeddings", MAX_CONTEXT), MAX_CONTEXT)

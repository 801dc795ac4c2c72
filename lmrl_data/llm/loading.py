"""A model of transformers from a folder or from the Hub, and which version of it that is."""

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import torch
from huggingface_hub import hf_hub_download
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer
from transformers.utils import logging

from lmrl_data.errors import LmrlError
from lmrl_data.files import file_hash

_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
# Digits of a version in a name.
_SHORT = 12


class Loaded(NamedTuple):
    """A model, causal or sequence-to-sequence.

    Attributes:
        model: on the CPU.
        tokenizer: of the model.
        name: what may be said of it, with the beginning of the version.
        version: the commit on the Hub; of a folder, a hash of the contents of its files.
    """

    model: Any
    tokenizer: Any
    name: str
    version: str


def load(path: str, dtype: torch.dtype | str) -> Loaded:
    """Load a model and its tokenizer.

    Args:
        path: a folder as `save_pretrained` writes it, or, where there is no such folder, OWNER/NAME on the Hub.
        dtype: of the weights in memory; ``"auto"`` is what they were saved as.

    Raises:
        LmrlError: there is no such model, or it cannot be loaded.
    """
    folder = Path(path)
    on_hub = not folder.exists() and _HUB_NAME.fullmatch(path) is not None
    if not on_hub and not (folder / "config.json").is_file():
        raise LmrlError(f"{path} is no model folder (it has no config.json) and no OWNER/NAME on the Hub")
    try:
        # One commit for all its files, whatever is pushed meanwhile; the Hub's cache has a folder of its name for each.
        commit = Path(hf_hub_download(path, "config.json")).parent.name if on_hub else "main"
        source: dict[str, Any] = {"revision": commit, "local_files_only": not on_hub}
        with _no_bars():
            config = AutoConfig.from_pretrained(path, **source)
            kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
            model = kind.from_pretrained(path, config=config, dtype=dtype, **source)
        tokenizer = AutoTokenizer.from_pretrained(path, **source)
    except Exception as error:  # transformers, safetensors, tokenizers and the Hub each raise their own
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise LmrlError(f"the language model {path} cannot be loaded: {reason}") from error
    version, public = (commit, path) if on_hub else (_folder_hash(folder), folder.resolve().name)
    return Loaded(model, tokenizer, f"hf:{public}@{version[:_SHORT]}", version)


def _folder_hash(folder: Path) -> str:
    files = sorted(file for file in folder.iterdir() if file.is_file())
    listing = "\n".join(f"{file.name} {file_hash(file)}" for file in files)
    return hashlib.sha256(listing.encode("utf-8", "surrogateescape")).hexdigest()


@contextmanager
def _no_bars() -> Iterator[None]:
    """Without transformers' own progress bars, which it draws in log files too."""
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]

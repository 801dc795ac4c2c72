"""Behaviour cloning: imitate the agent of the data, with TRL's SFTTrainer.

The loss is on what the agent says and on the end of its turn, nothing else. Episodes go in as token sequences with
labels, cut into windows (`lmrl_loaders.windows`); where an episode fits into the context that is the same as TRL's
``messages`` with ``assistant_only_loss=True``.
"""

import copy
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from transformers import PreTrainedModel, TrainerCallback
from transformers.trainer_callback import PrinterCallback
from trl import SFTConfig, SFTTrainer  # type: ignore[attr-defined]
from trl.chat_template_utils import has_generation_markers

from lmrl_data.dataset import load_table, split_files
from lmrl_data.errors import LmrlError
from lmrl_data.files import file_hash
from lmrl_data.registry import get_task
from lmrl_loaders.chat import ChatEncoder, add_marked_template
from lmrl_loaders.model_folder import ModelInfo, check_output, load_model, model_context, save_model
from lmrl_loaders.sequences import Utterances, longest_reply, read_utterances, training_sequences
from lmrl_loaders.tiny import tiny_model
from lmrl_loaders.tokenizer import build_tokenizer
from lmrl_loaders.windows import WindowRule, action_tokens

TINY = "tiny"
# A model from scratch takes large steps; 1e-4 for pretrained ones is the paper's (table 3).
TINY_LEARNING_RATE = 1e-2
PRETRAINED_LEARNING_RATE = 1e-4
# The tiny model sees whole episodes where they are short, and else so many tokens, or three turns if that is more.
TINY_CONTEXT = 128


@dataclass
class BCConfig(SFTConfig):
    """Settings of behaviour cloning: TRL's `SFTConfig` with defaults that suit a laptop and a graphics card alike.

    `train_bc` sets ``output_dir`` itself. With ``save_strategy="steps"`` an interrupted run keeps its checkpoints
    beside the output folder, and ``resume_from_checkpoint=True`` goes on from the last one.
    """

    learning_rate: float | None = field(  # type: ignore[assignment]
        default=None,
        metadata={"help": "Initial learning rate for AdamW. None: 1e-2 for the tiny model, 1e-4 for a pretrained one."},
    )
    max_steps: int = field(
        default=400,
        metadata={"help": "Optimiser steps. -1 trains for `num_train_epochs` instead."},
    )
    num_train_epochs: float = field(default=1.0, metadata={"help": "Passes over the data if `max_steps` is -1."})
    per_device_train_batch_size: int = field(default=16, metadata={"help": "Sequences (windows) in a batch."})
    max_length: int | None = field(
        default=None,
        metadata={
            "help": "Context in tokens: longer episodes are cut into windows. None: what suits the data for the tiny "
            "model, the model's own up to 1024 for a pretrained one."
        },
    )
    warmup_steps: float = field(default=0.05, metadata={"help": "Share of the steps with rising learning rate."})
    lr_scheduler_type: str = field(default="cosine", metadata={"help": "Course of the learning rate after that."})
    seed: int = field(default=0, metadata={"help": "Of the first weights and of the order of the data."})
    use_cpu: bool = field(
        default_factory=lambda: not torch.cuda.is_available(),
        metadata={"help": "Train on the CPU; by default only where there is no GPU."},
    )
    activation_checkpointing: bool | None = field(
        default=False, metadata={"help": "Compute activations twice, which saves memory and costs time."}
    )
    save_strategy: str = field(default="no", metadata={"help": "When to keep checkpoints: no, steps or epoch."})
    report_to: str = field(default="none", metadata={"help": "Where to report metrics, such as wandb."})

    def __post_init__(self) -> None:
        if self.bf16 is None:
            self.bf16 = not self.use_cpu and not self.fp16 and torch.cuda.is_bf16_supported()
        super().__post_init__()  # type: ignore[no-untyped-call]


def train_bc(
    task: str,
    *,
    config: str | None = None,
    model: str = TINY,
    data: str | Path | None = None,
    output: str | Path | None = None,
    args: BCConfig | None = None,
) -> dict[str, Any]:
    """Train a policy by behaviour cloning and save it.

    The same data, arguments and machine give the same weights; no global random state is left changed.

    Args:
        task: name of a task.
        config: of the task; None is its default.
        model: ``"tiny"`` makes a small one from scratch; else the folder of a pretrained causal model, or its name on
            the Hub.
        data: dataset folder; None is ``lmrl-gym/TASK``.
        output: where to save; None is ``models/TASK-bc``, with the config in the name where it is not the default. A
            model that is already there is replaced.
        args: settings of the training.

    Returns:
        ``output``, ``task``, ``config``, ``episodes``, ``sequences``, ``steps``, ``train_loss``.

    Raises:
        LmrlError: unknown task or config, no data, no such model, an observation longer than the context.
    """
    config_name, _ = get_task(task).config(config)
    data = Path(data or f"lmrl-gym/{task}")
    output = Path(output) if output else _default_output(task, config_name)
    args = copy.copy(args or BCConfig())
    if args.learning_rate is None:
        args.learning_rate = TINY_LEARNING_RATE if model == TINY else PRETRAINED_LEARNING_RATE
    check_output(output)
    hashes = _data_hashes(data, config_name)
    with _isolated_randomness(), _checkpoint_folder(output, args):
        # New embeddings of a pretrained model are drawn before the trainer seeds anything.
        torch.manual_seed(args.seed)
        with Console(stderr=True).status("reading episodes"):
            utterances = read_utterances(load_table(data, task, config=config_name))
            network, encoder, rule = prepare(model, task, config_name, utterances, args)
            sequences = training_sequences(utterances, encoder, rule)
        steps, loss = _train(network, encoder, Dataset(sequences), args)
        training = {
            "model": model,
            "steps": steps,
            "learning_rate": args.learning_rate,
            "batch_size": args.per_device_train_batch_size,
        }
        versions = {name: version(name) for name in ("lmrl-gym", "torch", "transformers", "trl")}
        info = ModelInfo(task, config_name, "bc", args.seed, rule, training, hashes, versions)
        save_model(output, network, encoder.tokenizer, info)
    return {
        "output": str(output),
        "task": task,
        "config": config_name,
        "episodes": len(utterances.offsets) - 1,
        "sequences": len(sequences),
        "steps": steps,
        "train_loss": loss,
    }


def _default_output(task: str, config: str) -> Path:
    """Models of two configs do not take each other's place."""
    default, _ = get_task(task).config()
    return Path("models") / (f"{task}-bc" if config == default else f"{task}-{config}-bc")


def prepare(
    model: str, task: str, config: str, utterances: Utterances, args: BCConfig
) -> tuple[PreTrainedModel, ChatEncoder, WindowRule]:
    """The model to train, its encoder and the window rule.

    A pretrained tokenizer whose chat template does not mark the agent's turns gets our template and its tokens.
    """
    network: PreTrainedModel
    if model != TINY:
        network, tokenizer = load_model(model, torch.float32)
        if not has_generation_markers(tokenizer.chat_template or ""):
            add_marked_template(tokenizer)
            # A model may have more embeddings than tokens, rounded up for speed; none are taken away.
            network.resize_token_embeddings(max(len(tokenizer), network.config.get_text_config().vocab_size))
            network.config.eos_token_id = tokenizer.eos_token_id
            network.generation_config.eos_token_id = tokenizer.eos_token_id
    else:
        tokenizer = build_tokenizer(utterances.counts())
    encoder = ChatEncoder(tokenizer)
    reply_tokens = max(longest_reply(utterances, encoder), action_tokens(task, config, encoder))
    if model != TINY:
        context = args.max_length or model_context(network)
        longest = getattr(network.config, "max_position_embeddings", context)
        if context > longest:
            raise LmrlError(f"max_length is {context}, but the model {model} has {longest} positions; give it less")
    else:
        context = args.max_length or _tiny_context(utterances, encoder, reply_tokens)
        network = tiny_model(tokenizer, context=context, seed=args.seed)
    return network, encoder, WindowRule(context, reply_tokens)


def _tiny_context(utterances: Utterances, encoder: ChatEncoder, reply_tokens: int) -> int:
    form = encoder.format
    lengths = utterances.lengths(encoder) + len(form.begin + form.reply + form.end + form.after)
    longest_episode = int(np.add.reduceat(lengths, utterances.offsets[:-1]).max())
    longest_turn = int(lengths.max()) + reply_tokens
    return 1 << (min(longest_episode, max(TINY_CONTEXT, 3 * longest_turn)) - 1).bit_length()


def _train(network: PreTrainedModel, encoder: ChatEncoder, dataset: Dataset, args: BCConfig) -> tuple[int, float]:
    args.dataset_kwargs = {"skip_prepare_dataset": True}  # it is tokens and labels already
    args.disable_tqdm = True
    trainer = SFTTrainer(model=network, args=args, train_dataset=dataset, processing_class=encoder.tokenizer)
    # It would print to stdout, which belongs to results.
    trainer.remove_callback(PrinterCallback)
    console = Console(stderr=True)
    columns = (TextColumn("training"), BarColumn(), MofNCompleteColumn(), TextColumn("loss {task.fields[loss]}"))
    with Progress(*columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal) as bar:
        trainer.add_callback(_ShowProgress(bar))
        result = trainer.train(resume_from_checkpoint=args.resume_from_checkpoint)
    return result.global_step, result.training_loss


class _ShowProgress(TrainerCallback):
    """Steps and loss in a bar."""

    def __init__(self, bar: Progress) -> None:
        self.bar = bar
        self.row = bar.add_task("training", total=None, loss="-")

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.bar.update(self.row, total=state.max_steps, completed=state.global_step)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        if "loss" in logs:
            self.bar.update(self.row, loss=f"{float(logs['loss']):.3f}")


@contextmanager
def _isolated_randomness() -> Iterator[None]:
    """Give the global generators back as they were: transformers seeds all of them for a training run."""
    python, numpy = random.getstate(), np.random.get_state()
    with torch.random.fork_rng():
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)


@contextmanager
def _checkpoint_folder(output: Path, args: BCConfig) -> Iterator[None]:
    """The folder that the trainer works in; checkpoints in it outlive a run that fails, so that it can be resumed."""
    args.output_dir = str(output.with_name(f".{output.name}.checkpoints"))
    keep = False
    try:
        yield
    except BaseException:
        keep = args.save_strategy != "no"
        raise
    finally:
        if not keep:
            shutil.rmtree(args.output_dir, ignore_errors=True)


def _data_hashes(folder: Path, config: str) -> dict[str, str]:
    """The SHA-256 of the files that are read."""
    return {str(path.relative_to(folder)): file_hash(path) for path in split_files(folder, config, "train")}

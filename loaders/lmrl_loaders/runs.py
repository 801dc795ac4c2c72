"""The frame of a training run, the same for every method: data and model in, a saved model out.

    with training_run("bc", task, args, settings, places) as run:
        run.train(SFTTrainer(model=run.network, args=run.args, train_dataset=…))

The same data, arguments and machine give the same weights; no global random state is left changed.
"""

import copy
import random
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import pyarrow as pa
import torch
from rich.console import Console
from transformers import PreTrainedModel, Trainer, TrainingArguments
from transformers.trainer_callback import PrinterCallback
from trl.chat_template_utils import has_generation_markers

from lmrl_data.dataset import load_table, split_files
from lmrl_data.errors import LmrlError
from lmrl_data.files import file_hash
from lmrl_data.registry import get_task
from lmrl_loaders.chat import ChatEncoder, add_marked_template
from lmrl_loaders.model_folder import ModelInfo, check_output, load_model, model_context, save_model
from lmrl_loaders.progress import show_progress
from lmrl_loaders.sequences import Utterances, longest_reply, read_utterances
from lmrl_loaders.tiny import SIZES, TINY, tiny_model
from lmrl_loaders.tokenizer import build_tokenizer
from lmrl_loaders.windows import WindowRule, action_tokens

if TYPE_CHECKING:
    from peft import PeftConfig

# A model from scratch takes large steps; 1e-4 for pretrained ones is the paper's (table 3).
SCRATCH_LEARNING_RATE = 1e-2
PRETRAINED_LEARNING_RATE = 1e-4
# A model from scratch sees whole episodes where they are short, else so many tokens, or three turns if that is more.
SCRATCH_CONTEXT = 128


@dataclass
class RunArguments(TrainingArguments):
    """transformers' `TrainingArguments`, with defaults that suit a laptop and a graphics card alike.

    The run sets ``output_dir`` itself. With ``save_strategy="steps"`` an interrupted run keeps its checkpoints beside
    the output folder, and ``resume_from_checkpoint=True`` goes on from the last one.
    """

    learning_rate: float | None = field(  # type: ignore[assignment]
        default=None,
        metadata={"help": "Initial learning rate for AdamW. None: 1e-2 for a model from scratch, else 1e-4."},
    )
    max_steps: int = field(default=400, metadata={"help": "Optimiser steps. -1 trains for `num_train_epochs` instead."})
    num_train_epochs: float = field(default=1.0, metadata={"help": "Passes over the data if `max_steps` is -1."})
    per_device_train_batch_size: int = field(default=16, metadata={"help": "Sequences (windows) in a batch."})
    max_length: int | None = field(
        default=None,
        metadata={
            "help": "Context in tokens: longer episodes are cut into windows. None: what suits the data for a model "
            "from scratch, a pretrained model's own up to 1024."
        },
    )
    whole_messages: int = field(
        default=0,
        metadata={"help": "For a model from scratch, so many of the most frequent messages are a token each."},
    )
    warmup_steps: float = field(default=0.05, metadata={"help": "Share of the steps with rising learning rate."})
    lr_scheduler_type: str = field(default="cosine", metadata={"help": "Course of the learning rate after that."})
    seed: int = field(default=0, metadata={"help": "Of the first weights and of the order of the data."})
    use_cpu: bool = field(
        default_factory=lambda: not torch.cuda.is_available(),
        metadata={"help": "Train on the CPU; by default only where there is no GPU."},
    )
    bf16: bool | None = field(  # type: ignore[assignment]
        default=None, metadata={"help": "Half precision. None: where the GPU has it."}
    )
    logging_steps: float = field(default=50, metadata={"help": "Steps between two entries of the training log."})
    save_strategy: str = field(default="no", metadata={"help": "When to keep checkpoints: no, steps or epoch."})
    report_to: str = field(default="none", metadata={"help": "Where to report metrics, such as tensorboard."})

    def __post_init__(self) -> None:
        if self.bf16 is None:
            self.bf16 = not self.use_cpu and not self.fp16 and torch.cuda.is_bf16_supported()
        super().__post_init__()  # type: ignore[no-untyped-call]


def own_settings(args: RunArguments) -> dict[str, Any]:
    """The settings of the method itself, those that transformers does not know."""
    shared = {setting.name for setting in fields(RunArguments)}
    return {setting.name: getattr(args, setting.name) for setting in fields(args) if setting.name not in shared}


@dataclass
class Run:
    """A run in progress.

    Attributes:
        task: name of the task.
        config: of the task.
        args: settings, a copy of those given, completed.
        table: the episodes.
        utterances: their messages.
        network: the model to train.
        encoder: its encoder.
        rule: how episodes are cut into windows.
        result: what the command prints: ``output``, ``task``, ``config``, ``episodes``, and what the method adds.
        training: what `ModelInfo.training` records.
        log: what was measured on the way, saved with the model: a mapping per time.
    """

    task: str
    config: str
    args: Any
    table: pa.Table
    utterances: Utterances
    network: PreTrainedModel
    encoder: ChatEncoder
    rule: WindowRule
    result: dict[str, Any]
    training: dict[str, Any]
    log: list[dict[str, Any]] = field(default_factory=list)

    def train(self, trainer: Trainer) -> None:
        """Run a trainer to its end, with progress on standard error."""
        # It would print to stdout, which belongs to results.
        trainer.remove_callback(PrinterCallback)
        with show_progress(trainer):
            done = trainer.train(resume_from_checkpoint=self.args.resume_from_checkpoint)
        self.result |= {"steps": done.global_step, "train_loss": done.training_loss}
        self.training |= {"steps": done.global_step}
        self.log += trainer.state.log_history


class Places(TypedDict, total=False):
    """What a training starts from and where its model goes; all of it may be left out.

    Attributes:
        config: of the task; its default one if left out.
        model: ``"tiny"`` (default) or ``"small"`` makes one from scratch; else the folder of a pretrained causal
            model, or its name on the Hub.
        data: dataset folder; ``lmrl-gym/TASK`` if left out.
        output: where to save; ``models/TASK-METHOD`` if left out, with the config in the name where it is not the
            default. A model that is already there is replaced.
        peft_config: trains an adapter of the peft library; it is merged into the saved model.
    """

    config: str | None
    model: str
    data: str | Path | None
    output: str | Path | None
    peft_config: "PeftConfig | None"


@contextmanager
def training_run(
    method: str, task: str, args: RunArguments, settings: Mapping[str, Any], places: Places
) -> Iterator[Run]:
    """Read the data, make or load the model, and, if what is done with them succeeds, save it.

    Args:
        method: such as ``"bc"``: names the output folder and is recorded.
        task: name of a task.
        args: of the trainer.
        settings: of the method, to be recorded with the model.
        places: see there.

    Raises:
        LmrlError: unknown task or config, no data, no such model, an observation longer than the context.
    """
    config_name, _ = get_task(task).config(places.get("config"))
    model, peft_config = places.get("model", TINY), places.get("peft_config")
    data = Path(places.get("data") or f"lmrl-gym/{task}")
    output = Path(places.get("output") or default_output(task, config_name, method))
    args = copy.copy(args)
    if args.learning_rate is None:
        args.learning_rate = SCRATCH_LEARNING_RATE if model in SIZES else PRETRAINED_LEARNING_RATE
    args.disable_tqdm = True
    check_output(output)
    hashes = _data_hashes(data, config_name)
    with _isolated_randomness(), _checkpoint_folder(output, args):
        # New embeddings of a pretrained model are drawn before the trainer seeds anything.
        torch.manual_seed(args.seed)
        with Console(stderr=True).status("reading episodes"):
            table = load_table(data, task, config=config_name)
            utterances = read_utterances(table)
            network, encoder, rule = prepare(model, task, config_name, utterances, args)
        training = {
            "model": model,
            "learning_rate": args.learning_rate,
            "batch_size": args.per_device_train_batch_size,
            **settings,
        }
        result = {"output": str(output), "task": task, "config": config_name, "episodes": len(table)}
        if peft_config is not None:
            network = _with_adapter(network, peft_config)
        run = Run(task, config_name, args, table, utterances, network, encoder, rule, result, training)
        yield run
        network = run.network if peft_config is None else _merged(run.network)
        versions = {name: version(name) for name in ("lmrl-gym", "torch", "transformers", "trl")}
        info = ModelInfo(task, config_name, method, args.seed, rule, run.training, hashes, versions)
        save_model(output, network, encoder.tokenizer, info, run.log)


def default_output(task: str, config: str, method: str) -> Path:
    """Models of two configs do not take each other's place."""
    default, _ = get_task(task).config()
    return Path("models") / (f"{task}-{method}" if config == default else f"{task}-{config}-{method}")


def prepare(
    model: str, task: str, config: str, utterances: Utterances, args: RunArguments
) -> tuple[PreTrainedModel, ChatEncoder, WindowRule]:
    """The model to train, its encoder and the window rule.

    A pretrained tokenizer whose chat template does not mark the agent's turns gets our template and its tokens.
    """
    network: PreTrainedModel
    if model not in SIZES:
        network, tokenizer = load_model(model, torch.float32)
        if not has_generation_markers(tokenizer.chat_template or ""):
            add_marked_template(tokenizer)
            # A model may have more embeddings than tokens, rounded up for speed; none are taken away.
            network.resize_token_embeddings(max(len(tokenizer), network.config.get_text_config().vocab_size))
            network.config.eos_token_id = tokenizer.eos_token_id
            network.generation_config.eos_token_id = tokenizer.eos_token_id
    else:
        tokenizer = build_tokenizer(utterances.counts(), whole_messages=args.whole_messages)
    encoder = ChatEncoder(tokenizer)
    reply_tokens = max(longest_reply(utterances, encoder), action_tokens(task, config, encoder))
    if model not in SIZES:
        context = args.max_length or model_context(network)
        longest = getattr(network.config, "max_position_embeddings", context)
        if context > longest:
            raise LmrlError(f"max_length is {context}, but the model {model} has {longest} positions; give it less")
    else:
        context = args.max_length or _scratch_context(utterances, encoder, reply_tokens)
        network = tiny_model(tokenizer, context=context, seed=args.seed, size=model)
    return network, encoder, WindowRule(context, reply_tokens)


def _scratch_context(utterances: Utterances, encoder: ChatEncoder, reply_tokens: int) -> int:
    form = encoder.format
    lengths = utterances.lengths(encoder) + len(form.begin + form.reply + form.end + form.after)
    longest_episode = int(np.add.reduceat(lengths, utterances.offsets[:-1]).max())
    longest_turn = int(lengths.max()) + reply_tokens
    return 1 << (min(longest_episode, max(SCRATCH_CONTEXT, 3 * longest_turn)) - 1).bit_length()


def _with_adapter(network: PreTrainedModel, peft_config: "PeftConfig") -> Any:
    from peft import get_peft_model

    return get_peft_model(network, peft_config)


def _merged(network: Any) -> PreTrainedModel:
    """The plain model with the adapter's weights in its own, and what the method has put on it."""
    heads = getattr(network, "value_heads", None)
    merged: PreTrainedModel = network.merge_and_unload()
    if heads is not None:
        merged.value_heads = heads
    return merged


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
def _checkpoint_folder(output: Path, args: RunArguments) -> Iterator[None]:
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

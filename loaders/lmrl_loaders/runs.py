"""The frame of a training run, the same for every method: data and model in, a saved model out.

    with training_run("bc", task, args, settings, places) as run:
        run.train(SFTTrainer(model=run.network, args=run.args, train_dataset=…))

The same data, arguments and machine give the same weights; no global random state is left changed.
"""

import copy
import random
import shutil
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, fields
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import torch
from rich.console import Console
from transformers import PreTrainedModel, Trainer, TrainingArguments
from transformers.trainer_callback import PrinterCallback

from lmrl_data.errors import LmrlError
from lmrl_data.registry import get_task
from lmrl_loaders.chat import ChatEncoder
from lmrl_loaders.episodes import Make, Rows, Source, StoredEpisodes
from lmrl_loaders.model_folder import ModelInfo, check_output, save_model
from lmrl_loaders.order import OrderBySeed
from lmrl_loaders.preparation import prepare
from lmrl_loaders.progress import show_progress
from lmrl_loaders.recipes import METHODS
from lmrl_loaders.sequences import Ints
from lmrl_loaders.streaming import StreamedEpisodes
from lmrl_loaders.tiny import SIZES, TINY
from lmrl_loaders.windows import WindowRule

if TYPE_CHECKING:
    from peft import PeftConfig

# A model from scratch takes large steps; 1e-4 for pretrained ones is the paper's (table 3).
SCRATCH_LEARNING_RATE = 1e-2
PRETRAINED_LEARNING_RATE = 1e-4


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
    ddp_find_unused_parameters: bool | None = field(
        default=False,
        metadata={"help": "Every weight has a part in the loss, though heads not in the model's own call."},
    )
    report_to: str = field(default="none", metadata={"help": "Where to report metrics, such as tensorboard."})

    def __post_init__(self) -> None:
        if self.bf16 is None:
            self.bf16 = not self.use_cpu and not self.fp16 and torch.cuda.is_bf16_supported()
        super().__post_init__()  # type: ignore[no-untyped-call]
        # Each process reads a stream itself: what one would hand out to the others would have to be of equal length.
        self.accelerator_config.dispatch_batches = False  # type: ignore[union-attr]  # an AcceleratorConfig by now


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
        episodes: to learn from.
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
    episodes: Source
    network: PreTrainedModel
    encoder: ChatEncoder
    rule: WindowRule
    result: dict[str, Any]
    training: dict[str, Any]
    log: list[dict[str, Any]] = field(default_factory=list)

    def rows(self, make: Make, chosen: Ints | None = None, **settings: Any) -> Rows:
        """The rows that `make` makes of the episodes, or of the chosen ones; the first process makes them for all."""
        with self.args.main_process_first(), _status("cutting episodes", self.args):
            found = self.episodes.rows(make, self.encoder, self.rule, chosen, **settings)
        streamed = self.episodes.count is None
        if streamed and self.args.max_steps <= 0:
            raise LmrlError("a stream has no end; say with --max-steps how many steps to train")
        self.result["sequences"] = None if streamed else len(found.table)
        return found

    def train(self, trainer: Trainer) -> None:
        """Run a trainer to its end, with progress on standard error."""
        # It would print to stdout, which belongs to results.
        trainer.remove_callback(PrinterCallback)
        trainer.add_callback(OrderBySeed())
        with show_progress(trainer):
            done = trainer.train(resume_from_checkpoint=self.args.resume_from_checkpoint)
        trainer.accelerator.wait_for_everyone()  # before the first process tidies up
        self.result |= {"steps": done.global_step, "train_loss": done.training_loss}
        self.training |= {"steps": done.global_step}
        self.log += trainer.state.log_history


class Places(TypedDict, total=False):
    """What a training starts from and where its model goes; all of it may be left out.

    Attributes:
        config: of the task; its default one if left out.
        model: ``"tiny"`` (default) or ``"small"`` makes one from scratch; a method, such as ``"bc"``, stands for the
            model that it has trained and saved where models are saved by default; else the folder of a pretrained
            causal model, or its name on the Hub.
        data: dataset folder; ``lmrl-gym/TASK`` if left out.
        stream: read the data from the Hub (``data`` is then OWNER/NAME) or from a folder while training on it.
        output: where to save; ``models/TASK-METHOD`` if left out, with the config in the name where it is not the
            default. A model that is already there is replaced.
        peft_config: trains an adapter of the peft library; it is merged into the saved model.
    """

    config: str | None
    model: str
    data: str | Path | None
    stream: bool
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
    if model in METHODS:
        model = trained_model(task, config_name, model)
    data = Path(places.get("data") or f"lmrl-gym/{task}")
    output = Path(places.get("output") or default_output(task, config_name, method))
    args = copy.copy(args)
    if args.learning_rate is None:
        args.learning_rate = SCRATCH_LEARNING_RATE if model in SIZES else PRETRAINED_LEARNING_RATE
    args.disable_tqdm = True
    check_output(output)
    with _isolated_randomness(), _checkpoint_folder(output, args):
        # New embeddings of a pretrained model are drawn before the trainer seeds anything.
        torch.manual_seed(args.seed)
        with args.main_process_first(), _status("reading episodes", args):
            episodes: Source
            if places.get("stream"):
                episodes = StreamedEpisodes(data.as_posix(), task, config_name, args.seed)
            else:
                episodes = StoredEpisodes(data, task, config_name)
            network, encoder, rule = prepare(
                model,
                task,
                config_name,
                episodes,
                max_length=args.max_length,
                whole_messages=args.whole_messages,
                seed=args.seed,
            )
        training = {
            "model": model,
            "learning_rate": args.learning_rate,
            "batch_size": args.per_device_train_batch_size,
            **settings,
        }
        result = {"output": str(output), "task": task, "config": config_name, "episodes": episodes.count}
        if peft_config is not None:
            network = _with_adapter(network, peft_config)
        run = Run(task, config_name, args, episodes, network, encoder, rule, result, training)
        yield run
        network = run.network if peft_config is None else _merged(run.network)
        versions = {name: version(name) for name in ("lmrl-gym", "torch", "transformers", "trl")}
        info = ModelInfo(task, config_name, method, args.seed, rule, run.training, episodes.hashes, versions)
        if args.should_save:
            save_model(output, network, encoder.tokenizer, info, run.log)


def default_output(task: str, config: str, method: str) -> Path:
    """Models of two configs do not take each other's place."""
    default, _ = get_task(task).config()
    return Path("models") / (f"{task}-{method}" if config == default else f"{task}-{config}-{method}")


def trained_model(task: str, config: str, method: str) -> str:
    """The folder of the model that a method has trained on a task's config.

    Raises:
        LmrlError: there is none.
    """
    folder = default_output(task, config, method)
    if not folder.is_dir():
        command = f"lmrl train {method} --task {task} --config {config}"
        raise LmrlError(f"there is no model {folder} to begin with; train it with `{command}`")
    return str(folder)


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
        if not keep and args.should_save:
            shutil.rmtree(args.output_dir, ignore_errors=True)


def _status(text: str, args: RunArguments) -> AbstractContextManager[object]:
    """What is being done, on a terminal, by the first of the processes."""
    return Console(stderr=True, quiet=not args.should_save).status(text)

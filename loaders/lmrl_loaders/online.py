"""Rounds of play for online training: the model plays, and what it said becomes rows to train on.

An online trainer is a `transformers.Trainer` whose dataset is endless: each time the steps of a round have been taken
from it, the next round is played with the model as it is then. So everything that a `Trainer` can do (checkpoints,
logs, accelerate) works as ever. Rounds are numbered by the optimiser's steps, and a resumed run goes on with the round
that it was in.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.utils.data import IterableDataset

from lmrl_data.episode import Episode
from lmrl_data.errors import LmrlError
from lmrl_data.registry import make_vec
from lmrl_data.rollouts import rollout
from lmrl_data.seeding import episode_seeds
from lmrl_loaders.chat import ChatEncoder
from lmrl_loaders.hf_policy import ModelPolicy
from lmrl_loaders.runs import Run
from lmrl_loaders.sequences import IGNORED, Cut, Sequences, Spoken
from lmrl_loaders.windows import WindowRule

Row = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Played:
    """The episodes of a round, in the tokens that were said.

    Attributes:
        episodes: as played.
        cut: them cut into windows.
        tokens: the windows. The end of a turn is labelled only where the model said it itself.
    """

    episodes: list[Episode]
    cut: Cut
    tokens: Sequences


class Player:
    """Plays rounds of a task with the model of a run.

    Args:
        run: the run.
        stream: names the method; with the run's seed it fixes the start states of all rounds.
        episodes: of a round.

    Raises:
        LmrlError: there are several processes, each of which would play the same, or a stream.
    """

    def __init__(self, run: Run, stream: str, episodes: int) -> None:
        if run.args.world_size > 1:
            raise LmrlError("training by play is for one process; start it without torchrun or accelerate")
        if run.episodes.count is None:
            raise LmrlError("training by play does not stream data; leave --stream out")
        self.run = run
        self.stream = f"{run.task}/{run.config}/{stream}"
        self.episodes = episodes
        self.env = make_vec(run.task, episodes, config=run.config)

    def play(self, number: int) -> Played:
        """Play a round."""
        run, count = self.run, self.episodes
        seeds = episode_seeds(run.args.seed, self.stream, number * count, (number + 1) * count)
        policy = ModelPolicy(self.stream, run.network, run.encoder, run.rule)
        with playing(run.network):
            episodes = rollout(self.env, policy, seeds.tolist())
        return said(episodes, policy.spoken, run.encoder, run.rule)

    def close(self) -> None:
        """Close the environment."""
        self.env.close()


def said(episodes: list[Episode], spoken: list[list[list[int]]], encoder: ChatEncoder, rule: WindowRule) -> Played:
    """Episodes as windows, with the agent's turns in the tokens that it said.

    Args:
        episodes: N episodes.
        spoken: the tokens of each turn of each, with the end of the turn where the agent said it.
        encoder: with which they were played.
        rule: with which they were played.
    """
    end = encoder.format.end[-1]
    tokens: dict[tuple[int, ...], int] = {}
    index: list[int] = []
    for episode, turns in zip(episodes, spoken, strict=True):
        heard = [encoder.encode(message["content"]) for message in episode.messages[::2]]
        replies = [tuple(turn[:-1] if turn and turn[-1] == end else turn) for turn in turns]
        for place in range(len(heard) + len(replies)):
            piece = replies[place // 2] if place % 2 else heard[place // 2]
            index.append(tokens.setdefault(piece, len(tokens)))
    sizes = [len(episode.messages) for episode in episodes]
    cut = Cut.of(
        Spoken(list(tokens), np.array(index, np.int32), np.concatenate([[0], np.cumsum(sizes)])), encoder, rule
    )
    windows = cut.sequences()
    # A reply that ran out of room was ended for the model.
    ended = np.array([bool(turn) and turn[-1] == end for turns in spoken for turn in turns])
    given = (windows.turn >= 0) & (windows.input_ids == end) & ~ended[windows.turn]
    windows = replace(
        windows,
        labels=np.where(given, np.int32(IGNORED), windows.labels),
        turn=np.where(given, -1, windows.turn),
    )
    return Played(episodes, cut, windows)


@contextmanager
def playing(model: nn.Module) -> Iterator[None]:
    """Have a model in the mode of evaluation: without dropout."""
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)


class Rounds(IterableDataset[Row]):
    """The endless dataset of an online trainer.

    Args:
        play: makes the rows of a round from its number.
        rows: taken from each round, in passes over its rows in ever new orders.
        first: the number of the round to begin with, asked when iteration begins.
        seed: of the orders.
    """

    def __init__(self, play: Callable[[int], list[Row]], *, rows: int, first: Callable[[], int], seed: int) -> None:
        self.play = play
        self.rows = rows
        self.first = first
        self.seed = seed

    def __iter__(self) -> Iterator[Row]:
        """Round after round."""
        number = self.first()
        while True:
            found = self.play(number)
            order = np.random.Generator(np.random.PCG64([self.seed, number]))
            passes = -(-self.rows // len(found))
            chosen = np.concatenate([order.permutation(len(found)) for _ in range(passes)])[: self.rows]
            yield from (found[place] for place in chosen.tolist())
            number += 1


def rows_of(tokens: Sequences, **columns: NDArray[Any]) -> list[Row]:
    """Windows as rows, with further columns that have a value per token."""
    named: Mapping[str, NDArray[Any]] = {"input_ids": tokens.input_ids, "labels": tokens.labels, **columns}
    bounds = list(zip(tokens.offsets[:-1].tolist(), tokens.offsets[1:].tolist(), strict=True))
    return [{name: values[begin:end] for name, values in named.items()} for begin, end in bounds]


def summary(episodes: list[Episode]) -> dict[str, float]:
    """What is logged of a round."""
    returns = torch.tensor([episode.episode_return for episode in episodes])
    return {
        "return": float(returns.mean()),
        "success": float(np.mean([episode.success for episode in episodes])),
        "length": float(np.mean([episode.num_turns for episode in episodes])),
    }

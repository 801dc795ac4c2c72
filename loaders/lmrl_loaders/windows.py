"""Windows: which part of a long episode the model sees at each turn, in training as in play.

The rule. At its first turn the agent sees the conversation from the start. It goes on seeing it from there for as long
as the prompt, together with room for the longest reply, fits into the context. When it no longer fits, the agent
forgets: it keeps the most recent messages, beginning with one of the environment, that take at most half of the room
(always the last message itself), and goes on from there.

So the start of the window depends on the episode alone, and it stays for many turns before it moves. That makes
training exact and cheap: all turns with the same start are trained on together, in one sequence, and each turn is
trained on once, with the very tokens before it that it would see in play. (With a start that moves at every turn, each
turn would be a sequence of its own.)
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from lmrl_data.errors import LmrlError
from lmrl_data.registry import make_game
from lmrl_loaders.chat import ChatEncoder


class Window(NamedTuple):
    """A training sequence: turns ``start`` to ``stop``, of which those from ``first`` on are trained on."""

    start: int
    first: int
    stop: int


@dataclass(frozen=True)
class WindowRule:
    """The rule above, in tokens.

    Attributes:
        context: the longest sequence.
        reply_tokens: room for the agent's reply and the end of its turn.
    """

    context: int
    reply_tokens: int

    def room(self, encoder: ChatEncoder) -> int:
        """Tokens that the messages of a prompt may take, with what stands between them."""
        return self.context - self.reply_tokens - len(encoder.format.begin) - len(encoder.format.reply)

    def starts(self, encoder: ChatEncoder, observations: Sequence[int], actions: Sequence[int]) -> list[int]:
        """The turn at which the window starts, for each turn.

        Args:
            encoder: what stands between the messages.
            observations: tokens of the environment's message before each turn, shape (T,).
            actions: tokens of the agent's reply at each turn but perhaps the last, shape (T,) or (T - 1,).

        Raises:
            LmrlError: an observation alone does not fit into the context.
        """
        form = encoder.format
        room = self.room(encoder)
        between = len(form.reply) + len(form.end) + len(form.after)
        starts: list[int] = []
        before = [0]  # tokens of the turns before each turn
        start = 0
        for turn, observation in enumerate(observations):
            if observation > room:
                raise LmrlError(
                    f"an observation of {observation} tokens does not fit into a context of {self.context} with "
                    f"{self.reply_tokens} for the reply; use a model or a max_length with more context"
                )
            until_now = before[turn] + observation
            if until_now - before[start] > room:
                start = min(bisect_left(before, until_now - room // 2), turn)
            starts.append(start)
            if turn < len(actions):
                before.append(until_now + actions[turn] + between)
        return starts


def windows(starts: Sequence[int]) -> list[Window]:
    """The training sequences of an episode with a start for each turn; every turn is trained on in exactly one."""
    found = []
    first = 0
    for start, turns in groupby(starts):
        stop = first + sum(1 for _ in turns)
        found.append(Window(start, first, stop))
        first = stop
    return found


def action_tokens(task: str, config: str, encoder: ChatEncoder) -> int:
    """Tokens of the task's longest action with the end of the turn; 0 where the task does not list its actions."""
    game = make_game(task, config)
    if game is None:
        return 0
    return max(len(encoder.encode(text)) for text in game.action_texts.tolist()) + len(encoder.format.end)

"""From a table of episodes to the token sequences that a trainer takes, built with arrays: no loop over tokens.

`training_sequences` gives ``input_ids`` and ``labels`` (behaviour cloning); `lmrl_loaders.transitions` adds to the same
windows what reinforcement learning needs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError
from lmrl_loaders.chat import ChatEncoder
from lmrl_loaders.windows import WindowRule, windows

IGNORED = -100  # the label of a token that is not trained on, as in torch's cross entropy

Ints = NDArray[np.int64]
Tokens = NDArray[np.int32]

# The pieces that stand around messages, as indices behind those of the texts.
_BEGIN, _REPLY, _END, _AFTER = range(4)


@dataclass(frozen=True)
class Utterances:
    """The messages of N episodes, each different text once.

    Attributes:
        texts: the different texts.
        index: which text each message is, episode after episode.
        offsets: where the messages of each episode begin, shape (N + 1,).
    """

    texts: list[str]
    index: NDArray[np.int32]
    offsets: Ints

    def counts(self) -> dict[str, int]:
        """How often each text is said."""
        return dict(zip(self.texts, np.bincount(self.index, minlength=len(self.texts)).tolist(), strict=True))

    def lengths(self, encoder: ChatEncoder) -> Ints:
        """Tokens of each message."""
        return np.array([len(encoder.encode(text)) for text in self.texts], np.int64)[self.index]

    def encoded(self, encoder: ChatEncoder) -> "Spoken":
        """The same messages in tokens."""
        return Spoken([encoder.encode(text) for text in self.texts], self.index, self.offsets)

    def take(self, episodes: Ints) -> "Utterances":
        """Those of some episodes, with their texts only."""
        sizes = np.diff(self.offsets)[episodes]
        offsets = np.concatenate([[0], sizes.cumsum()])
        place = np.arange(offsets[-1]) + np.repeat(self.offsets[episodes] - offsets[:-1], sizes)
        used, index = np.unique(self.index[place], return_inverse=True)
        return Utterances([self.texts[text] for text in used.tolist()], index.astype(np.int32), offsets)

    @classmethod
    def joined(cls, parts: "Iterable[Utterances]") -> "Utterances":
        """Those of several tables, one after another."""
        seen: dict[str, int] = {}
        index, sizes = [], [np.zeros(1, np.int64)]
        for part in parts:
            numbers = np.array([seen.setdefault(text, len(seen)) for text in part.texts], np.int32)
            index.append(numbers[part.index])
            sizes.append(np.diff(part.offsets))
        return cls(list(seen), np.concatenate(index), np.concatenate(sizes).cumsum())


@dataclass(frozen=True)
class Spoken:
    """The messages of N episodes as tokens, without what a chat template puts around them.

    Attributes:
        tokens: of the different messages.
        index: which of them each message is, episode after episode.
        offsets: where the messages of each episode begin, shape (N + 1,).
    """

    tokens: list[Sequence[int]]
    index: NDArray[np.int32]
    offsets: Ints

    def turns(self) -> Ints:
        """Agent turns of each episode, shape (N,)."""
        return np.diff(self.offsets) // 2


def read_utterances(table: pa.Table) -> Utterances:
    """The messages of a table of episodes.

    Raises:
        LmrlError: no episodes, or one whose messages do not take turns, the environment first and last.
    """
    if not len(table):
        raise LmrlError("the dataset has no episodes to train on; make some with `lmrl generate`")
    spoken = pc.fill_null(pc.list_value_length(table["messages"]), 0).to_numpy().astype(np.int64)
    offsets = np.concatenate([[0], spoken.cumsum()])
    # Chunk by chunk: all texts together may be more than the 2 GiB that an Arrow array of strings holds.
    parts = [chunk.flatten() for chunk in table["messages"].chunks]
    roles, contents = (pa.chunked_array([part.field(name) for part in parts]) for name in ("role", "content"))
    place = np.arange(len(roles)) - np.repeat(offsets[:-1], spoken)
    turns = np.array(["user", "assistant"], object)[place % 2]
    if ((spoken % 2 == 0) | (spoken < 3)).any() or (roles.to_numpy() != turns).any() or contents.null_count:
        raise LmrlError("the dataset has episodes in which user and assistant do not take turns; see `lmrl validate`")
    said = contents.dictionary_encode().unify_dictionaries().combine_chunks()
    return Utterances(said.dictionary.to_pylist(), said.indices.to_numpy(), offsets)


class Sizes(NamedTuple):
    """What is longest in some episodes, in tokens.

    Attributes:
        reply: the longest agent turn, with its end.
        message: the longest message, with all that can stand around one.
        episode: the longest episode, counted in the same way.
    """

    reply: int
    message: int
    episode: int


def sizes_of(utterances: Utterances, encoder: ChatEncoder) -> Sizes:
    """How large episodes are in the tokens of an encoder."""
    form, lengths = encoder.format, utterances.lengths(encoder)
    place = np.arange(len(lengths)) - np.repeat(utterances.offsets[:-1], np.diff(utterances.offsets))
    reply = int(lengths[place % 2 == 1].max(initial=0)) + len(form.end)
    lengths = lengths + len(form.begin + form.reply + form.end + form.after)
    longest = int(np.add.reduceat(lengths, utterances.offsets[:-1]).max())
    return Sizes(reply, int(lengths.max()), longest)


def training_sequences(utterances: Utterances, encoder: ChatEncoder, rule: WindowRule) -> pa.Table:
    """The episodes cut into windows, a row each, with the agent's turns as labels.

    Returns:
        Columns ``input_ids`` and ``labels``, lists of int32 of equal length. A label is the token itself where the
        agent speaks or ends its turn, in a turn that is the window's to train on; everywhere else it is -100.
    """
    cut = Cut.of(utterances.encoded(encoder), encoder, rule)
    tokens = cut.sequences()
    return pa.table({name: ragged(getattr(tokens, name), tokens.offsets) for name in ("input_ids", "labels")})


def ragged(values: NDArray[np.generic], offsets: Ints) -> pa.LargeListArray:
    """A column of lists of different lengths."""
    return pa.LargeListArray.from_arrays(offsets, values)


@dataclass(frozen=True)
class Sequences:
    """Windows as tokens, one after another.

    Attributes:
        input_ids: shape (T,).
        labels: the token where it is the agent's and the window's to train on, else -100; shape (T,).
        turn: of a token of such a turn which turn of all episodes it is, counted through; else -1; shape (T,).
        offsets: where each window begins, shape (W + 1,).
    """

    input_ids: Tokens
    labels: Tokens
    turn: Ints
    offsets: Ints


@dataclass(frozen=True)
class Cut:
    """Episodes cut into W windows: turns ``start`` to ``stop`` of an episode, trained on from ``first`` on.

    Attributes:
        spoken: the episodes.
        episode, start, first, stop: of each window, shape (W,).
        next_start: at which turn the window of turn ``stop`` begins, that is of the state after this one's last turn.
            Behind the last turn of an episode it is that of a reply to the environment's last message.
    """

    spoken: Spoken
    episode: Ints
    start: Ints
    first: Ints
    stop: Ints
    next_start: Ints
    _pieces: Tokens
    _piece_offsets: Ints

    @classmethod
    def of(cls, spoken: Spoken, encoder: ChatEncoder, rule: WindowRule) -> "Cut":
        """Cut episodes by the rule.

        Raises:
            LmrlError: an observation does not fit into the context.
        """
        form = encoder.format
        encoded = [*spoken.tokens, form.begin, form.reply, form.end, form.after]
        sizes = np.array([len(tokens) for tokens in encoded], np.int64)
        pieces = np.concatenate([np.array(tokens, np.int32) for tokens in encoded])
        lengths = sizes[spoken.index]
        turns = spoken.turns()
        # An episode that fits as a whole, with another reply behind it, is one window: most are, in most tasks.
        between = len(form.reply) + len(form.end) + len(form.after)
        whole = np.add.reduceat(lengths, spoken.offsets[:-1]) + turns * between
        fits = whole <= rule.room(encoder)
        none = np.zeros(fits.sum(), np.int64)
        rows = [np.stack([np.flatnonzero(fits), none, none, turns[fits], none])]
        for episode in np.flatnonzero(~fits).tolist():
            messages = lengths[spoken.offsets[episode] : spoken.offsets[episode + 1]].tolist()
            rows.append(_windows(episode, rule, encoder, messages))
        table = np.concatenate(rows, axis=1)
        table = table[:, np.lexsort((table[2], table[0]))]
        episode, start, first, stop, next_start = table
        return cls(spoken, episode, start, first, stop, next_start, pieces, np.concatenate([[0], sizes.cumsum()]))

    def sequences(self) -> Sequences:
        """The windows as tokens."""
        window, turn = _spread(self.start, self.stop)
        message = self.spoken.offsets[self.episode[window]] + 2 * turn
        lead = np.where(turn == self.start[window], _BEGIN, _AFTER)
        said, trained = self.spoken.index[message + 1], turn >= self.first[window]
        parts = self._parts(lead, self.spoken.index[message], said)
        ids, part = self._tokens(parts.ravel())
        cell, kind = np.divmod(part, 5)
        is_agent = trained[cell] & (kind >= 3)
        episode_turn = (
            message - self.episode[window]
        ) // 2  # each earlier episode has one message more than two a turn
        offsets = np.concatenate([[0], np.bincount(window[cell], minlength=len(self.start)).cumsum()])
        return Sequences(
            ids, np.where(is_agent, ids, np.int32(IGNORED)), np.where(is_agent, episode_turn[cell], -1), offsets
        )

    def successors(self, wanted: NDArray[np.bool_]) -> tuple[Tokens, Ints]:
        """The prompts that follow on windows: what the agent sees after its last turn in them.

        Args:
            wanted: which windows have a state after them, shape (W,); the others get an empty prompt.

        Returns:
            Tokens, one prompt after another, and where each begins, shape (W + 1,).
        """
        window, turn = _spread(self.next_start, np.where(wanted, self.stop + 1, self.next_start))
        message = self.spoken.offsets[self.episode[window]] + 2 * turn
        lead = np.where(turn == self.next_start[window], _BEGIN, _AFTER)
        last = turn == self.stop[window]
        said = self.spoken.index[np.where(last, message, message + 1)]
        parts = self._parts(lead, self.spoken.index[message], said)
        keep = np.ones(parts.shape, np.bool_)
        keep[last, 3:] = False
        ids, part = self._tokens(parts[keep])
        lengths = np.bincount(np.repeat(window, 5)[keep.ravel()][part], minlength=len(self.start))
        return ids, np.concatenate([[0], lengths.cumsum()])

    def _parts(self, lead: Ints, observation: Tokens, action: Tokens) -> Ints:
        """The five pieces of each turn, shape (turns, 5): what leads in, observation, generation prompt, reply, end."""
        texts = len(self.spoken.tokens)
        fixed = np.full(len(lead), texts, np.int64)
        return np.stack([texts + lead, observation, fixed + _REPLY, action, fixed + _END], axis=1)

    def _tokens(self, parts: Ints) -> tuple[Tokens, Ints]:
        """The tokens of pieces, one after another, and which of the pieces each belongs to."""
        begins = self._piece_offsets[parts]
        sizes = self._piece_offsets[parts + 1] - begins
        part = np.repeat(np.arange(len(parts)), sizes)
        place = np.arange(len(part)) - np.repeat(sizes.cumsum() - sizes, sizes)
        return self._pieces[begins[part] + place], part


def _windows(episode: int, rule: WindowRule, encoder: ChatEncoder, messages: list[int]) -> Ints:
    """The windows of an episode whose messages have so many tokens; rows episode, start, first, stop, next start."""
    # The last message too, as if it were replied to: an episode that a time limit cut short is bootstrapped from there.
    observations = [*messages[:-1:2], min(messages[-1], rule.room(encoder))]
    starts = rule.starts(encoder, observations, messages[1::2])
    rows = [(episode, *window, starts[window.stop]) for window in windows(starts[:-1])]
    return np.array(rows, np.int64).T


def _spread(begin: Ints, end: Ints) -> tuple[Ints, Ints]:
    """For each window and each turn from begin to end: the window and the turn."""
    sizes = end - begin
    window = np.repeat(np.arange(len(begin)), sizes)
    return window, begin[window] + np.arange(len(window)) - np.repeat(sizes.cumsum() - sizes, sizes)

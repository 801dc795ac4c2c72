"""From a table of episodes to the token sequences that a trainer takes: ``input_ids`` and ``labels``."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError
from lmrl_loaders.chat import ChatEncoder
from lmrl_loaders.windows import WindowRule

IGNORED = -100  # the label of a token that is not trained on, as in torch's cross entropy


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
    offsets: NDArray[np.int64]

    def counts(self) -> dict[str, int]:
        """How often each text is said."""
        return dict(zip(self.texts, np.bincount(self.index, minlength=len(self.texts)).tolist(), strict=True))

    def lengths(self, encoder: ChatEncoder) -> NDArray[np.int64]:
        """Tokens of each message."""
        return np.array([len(encoder.encode(text)) for text in self.texts], np.int64)[self.index]


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


def longest_reply(utterances: Utterances, encoder: ChatEncoder) -> int:
    """Tokens of the longest agent turn, with its end."""
    lengths = utterances.lengths(encoder)
    place = np.arange(len(lengths)) - np.repeat(utterances.offsets[:-1], np.diff(utterances.offsets))
    return int(lengths[place % 2 == 1].max(initial=0)) + len(encoder.format.end)


def training_sequences(utterances: Utterances, encoder: ChatEncoder, rule: WindowRule) -> pa.Table:
    """The episodes cut into windows, a row each, with the agent's turns as labels.

    Returns:
        Columns ``input_ids`` and ``labels``, lists of int32 of equal length. A label is the token itself where the
        agent speaks or ends its turn, in a turn that is the window's to train on; everywhere else it is -100.
    """
    ids, labels, offsets = array("i"), array("i"), array("q", [0])
    for row_ids, row_labels in _rows(utterances, encoder, rule):
        ids.extend(row_ids)
        labels.extend(row_labels)
        offsets.append(len(ids))
    columns = {
        name: pa.LargeListArray.from_arrays(np.frombuffer(offsets, np.int64), np.frombuffer(values, np.int32))
        for name, values in (("input_ids", ids), ("labels", labels))
    }
    return pa.table(columns)


def _rows(utterances: Utterances, encoder: ChatEncoder, rule: WindowRule) -> Iterator[tuple[list[int], list[int]]]:
    form = encoder.format
    tokens = [encoder.encode(text) for text in utterances.texts]
    lengths = utterances.lengths(encoder).tolist()
    index = utterances.index.tolist()
    bounds = utterances.offsets.tolist()
    for begin, end in pairwise(bounds):
        # The environment's last message has no reply: it is not learnt from.
        observations, actions = index[begin : end - 1 : 2], index[begin + 1 : end : 2]
        for window in rule.windows(encoder, lengths[begin : end - 1 : 2], lengths[begin + 1 : end : 2]):
            ids = list(form.begin)
            labels: list[int] = []
            for turn in range(window.start, window.stop):
                ids += (form.after if turn > window.start else ()) + tokens[observations[turn]] + form.reply
                said = tokens[actions[turn]] + form.end
                if turn >= window.first:
                    labels += [IGNORED] * (len(ids) - len(labels))
                    labels += said
                ids += said
            yield ids, labels

"""The episodes that a training learns from, as rows of tokens: those of a dataset folder, or of a stream.

A source of episodes says how large they are, which words they use, and what the rows are that a method makes of them.
`StoredEpisodes` is a dataset folder: all of it is cut into rows once, in parts, and mapped into memory from the cache
(`lmrl_loaders.token_cache`). `lmrl_loaders.streaming.StreamedEpisodes` reads while it trains.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from datasets import Dataset, IterableDataset

from lmrl_data.dataset import read_batches, split_files
from lmrl_data.episode import episode_schema
from lmrl_data.files import file_hash
from lmrl_data.registry import get_task
from lmrl_loaders.chat import ChatEncoder
from lmrl_loaders.sequences import Ints, Sizes, Utterances, read_utterances, sizes_of
from lmrl_loaders.token_cache import mapped, remembered, tokenizer_hash
from lmrl_loaders.tokenizer import count_words, most_frequent
from lmrl_loaders.windows import WindowRule

# Makes rows of episodes: of a table of them, their messages, the encoder, the rule that cuts them, and settings.
Make = Callable[..., pa.Table]
# Episodes that are cut at once: enough for arrays to pay, and little memory.
PART = 1024


class Rows(NamedTuple):
    """Rows of tokens.

    Attributes:
        dataset: for a trainer.
        table: all of them; of a stream, those of its first episodes.
    """

    dataset: Dataset | IterableDataset
    table: pa.Table


class Source(Protocol):
    """Where episodes come from."""

    hashes: dict[str, str]
    """What identifies the data: the SHA-256 of each file, or the commit of a repository."""

    @property
    def count(self) -> int | None:
        """How many episodes there are; None where nobody knows."""

    def words(self) -> Counter[str]:
        """How often each word is said."""

    def frequent_messages(self, most: int) -> list[str]:
        """The messages that are said most often."""

    def sizes(self, encoder: ChatEncoder) -> Sizes:
        """How large the episodes are."""

    def scores(self) -> pa.Table:
        """Return and success of each episode, by which some can be chosen."""

    def rows(self, make: Make, encoder: ChatEncoder, rule: WindowRule, chosen: Ints | None, **settings: Any) -> Rows:
        """The rows that are made of all episodes, or of the chosen ones."""


class StoredEpisodes:
    """The training split of a dataset folder.

    Raises:
        LmrlError: no such split. Files that cannot be read are an error where they are read.
    """

    def __init__(self, folder: Path, task: str, config: str) -> None:
        self.files = split_files(folder, config, "train")
        self.hashes = {str(path.relative_to(folder)): file_hash(path) for path in self.files}
        self._schema = episode_schema(get_task(task))
        self._key = {"task": task, "files": list(self.hashes.values())}

    @cached_property
    def _read(self) -> tuple[pa.Table, Utterances]:
        """All episodes, and their messages, which are left out in the table: most of them are said again and again."""
        tables, parts = [], []
        for path in self.files:
            for table in read_batches(path, self._schema):
                parts.append(read_utterances(table))
                tables.append(table.drop_columns(["messages"]))
        if not parts:
            read_utterances(self._schema.empty_table())  # says that there is nothing
        return pa.concat_tables(tables).combine_chunks(), Utterances.joined(parts)

    @property
    def count(self) -> int:
        """How many episodes there are."""
        return sum(pq.read_metadata(path).num_rows for path in self.files)

    def words(self) -> Counter[str]:
        """How often each word is said."""
        return Counter(remembered("words", self._key, lambda: count_words(self._read[1].counts())))

    def frequent_messages(self, most: int) -> list[str]:
        """The messages that are said most often."""
        messages: list[str] = remembered(
            "messages", {**self._key, "most": most}, lambda: most_frequent(self._read[1].counts(), most)
        )
        return messages

    def sizes(self, encoder: ChatEncoder) -> Sizes:
        """How large the episodes are."""
        key = {**self._key, "tokenizer": tokenizer_hash(encoder.tokenizer)}
        return Sizes(*remembered("sizes", key, lambda: sizes_of(self._read[1], encoder)))

    def scores(self) -> pa.Table:
        """Columns ``episode_return`` and ``success``."""
        columns = ["episode_return", "success"]
        return pa.concat_tables([pq.read_table(path, columns=columns) for path in self.files])

    def rows(self, make: Make, encoder: ChatEncoder, rule: WindowRule, chosen: Ints | None, **settings: Any) -> Rows:
        """The rows that are made of all episodes, or of the chosen ones, in order."""
        key = {
            **self._key,
            "tokenizer": tokenizer_hash(encoder.tokenizer),
            "rule": [rule.context, rule.reply_tokens],
            "chosen": None if chosen is None else hashlib.sha256(chosen.tobytes()).hexdigest(),
            "make": make.__name__,
            "settings": settings,
        }

        def parts() -> Iterator[pa.Table]:
            table, utterances = self._read
            episodes = np.arange(len(table)) if chosen is None else chosen
            for first in range(0, len(episodes), PART):
                part = episodes[first : first + PART]
                yield with_lengths(make(table.take(part), utterances.take(part), encoder, rule, **settings))

        dataset = mapped(key, parts)
        return Rows(dataset.with_format("numpy"), dataset.data.table)


def with_lengths(rows: pa.Table) -> pa.Table:
    """Rows with the column by which transformers groups them, where it is told to."""
    return rows.append_column("length", pc.list_value_length(rows["input_ids"]))

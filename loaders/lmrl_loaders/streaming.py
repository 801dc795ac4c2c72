"""Episodes from the Hub, read while a model is trained on them: nothing is kept on the disk, and little in memory.

The files are read one after another, in an order that the seed gives anew for each pass; their episodes are cut into
rows in parts, and the rows are mixed in a buffer. What a run must know before it begins (the words, the sizes, the mean
return) is that of the first episodes, `HEAD` of them.

In a run of several processes each reads the whole stream and takes its own batches of it, so all of them together see
the rows that one process would see. A resumed run reads again what the first one had read, and skips it: unlike a
stored buffer that gives the very rows that would have come.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from datasets import IterableDataset, load_dataset
from datasets.iterable_dataset import ExamplesIterable
from huggingface_hub import HfApi
from numpy.typing import NDArray

from lmrl_data.dataset import check_columns
from lmrl_data.episode import episode_schema
from lmrl_data.errors import LmrlError
from lmrl_data.registry import get_task
from lmrl_loaders.chat import ChatEncoder
from lmrl_loaders.episodes import PART, Make, Rows, StoredEpisodes
from lmrl_loaders.sequences import Ints, Sizes, read_utterances, sizes_of
from lmrl_loaders.tokenizer import count_words, most_frequent
from lmrl_loaders.windows import WindowRule

HEAD = 10_000  # episodes that are read before training
BUFFER = 10_000  # rows that are mixed with each other

Row = dict[str, NDArray[Any]]


class StreamedEpisodes:
    """The training split of a dataset on the Hub, or of a folder that is read in the same way.

    Args:
        name: OWNER/NAME on the Hub, or a folder.
        task: name of the task.
        config: of the task.
        seed: of the order.

    Raises:
        LmrlError: there is no such dataset, it cannot be reached, or it holds something else.
    """

    count = None  # nobody knows how many there are

    def __init__(self, name: str, task: str, config: str, seed: int) -> None:
        self.name, self.seed = name, seed
        self._schema = episode_schema(get_task(task))
        if Path(name).is_dir():
            self.hashes, revision = StoredEpisodes(Path(name), task, config).hashes, None
        else:
            revision = self._reached(lambda: HfApi().dataset_info(name).sha)
            self.hashes = {name: revision}
        self._source: IterableDataset = self._reached(
            lambda: load_dataset(name, config, split="train", revision=revision, streaming=True)
        )
        head = list(islice(self._parts(np.random.Generator(np.random.PCG64([seed, 0]))), -(-HEAD // PART)))
        self.head = pa.concat_tables(head) if head else self._schema.empty_table()
        self.utterances = read_utterances(self.head)

    def words(self) -> Counter[str]:
        """How often each word is said in the first episodes."""
        return count_words(self.utterances.counts())

    def frequent_messages(self, most: int) -> list[str]:
        """The messages that are said most often in the first episodes."""
        return most_frequent(self.utterances.counts(), most)

    def sizes(self, encoder: ChatEncoder) -> Sizes:
        """How large the first episodes are."""
        return sizes_of(self.utterances, encoder)

    def scores(self) -> pa.Table:
        """There are none before all has been read.

        Raises:
            LmrlError: always.
        """
        raise LmrlError("to choose the better episodes all of them must be known; leave --stream out")

    def rows(self, make: Make, encoder: ChatEncoder, rule: WindowRule, chosen: Ints | None, **settings: Any) -> Rows:
        """The rows that are made of the episodes, pass after pass without an end."""
        assert chosen is None  # without `scores` nobody can choose

        def made(table: pa.Table) -> pa.Table:
            return _fitting(make(table, read_utterances(table), encoder, rule, **settings), rule.context)

        def examples() -> Iterator[tuple[int, Row]]:
            number = count()
            for epoch in count():
                order = np.random.Generator(np.random.PCG64([self.seed, epoch]))
                rows = (row for table in self._parts(order) for row in _rows(made(table)))
                for row in mixed(rows, BUFFER, order):
                    yield next(number), row

        return Rows(IterableDataset(ExamplesIterable(examples, {})), made(self.head))

    def _parts(self, order: np.random.Generator) -> Iterator[pa.Table]:
        """The episodes of one pass, the files in an order that is drawn."""
        source = self._source.with_format("arrow")
        for file in order.permutation(source.num_shards).tolist():
            parts = iter(source.shard(source.num_shards, file).iter(PART))
            while (part := self._reached(partial(next, parts, None))) is not None:
                check_columns(part.schema, self._schema, Path(self.name))
                yield part.select(self._schema.names).cast(self._schema)

    def _reached(self, ask: Callable[[], Any]) -> Any:
        """What something that needs the Hub says, its many kinds of errors in one line."""
        try:
            return ask()
        except Exception as error:  # huggingface_hub, httpx, fsspec, datasets and pyarrow each raise their own
            reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise LmrlError(
                f"cannot stream {self.name} ({reason}); `lmrl train` without --stream reads a folder"
            ) from error


def mixed(rows: Iterator[Row], size: int, order: np.random.Generator) -> Iterator[Row]:
    """Rows in a new order: each waits in a buffer, for as long as chance has it."""
    buffer = list(islice(rows, size))
    for row in rows:
        place = int(order.integers(len(buffer)))
        yield buffer[place]
        buffer[place] = row
    order.shuffle(buffer)
    yield from buffer


def _fitting(rows: pa.Table, context: int) -> pa.Table:
    """The rows that fit into the context: a reply may be longer than any that was seen before."""
    fits = pc.less_equal(pc.list_value_length(rows["input_ids"]), context)
    if not pc.all(fits).as_py():
        warnings.warn("a sequence longer than the context is left out; give a larger max_length", stacklevel=2)
    return rows.filter(fits)


def _rows(table: pa.Table) -> Iterator[Row]:
    """The rows of a table of lists, copied: a view would keep the whole table alive."""
    columns = {}
    for name in table.column_names:
        column = table[name].combine_chunks()
        values, offsets = column.flatten().to_numpy(), column.offsets.to_numpy()
        columns[name] = (values.astype(np.int64) if values.dtype == np.int32 else values, offsets - offsets[0])
    for row in range(len(table)):
        yield {name: values[offsets[row] : offsets[row + 1]].copy() for name, (values, offsets) in columns.items()}

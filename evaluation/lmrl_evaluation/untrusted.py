"""A look at files from strangers before they are read: a few bytes of Parquet can stand for gigabytes of episodes."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lmrl_data.errors import LmrlError

MAX_EPISODES = 1_000_000
MAX_BYTES = 2**29
MAX_VALUES = 50_000_000

_ROWS = 4096


def check_regular(file: Path) -> None:
    """Whether a path is a file of its own: a link in a stranger's result might show what is not theirs.

    Raises:
        LmrlError: it is missing, a link, or anything but a file.
    """
    if file.is_symlink():
        raise LmrlError(f"{file} is a link; put the file itself there")
    if not file.is_file():
        raise LmrlError(f"{file} does not exist or is no file; make a result with `lmrl evaluate`")


def check_parquet_size(file: Path) -> None:
    """Whether a Parquet file can be read in bounded memory: first as its footer says, then as its texts add up.

    A text that comes many times stands in the file once, so its whole length counts each time. A footer that lies can
    cost at most the page that it lies about, 2 GiB.

    Raises:
        LmrlError: the file is too large, or cannot be read.
    """
    check_regular(file)
    try:
        with pq.ParquetFile(file) as parquet:
            texts = _check_footer(parquet.metadata, file)
        # As dictionaries, because those are as small as in the file.
        with pq.ParquetFile(file, read_dictionary=texts) as parquet:
            total = 0
            for batch in parquet.iter_batches(batch_size=_ROWS):
                total += sum(map(_text_bytes, batch.columns))
                if total > MAX_BYTES:
                    raise LmrlError(f"{file} holds more than {MAX_BYTES >> 20} MiB of text, too much for a result")
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise LmrlError(f"{file} is not a readable Parquet file ({reason}); evaluate again") from error


def _check_footer(footer: pq.FileMetaData, file: Path) -> list[str]:
    """Check the sizes that the footer tells; returns the paths of the columns of text."""
    if footer.num_rows > MAX_EPISODES:
        raise LmrlError(f"{file} has {footer.num_rows:,} episodes; a result has at most {MAX_EPISODES:,}")
    columns = [group.column(place) for group in _groups(footer) for place in range(group.num_columns)]
    unpacked = sum(column.total_uncompressed_size for column in columns)
    if unpacked > MAX_BYTES:
        raise LmrlError(f"{file} unpacks to {unpacked >> 20:,} MiB; a result has at most {MAX_BYTES >> 20} MiB")
    values = sum(column.num_values for column in columns)
    if values > MAX_VALUES:
        raise LmrlError(f"{file} has {values:,} values; a result has at most {MAX_VALUES:,}")
    return sorted({column.path_in_schema for column in columns if column.physical_type == "BYTE_ARRAY"})


def _groups(footer: pq.FileMetaData) -> Iterator[pq.RowGroupMetaData]:
    return map(footer.row_group, range(footer.num_row_groups))


def _text_bytes(column: pa.Array) -> int:
    """How many bytes the texts in a column are, each as often as it comes."""
    kind = column.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _text_bytes(column.flatten())
    if pa.types.is_struct(kind):
        return sum(map(_text_bytes, column.flatten()))
    if pa.types.is_dictionary(kind):
        lengths = pc.binary_length(column.dictionary).take(column.indices)
        return pc.sum(pc.cast(lengths, pa.int64())).as_py() or 0
    return 0

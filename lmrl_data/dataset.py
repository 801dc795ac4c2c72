"""Reading datasets of episodes: Parquet files of a generated or downloaded folder, with errors that name the file."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from lmrl_data.episode import Episode, episode_schema, from_table, missing_values
from lmrl_data.errors import LmrlError
from lmrl_data.registry import Task, get_task


def split_files(folder: str | Path, config: str, split: str) -> list[Path]:
    """The Parquet files of a split, in order.

    Raises:
        LmrlError: the folder has none, or not all.
    """
    data = Path(folder) / "data" / config
    files = sorted(data.glob(f"{split}-[0-9]*-of-[0-9]*[0-9].parquet"))
    if not files:
        raise LmrlError(f"{folder} has no files data/{config}/{split}-*.parquet; make them with `lmrl generate`")
    total = files[-1].stem.rpartition("-of-")[2]
    for path in files:
        if path.stem.rpartition("-of-")[2] != total:
            raise LmrlError(f"{path} belongs to another dataset than the files beside it; remove one of the two")
    for number in range(min(int(total), len(files) + 1)):
        expected = data / f"{split}-{number:05d}-of-{total}.parquet"
        if number == len(files) or files[number] != expected:
            raise LmrlError(f"{expected} is missing; make it with `lmrl generate`")
    return files


def read_batches(path: Path, schema: pa.Schema, rows: int = 4096) -> Iterator[pa.Table]:
    """The rows of a Parquet file, a batch at a time.

    Raises:
        LmrlError: the file is missing, truncated, corrupt, or has other columns than the schema.
    """
    try:
        with pq.ParquetFile(path) as file:
            check_columns(file.schema_arrow, schema, path)
            first = 0
            for batch in file.iter_batches(batch_size=rows):
                table = pa.Table.from_batches([batch]).select(schema.names).cast(schema)
                table.validate(full=True)
                _check_missing(table, path, first)
                first += len(table)
                yield table
    except FileNotFoundError as error:
        raise LmrlError(f"{path} does not exist") from error
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise LmrlError(
            f"{path} is not a readable Parquet file ({reason}); make it again with the command that wrote it"
        ) from error


def check_columns(found: pa.Schema, expected: pa.Schema, path: Path) -> None:
    """Compare columns and types.

    Raises:
        LmrlError: a column is missing, unexpected or of another type.
    """
    for field in expected:
        if field.name not in found.names:
            raise LmrlError(f"{path} has no column {field.name!r}; its columns are: {', '.join(found.names)}")
        if not _same_type(found.field(field.name).type, field.type):
            got = found.field(field.name).type
            raise LmrlError(f"{path}: column {field.name!r} has type {got}, but must have {field.type}")
    extra = [name for name in found.names if name not in expected.names]
    if extra:
        raise LmrlError(f"{path} has columns that no episode has: {', '.join(extra)}")


def _check_missing(table: pa.Table, path: Path, first: int) -> None:
    for name, rows in missing_values(table).items():
        if rows.any():
            raise LmrlError(
                f"{path}: episode {first + int(rows.argmax())} has a missing value in column {name!r}; "
                "make it again with the command that wrote it"
            )


def _same_type(found: pa.DataType, expected: pa.DataType) -> bool:
    """Whether two types are equal but for their offsets and the names that Parquet gives to list elements."""
    if pa.types.is_list(expected):
        is_list = pa.types.is_list(found) or pa.types.is_large_list(found)
        return is_list and _same_type(found.value_type, expected.value_type)
    if pa.types.is_struct(expected):
        return (
            pa.types.is_struct(found)
            and [field.name for field in found] == [field.name for field in expected]
            and all(_same_type(a.type, b.type) for a, b in zip(found, expected, strict=True))
        )
    # pandas and polars write the same texts as another type.
    return bool(found == expected) or (pa.types.is_string(expected) and pa.types.is_large_string(found))


def load_table(folder: str | Path, task: str, *, config: str | None = None, split: str = "train") -> pa.Table:
    """A split of a local dataset folder as one table.

    Raises:
        LmrlError: no such split, or files that cannot be read.
    """
    found: Task = get_task(task)
    name, _ = found.config(config)
    schema = episode_schema(found)
    batches = [batch for path in split_files(folder, name, split) for batch in read_batches(path, schema)]
    return pa.concat_tables(batches) if batches else schema.empty_table()


def load_episodes(folder: str | Path, task: str, *, config: str | None = None, split: str = "train") -> list[Episode]:
    """The episodes of a split of a local dataset folder; see `load_table`."""
    return from_table(load_table(folder, task, config=config, split=split))

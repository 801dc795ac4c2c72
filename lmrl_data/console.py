"""What commands show on a terminal: a progress bar with rate and time left, and tables."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager


@contextmanager
def progress(title: str, total: int, *, quiet: bool = False) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error; nothing where that is no terminal.

    Args:
        title: what is being done.
        total: how many there are to do.
        quiet: show nothing.

    Yields:
        A function to call with a number each time so many more are done.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class RateColumn(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:,.0f}/s" if task.speed else "")

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        RateColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal, transient=True) as bar:
        number = bar.add_task(title, total=total)
        yield lambda done: bar.advance(number, done)


def print_table(title: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Print rows with the same keys as a table on standard output; numbers to the right, nothing cut off."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, box=SIMPLE_HEAD, pad_edge=False, title_justify="left")
    for key, value in rows[0].items():
        is_number = isinstance(value, int | float)
        table.add_column(key.replace("_", " "), justify="right" if is_number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(f"{value:,}" if isinstance(value, int) else str(value)) for value in row.values()))
    console = Console()
    if not console.is_terminal:
        console.width = 120
    console.print(table)

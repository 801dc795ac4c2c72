"""`import_file`: a published raw file into a dataset folder."""

from collections.abc import Callable
from pathlib import Path

from lmrl_data.errors import LmrlError
from lmrl_data.registry import get_task
from lmrl_generators.importing.folder import Staging
from lmrl_generators.importing.layouts import LAYOUTS, tasks_like
from lmrl_generators.importing.plays import Unreadable
from lmrl_generators.importing.records import Record, read_records
from lmrl_generators.importing.report import Report


def import_file(
    path: Path, task: str, *, config: str | None = None, out: Path, on_bytes: Callable[[int], None] = lambda count: None
) -> Report:
    """Read a published file and write its episodes as the train split of ``out/TASK``.

    Records that cannot be read are left out and reported. Memory does not grow with the file.

    Args:
        path: of the file, as it was published.
        task: whose data it holds.
        config: of the task; None is its default.
        out: folder that gets a folder per task.
        on_bytes: called with a number of bytes each time some have been read.

    Returns:
        What was found.

    Raises:
        LmrlError: unknown task or config; no episode could be read; the config is there already, or cannot be written.
            Nothing is left behind.
    """
    found = get_task(task)
    config, chosen = found.config(config)
    layout = LAYOUTS[task]
    report, first = Report(), None
    staging = Staging(out, found, config)
    try:
        for record in layout.gather(read_records(path, layout.list_records, on_bytes)):
            first = first or record
            if record.problem:
                report.reject(record.where, record.problem)
                continue
            try:
                reading = layout.read(record.value, config, chosen.env_id)
            except Unreadable as error:
                report.reject(record.where, str(error))
                continue
            report.add(reading)
            staging.add(reading.episode)
        if not report.episodes:
            raise LmrlError(_nothing_read(path, task, report, first))
        staging.finish({"source": path.name, **report.content})
    finally:
        staging.discard()
    return report


def _nothing_read(path: Path, task: str, report: Report, first: Record | None) -> str:
    """Why a file has no episode."""
    others = tasks_like(first.value) if first else []
    if others and task not in others:
        return f"{path} is in the layout of {' or '.join(others)}, not of {task}; give --task {others[0]}"
    problem = report.problems[0] if report.problems else "it has no records"
    return f"{path} has no episode of {task} that can be read; {problem}"

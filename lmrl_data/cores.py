"""How many cores there are to use."""

import os

_most: int | None = None


def available_cores() -> int:
    """The cores that this process may use."""
    if _most is not None:
        return _most
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def use_cores(number: int) -> None:
    """Leave the other cores to the other processes that work here, as a worker of a cluster must."""
    global _most
    _most = number

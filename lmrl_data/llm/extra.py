"""The extras that language models need: neither the client of servers nor torch is part of the base install."""

from collections.abc import Iterator
from contextlib import contextmanager

from lmrl_data.errors import LmrlError


@contextmanager
def needs_extra(extra: str, what: str) -> Iterator[None]:
    """Import what an extra brings inside; where it is missing, the error says what to install.

    Raises:
        LmrlError: the extra is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise LmrlError(f'{what} need the extra "{extra}" ({error}): pip install "lmrl-gym[{extra}]"') from error

"""The extra ``train``: torch, transformers and trl are not part of the base install."""

from collections.abc import Iterator
from contextlib import contextmanager

from lmrl_data.errors import LmrlError


@contextmanager
def train_extra() -> Iterator[None]:
    """Import torch, transformers and trl inside; where they are missing, the error says what to install.

    Raises:
        LmrlError: the extra is not installed.
    """
    try:
        import torch  # noqa: F401 - first, because trl wraps the error of its own import of it

        yield
    except ImportError as error:
        raise LmrlError(f'trained models need the extra "train" ({error}): pip install "lmrl-gym[train]"') from error

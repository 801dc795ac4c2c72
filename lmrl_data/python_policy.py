"""A policy that is a class of the user's own: ``python:MODULE:CLASS``."""

import importlib
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from lmrl_data.errors import LmrlError
from lmrl_data.text import Message

T = TypeVar("T")


class PythonPolicy:
    """Plays with an object of a class that can be imported, also from the current folder (see `lmrl_data.policy`).

    The class is called with ``task`` and ``config`` if it takes arguments of these names. What it does wrong is
    reported with the file and line.
    """

    def __init__(self, argument: str, *, task: str, config: str) -> None:
        """Import the class and make the policy.

        Args:
            argument: ``MODULE:CLASS``.
            task: what to play.
            config: of the task.

        Raises:
            LmrlError: there is no such class, it cannot be made, or what it makes is no policy.
        """
        self._spec = f"python:{argument}"
        module, _, name = argument.partition(":")
        if not (module and name):
            raise LmrlError(f"cannot read the policy {self._spec[:80]!r}; write python:MODULE:CLASS")
        made = self._find(module, name)
        takes = self._run(lambda: inspect.signature(made).parameters)
        arguments = {key: value for key, value in {"task": task, "config": config}.items() if key in takes}
        self._policy = self._run(lambda: made(**arguments))
        for method in ("reset", "act"):
            if not callable(getattr(self._policy, method, None)):
                raise LmrlError(
                    f"{self._spec} has no method {method}; a policy has reset(seeds) and act(conversations)"
                )
        self.name: str = getattr(self._policy, "name", None) or name
        if not isinstance(self.name, str):
            raise LmrlError(f"{self._spec} has a {type(self.name).__name__} for its name; give it a text")
        self._count = 0

    @property
    def usage(self) -> Any:
        """The policy's own count of tokens, where it keeps one (see `lmrl_data.llm.chat.Usage`)."""
        return getattr(self._policy, "usage", None)

    def reset(self, seeds: Sequence[int]) -> None:
        """Begin an episode per seed."""
        self._count = len(seeds)
        self._run(lambda: self._policy.reset(seeds))

    def act(self, conversations: Sequence[list[Message]]) -> list[str]:
        """The policy's actions.

        Raises:
            LmrlError: it raises an error, or gives anything but a text per conversation.
        """
        replies = self._run(lambda: list(self._policy.act(conversations)))
        if len(replies) != self._count:
            raise LmrlError(f"{self._spec}: act gave {len(replies)} actions for {self._count} conversations")
        for reply in replies:
            if not isinstance(reply, str):
                raise LmrlError(f"{self._spec}: act gave a {type(reply).__name__}; actions are texts (str)")
        return replies

    def _find(self, module: str, name: str) -> Callable[..., Any]:
        # The command `lmrl` does not look into the current folder by itself, as `python -m` does.
        if os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())
        try:
            found = getattr(self._run(lambda: importlib.import_module(module)), name)
        except AttributeError:
            raise LmrlError(f"{self._spec}: the module {module} has no {name}") from None
        if not callable(found):
            raise LmrlError(f"{self._spec}: {name} is a {type(found).__name__}; give a class or a function")
        made: Callable[..., Any] = found
        return made

    def _run(self, call: Callable[[], T]) -> T:
        """Run the user's code; its errors become one line that says where they come from."""
        try:
            return call()
        except LmrlError:
            raise
        except Exception as error:
            said = " ".join(str(error).split())[:200]
            raise LmrlError(f"{self._spec}: {type(error).__name__}: {said}{_place(error)}") from error


def _place(error: Exception) -> str:
    """Where in the user's code an error was raised; nothing where it was not."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<")]
    last = frames[-1]
    return "" if last.filename == __file__ else f" ({os.path.basename(last.filename)}, line {last.lineno})"

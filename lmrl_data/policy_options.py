"""Options behind the spec of a policy: ``hf:PATH?temperature=0.5``, ``ilql:PATH?beta=4&temperature=0``."""

from collections.abc import Callable, Mapping

from lmrl_data.errors import LmrlError

Readers = Mapping[str, Callable[[str], float]]


def split_options(kind: str, argument: str, known: Readers) -> tuple[str, dict[str, float]]:
    """What stands before the ``?`` of a spec's argument, and the options behind it, by name.

    Args:
        kind: of the policy, for the message.
        argument: of the spec.
        known: how the value of each option is read.

    Raises:
        LmrlError: an option that is unknown, no number or given twice; the message does not repeat it: it may be a key.
    """
    path, asked, query = argument.partition("?")
    options: dict[str, float] = {}
    for part in query.split("&") if asked else []:
        name, _, value = part.partition("=")
        if name in options:
            raise LmrlError(f"an option of the policy {kind}:… is given twice; leave one out")
        try:
            options[name] = known[name](value)
        except (KeyError, ValueError):
            names = ", ".join(f"{name}=NUMBER" for name in known)
            raise LmrlError(
                f"an option of the policy {kind}:… cannot be read; it takes ?{names}, joined by &"
            ) from None
    return path, options


def with_options(name: str, options: Mapping[str, float]) -> str:
    """The name of a policy with the options that it plays with."""
    return f"{name}?{'&'.join(f'{option}={value:g}' for option, value in options.items())}" if options else name

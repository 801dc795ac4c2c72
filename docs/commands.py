"""The page of the command line, from the commands themselves."""

from collections.abc import Iterator, Mapping
from typing import Any

from typer.main import get_command

from lmrl_data.cli import make_app

_HEAD = """# Commands

All of them take `--help`. What goes wrong is said in one line, with exit code 2; `--json` prints for a program. A
policy is the name of a scripted one (`random`, `optimal`, …; `best` is the best known), `hf:PATH` (a causal language
model), `ilql:PATH?beta=B` (a value-guided one), `openai:MODEL@URL` (a server) or `python:MODULE:CLASS` (yours).
"""


def commands() -> Mapping[str, Any]:
    """The commands of ``lmrl`` by name; typer or click has their class, depending on typer's version."""
    group: Any = get_command(make_app())
    found: Mapping[str, Any] = group.commands
    return found


def page() -> str:
    """The page: a section per command with its arguments and options."""
    return "\n".join([_HEAD, *(_section(name, command) for name, command in commands().items())])


def _section(name: str, command: Any) -> str:
    context = command.make_context(f"lmrl {name}", [], resilient_parsing=True)
    usage = command.get_usage(context).removeprefix("Usage: ")
    return f"## lmrl {name}\n\n{command.help}\n\n```text\n{usage}\n```\n\n" + "\n".join(_table(command)) + "\n"


def _table(command: Any) -> Iterator[str]:
    yield "| argument or option | meaning | default |"
    yield "|---|---|---|"
    for parameter in command.params:
        is_option = parameter.param_type_name == "option"
        names = ", ".join(f"`{name}`" for name in parameter.opts) if is_option else f"`{parameter.name}`"
        has_default = parameter.default is not None and not isinstance(parameter.default, bool)
        default = f"`{parameter.default}`" if has_default else "required" if parameter.required else ""
        yield f"| {names} | {parameter.help or ''} | {default} |"

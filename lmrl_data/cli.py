"""The command ``lmrl``: joins the commands of the packages, and turns errors into one line and an exit code."""

import io
import sys
from importlib.metadata import entry_points
from typing import Annotated, NoReturn

import typer

from lmrl_data.errors import LmrlError


def main() -> NoReturn:
    """Run the command line: 0 on success, 2 for an error that the user can mend, 130 when interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character must not end a run
    try:
        make_app()()
    except BaseException as error:
        if _interrupted(error):
            sys.exit(130)
        if isinstance(error, LmrlError):
            _fail(str(error))
        if isinstance(error, OSError):
            _fail(f"{error.filename or 'input or output'}: {error.strerror or error}")
        raise
    sys.exit(0)


def make_app() -> typer.Typer:
    """The app with the commands of all installed packages."""
    app = typer.Typer(
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for point in sorted(entry_points(group="lmrl.commands"), key=lambda point: point.name):
        app.add_typer(point.load())
    return app


def _version(show: bool) -> None:
    if show:
        from lmrl_data import __version__

        print(f"lmrl-gym {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Generate, train on, evaluate and publish the lmrl-gym benchmark."""


def _interrupted(error: BaseException | None) -> bool:
    """Whether it is Ctrl-C, or what a library made of Ctrl-C while it was tidying up."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _fail(message: str) -> NoReturn:
    print(f"lmrl: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(2)

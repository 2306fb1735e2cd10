"""The app itself: its commands, and how it ends."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from wayfare.errors import WayfareError

__all__ = ["COMMANDS", "app", "main"]

# In the order in which help lists them.
COMMANDS = (
    "demo",
    "distance",
    "explain",
    "index",
    "search",
    "match",
    "classify",
    "embed",
    "vectors",
    "reproduce",
    "bench",
    "serve",
)

log = logging.getLogger("wayfare")

# What the library calls by its own names, as it is said on a command line.
SPOKEN = {
    "overwrite=True": "--overwrite",
    "replace=True": "--replace",
    "missing_ok=True": "--missing-ok",
    "Index.build": "wayfare index build",
    "give each its id": "name their column by --id-column",
}


class _InOrder(TyperGroup):
    """Lists commands and groups as `COMMANDS` does; typer would put groups last."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=COMMANDS.index)


app = typer.Typer(
    name="wayfare",
    cls=_InOrder,
    help="Certified Wasserstein-Fisher-Rao distances between documents, and exact search under them.",
    epilog="Start with: wayfare demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from wayfare import __version__

        typer.echo(f"wayfare {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; anywhere on the line.")
    ] = False,
) -> None:
    """Set what every command shares."""


for _name in COMMANDS:
    import_module(f"wayfare.cli.{_name}").add_to(app)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, and end the process: 0 success, 1 a failure in one line, 2 wrong usage."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    words = given[: given.index("--")] if "--" in given else given
    debug = "--debug" in words
    given = [word for word in words if word != "--debug"] + given[len(words) :]
    _speak_plainly()
    try:
        app(given, prog_name="wayfare")
    except BrokenPipeError:
        _end_quietly()
    except Exception as error:
        if debug:
            raise
        typer.echo(f"wayfare: {_in_one_line(error)}", err=True)
        raise SystemExit(1) from None


def _in_one_line(error: Exception) -> str:
    if isinstance(error, WayfareError):
        said = " ".join(str(error).split())
        for name, spoken in SPOKEN.items():
            said = said.replace(name, spoken)
        return said
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}; check the path, the permissions and the room on the disk"
    if isinstance(error, MemoryError):
        return "the memory is not enough for this; give fewer or shorter documents"
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return f"unexpected {what}; this is a fault of wayfare: please report what --debug shows"


class _Lines(logging.Handler):
    """Each message as one line on whatever standard error is by then."""

    def emit(self, record: logging.LogRecord) -> None:
        typer.echo(f"wayfare: {record.getMessage()}", err=True)


def _speak_plainly() -> None:
    """Warnings and the log as single lines on standard error."""
    if not log.handlers:
        log.addHandler(_Lines())
    warnings.formatwarning = lambda message, *_: f"wayfare: {message}\n"


def _end_quietly() -> None:
    """Whoever read has gone, as `head` does; the interpreter must not complain when it flushes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(1) from None

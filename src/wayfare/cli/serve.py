"""`wayfare serve`: an index as a page for people and an API for programs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from wayfare.cli import options as opt
from wayfare.cli.documents import vectors_of
from wayfare.cli.output import form_of, note, print_csv
from wayfare.errors import InputError

__all__ = ["add_to"]

_LIMITS, _ACCESS = "Limits", "Access"
LONGEST_TOKEN = 4096


def add_to(app: typer.Typer) -> None:
    """Enter the command."""
    app.command(epilog=opt.example("wayfare serve news.index --check"))(serve)


def serve(
    index: Annotated[str, typer.Argument(help="The folder of an index.", metavar="INDEX")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 8765,
    check: Annotated[
        bool, typer.Option("--check", help="Only open everything, answer one search, and end.")
    ] = False,
    vectors: opt.Vectors = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on.", rich_help_panel=_ACCESS)
    ] = "127.0.0.1",
    public: Annotated[
        bool,
        typer.Option(
            "--public",
            help="Let others than this machine in; wants a token.",
            rich_help_panel=_ACCESS,
        ),
    ] = False,
    token_file: Annotated[
        Path | None,
        typer.Option(
            help="File with the token that clients must send. Or set WAYFARE_TOKEN.",
            rich_help_panel=_ACCESS,
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            help="A name by which browsers may call the server. Repeat for more.",
            rich_help_panel=_ACCESS,
        ),
    ] = None,
    milliseconds: Annotated[
        int,
        typer.Option(
            min=1,
            help="Work for one request; then it says what is proven.",
            rich_help_panel=_LIMITS,
        ),
    ] = 5_000,
    max_k: Annotated[
        int, typer.Option(min=1, help="Documents of one answer.", rich_help_panel=_LIMITS)
    ] = 100,
    max_words: Annotated[
        int, typer.Option(min=1, help="Distinct words of one text.", rich_help_panel=_LIMITS)
    ] = 2_000,
    max_bytes: Annotated[
        int, typer.Option(min=1, help="Bytes of one request.", rich_help_panel=_LIMITS)
    ] = 1 << 20,
    max_text: Annotated[
        int, typer.Option(min=1, help="Characters shown of a document.", rich_help_panel=_LIMITS)
    ] = 100_000,
    max_waiting: Annotated[
        int, typer.Option(min=0, help="Requests that wait for a place.", rich_help_panel=_LIMITS)
    ] = 200,
    patience: Annotated[
        int,
        typer.Option(
            min=1, help="Milliseconds that a request waits for a place.", rich_help_panel=_LIMITS
        ),
    ] = 30_000,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Solves at once. Default: one a core.", rich_help_panel=_LIMITS),
    ] = None,
    as_json: opt.JSON = False,
    as_csv: opt.CSV = False,
) -> None:
    """Serve an index on this machine: a page to search and compare, and a JSON API."""
    from wayfare.index import Index
    from wayfare.threads import count_jobs
    from wayfare.web import Address, Limits, create_app
    from wayfare.web import serve as run

    form = form_of(as_json, as_csv)
    limits = Limits(
        request_bytes=max_bytes,
        words=max_words,
        k=max_k,
        text=max_text,
        running=count_jobs(jobs),
        waiting=max_waiting,
        patience=patience,
        milliseconds=milliseconds,
    )
    token, address = _token(token_file), Address(host, port, public)
    address.check(token)
    with Index.open(index, vectors=vectors_of(vectors), read_only=True) as opened:
        app = create_app(opened, limits=limits, token=token, hosts=[host, *(allow_host or [])])
        told = f"{len(opened):,} documents of {index}"
        where: dict[str, Any] = {"index": index, "documents": len(opened), "url": None}

        def tell(url: str | None, said: str) -> None:
            row = where | {"url": url}
            if form == "json":  # on one line: whoever reads it does not wait for the end
                typer.echo(json.dumps(row))
            elif form == "csv":
                print_csv([row], list(row))
            note(said)

        if check:
            tell(None, f"{told} can be served")
            return
        listening = address.listen()
        run(app, listening, lambda url: tell(url, f"serving {told} at {url} (Ctrl+C ends it)"))


def _token(file: Path | None) -> str | None:
    if file is None:
        return os.environ.get("WAYFARE_TOKEN") or None
    with file.open("rb") as content:
        token = content.read(LONGEST_TOKEN + 1)
    if len(token) > LONGEST_TOKEN or not token.strip().isascii():
        raise InputError(f"--token-file: {str(file)!r} is not a short line of ASCII; write a token")
    if not token.strip():
        raise InputError(f"--token-file: {str(file)!r} is empty; write a token into it")
    return token.strip().decode()

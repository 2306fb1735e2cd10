"""Texts, corpora, vectors and tokenizers from what was given on the line."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from wayfare.cli.output import note
from wayfare.errors import InputError

if TYPE_CHECKING:
    from wayfare.corpus import Corpus
    from wayfare.text import Tokenizer
    from wayfare.vectors import WordVectors

__all__ = [
    "Read",
    "corpus_of",
    "query_lines",
    "read_texts",
    "refuse",
    "tell_of_unknown",
    "text_in",
    "text_of",
    "texts_of",
    "tokenizer_of",
    "vectors_of",
]

STDIN = "-"
SHOWN = 40  # characters of a text in a note
LARGEST_TEXT = 128 << 20  # bytes, as for one document of any file


def text_of(argument: str, *, files: bool, encoding: str = "utf-8") -> str:
    """The text that an argument is, or that the file it names holds; "-" is standard input."""
    if argument == STDIN:
        return _decoded(sys.stdin.buffer.read(LARGEST_TEXT + 1), "standard input", encoding)
    if files:
        return text_in(argument, "--files", "leave --files out for a text", encoding)
    if _names_a_file(argument):
        note(f"{argument!r} is read as a text; --files reads the file of that name")
    return argument


def text_in(path: str | Path, option: str, otherwise: str, encoding: str = "utf-8") -> str:
    """The text of a file that an option names."""
    if not Path(path).is_file():
        raise InputError(f"{option}: there is no file {str(path)!r}; {otherwise}")
    with Path(path).open("rb") as file:
        return _decoded(file.read(LARGEST_TEXT + 1), str(path), encoding)


def _names_a_file(argument: str) -> bool:
    try:
        return Path(argument).is_file()
    except (OSError, ValueError):  # too long, or with a null
        return False


def texts_of(first: str, second: str, *, files: bool, encoding: str) -> tuple[str, str]:
    """Two texts; at most one of them from standard input."""
    if first == second == STDIN:
        raise InputError("both texts: '-' came twice; only one can come from standard input")
    return (
        text_of(first, files=files, encoding=encoding),
        text_of(second, files=files, encoding=encoding),
    )


def _decoded(raw: bytes, name: str, encoding: str) -> str:
    if len(raw) > LARGEST_TEXT:
        raise InputError(f"{name}: over {LARGEST_TEXT:,} bytes; split it")
    try:
        return raw.decode(encoding)
    except LookupError:
        raise InputError(f"--encoding: {encoding!r} is not known; give one such as utf-8") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name}: byte {error.start + 1} is not {encoding}; pass --encoding, such as latin-1"
        ) from None


def query_lines(argument: str, queries: Path | None, encoding: str = "utf-8") -> list[str]:
    """The queries: the argument, or the lines of standard input or of a file."""
    if queries is not None:
        text = text_in(queries, "--queries", "give one with a query a line", encoding)
    elif argument == STDIN:
        text = text_of(STDIN, files=False, encoding=encoding)
    else:
        return [argument]
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise InputError("queries: no line with a word came; give one query a line")
    return lines


def tell_of_unknown(what: str, text: str, words: Sequence[Any] | Any) -> None:
    """Say so where a text has no word that counts: its distances are those of nothing."""
    if not len(words):
        shown = text if len(text) <= SHOWN else text[:SHOWN] + "…"
        note(f"no word of {what} {shown!r} has a vector, or all are stop words: it has no mass")


def refuse(context: typer.Context, options: Mapping[str, str], why: str) -> None:
    """Wrong usage, if one of these options was given where it would do nothing."""
    for name, option in options.items():
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter(f"{option} {why}")


def vectors_of(name: str | None) -> WordVectors | None:
    """The vectors of that name or path; None for the built-in ones."""
    if name is None:
        return None
    from wayfare.vectors import WordVectors

    return WordVectors.load(name)


def tokenizer_of(stop_words: str) -> Tokenizer:
    """The tokenizer that leaves out these words: "english", "none", or those of a file."""
    from wayfare.text import Tokenizer

    if stop_words == "none":
        return Tokenizer()
    if stop_words == "english":
        return Tokenizer(stop_words="english")
    path = Path(stop_words)
    if not path.is_file():
        raise InputError(
            f"--stop-words: {stop_words!r} came; give english, none, or a file with one word a line"
        )
    return Tokenizer(stop_words=text_in(path, "--stop-words", "give one").split())


def corpus_of(
    path: str,
    *,
    text: str = "text",
    id: str | None = None,
    label: str | None = None,
    metadata: tuple[str, ...] = (),
    format: str | None = None,
    encoding: str = "utf-8",
    on_error: Any = "raise",
    vectors: Any = None,
    weighting: str = "nbow",
    stop_words: str = "english",
    unknown: Any = "skip",
    keep_texts: bool = True,
) -> Corpus:
    """The corpus of a file, a folder or standard input; what was skipped is told on standard error."""
    from wayfare.corpus import Corpus

    return Corpus.from_file(
        path,
        text=text,
        id=id,
        label=label,
        metadata=metadata,
        on_error=on_error,
        format=format,
        encoding=encoding,
        vectors=vectors,
        weighting=weighting,
        tokenizer=tokenizer_of(stop_words),
        unknown=unknown,
        keep_texts=keep_texts,
    )


@dataclass(frozen=True)
class Read:
    """The texts of a file, and the columns beside them."""

    texts: list[str]
    ids: list[Any]
    labels: list[Any] | None
    metadata: dict[str, list[Any]]


def read_texts(
    path: str,
    *,
    text: str = "text",
    id: str | None = None,
    label: str | None = None,
    metadata: Sequence[str] = (),
    format: str | None = None,
    encoding: str = "utf-8",
    on_error: Any = "raise",
) -> Read:
    """All texts of a file, for what cannot take them one by one; ids count from 0 without a column."""
    from wayfare.corpus.files import Columns

    columns = Columns(path, text, id, label, metadata, on_error, format, encoding)
    texts = list(columns.texts())
    columns.skipped()
    ids: list[Any] = list(range(len(texts))) if columns.ids is None else list(columns.ids)
    return Read(texts, ids, columns.labels, columns.metadata)

"""Texts, corpora, vectors and tokenizers from what was given on the line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wayfare.errors import InputError

if TYPE_CHECKING:
    from wayfare.corpus import Corpus
    from wayfare.text import Tokenizer
    from wayfare.vectors import WordVectors

__all__ = [
    "Read",
    "corpus_of",
    "eta_of",
    "query_lines",
    "read_texts",
    "text_of",
    "texts_of",
    "tokenizer_of",
    "vectors_of",
]

STDIN = "-"
LARGEST_TEXT = 128 << 20  # bytes, as for one document of any file


def text_of(argument: str, *, files: bool, encoding: str = "utf-8") -> str:
    """The text that an argument is, or that the file it names holds; "-" is standard input."""
    if argument == STDIN:
        return _decoded(sys.stdin.buffer.read(LARGEST_TEXT + 1), "standard input", encoding)
    if not files:
        return argument
    path = Path(argument)
    if not path.is_file():
        raise InputError(f"--files: there is no file {argument!r}; leave --files out for a text")
    with path.open("rb") as file:
        return _decoded(file.read(LARGEST_TEXT + 1), argument, encoding)


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
        text = text_of(str(queries), files=True, encoding=encoding)
    elif argument == STDIN:
        text = text_of(STDIN, files=False, encoding=encoding)
    else:
        return [argument]
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise InputError("queries: no line with a word came; give one query a line")
    return lines


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
    return Tokenizer(stop_words=text_of(stop_words, files=True).split())


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


def eta_of(eta: float | None, corpus: Corpus) -> float:
    """The eta that was given, or the one that suits the vectors of the corpus."""
    from wayfare.front import DEFAULT_ETA

    if eta is not None:
        return eta
    return float(getattr(corpus.vectors, "default_eta", DEFAULT_ETA))

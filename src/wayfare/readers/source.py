"""Bytes of a file, whatever they are packed in, as lines of bounded length."""

from __future__ import annotations

import codecs
import io
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, AnyStr, BinaryIO, NamedTuple, cast

from wayfare.errors import FormatError, InputError
from wayfare.extras import require
from wayfare.readers.packed import Unpacked

__all__ = ["LIMIT", "PACKED", "STDIN", "Record", "Source"]

STDIN = "-"
LIMIT = 1 << 27  # bytes of one document: some twenty million words
PACKED = (".gz", ".zst")
GZIP = 31  # zlib's number for: a gzip header, the widest window
GZIP_MAGIC, ZSTD_MAGIC = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


class Record(NamedTuple):
    """One document of a file: the line (or row) it starts at, from 1, and its named fields."""

    line: int
    fields: dict[str, Any]


@dataclass(frozen=True)
class Source:
    """What a reader is given: where to read, what is wanted, and where errors go.

    `bad` takes the error of one record, and raises it or counts it; after it returns, the reader
    goes on with the next record. `columns` are the fields that each record must have.
    """

    path: str
    encoding: str
    columns: tuple[str, ...]
    bad: Callable[[FormatError], None]
    limit: int = LIMIT

    def error(
        self, message: str, *, line: int | None = None, column: int | str | None = None
    ) -> FormatError:
        """An error at a place in this file."""
        name = "standard input" if self.path == STDIN else self.path
        return FormatError(message, path=name, line=line, column=column)

    def lacks(self, found: Iterable[str], *, line: int | None = None) -> FormatError | None:
        """The error for a wanted column that `found` does not have, or None."""
        there = list(found)
        missing = [name for name in self.columns if name not in there]
        if not missing:
            return None
        names = ", ".join(map(repr, there[:50])) or "none"
        return self.error(f"no column {missing[0]!r}; the columns there are: {names}", line=line)

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The unpacked bytes. Damage met while reading comes out as `FormatError`."""
        with self._raw() as raw:
            try:
                with self._unpacked(raw) as stream:
                    yield stream
            except EOFError:
                raise self.error(
                    "the compressed data ends in the middle; the file was cut off, fetch it again"
                ) from None
            except zlib.error as error:
                raise self.error(f"the compressed data is damaged ({error})") from None
            except OSError as error:
                raise self.error(f"it could not be read ({error.strerror or error})") from None

    @contextmanager
    def _raw(self) -> Iterator[BinaryIO]:
        if self.path == STDIN:
            yield sys.stdin.buffer  # not ours to close
            return
        try:
            stream = Path(self.path).open("rb")  # noqa: SIM115 (closed below)
        except FileNotFoundError:
            raise InputError(f"path: there is no file {self.path!r}") from None
        except IsADirectoryError:
            raise self.error("it is a directory; give a file, or format='folder'") from None
        except (OSError, ValueError) as error:
            raise InputError(f"path: {self.path!r} cannot be opened ({error})") from None
        with stream:
            yield stream

    @contextmanager
    def _unpacked(self, raw: BinaryIO) -> Iterator[BinaryIO]:
        # Content decides, not the name: a pipe has no name, and names lie.
        packed = cast(io.BufferedReader, raw if hasattr(raw, "peek") else io.BufferedReader(raw))
        head = packed.peek(4)[:4]
        if not head:
            raise self.error("the file is empty; there is no document to read")
        if head.startswith(GZIP_MAGIC):
            yield _unpacked(packed, lambda: zlib.decompressobj(wbits=GZIP))
        elif head == ZSTD_MAGIC:
            zstandard = require("zstandard", extra="zstd")
            try:
                yield _unpacked(packed, lambda: zstandard.ZstdDecompressor().decompressobj())
            except zstandard.ZstdError as error:
                raise self.error(f"the compressed data is damaged ({error})") from None
        elif self.path.lower().endswith(PACKED):
            raise self.error("its name says that it is compressed, but its content is not")
        else:
            yield packed

    def lines(self) -> Iterator[tuple[int, str]]:
        """Number, from 1, and text of each line, with its line end.

        A line that is not in the encoding, or longer than the limit, goes to `bad`; no more than
        the limit is ever held. What cannot be read any further goes to `bad` as well, last.
        """
        try:
            with self.open() as stream:
                if _keeps_newlines(self.encoding):
                    yield from self._byte_lines(stream)
                else:
                    yield from self._wide_lines(stream)
        except FormatError as error:
            self.bad(error)

    def _byte_lines(self, stream: BinaryIO) -> Iterator[tuple[int, str]]:
        encoding = self.encoding
        for number, raw in enumerate(_bounded(stream, self.limit, b"\n"), start=1):
            if raw is None:
                self.bad(self.too_long(line=number))
                continue
            if number == 1 and encoding == "utf-8":
                raw = raw.removeprefix(codecs.BOM_UTF8)
            try:
                text = raw.decode(encoding)
            except UnicodeError as error:
                self.bad(self.not_decodable(error, line=number))
                continue
            yield number, text

    def _wide_lines(self, stream: BinaryIO) -> Iterator[tuple[int, str]]:
        # In UTF-16 a newline is two bytes, and other characters hold its byte: decode, then split.
        text = io.TextIOWrapper(cast(Any, stream), encoding=self.encoding, newline="\n")
        number = 0
        try:
            for number, line in enumerate(_bounded(text, self.limit, "\n"), start=1):
                if line is None:
                    self.bad(self.too_long(line=number))
                else:
                    yield number, line
        except UnicodeError as error:
            raise self.not_decodable(error, line=number + 1) from None
        finally:
            text.detach()

    def too_long(self, *, line: int | None = None) -> FormatError:
        """The error for a document beyond the limit."""
        return self.error(
            f"a document of more than {self.limit:,} bytes; split it, or look for missing newlines",
            line=line,
        )

    def not_decodable(self, error: UnicodeError, *, line: int | None = None) -> FormatError:
        """The error for bytes that are not in the encoding."""
        at, what, likely = None, str(error), "latin-1"
        if isinstance(error, UnicodeDecodeError):
            at = error.start + 1
            what = f"byte 0x{error.object[error.start]:02x}"
            if error.object.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                likely = "utf-16"
        return self.error(
            f"{what} is not {self.encoding}; pass the encoding of the file, such as {likely!r}",
            line=line,
            column=at,
        )


def _unpacked(packed: BinaryIO, start: Callable[[], Any]) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(Unpacked(packed, start)))


def _keeps_newlines(encoding: str) -> bool:
    return "\n".encode(encoding) == b"\n"


def _bounded(stream: IO[AnyStr], limit: int, newline: AnyStr) -> Iterator[AnyStr | None]:
    while line := stream.readline(limit + 1):
        if len(line) <= limit or line.endswith(newline):
            yield line
            continue
        while line and not line.endswith(newline):
            line = stream.readline(limit + 1)
        yield None

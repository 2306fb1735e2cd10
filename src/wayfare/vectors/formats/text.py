"""GloVe text, `word 0.1 0.2 ...`, and with a header line `words dimensions` word2vec text and .vec.

A block of lines goes through two C calls: one that counts spaces, one that reads all its numbers.
Only a block in which something does not add up is read line by line, which finds what is wrong and
where. Lines are parsed from the right, so that words may hold spaces, as some of GloVe 840B's do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np

from wayfare.errors import FormatError
from wayfare.vectors.formats.builder import Builder, flaw_of
from wayfare.vectors.formats.request import CHUNK, Request, Stream, open_stream
from wayfare.vectors.store import Floats
from wayfare.vectors.table import Table

__all__ = ["header_of", "read", "width_of"]

HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,9})[ \t]*\r?(?:\n|\Z)")
NUMBER = re.compile(rb"[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|nan|inf(?:inity)?)", re.I)
SAMPLE = 1 << 18  # bytes that decide how many numbers a line has
LONGEST_LINE = 1 << 26  # what is longer is no line of text
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def header_of(head: bytes) -> tuple[int, int, int] | None:
    """Words, dimensions and the length of the header line, if `head` opens with one."""
    found = HEADER.match(head)
    return None if found is None else (int(found[1]), int(found[2]), found.end())


def width_of(head: bytes) -> int:
    """How many numbers most lines of `head` end with; 0 if it is no such text."""
    lines = head.split(b"\n")
    if len(lines) > 1:
        lines.pop()  # the sample may cut its last line
    widths = Counter(width for line in lines[:1000] if (width := _numbers(line)))
    return widths.most_common(1)[0][0] if widths else 0


def _numbers(line: bytes) -> int:
    fields = line.split()[1:]
    for count, field in enumerate(reversed(fields)):
        if not NUMBER.fullmatch(field):
            return count
    return len(fields)


def read(request: Request) -> Table:
    """Read text vectors; `FormatError` names the line of what cannot be read."""
    with open_stream(request.path, progress=request.progress) as stream:
        head = stream.read(SAMPLE).removeprefix(BYTE_ORDER_MARK)
        header = header_of(head)
        promised, dim = (None, width_of(head)) if header is None else header[:2]
        if dim == 0:
            raise FormatError(
                "the lines are not a word and its numbers with spaces between", path=request.path
            )
        builder = Builder(request, dim, unit="line")
        number = seen = 0
        if header is not None:
            number, head = 1, head[header[2] :]
        for block in _blocks(request, head, stream):
            seen += _add(builder, block, number + 1, dim)
            number += block.count(b"\n")
            if builder.full:
                break
        else:
            _keep_promise(request, promised, seen)
    return builder.table()


def _keep_promise(request: Request, promised: int | None, seen: int) -> None:
    if promised is not None and promised != seen:
        what = "the file was cut short" if seen < promised else "the header is wrong"
        raise FormatError(
            f"the header promises {promised} words, {seen} lines follow: {what}",
            path=request.path,
            line=1,
        )


def _blocks(request: Request, head: bytes, stream: Stream) -> Iterator[bytes]:
    """Whole lines, some megabytes at a time; the last line may lack its newline."""
    rest = head
    while piece := stream.read(CHUNK):
        lines, newline, tail = piece.rpartition(b"\n")
        if newline:
            yield rest + lines + newline
            rest = tail
        else:
            rest += tail
        if len(rest) > LONGEST_LINE:
            raise FormatError(
                f"a line of more than {LONGEST_LINE >> 20} MB; this is no text of word vectors",
                path=request.path,
            )
    if rest:
        yield rest


def _add(builder: Builder, block: bytes, first: int, dim: int) -> int:
    """Parse a block whose first line is line `first`; how many lines were not empty."""
    lines = block.removesuffix(b"\n").split(b"\n")
    if b"\r" in block or b" \n" in block or block.endswith(b" "):
        lines = [line.rstrip(b" \r") for line in lines]
    fast = _all_at_once(lines, dim)
    if fast is not None:
        builder.add(*fast, range(first, first + len(lines)))
        return len(lines)
    words, rows, numbers, seen = [], [], [], 0
    for number, line in enumerate(lines, first):
        if not line.strip():
            continue
        seen += 1
        try:
            word, values = _one(line, dim)
            # Here, so that of several bad lines the first is told first.
            if flaw := flaw_of(word, values):
                raise ValueError(flaw)
        except ValueError as error:
            builder.problem(number, str(error))
            continue
        words.append(word)
        rows.append(values)
        numbers.append(number)
    matrix = np.array(rows, dtype=np.float32).reshape(len(words), dim)
    builder.add(words, matrix, numbers)
    return seen


def _all_at_once(lines: list[bytes], dim: int) -> tuple[list[bytes], Floats] | None:
    """The words and their rows, or None if these lines need a closer look."""
    if any(line.count(b" ") != dim for line in lines):
        return None
    words, _, numbers = zip(*[line.partition(b" ") for line in lines], strict=True)
    text = b" ".join(numbers)
    # Every line has `dim` fields. None is empty, so when all read as numbers, each read as one.
    if not all(words) or b"  " in text or text.startswith(b" "):
        return None
    try:
        values = np.fromstring(text, dtype=np.float32, sep=" ")
    except (ValueError, DeprecationWarning):  # the second from NumPy before 2.3, if made an error
        return None
    if len(values) != len(lines) * dim:
        return None
    return list(words), values.reshape(len(lines), dim)


def _one(line: bytes, dim: int) -> tuple[bytes, Floats]:
    fields = line.rsplit(None, dim)
    if len(fields) != dim + 1 or line[:1] in b" \t":
        found = len(line.split()) - (line[:1] not in b" \t")
        raise ValueError(f"expected a word and {dim} numbers, found {found} numbers")
    word, *numbers = fields
    beyond = word.rpartition(b" ")[2]
    if b" " in word and NUMBER.fullmatch(beyond):
        raise ValueError(f"expected a word and {dim} numbers, found more")
    for column, field in enumerate(numbers, 2):
        if not NUMBER.fullmatch(field):
            shown = field[:40].decode("utf-8", "replace")
            raise ValueError(f"column {column}: {shown!r} is not a number")
    with np.errstate(over="ignore"):  # too large for float32 is infinite, and refused as such
        return word, np.array([float(field) for field in numbers]).astype(np.float32)

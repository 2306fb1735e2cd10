"""Which format a file is, from its first bytes."""

from __future__ import annotations

from pathlib import Path

from wayfare.errors import FormatError
from wayfare.vectors.formats import fasttext_bin
from wayfare.vectors.formats.request import open_stream
from wayfare.vectors.formats.text import BYTE_ORDER_MARK, SAMPLE, header_of, width_of

__all__ = ["detect"]

NUMERIC = b"+-0123456789.eEnNaAiIfFtTyY \t\r\n"

# What people try that is no format of vectors, and what to do about it. What opens them must be more
# than letters: a text may begin with any word.
STRANGERS = {
    b"PK\x03\x04": "a zip archive: unzip it and give the file of vectors inside",
    b"\xfd7zXZ": "compressed with xz: decompress it, or compress it with gzip",
    b"\x28\xb5\x2f\xfd": "compressed with zstd: decompress it, or compress it with gzip",
    b"\xff\xfe": "text in UTF-16: convert it to UTF-8",
    b"\xfe\xff": "text in UTF-16: convert it to UTF-8",
    b"\x89HDF": "an HDF5 file: save its rows with numpy.save and its words one a line",
    b"PAR1\x15": "a Parquet file: save its rows with numpy.save and its words one a line",
    b"\x1f\x8b": "gzip within gzip: decompress it once",
}
BZIP2 = "compressed with bzip2: decompress it, or compress it with gzip"
STRANGERS |= {b"BZh%d1AY&SY" % level: BZIP2 for level in range(1, 10)}


def detect(path: Path) -> str:
    """The format of `path`, a name in `FORMATS`; `FormatError` says what it looks like instead."""
    if path.is_dir():
        return "tokens"
    with open_stream(path) as stream:
        head = stream.read(SAMPLE)
    if not head:
        raise FormatError("the file is empty", path=path)
    if head.startswith(b"\x93NUMPY"):
        return "numpy"
    if head.startswith(fasttext_bin.MAGIC):
        return "fasttext-bin"
    if head[8:9] == b"{" and int.from_bytes(head[:8], "little") < 1 << 32:
        return "tokens"
    for start, what in STRANGERS.items():
        if head.startswith(start):
            raise FormatError(what, path=path)
    if head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05":
        return "gensim"
    return _text_or_binary(path, head.removeprefix(BYTE_ORDER_MARK))


def _text_or_binary(path: Path, head: bytes) -> str:
    header = header_of(head)
    if header is not None:
        body = head[header[2] :].lstrip(b"\n")
        numbers = body.replace(b"\t", b" ").partition(b" ")[2].partition(b"\n")[0][:200]
        texty = not body or (numbers and not numbers.translate(None, NUMERIC))
        return "text" if texty else "word2vec-binary"
    if width_of(head) > 0:
        return "text"
    raise FormatError(
        f"no format of word vectors begins with {head[:24]!r}; known are GloVe and word2vec text, "
        "word2vec binary, fastText .vec and .bin, gensim's files, .npy with a list of words, and "
        "safetensors with tokenizer.json, each plain or gzip",
        path=path,
    )

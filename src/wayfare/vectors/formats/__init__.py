"""The formats that word vectors come in, a file each.

    text.py             GloVe text; word2vec text and fastText .vec (the same with a header line)
    word2vec_binary.py  word2vec binary
    fasttext_bin.py     fastText .bin, with its n-grams
    numpy_pair.py       an .npy array and a file of words
    gensim_file.py      gensim's own file, a pickle
    token_folder.py     safetensors and tokenizer.json: model2vec, wordllama, StaticEmbedding
    writing.py          the first two and NumPy's, written

`detect` looks at the first bytes, never only at a suffix, and looks through gzip. A new format is a
file here with a `read`, a line in `detect` and a line in `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wayfare.vectors.formats import (
    fasttext_bin,
    gensim_file,
    numpy_pair,
    text,
    token_folder,
    word2vec_binary,
)
from wayfare.vectors.formats.detect import detect
from wayfare.vectors.formats.request import Request
from wayfare.vectors.store import Store

__all__ = ["FORMATS", "Format", "Request", "detect"]


def _the_file(request: Request) -> list[Path]:
    return [request.path]


@dataclass(frozen=True)
class Format:
    """How a format is read; `files` names all that decide the outcome.

    A `parsed` format is worth a cache; the others open as they are.
    """

    read: Callable[[Request], Store]
    files: Callable[[Request], list[Path]] = _the_file
    parsed: bool = True


FORMATS = {
    "text": Format(text.read),
    "word2vec-binary": Format(word2vec_binary.read),
    "numpy": Format(numpy_pair.read, numpy_pair.files),
    "gensim": Format(gensim_file.read, gensim_file.files),
    "fasttext-bin": Format(fasttext_bin.read, parsed=False),
    "tokens": Format(token_folder.read, token_folder.files, parsed=False),
}

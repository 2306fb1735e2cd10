"""gensim's own file, as its `save` writes it.

That file is a pickle, and opening a pickle runs whatever code it holds. So it is opened only when
the caller says `trust=True`, and by gensim itself. `save_word2vec_format` writes a file that needs
no trust.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from wayfare.errors import FormatError, InputError
from wayfare.extras import require
from wayfare.vectors.formats.builder import Builder
from wayfare.vectors.formats.request import GZIP, Request
from wayfare.vectors.ngrams import NgramModel, Ngrams
from wayfare.vectors.store import Store, digest
from wayfare.vectors.vocabulary import Vocabulary

__all__ = ["files", "from_live", "read"]


def files(request: Request) -> list[Path]:
    """The file and the arrays that gensim wrote beside it; asks for trust first."""
    if not request.trust:
        raise InputError(
            f"{request.path}: gensim's own files are pickles, which can run code when opened. If "
            "you trust where it comes from, pass trust=True; else have it written by "
            "KeyedVectors.save_word2vec_format, which needs no trust"
        )
    path = request.path
    return [path, *sorted(p for p in path.parent.iterdir() if _belongs(p.name, path.name))]


def _belongs(name: str, main: str) -> bool:
    return name.startswith(f"{main}.") and name.endswith(".npy")


def read(request: Request) -> Store:
    """Read through gensim; `MissingExtraError` says how to install it."""
    files(request)
    with request.path.open("rb") as raw:
        zipped = raw.read(2) == GZIP
    if zipped and request.path.suffix != ".gz":
        raise FormatError(
            "it is gzip, which gensim tells by the name alone; let the name end in .gz",
            path=request.path,
        )
    gensim = require("gensim.utils", package="gensim")
    try:
        model = gensim.SaveLoad.load(str(request.path))
    except Exception as error:
        # Unpickling can fail in every way there is.
        raise FormatError(f"gensim cannot open it ({error})", path=request.path) from error
    return from_live(model, request)


def from_live(model: Any, request: Request | None = None) -> Store:
    """The vectors of a gensim `KeyedVectors`, or of a model that has them as `.wv`."""
    vectors = getattr(model, "wv", model)
    if not (hasattr(vectors, "index_to_key") and hasattr(vectors, "vectors")):
        if request is not None:
            raise FormatError(f"holds a {type(model).__name__}, no vectors", path=request.path)
        raise InputError(
            f"vectors: {type(model).__name__} came; give a gensim (4 or newer) KeyedVectors, "
            "or a model that holds one as .wv"
        )
    request = request or Request(Path(f"gensim {type(vectors).__name__}"), on_error=None)
    words = [str(key).encode("utf-8", "surrogatepass") for key in vectors.index_to_key]
    if hasattr(vectors, "vectors_ngrams") and request.limit is None:
        return _ngram_model(vectors, words)
    # A copy: a live model may go on training.
    rows = np.array(vectors.vectors, dtype=np.float32)
    builder = Builder(request, rows.shape[1], unit="row")
    builder.add(words, rows, range(1, len(words) + 1))
    return builder.table()


def _ngram_model(vectors: Any, words: list[bytes]) -> Store:
    rows = np.concatenate([vectors.vectors_vocab, vectors.vectors_ngrams]).astype(np.float32)
    ngrams = Ngrams(int(vectors.min_n), int(vectors.max_n), len(vectors.vectors_ngrams))
    vocabulary, kept = Vocabulary.build(words)
    if len(kept) != len(words):
        raise FormatError(f"the model holds {len(words) - len(kept)} words twice")
    content = partial(digest, repr(ngrams).encode(), b"\n".join(words), rows)
    return NgramModel(vocabulary, rows, ngrams, content)

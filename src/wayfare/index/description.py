"""Tokenisers, weightings and vectors as JSON, and back.

What has a description of its own is described and made again: the tokeniser of wayfare.text, the
named weightings with what they were fitted to, the built-in vectors; of vectors that are one row a word
there is a copy. Code is never stored: a function
of the caller's is kept by its name only, and must be handed in again where it is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import InputError, VectorsMismatchError
from wayfare.text import Tokenizer
from wayfare.vectors import WordVectors
from wayfare.vectors.table import Table
from wayfare.vectors.vocabulary import Vocabulary
from wayfare.weighting import Fitted, FittedSif, FittedTfidf, Nbow, RawCounts

__all__ = [
    "arrays_of",
    "check_vectors",
    "describe_tokenizer",
    "describe_vectors",
    "describe_weighting",
    "tokenizer_of",
    "vectors_of",
    "weighting_of",
]

Tokenize = Callable[[str], Sequence[str]]
Arrays = dict[str, NDArray[np.float64]]


def describe_tokenizer(tokenizer: Tokenize | None) -> dict[str, Any] | None:
    """A tokeniser as JSON: its settings, or the name of a function."""
    if tokenizer is None:
        return None
    if isinstance(tokenizer, Tokenizer):
        stop = tokenizer.stop_words
        return {
            "lowercase": tokenizer.lowercase,
            "stop_words": stop if stop is None or isinstance(stop, str) else sorted(stop),
            "fingerprint": tokenizer.fingerprint,
        }
    return {"function": getattr(tokenizer, "__qualname__", type(tokenizer).__name__)}


def describe_weighting(fitted: Fitted | None) -> tuple[dict[str, Any] | None, Arrays]:
    """A fitted weighting as JSON, and the numbers of its fit."""
    if fitted is None:
        return None, {}
    told: dict[str, Any] = {"fingerprint": fitted.fingerprint}
    if isinstance(fitted, FittedTfidf):
        return told | {"name": "tfidf", "documents": fitted.documents}, {"fit": fitted.idf}
    if isinstance(fitted, FittedSif):
        return told | {"name": "sif", "a": fitted.a}, {"fit": fitted.probability}
    if isinstance(fitted, Nbow | RawCounts):
        return told | {"name": fitted.fingerprint}, {}
    return told | {"name": None}, {}


def describe_vectors(vectors: Any) -> dict[str, Any] | None:
    """Vectors as JSON: what tells them from others, and how they are found again."""
    if vectors is None:
        return None
    unit = getattr(vectors, "unit", True)
    told = {
        "fingerprint": vectors.fingerprint,
        "name": getattr(vectors, "name", type(vectors).__name__),
        "unit": unit,
        "builtin": WordVectors._defaults.get(unit) is vectors,
    }
    if (table := _table(vectors)) is not None:
        told |= {"dim": table.dim, "seed": table.vocabulary.seed, "content": table.content()}
    return told


def arrays_of(vectors: Any) -> dict[str, NDArray[Any]]:
    """What a copy of vectors holds; nothing for those that are made of parts of words."""
    if (table := _table(vectors)) is None:
        return {}
    return table.vocabulary.arrays() | {"matrix": table.matrix.reshape(-1)}


def _table(vectors: Any) -> Table | None:
    return vectors.table if isinstance(vectors, WordVectors) else None


def tokenizer_of(told: dict[str, Any]) -> Tokenize:
    """The tokeniser of that description."""
    if "function" in told:
        raise InputError(
            f"tokenizer: the index was built with the function {told['function']!r}, and code "
            "is not stored; pass tokenizer= to Index.open, or give lists of words"
        )
    made = Tokenizer(lowercase=told["lowercase"], stop_words=told["stop_words"])
    if made.fingerprint != told["fingerprint"]:
        raise InputError(
            f"tokenizer: the index was built under the rules {told['fingerprint']}, and this "
            f"version of wayfare has {made.fingerprint}; build it again, or pass tokenizer="
        )
    return made


def weighting_of(told: dict[str, Any], fit: Arrays) -> Fitted:
    """The weighting of that description, as it was fitted."""
    if told["name"] is None:
        raise InputError(
            f"weighting: the index was built with {told['fingerprint']}, and code is not "
            "stored; pass weighting= to Index.open"
        )
    if told["name"] == "tfidf":
        return FittedTfidf(fit["fit"], told["documents"])
    if told["name"] == "sif":
        return FittedSif(fit["fit"], told["a"])
    return Nbow() if told["name"] == "nbow" else RawCounts()


def vectors_of(told: dict[str, Any], copy: dict[str, NDArray[Any]]) -> WordVectors:
    """The vectors of that description: of the copy, or the built-in ones."""
    if copy:
        words = Vocabulary(
            copy["blob"], copy["offsets"], copy["hashes"], copy["order"], told["seed"]
        )
        table = Table(words, copy["matrix"].reshape(-1, told["dim"]), content=told["content"])
        return WordVectors(table, unit=told["unit"], name=told["name"])
    if not told["builtin"]:
        raise InputError(
            f"vectors: the index was built with {told['name']!r} and keeps no copy of them; pass "
            "vectors= to Index.open to read new texts"
        )
    vectors = WordVectors.default(unit=told["unit"])
    check_vectors(vectors, told)
    return vectors


def check_vectors(vectors: Any, told: dict[str, Any] | None) -> None:
    """Refuse vectors that are not those of the description."""
    if told is None:
        raise VectorsMismatchError(
            "vectors: the index was built from points without vectors; open it without vectors="
        )
    if vectors.fingerprint != told["fingerprint"]:
        name = getattr(vectors, "name", type(vectors).__name__)
        raise VectorsMismatchError(
            f"vectors: {name!r} came, whose fingerprint is {vectors.fingerprint}; the index was "
            f"built with {told['name']!r}, {told['fingerprint']}; open it with those, or build "
            "it again"
        )

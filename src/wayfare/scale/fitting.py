"""A weighting that is fitted once over all shards: each counts its words, and the counts are added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from wayfare.corpus import Corpus
from wayfare.errors import InputError
from wayfare.weighting import (
    Counts,
    Custom,
    Fitted,
    FittedSif,
    FittedTfidf,
    Nbow,
    RawCounts,
    Sif,
    Tfidf,
    Weighting,
    resolve,
    weigh,
)

__all__ = ["Census", "add_up", "count_words", "reweighted", "unfitted"]


@dataclass(frozen=True)
class Census:
    """In how many of `documents` each word is, and how often it comes in all of them."""

    documents: int
    holders: dict[str, int]
    totals: dict[str, float]


def unfitted(weighting: Any) -> Weighting | None:
    """The weighting where it needs a fit over all shards; None where each document weighs itself."""
    known = resolve(weighting)
    if isinstance(known, Tfidf | Sif):
        return known
    if isinstance(known, Nbow | RawCounts | Custom):
        return None
    raise InputError(
        f"weighting: {type(known).__name__} came, which no one fits over shards; give 'nbow', 'tfidf', "
        "'sif', 'counts', wayfare.weighting.Sif(a=...), or a function of Counts"
    )


def count_words(corpus: Corpus) -> Census:
    """The census of a corpus that was weighed by its counts.

    >>> count_words(Corpus.from_tokens([["a", "b", "b"], ["b"]], weighting="counts")).holders
    {'a': 1, 'b': 2}
    """
    words = corpus.vocabulary or ()
    holders = np.bincount(corpus.indices, minlength=len(words))
    totals = np.bincount(corpus.indices, weights=corpus.weights, minlength=len(words))
    return Census(
        len(corpus),
        dict(zip(words, holders.tolist(), strict=True)),
        dict(zip(words, totals.tolist(), strict=True)),
    )


def add_up(parts: Sequence[Census]) -> Census:
    """The census of several corpora together."""
    holders: dict[str, int] = {}
    totals: dict[str, float] = {}
    for part in parts:
        for word, count in part.holders.items():
            holders[word] = holders.get(word, 0) + count
        for word, total in part.totals.items():
            totals[word] = totals.get(word, 0.0) + total
    return Census(sum(part.documents for part in parts), holders, totals)


def reweighted(corpus: Corpus, weighting: Weighting, census: Census) -> Corpus:
    """A corpus of counts as `weighting` weighs it, fitted to the census of all shards."""
    words = corpus.vocabulary or ()
    fitted = _fit(weighting, census, words)
    counts = Counts(corpus.indptr, corpus.indices, corpus.weights, len(words))
    return replace(corpus, weights=weigh(counts, fitted), weighting=fitted, trusted=True)


def _fit(weighting: Weighting, census: Census, words: Sequence[str]) -> Fitted:
    if isinstance(weighting, Sif):
        everything = max(sum(census.totals.values()), 1.0)
        return FittedSif(np.array([census.totals[w] for w in words]) / everything, weighting.a)
    holders = np.array([census.holders[w] for w in words], np.int64)
    return FittedTfidf(np.log((1 + census.documents) / (1 + holders)) + 1, census.documents)

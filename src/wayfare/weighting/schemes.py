"""The weightings, a small class each, and what chooses and checks them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import InputError
from wayfare.weighting.counts import Counts, segment_sums

__all__ = [
    "WEIGHTINGS",
    "Custom",
    "Fitted",
    "FittedSif",
    "FittedTfidf",
    "Nbow",
    "RawCounts",
    "Sif",
    "Tfidf",
    "Weighting",
    "resolve",
    "weigh",
]


@runtime_checkable
class Fitted(Protocol):
    """A weighting that has read its corpus."""

    @property
    def fingerprint(self) -> str:
        """Equal for two fitted weightings that weigh everything alike."""

    def apply(self, counts: Counts) -> NDArray[np.float64]:
        """Return one weight an entry of `counts`, not negative, each document by itself."""


@runtime_checkable
class Weighting(Protocol):
    """What becomes a `Fitted` once it has seen a corpus."""

    def fit(self, counts: Counts) -> Fitted:
        """Read the whole corpus and return what weighs documents."""


def _to_mass_one(values: NDArray[np.float64], counts: Counts) -> NDArray[np.float64]:
    masses = segment_sums(values, counts.indptr)
    return values / np.repeat(masses, np.diff(counts.indptr))


@dataclass(frozen=True)
class Nbow:
    """Counts over their sum: the normalised bag of words, mass 1.

    >>> Nbow().apply(Counts(np.array([0, 2]), np.array([0, 1]), np.array([1.0, 3.0]), 2))
    array([0.25, 0.75])
    """

    fingerprint: str = "nbow"

    def fit(self, counts: Counts) -> Nbow:
        """Nothing to learn."""
        return self

    def apply(self, counts: Counts) -> NDArray[np.float64]:
        """Return the share of each word in its document."""
        return _to_mass_one(counts.values, counts)


@dataclass(frozen=True)
class RawCounts:
    """The counts themselves: a document has the mass of its known words.

    WFR compares unequal masses; balanced metrics such as WMD do not.
    """

    fingerprint: str = "counts"

    def fit(self, counts: Counts) -> RawCounts:
        """Nothing to learn."""
        return self

    def apply(self, counts: Counts) -> NDArray[np.float64]:
        """Return the counts."""
        return counts.values


@dataclass(frozen=True)
class Tfidf:
    """Term frequency times inverse document frequency, then mass 1.

    `idf = ln((1 + n) / (1 + df)) + 1`, with `n` documents of which `df` hold the term: the smooth
    formula of scikit-learn, where no word has weight zero. The L1 norm makes the mass 1.
    """

    def fit(self, counts: Counts) -> FittedTfidf:
        """Count in how many documents each term occurs."""
        frequency = np.zeros(counts.terms, dtype=np.int64)
        for _, block in counts.blocks():
            frequency += np.bincount(block.indices, minlength=counts.terms)
        idf = np.log((1 + len(counts)) / (1 + frequency)) + 1
        return FittedTfidf(idf, documents=len(counts))


@dataclass(frozen=True, eq=False)
class FittedTfidf:
    """The `idf` of each term of the corpus of the fit, which had `documents` documents."""

    idf: NDArray[np.float64]
    documents: int

    @property
    def unseen(self) -> float:
        """The idf of a word that no document of the fit held."""
        return float(np.log(1 + self.documents) + 1)

    @cached_property
    def fingerprint(self) -> str:
        """Equal when number of documents and every idf are."""
        return f"tfidf:{self.documents}:{_digest(self.idf)}"

    def apply(self, counts: Counts) -> NDArray[np.float64]:
        """Return count times idf, at mass 1 in each document."""
        factors = _look_up(self.idf, counts.indices, self.unseen)
        return _to_mass_one(counts.values * factors, counts)


@dataclass(frozen=True)
class Sif:
    """Smooth inverse frequency: counts times `a / (a + p(w))`, then mass 1.

    `p(w)` is the share of the word among all words of the corpus of the fit (0 for a word it never
    held); `a` is usually 1e-4 to 1e-2. Raises `InputError` when `a` is not positive.
    """

    a: float = 1e-3

    def __post_init__(self) -> None:
        if not 0 < self.a < np.inf:
            raise InputError(f"a: {self.a!r} came; give a positive number such as 1e-3")

    def fit(self, counts: Counts) -> FittedSif:
        """Measure the share of each term."""
        totals = np.zeros(counts.terms)
        for _, block in counts.blocks():
            totals += np.bincount(block.indices, weights=block.values, minlength=counts.terms)
        return FittedSif(totals / max(float(totals.sum()), 1.0), self.a)


@dataclass(frozen=True, eq=False)
class FittedSif:
    """The `probability` of each term in the corpus of the fit, and the constant `a`."""

    probability: NDArray[np.float64]
    a: float

    @cached_property
    def fingerprint(self) -> str:
        """Equal when `a` and every probability are."""
        return f"sif:{self.a!r}:{_digest(self.probability)}"

    def apply(self, counts: Counts) -> NDArray[np.float64]:
        """Return count times `a / (a + p)`, at mass 1 in each document."""
        p = _look_up(self.probability, counts.indices, 0.0)
        return _to_mass_one(counts.values * (self.a / (self.a + p)), counts)


@dataclass(frozen=True)
class Custom:
    """The caller's own function of `Counts`, which needs no fit."""

    weigh: Callable[[Counts], Any]

    @property
    def fingerprint(self) -> str:
        """The name of the function; two functions of one name look equal."""
        module = getattr(self.weigh, "__module__", "?")
        return f"custom:{module}.{getattr(self.weigh, '__qualname__', repr(self.weigh))}"

    def fit(self, counts: Counts) -> Custom:
        """Nothing to learn."""
        return self

    def apply(self, counts: Counts) -> NDArray[np.float64]:
        """Return what the function says."""
        return cast(NDArray[np.float64], self.weigh(counts))


WEIGHTINGS: dict[str, Weighting] = {
    "nbow": Nbow(),
    "tfidf": Tfidf(),
    "sif": Sif(),
    "counts": RawCounts(),
}


def resolve(weighting: str | Weighting | Callable[[Counts], Any]) -> Weighting:
    """Return the weighting of that name, or the caller's own as it came.

    A name, an object with `fit`, or a function of `Counts`. Raises `InputError` for anything else,
    and for what is fitted already: its numbers stand for the words of the corpus of its fit.

    >>> resolve("tfidf")
    Tfidf()
    """
    if isinstance(weighting, str):
        if weighting not in WEIGHTINGS:
            known = ", ".join(map(repr, WEIGHTINGS))
            raise InputError(f"weighting: {weighting!r} came; give {known}, or your own object")
        return WEIGHTINGS[weighting]
    if not isinstance(weighting, type):
        if isinstance(weighting, Weighting):
            return weighting
        if isinstance(weighting, Fitted):
            raise InputError(
                f"weighting: {weighting.fingerprint} is fitted to another corpus; call encode() "
                "of that corpus, or give an object with fit"
            )
        if callable(weighting):
            return Custom(weighting)
    raise InputError(f"weighting: {weighting!r} came; give a name, an object with fit, a function")


def weigh(counts: Counts, fitted: Fitted) -> NDArray[np.float64]:
    """Apply `fitted`, and see to it that it returned finite weights >= 0, one an entry."""
    weights = fitted.apply(counts)
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        wrong = "no numbers"
    else:
        if array.shape != counts.indices.shape:
            wrong = f"shape {array.shape} for {len(counts.indices)} entries"
        elif not (np.isfinite(array).all() and (array >= 0).all()):
            wrong = "NaN, infinity or a negative weight"
        else:
            return array
    raise InputError(
        f"weighting {fitted.fingerprint}: it returned {wrong}; give one finite weight >= 0 an entry"
    )


def _look_up(
    table: NDArray[np.float64], indices: NDArray[np.int32], unseen: float
) -> NDArray[np.float64]:
    if not len(indices) or indices.max() < len(table):
        return table[indices]
    padded = np.append(table, unseen)
    return padded[np.minimum(indices, len(table))]


def _digest(array: NDArray[np.float64]) -> str:
    return hashlib.sha256(np.ascontiguousarray(array, dtype="<f8").tobytes()).hexdigest()[:16]

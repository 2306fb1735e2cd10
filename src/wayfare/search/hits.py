"""What a search answers: documents, intervals, what is proven, and the work it took."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Hit", "Hits", "SearchWork"]


class Hit(NamedTuple):
    """One document of an answer; its text where the collection keeps texts."""

    id: Any
    distance: float
    lower: float
    upper: float
    text: str | None = None


@dataclass(frozen=True)
class SearchWork:
    """How many documents each step touched: all that were there, down to those solved to `tol`.

    `by_word` were bounded through what each word reaches; `by_rows`, `by_middle` and `by_sweep` on their
    own words, each dearer than the one before; `started` were worked on by the solver and `solved` to
    `tol`; `refined` beyond it, to settle the border. `sweeps` counts Sinkhorn sweeps; `rounds` is the
    share left after each round of the paper's own algorithm.
    """

    documents: int = 0
    by_word: int = 0
    by_rows: int = 0
    by_middle: int = 0
    by_sweep: int = 0
    started: int = 0
    solved: int = 0
    refined: int = 0
    sweeps: int = 0
    rounds: tuple[float, ...] = ()

    def __add__(self, other: SearchWork) -> SearchWork:
        names = [name for name in self.__dataclass_fields__ if name != "rounds"]
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        return SearchWork(**sums, rounds=self.rounds or other.rounds)


@dataclass(frozen=True)
class Hits:
    """The nearest documents, nearest first; equal distances in the order of their ids.

    `distances`, `lower` and `upper` are in the unit of the distance: each distance is proven to lie
    in its interval. `exact` says that no document outside can be nearer than one inside: the largest
    `upper` is below every other document's lower bound, or the two are the same document. `ordered`
    says that the intervals prove the order too. `tied` holds ids, inside and outside, between which
    double precision could not decide. Every document that is not in the answer is proven to be at least
    `outside` away: a search that a budget cut short says so too. `missing` names shards that were not
    there to be searched.
    """

    ids: list[Any]
    distances: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    exact: bool
    ordered: bool
    work: SearchWork
    tied: list[Any] = field(default_factory=list)
    texts: list[str | None] | None = None
    outside: float = 0.0
    missing: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Hit]:
        texts = self.texts or [None] * len(self)
        rows = zip(self.ids, self.distances, self.lower, self.upper, texts, strict=True)
        return (Hit(i, float(d), float(low), float(up), text) for i, d, low, up, text in rows)

    def __getitem__(self, place: int) -> Hit:
        return list(self)[place]

    def with_texts(self, texts: list[str | None]) -> Hits:
        """The same answer with the documents' texts beside it."""
        return replace(self, texts=texts)

    def __repr__(self) -> str:
        proof = "exact" if self.exact else "not proven exact"
        nearest = f", nearest {self.ids[0]!r} at {self.distances[0]:.4g}" if len(self) else ""
        return f"Hits({len(self)} of {self.work.documents}, {proof}{nearest})"

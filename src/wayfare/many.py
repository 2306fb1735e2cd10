"""One query against many documents: the engine under `pairwise` and search.

Three tries, each for what the one before could not certify: float32 with every rounding on the safe
side, float64, and the single solve with its interior-point finish. Near-duplicates need the later
ones, since their J is close to the rounding of float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wayfare import wfr
from wayfare.ground import CosineTable
from wayfare.measure import Measure

if TYPE_CHECKING:
    from wayfare.kernels.cpu.anneal import Work

__all__ = ["Bounds", "Documents", "Query", "Scratch"]

Array = NDArray[np.float64]

# Below this tolerance the rounding of float32 alone would eat it.
SINGLE_TOL = 5e-5

CERTIFIED, STALLED, CUT = 0, 1, 2


class Rows(Protocol):
    """What is wanted of a corpus: rows of weights over points."""

    @property
    def points(self) -> NDArray[np.float32]: ...
    @property
    def indptr(self) -> NDArray[np.int64]: ...
    @property
    def indices(self) -> NDArray[np.int32]: ...
    @property
    def weights(self) -> Array: ...


@dataclass(frozen=True)
class Bounds:
    """Bounds on J for each document that was asked for, and how each solve ended."""

    lower: Array
    upper: Array
    status: NDArray[np.int8]
    sweeps: NDArray[np.int32]


@dataclass(frozen=True)
class Query:
    """A measure without weightless points, in the order in which documents keep the same points."""

    points: NDArray[Any]
    weights: Array
    mass: float
    own: NDArray[np.int32]

    @property
    def shares(self) -> Array:
        """The weights at mass one."""
        return self.weights / self.mass if self.mass else self.weights


class Scratch:
    """The workspaces of one thread, for problems of up to m x n points."""

    def __init__(self, m: int, n: int) -> None:
        from wayfare.kernels.cpu import anneal, components

        self.parts = components.parts(m, n)
        self._sizes = m, n
        self._work: dict[Any, tuple[Work, Work]] = {}
        self._make = anneal.workspace

    def of(self, dtype: Any) -> tuple[Work, Work]:
        """The workspace of the problem and the one of its components."""
        if dtype not in self._work:
            self._work[dtype] = (self._make(*self._sizes, dtype), self._make(*self._sizes, dtype))
        return self._work[dtype]


@dataclass(frozen=True)
class Documents:
    """Documents as rows of weights over shared points, prepared to be compared with queries."""

    points: NDArray[Any]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: Array

    @classmethod
    def of(cls, corpus: Rows) -> Documents:
        """The documents of a corpus."""
        return cls(corpus.points, corpus.indptr, corpus.indices, corpus.weights)

    @classmethod
    def of_measures(cls, measures: Sequence[Measure]) -> Documents:
        """Measures as documents, each with points of its own."""
        dim = max((m.dim for m in measures), default=0)
        kept = [np.flatnonzero(m.weights) for m in measures]
        sizes = [len(keep) for keep in kept]
        parts = [m.points[keep] for m, keep in zip(measures, kept, strict=True) if len(keep)]
        points = np.concatenate(parts) if parts else np.zeros((0, dim))
        weights = [m.weights[keep] for m, keep in zip(measures, kept, strict=True)]
        return cls(
            points,
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.arange(len(points), dtype=np.int32),
            np.concatenate(weights) if weights else np.zeros(0),
        )

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def longest(self) -> int:
        """The number of points of the largest document."""
        return int(np.diff(self.indptr).max(initial=0))

    def measure(self, document: int) -> Measure:
        """One document as a measure."""
        span = slice(self.indptr[document], self.indptr[document + 1])
        return Measure(self.points[self.indices[span]], self.weights[span])

    def block(self, start: int, stop: int) -> Documents:
        """Some consecutive documents, over their own points only."""
        first, last = self.indptr[start], self.indptr[stop]
        used, local = np.unique(self.indices[first:last], return_inverse=True)
        return Documents(
            np.ascontiguousarray(self.points[used]),
            self.indptr[start : stop + 1] - first,
            local.astype(np.int32),
            self.weights[first:last],
        )

    @cached_property
    def _table(self) -> CosineTable:
        return CosineTable.of(self.points, np.float32)

    @cached_property
    def _exact_table(self) -> CosineTable:
        return CosineTable.of(self.points, np.float64)

    @cached_property
    def _places(self) -> dict[int, int]:
        """Where each point stands, by a hash of its coordinates."""
        return {hash(row.tobytes()): at for at, row in enumerate(self.points)}

    def query(self, measure: Measure) -> Query:
        """Prepare a measure as a query: find the points that these documents have too."""
        keep = np.flatnonzero(measure.weights)
        points = measure.points[keep].astype(self.points.dtype, copy=False)
        own = np.full(len(keep), -1, np.int32)
        for i, row in enumerate(points):
            at = self._places.get(hash(row.tobytes()), -1)
            if at >= 0 and np.array_equal(self.points[at], row):
                own[i] = at
        order = np.argsort(own, kind="stable")
        # The points keep the precision they came in: only a table may round them.
        weights = measure.weights[keep][order]
        return Query(measure.points[keep][order], weights, float(weights.sum()), own[order])

    def solve(
        self,
        query: Query,
        picks: NDArray[np.int64],
        *,
        eta: float,
        tol: float,
        atol: float,
        cut: float = np.inf,
        scratch: Scratch | None = None,
        dtype: Any = None,
    ) -> Bounds:
        """Bound J between the query and the documents `picks`, in their order.

        Each is solved to `tol`, or until J is proven to be at least `cut`. `dtype` asks for one
        precision; None starts in float32 and goes on in float64 where that is needed.
        """
        scratch = scratch or Scratch(len(query.weights), self.longest)
        tries: list[Any] = [np.float32, np.float64] if dtype is None else [dtype]
        if tol < SINGLE_TOL and dtype is None:
            tries = [np.float64]
        if tol < wfr.SINKHORN_TOL:
            tries = []
        count = len(self)
        lower, upper = np.full(count, -np.inf), np.full(count, np.inf)
        status = np.full(count, STALLED, np.int8)
        sweeps = np.zeros(count, np.int32)
        left = picks
        for precision in tries:
            spread = self._batch(query, left, eta, tol, atol, cut, scratch, precision)
            lower[left] = np.maximum(lower[left], spread.lower[left])
            upper[left] = np.minimum(upper[left], spread.upper[left])
            status[left] = spread.status[left]
            sweeps[left] += spread.sweeps[left]
            left = left[status[left] == STALLED]
            if not len(left):
                break
        for document in left:
            answer = wfr.solve(
                Measure(query.points, query.weights),
                self.measure(int(document)),
                eta=eta,
                tol=tol,
                atol=atol,
            )
            lower[document] = answer.certificate.lower
            upper[document] = answer.certificate.upper
            met = answer.certificate.gap <= tol
            status[document] = CUT if lower[document] >= cut else CERTIFIED if met else STALLED
        return Bounds(lower[picks], upper[picks], status[picks], sweeps[picks])

    def _batch(
        self,
        query: Query,
        picks: NDArray[np.int64],
        eta: float,
        tol: float,
        atol: float,
        cut: float,
        scratch: Scratch,
        dtype: Any,
    ) -> Any:
        from wayfare.kernels.cpu import batch, jit

        jit.announce_compilation(batch.solve_many)
        source = self._table if dtype == np.float32 else self._exact_table
        work, split_work = scratch.of(dtype)
        count = len(self)
        spread = batch.Spread(
            np.empty(count),
            np.empty(count),
            np.empty(count, np.int8),
            np.empty(count, np.int32),
            np.empty(count, np.int8),
        )
        batch.solve_many(
            source.cosines(query.points, eta),
            query.own,
            query.shares,
            query.mass,
            self.indptr,
            self.indices,
            self.weights,
            picks,
            tol,
            atol,
            cut,
            source.slack(query.points, eta),
            work,
            split_work,
            scratch.parts,
            spread,
        )
        return spread

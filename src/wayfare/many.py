"""One query against many documents: the engine under `pairwise` and search.

Three tries, each for what the one before could not certify: float32 with every rounding on the safe
side, float64, and the single solve with its interior-point finish. Near-duplicates need the later
ones, since their J is close to the rounding of float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wayfare import wfr
from wayfare.errors import InputError
from wayfare.ground import CosineTable
from wayfare.measure import Measure
from wayfare.points import Points

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["CERTIFIED", "Bounds", "Documents", "Narrow", "Query", "Scratch", "Told"]

Array = NDArray[np.float64]

# Below this tolerance the rounding of float32 eats it on documents of some hundred words.
SINGLE_TOL = 2e-4

CERTIFIED, STALLED, CUT = 0, 1, 2
SHALLOW = 2  # stages of a shallow try
MARKED = 50  # numbers that are marked in the time in which one is sorted


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
class Narrow:
    """How far to narrow: to `tol`, or until J is above `cut` or above the largest of `best`.

    `best` holds the smallest upper bounds so far and is kept up to date. `shallow` runs only the
    first stages, for bounds that are cheap and good enough to discard nearly everything.
    """

    eta: float
    tol: float
    atol: float
    cut: float = np.inf
    best: Array = field(default_factory=lambda: np.empty(0))
    shallow: bool = False


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


def _check_one_space(measures: Sequence[Measure]) -> None:
    dims = [(m.dim, at) for at, m in enumerate(measures) if len(m)]
    for dim, at in dims:
        if dim != dims[0][0]:
            raise InputError(
                f"measure {at} has {dim} dimensions, measure {dims[0][1]} {dims[0][0]}; "
                "take the points of all from the same vectors"
            )


def _renumbered(
    indices: NDArray[np.int32], count: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Which of `count` numbers occur, in order, and each occurrence as a place among them."""
    if MARKED * len(indices) < count:
        used, local = np.unique(indices, return_inverse=True)
        return used.astype(np.int64), local.astype(np.int32)
    # Marks in a row of all numbers: sorting the occurrences takes longer where they are many.
    marks = np.zeros(count, np.int32)
    marks[indices] = 1
    found = np.flatnonzero(marks).astype(np.int64)
    marks[found] = np.arange(len(found), dtype=np.int32)
    return found, marks[indices]


class Scratch:
    """The workspaces of one thread, for problems of up to m x n points."""

    def __init__(self, m: int, n: int) -> None:
        from wayfare.kernels.cpu import components, problem

        self.parts = components.parts(m, n)
        self._sizes = m, n
        self._work: dict[Any, tuple[Any, Any]] = {}
        self._make = problem.workspace

    def of(self, dtype: Any) -> tuple[Any, Any]:
        """The workspace of the problem and the one of its components."""
        if dtype not in self._work:
            self._work[dtype] = (self._make(*self._sizes, dtype), self._make(*self._sizes, dtype))
        return self._work[dtype]


@dataclass(frozen=True)
class Told:
    """What is known of documents beforehand, such as from a file, and need not be read off them.

    `heaviest` holds points in falling order of the mass that all documents have on them, and that mass:
    as many as anyone will ask for, or all that have any.
    """

    masses: Array
    light_weights: NDArray[np.float32]
    heaviest: tuple[NDArray[np.int64], Array]
    longest: int


@dataclass(frozen=True)
class Documents:
    """Documents as rows of weights over shared points, prepared to be compared with queries.

    Collections over the same words are given the same `shared`: what a query needs of the words is then
    found once for all of them.
    """

    shared: Points
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: Array
    told: Told | None = None

    @classmethod
    def of(cls, corpus: Rows) -> Documents:
        """The documents of a corpus."""
        return cls(Points(corpus.points), corpus.indptr, corpus.indices, corpus.weights)

    @classmethod
    def of_measures(cls, measures: Sequence[Measure]) -> Documents:
        """Measures as documents, each with points of its own."""
        dim = max((m.dim for m in measures), default=0)
        _check_one_space(measures)
        kept = [np.flatnonzero(m.weights) for m in measures]
        sizes = [len(keep) for keep in kept]
        parts = [m.points[keep] for m, keep in zip(measures, kept, strict=True) if len(keep)]
        points = np.concatenate(parts) if parts else np.zeros((0, dim))
        weights = [m.weights[keep] for m, keep in zip(measures, kept, strict=True)]
        return cls(
            Points(points),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.arange(len(points), dtype=np.int32),
            np.concatenate(weights) if weights else np.zeros(0),
        )

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def points(self) -> NDArray[Any]:
        """The points that the documents share, one a row."""
        return self.shared.array

    @cached_property
    def masses(self) -> Array:
        """The mass of each document."""
        if self.told is not None:
            return self.told.masses
        if not len(self.weights):
            return np.zeros(len(self))
        padded = np.concatenate([self.weights, [0.0]])
        sums = np.add.reduceat(padded, self.indptr[:-1], dtype=np.float64)
        return np.where(np.diff(self.indptr) > 0, sums, 0.0)

    @cached_property
    def matrix(self) -> csr_array[Any, Any]:
        """The weights as a sparse matrix (documents, points)."""
        from scipy.sparse import csr_array

        shape = (len(self), len(self.points))
        return csr_array((self.weights, self.indices, self.indptr), shape=shape)

    @cached_property
    def root_matrix(self) -> csr_array[Any, Any]:
        """The square roots of the weights as a sparse matrix; equal points share a column."""
        from scipy.sparse import csr_array

        first, here = self.shared.find(self.points), np.arange(len(self.points))
        if np.array_equal(first, here):
            return self.matrix.sqrt()
        columns = np.where(first < 0, here, first)[self.indices]
        arrays = (self.weights.copy(), columns, self.indptr.copy())
        merged = csr_array(arrays, shape=self.matrix.shape)
        merged.sum_duplicates()  # in place
        return merged.sqrt()

    @cached_property
    def light_weights(self) -> NDArray[np.float32]:
        """The weights in float32, for bounds, which look at the masses for what does not fit."""
        if self.told is not None:
            return self.told.light_weights
        with np.errstate(over="ignore"):
            return self.weights.astype(np.float32, copy=False)

    def heaviest(self, count: int) -> tuple[NDArray[np.int64], Array]:
        """The points that carry most of the mass of all documents, and that mass."""
        if self.told is not None:
            points, masses = self.told.heaviest
            return points[:count], masses[:count]
        mass = self._point_masses
        top = np.argpartition(mass, -count)[-count:] if count < len(mass) else np.arange(len(mass))
        return top.astype(np.int64), mass[top]

    @cached_property
    def _point_masses(self) -> Array:
        mass = np.bincount(self.indices, self.weights, len(self.points))
        return mass.astype(np.float64, copy=False)

    @cached_property
    def longest(self) -> int:
        """The number of points of the largest document."""
        if self.told is not None:
            return self.told.longest
        return int(np.diff(self.indptr).max(initial=0))

    def take(self, picks: NDArray[np.int64], query: Query) -> tuple[Documents, Query]:
        """Some documents over their own points only, with weights in float64, and the query there."""
        sizes = np.diff(self.indptr)[picks]
        indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        entries = np.arange(indptr[-1]) + np.repeat(self.indptr[picks] - indptr[:-1], sizes)
        documents, used = self._over_own_points(indptr, entries)
        own = np.full(len(query.own), -1, np.int32)
        if len(used):
            at = np.minimum(np.searchsorted(used, query.own), len(used) - 1)
            own = np.where(used[at] == query.own, at, -1).astype(np.int32)
        return documents, replace(query, own=own)

    def measure(self, document: int) -> Measure:
        """One document as a measure."""
        span = slice(self.indptr[document], self.indptr[document + 1])
        return Measure(self.points[self.indices[span]], self.weights[span])

    def block(self, start: int, stop: int) -> Documents:
        """Some consecutive documents, over their own points only."""
        first, last = self.indptr[start], self.indptr[stop]
        return self._over_own_points(self.indptr[start : stop + 1] - first, slice(first, last))[0]

    def _over_own_points(
        self, indptr: NDArray[np.int64], entries: slice | NDArray[np.int64]
    ) -> tuple[Documents, NDArray[np.int64]]:
        used, local = _renumbered(self.indices[entries], len(self.points))
        weights = self.weights[entries].astype(np.float64, copy=False)
        points = np.ascontiguousarray(self.points[used])
        # Squared norms are known here already; only the table in float32 has them.
        squared = self.table.squared[used] if points.dtype == np.float32 else None
        return Documents(Points(points, squared), indptr, local, weights), used

    @property
    def table(self) -> CosineTable:
        """The points, ready to be compared with a query in float32."""
        return self.shared.table

    def query(self, measure: Measure) -> Query:
        """Prepare a measure as a query: find the points that these documents have too."""
        if len(measure) and len(self.points) and measure.dim != self.points.shape[1]:
            raise InputError(
                f"a measure has {measure.dim} dimensions, the documents {self.points.shape[1]}; "
                "take the points of both from the same vectors"
            )
        keep = np.flatnonzero(measure.weights)
        own = self.shared.find(measure.points[keep])
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

        Each is solved to `tol`, or until J is proven to be above `cut`. `dtype` asks for one
        precision; None starts in float32 and goes on in float64 where that is needed.
        """
        spread = self.unknown()
        goal = Narrow(eta, tol, atol, cut=cut)
        scratch = scratch or Scratch(len(query.weights), self.longest)
        self.narrow(query, picks, spread, goal, scratch, dtype=dtype)
        return Bounds(
            spread.lower[picks], spread.upper[picks], spread.status[picks], spread.sweeps[picks]
        )

    def unknown(self) -> Any:
        """A `Spread` that knows nothing yet of these documents."""
        from wayfare.kernels.cpu.batch import Spread

        count = len(self)
        return Spread(
            np.full(count, -np.inf),
            np.full(count, np.inf),
            np.full(count, STALLED, np.int8),
            np.zeros(count, np.int32),
            np.zeros(count, np.int8),
        )

    def narrow(
        self,
        query: Query,
        picks: NDArray[np.int64],
        spread: Any,
        goal: Narrow,
        scratch: Scratch,
        *,
        cosines: NDArray[np.float32] | None = None,
        dtype: Any = None,
    ) -> int:
        """Narrow the bounds in `spread` for `picks`; returns how many documents were worked on.

        `cosines` is the float32 table of the query where there is one already.
        """
        tries: list[Any] = [np.float32, np.float64] if dtype is None else [dtype]
        if goal.tol < SINGLE_TOL and dtype is None:
            tries = [np.float64]
        if goal.tol < wfr.SINKHORN_TOL:
            tries = []
        left, touched = picks, len(picks)
        for precision in tries:
            first = precision is tries[0]
            shared = cosines if precision is np.float32 else None
            if precision is np.float64 and 2 * len(left) < len(self):
                worked = self._batch_few(query, left, spread, goal, scratch)
            else:
                worked = self._batch(query, left, spread, goal, scratch, precision, shared)
            touched = worked if first else touched
            left = left[spread.status[left] == STALLED]
            if not len(left) or goal.shallow:
                return touched
        for document in left:
            self._finish(query, int(document), spread, goal)
        return touched

    def _finish(self, query: Query, document: int, spread: Any, goal: Narrow) -> None:
        answer = wfr.solve(
            Measure(query.points, query.weights),
            self.measure(document),
            eta=goal.eta,
            tol=goal.tol,
            atol=goal.atol,
        )
        high = min(spread.upper[document], answer.certificate.upper)
        low = min(max(spread.lower[document], answer.certificate.lower), high)
        spread.lower[document], spread.upper[document] = low, high
        met = answer.certificate.gap <= goal.tol
        spread.status[document] = CUT if low > goal.cut else CERTIFIED if met else STALLED

    def _batch(
        self,
        query: Query,
        picks: NDArray[np.int64],
        spread: Any,
        goal: Narrow,
        scratch: Scratch,
        dtype: Any,
        cosines: NDArray[Any] | None,
    ) -> int:
        from wayfare.kernels.cpu import anneal, batch, jit

        jit.announce_compilation(batch.solve_many)
        source = self.table if dtype == np.float32 else self.shared.exact_table
        work, split_work = scratch.of(dtype)
        return int(
            batch.solve_many(
                source.cosines(query.points, goal.eta) if cosines is None else cosines,
                query.own,
                query.shares,
                query.mass,
                self.indptr,
                self.indices,
                self.weights,
                picks,
                goal.tol,
                goal.atol,
                goal.cut,
                goal.best,
                source.slack(query.points, goal.eta),
                SHALLOW if goal.shallow else anneal.DEPTH,
                work,
                split_work,
                scratch.parts,
                spread,
            )
        )

    def _batch_few(
        self, query: Query, picks: NDArray[np.int64], spread: Any, goal: Narrow, scratch: Scratch
    ) -> int:
        """Work on few documents in float64, over their own points: a table of all would be waste."""
        some, there = self.take(picks, query)
        part = type(spread)(*(known[picks] for known in spread))
        worked = some._batch(there, np.arange(len(picks)), part, goal, scratch, np.float64, None)
        for known, narrowed in zip(spread, part, strict=True):
            known[picks] = narrowed
        return worked

"""Where pairs of documents are worked on, and what is asked of them: in turn

float32    in the kernels of kernels/gpu
float64    there too, for what float32 could not certify: near-duplicates
the CPU    for what Sinkhorn in float64 could not: its interior-point finish
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare import wfr
from wayfare.kernels.gpu import engines, pairs, placed, torches
from wayfare.many import SINGLE_TOL, Documents
from wayfare.measure import Measure
from wayfare.threads import in_threads, one_blas_thread

__all__ = ["Desk"]

Array = NDArray[np.float64]
Tensor = Any
Named = Callable[[int], Measure]

# The elements of one table, of which two are alive at once, and which 32 bits must address.
MOST_ELEMENTS = 2**31 - 1
SHARE_OF_MEMORY = 8
PAIRS_IN_DOUBLE = 1024
COPIES = 1e-9


@dataclass(frozen=True)
class Desk:
    """Where pairs are worked on, and what is asked of them."""

    device: Any
    eta: float
    tol: float
    atol: float
    n_jobs: int = 1
    dtype: Any = None

    @classmethod
    def open(
        cls,
        device: str,
        eta: float,
        tol: float,
        atol: float = 1e-12,
        n_jobs: int = 1,
        dtype: Any = None,
        **asked: str,
    ) -> Desk:
        """A desk on the device of that name; raises what `open_device` raises."""
        return cls(torches.open_device(device, **asked), eta, tol, atol, n_jobs, dtype)

    def place(self, documents: Documents) -> placed.Placed:
        """Bring documents to the device."""
        return self.place_all([documents])

    def place_all(self, collections: Sequence[Documents]) -> placed.Placed:
        """Bring several collections to the device as one; points that they share go there once."""
        return self.place_with(collections, [])[0]

    def place_with(
        self, collections: Sequence[Documents], more: Sequence[NDArray[Any]]
    ) -> tuple[placed.Placed, list[Tensor]]:
        """The same, and other arrays in the same transfer."""
        shared = list({id(one.shared): one.shared for one in collections}.values())
        firsts = np.cumsum([0, *(len(points) for points in shared)])
        at = {id(points): int(first) for points, first in zip(shared, firsts, strict=False)}
        starts = np.cumsum([0, *(one.indptr[-1] for one in collections)])
        if len(collections) == 1:
            (one,) = collections
            arrays = one.points, one.indptr, one.indices, one.weights, one.masses
        else:
            pairs_of = list(zip(collections, starts, strict=False))
            arrays = (
                np.concatenate([some.array for some in shared if len(some)] or [np.zeros((0, 0))]),
                np.concatenate([[0], *(one.indptr[1:] + begin for one, begin in pairs_of)]),
                np.concatenate([one.indices + at[id(one.shared)] for one in collections]),
                np.concatenate([one.weights for one in collections]),
                np.concatenate([one.masses for one in collections]),
            )
        there = torches.send([*arrays, *more], self.device)
        return placed.Placed(*there[: len(arrays)]), there[len(arrays) :]

    @property
    def precisions(self) -> list[Any]:
        """What to try in turn."""
        t = torches.torch()
        if self.dtype is not None:
            return [t.float32 if self.dtype == np.float32 else t.float64]
        return [t.float32, t.float64] if self.tol >= SINGLE_TOL else [t.float64]

    def elements(self) -> int:
        """How large a table may be."""
        free = torches.free_bytes(self.device)
        return min(free // (SHARE_OF_MEMORY * int(self.precisions[0].itemsize)), MOST_ELEMENTS)

    def narrow(
        self,
        table: placed.Table,
        first: Tensor,
        second: Tensor,
        cut: Tensor | None = None,
        **how: Any,
    ) -> pairs.Narrowed:
        """Bound pairs of a table, in its precision."""
        goal = pairs.Goal(self.tol, self.atol, cut)
        return pairs.narrow(table, first, second, goal, engines.best_engine(self.device), **how)

    def again(
        self,
        mine: placed.Placed,
        other: placed.Placed,
        first: Tensor,
        second: Tensor,
        cut: Tensor | None = None,
    ) -> pairs.Narrowed:
        """Bound pairs of documents in float64, over tables of the documents that they need."""
        t = torches.torch()
        found = pairs.nothing_found(mine, other, first, second)

        def run(some: slice) -> None:
            rows, row_of = first[some].unique(return_inverse=True)
            cols, col_of = second[some].unique(return_inverse=True)
            table = placed.table_of(mine.take(rows), other.take(cols), self.eta, t.float64)
            part = self.narrow(table, row_of, col_of, None if cut is None else cut[some])
            # A document beside its own copy has J = 0, which only the CPU's closed form says.
            part.open[part.upper <= COPIES * part.total] = True
            found.put(some, part)

        pairs.in_blocks(run, len(first), PAIRS_IN_DOUBLE)
        return found

    def finish(
        self, mine: Named, other: Named, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> tuple[Array, Array]:
        """Bound pairs of documents on the CPU, one by one; `mine` and `other` make them measures."""
        if not len(first):
            return np.zeros(0), np.zeros(0)

        def solve(pair: tuple[int, int]) -> tuple[float, float]:
            certificate = wfr.solve(
                mine(pair[0]), other(pair[1]), eta=self.eta, tol=self.tol, atol=self.atol
            ).certificate
            return certificate.lower, certificate.upper

        tasks = zip(first.tolist(), second.tolist(), strict=True)
        with one_blas_thread():
            found = np.array(list(in_threads(solve, tasks, self.n_jobs))).reshape(-1, 2)
        return found[:, 0], found[:, 1]

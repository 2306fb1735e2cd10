"""Distances between points, and what they become: cosines, kernel and cost.

h = cos_+(|x - y| / 2 eta)      the cosine, 0 beyond the distance pi eta
k = h^2                         the kernel
C = -2 log h                    the cost, infinite where h is 0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import InputError

# Below this share of |x|^2 + |y|^2, a squared distance from inner products has lost two digits.
CANCELLED = 1e-2

__all__ = ["CosineTable", "check_eta", "check_tol", "cosines", "costs", "distances"]


def check_eta(eta: float) -> float:
    """Return `eta` as a float, or say why it cannot be used."""
    if not isinstance(eta, int | float | np.number) or isinstance(eta, bool):
        raise InputError(f"eta: {eta!r} came; give a positive number, such as 0.5")
    if not (np.isfinite(eta) and eta > 0):
        raise InputError(f"eta: {eta} came; give a positive, finite number, such as 0.5")
    return float(eta)


def check_tol(tol: float, name: str = "tol") -> float:
    """Return the tolerance as a float, or say why it cannot be used."""
    if not isinstance(tol, int | float | np.number) or isinstance(tol, bool):
        raise InputError(f"{name}: {tol!r} came; give a positive number, such as 1e-3")
    if not (np.isfinite(tol) and tol > 0):
        raise InputError(f"{name}: {tol} came; give a positive, finite number, such as 1e-3")
    return float(tol)


def distances(x: NDArray[Any], y: NDArray[Any]) -> NDArray[np.float64]:
    """`|x_i - y_j|` in float64, shape (len(x), len(y)).

    Formed from inner products, after moving the origin between the points. Where these cancel, or
    leave the range of float64, it is formed from differences instead: far points among near ones must
    not blur the near ones.

    >>> distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[5., 0.]])
    """
    x, y = x.astype(np.float64, copy=False), y.astype(np.float64, copy=False)
    if len(x) == 0 or len(y) == 0:
        return np.zeros((len(x), len(y)))
    with np.errstate(over="ignore", invalid="ignore"):
        centre = x[0] / 2 + y[0] / 2
        p, q = x - centre, y - centre
        squared = np.einsum("ij,ij->i", p, p)[:, None] + np.einsum("ij,ij->i", q, q)
        spread = p @ q.T
        spread *= -2
        spread += squared
    squared *= CANCELLED
    # Written so that NaN counts as cancelled too.
    i, j = np.nonzero(~(spread > squared))
    if len(i) > len(x) + len(y):
        from scipy.spatial.distance import cdist

        return np.asarray(cdist(x, y))
    np.sqrt(spread, out=spread, where=spread > 0)
    if len(i):
        with np.errstate(over="ignore"):
            spread[i, j] = np.linalg.norm(x[i] - y[j], axis=1)
    return np.asarray(spread)


def cosines(x: NDArray[Any], y: NDArray[Any], eta: float) -> NDArray[np.float64]:
    """`cos_+(|x_i - y_j| / 2 eta)` in float64.

    >>> cosines(np.array([[0.0]]), np.array([[0.0], [np.pi / 3], [4.0]]), 1.0).round(3)
    array([[1.   , 0.866, 0.   ]])
    """
    angle = distances(x, y)
    angle /= 2 * eta
    far = angle >= np.pi / 2
    np.minimum(angle, np.pi / 2, out=angle)
    np.cos(angle, out=angle)
    angle[far] = 0.0
    return angle


def costs(h: NDArray[np.float64]) -> NDArray[np.float64]:
    """`-2 log h`, infinite where `h` is 0.

    >>> costs(np.array([1.0, 0.5, 0.0])).round(3)
    array([0.   , 1.386,   inf])
    """
    with np.errstate(divide="ignore"):
        cost = np.asarray(-2.0 * np.log(h))
    return np.maximum(cost, 0.0, out=cost)


@dataclass(frozen=True)
class CosineTable:
    """The words of some documents, ready to be compared with any query.

    One matrix product and one pass give the cosines of every word with every query point. In float32
    each is off by at most `slack(query)`, which certificates take on their safe side.
    """

    points: NDArray[Any]
    squared: NDArray[Any]

    @classmethod
    def of(cls, points: NDArray[Any], dtype: Any = np.float32) -> CosineTable:
        """Prepare `points`, one row a word."""
        points = np.ascontiguousarray(points, dtype=dtype)
        squared = np.einsum("ij,ij->i", points, points, dtype=np.float64)
        return cls(points, squared.astype(dtype))

    def cosines(self, query: NDArray[Any], eta: float) -> NDArray[Any]:
        """`cos_+(|word - query point| / 2 eta)`, shape (words, query points)."""
        from wayfare.kernels.cpu.table import cosines_from_products, single_cosines

        query, squared = self._prepared(query)
        table: NDArray[Any]
        if self.points.dtype == np.float32 and query.shape[1]:
            table = np.empty((len(self.points), len(query)), np.float32)
            single_cosines(self.points, self.squared, query, squared, 0.25 / eta**2, table)
            return table
        table = self.points @ query.T
        cosines_from_products(table, self.squared, squared, 0.25 / eta**2)
        return table

    def _prepared(self, query: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        query = np.ascontiguousarray(query, dtype=self.points.dtype)
        squared = np.einsum("ij,ij->i", query, query, dtype=np.float64)
        return query, squared.astype(query.dtype)

    def slack(self, query: NDArray[Any], eta: float) -> float:
        """How far off an entry of `cosines` may be.

        `|dh| <= |d(distance^2)| / (8 eta^2)`, since sin(t) <= t. An inner product of n terms in
        floating point is off by at most n u |x| |y|, and the series by a few units in the last place.
        """
        unit = float(np.finfo(self.points.dtype).eps) / 2
        longest = float(self.squared.max(initial=0.0))
        own = float(np.einsum("ij,ij->i", query, query).max(initial=0.0))
        terms = self.points.shape[1] + 4
        off = 2 * terms * unit * np.sqrt(longest * own) + 4 * unit * (longest + own)
        return float(off / (8 * eta**2) + 8 * unit)

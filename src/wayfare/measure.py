"""One document as a measure: points that carry mass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfare.errors import InputError

__all__ = ["Measure", "check_same_space"]


@dataclass(frozen=True, eq=False)
class Measure:
    """Weighted points: `mu = sum_i weights[i] * delta(points[i])`.

    `points` is (n, d), kept in float32 or float64 as it came; `weights` is (n,), float64, not
    negative, and need not sum to one. `words` names the points where they are words. A measure
    without points is the zero measure. Raises `InputError` for NaN, infinities, negative weights
    and shapes that do not fit.

    >>> m = Measure([[0.0, 0.0], [1.0, 0.0]], [0.25, 0.75], words=["here", "there"])
    >>> len(m), m.dim, m.mass
    (2, 2, 1.0)
    """

    points: NDArray[Any]
    weights: NDArray[np.float64]
    words: tuple[str, ...] | None = field(default=None)

    def __init__(
        self, points: ArrayLike, weights: ArrayLike, words: Sequence[str] | None = None
    ) -> None:
        object.__setattr__(self, "points", _points(points))
        object.__setattr__(self, "weights", _weights(weights, len(self.points)))
        if words is not None and len(words) != len(self.points):
            raise InputError(
                f"words: {len(words)} names for {len(self.points)} points; give one name a point"
            )
        object.__setattr__(self, "words", None if words is None else tuple(words))

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def dim(self) -> int:
        """How many coordinates a point has."""
        return int(self.points.shape[1])

    @property
    def mass(self) -> float:
        """The sum of the weights, `|mu|`."""
        return float(self.weights.sum())

    def normalized(self) -> Measure:
        """The same measure at mass one; the zero measure stays as it is."""
        mass = self.mass
        return self if mass == 0.0 else Measure(self.points, self.weights / mass, self.words)

    def __repr__(self) -> str:
        return f"Measure({len(self)} points in {self.dim} dimensions, mass {self.mass:.6g})"


def check_same_space(first: Measure, second: Measure) -> None:
    """Raise `InputError` for measures whose points cannot be compared.

    >>> check_same_space(Measure([[0.0]], [1.0]), Measure([], []))
    """
    if len(first) and len(second) and first.dim != second.dim:
        raise InputError(
            f"the first measure has {first.dim} dimensions, the second {second.dim}; "
            "take the points of both from the same vectors"
        )


def _points(points: ArrayLike) -> NDArray[Any]:
    array = np.asarray(points)
    if array.ndim == 1 and array.size == 0:
        array = array.reshape(0, 0)
    if array.ndim != 2:
        raise InputError(
            f"points: an array of shape {array.shape} came; give (number of points, dimensions)"
        )
    if array.dtype not in (np.float32, np.float64):
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError(f"points: dtype {array.dtype} came; give real numbers") from None
    if not np.isfinite(array).all():
        row = int(np.argmin(np.isfinite(array).all(axis=1)))
        raise InputError(f"points: row {row} holds NaN or infinity; drop or repair that row")
    return np.ascontiguousarray(array)


def _weights(weights: ArrayLike, count: int) -> NDArray[np.float64]:
    try:
        array = np.ascontiguousarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("weights: give real numbers, one a point") from None
    if array.shape != (count,):
        raise InputError(f"weights: shape {array.shape} for {count} points; give one a point")
    if not np.isfinite(array).all():
        raise InputError(
            f"weights: weight {int(np.argmin(np.isfinite(array)))} is NaN or infinite; "
            "give finite masses"
        )
    if count and array.min() < 0:
        at = int(np.argmin(array))
        raise InputError(f"weights: weight {at} is {array[at]:g}; masses cannot be negative")
    return array

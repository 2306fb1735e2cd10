"""Points and weights that documents bring along, checked at the door."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import InputError

__all__ = ["as_points", "as_weights"]


def as_points(number: int, array: Any) -> NDArray[np.float32]:
    """Return the points of document `number` as float32 (points, dimensions), all finite."""
    points = _rectangular(f"arrays[{number}]", array)
    if points.size == 0:
        return np.zeros((0, points.shape[1] if points.ndim == 2 else 0), np.float32)
    if points.ndim != 2 or points.dtype.kind not in "fiu":
        raise InputError(
            f"arrays[{number}]: {points.dtype} of shape {points.shape} came; "
            "give (points, dimensions)"
        )
    with np.errstate(over="ignore"):
        points = points.astype(np.float32, copy=False)
    if not np.isfinite(points).all():
        raise InputError(
            f"arrays[{number}]: NaN, or infinity in float32, came; drop or repair those points"
        )
    return points


def as_weights(given: list[Any], stacks: list[NDArray[Any]]) -> list[NDArray[np.float64]]:
    """Return one weight >= 0 for each point of each stack."""
    if len(given) != len(stacks):
        raise InputError(f"weights: {len(given)} arrays for {len(stacks)} documents; give one each")
    return [_weights(n, *pair) for n, pair in enumerate(zip(given, stacks, strict=True))]


def _weights(number: int, array: Any, stack: NDArray[Any]) -> NDArray[np.float64]:
    found = _rectangular(f"weights[{number}]", array)
    if found.size and found.dtype.kind not in "biuf":
        raise InputError(f"weights[{number}]: {found.dtype} came; give numbers")
    weights = found.astype(np.float64).reshape(-1)
    if weights.shape != (len(stack),):
        raise InputError(f"weights[{number}]: {len(weights)} weights for {len(stack)} points")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise InputError(f"weights[{number}]: NaN, infinity or a negative weight came")
    return weights


def _rectangular(name: str, array: Any) -> NDArray[Any]:
    try:
        return np.asarray(array)
    except (TypeError, ValueError):
        raise InputError(f"{name}: rows of several lengths came; give each the same") from None

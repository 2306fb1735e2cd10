"""Random measures for Hypothesis: everything that documents are, and everything that they should not be.

A case is drawn as a handful of small numbers and a seed, so that what fails shrinks to few points in few
dimensions. `pairs()` is what most tests want.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from wayfare.measure import Measure

ETAS = (1.0, 1 / 2, 1 / 3, 1 / 4, 0.1)
CLOUDS = ("gauss", "sphere", "line", "clusters", "lattice")
WEIGHTS = ("equal", "counts", "random", "decades", "holes")


@dataclass(frozen=True)
class Pair:
    """Two measures in the same space, and the eta to compare them at."""

    first: Measure
    second: Measure
    eta: float

    def __repr__(self) -> str:
        sides = (
            f"Measure({one.points.tolist()!r}, {one.weights.tolist()!r})"
            for one in (self.first, self.second)
        )
        return f"Pair({', '.join(sides)}, {self.eta!r})"


def cloud(rng: np.random.Generator, kind: str, count: int, dim: int) -> np.ndarray:
    """Points of one kind, of about unit size, except for the clusters."""
    normal = rng.standard_normal((count, dim))
    if kind == "sphere":
        return normal / np.linalg.norm(normal, axis=1, keepdims=True)
    if kind == "line":
        return normal[:, :1] * np.ones(dim) / np.sqrt(dim)
    if kind == "clusters":
        # Some beyond pi * eta of each other at every eta, and one cluster far out.
        return 0.2 * normal + rng.choice([0.0, 1.5, 5.0, 100.0], (count, 1))
    if kind == "lattice":
        return rng.integers(-1, 2, (count, dim)) / 2.0
    return normal / np.sqrt(dim)


def weights(rng: np.random.Generator, kind: str, count: int) -> np.ndarray:
    """Masses of one kind; "holes" has weightless points among others."""
    if kind == "equal":
        return np.ones(count)
    if kind == "counts":
        return rng.integers(1, 8, count).astype(float)
    if kind == "decades":
        return 10.0 ** rng.uniform(-12, 0, count)
    drawn = rng.random(count) + 1e-3
    if kind == "holes":
        drawn[rng.random(count) < 0.4] = 0.0
    return drawn


@st.composite
def pairs(
    draw: st.DrawFn,
    *,
    most: int = 40,
    dims: tuple[int, ...] = (1, 2, 3, 5, 8, 50, 300),
    kinds: tuple[str, ...] = WEIGHTS,
    clouds: tuple[str, ...] = CLOUDS,
    etas: tuple[float, ...] = (*ETAS, 3.0, 0.02),
    decades: int = 6,
    least: int = 0,
) -> Pair:
    """Two measures: any size, any shape, shared points, duplicates, and masses from 1e-6 to 1e6."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dim = draw(st.sampled_from(dims))
    m, n = draw(st.integers(least, most)), draw(st.integers(least, most))
    both = cloud(rng, draw(st.sampled_from(clouds)), m + n, dim)
    x, y = both[:m], both[m:]
    for points, share in ((x, draw(st.sampled_from([0.0, 0.3]))), (y, 0.2)):
        again = rng.random(len(points)) < share
        points[again] = points[rng.integers(0, max(len(points), 1), len(points))][again]
    shared = rng.random(n) < draw(st.sampled_from([0.0, 0.5, 1.0]))
    if m:
        y[shared] = x[rng.integers(0, m, n)][shared]
    measures = []
    for points in (x, y):
        w = weights(rng, draw(st.sampled_from(kinds)), len(points))
        mass = 10.0 ** draw(st.integers(-decades, decades))
        measures.append(Measure(points, w * (mass / (w.sum() or 1.0))))
    return Pair(*measures, draw(st.sampled_from(etas)))

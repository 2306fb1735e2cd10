"""Random measures for Hypothesis: everything that documents are, and everything that they should not be.

A case is drawn as a handful of small numbers and a seed, so that what fails shrinks to few points in few
dimensions. `pairs()` is what most tests want.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from wayfare.corpus import Corpus
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


@dataclass(frozen=True)
class Library:
    """Documents over shared points, a query, and the eta to compare them at."""

    corpus: Corpus
    query: Measure
    eta: float

    def __repr__(self) -> str:
        c = self.corpus
        arrays = (c.points.tolist(), c.indptr.tolist(), c.indices.tolist(), c.weights.tolist())
        return (
            f"Library({arrays!r}, {self.query.points.tolist()!r}, {self.query.weights.tolist()!r})"
        )


@st.composite
def libraries(
    draw: st.DrawFn,
    *,
    documents: int = 30,
    words: int = 40,
    longest: int = 12,
    etas: tuple[float, ...] = ETAS,
    kinds: tuple[str, ...] = ("equal", "counts", "random", "decades"),
    normal: bool | None = None,
    least: int = 0,
) -> Library:
    """A corpus with empty documents, copies and ties, and a query of at least `least` points."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    vocabulary, count = draw(st.integers(1, words)), draw(st.integers(0, documents))
    dim = draw(st.sampled_from([1, 2, 5, 20]))
    points = cloud(rng, draw(st.sampled_from(CLOUDS)), vocabulary, dim).astype(np.float32)
    kind, scaled = draw(st.sampled_from(kinds)), draw(st.booleans()) if normal is None else normal
    rows: list[tuple[np.ndarray, np.ndarray]] = []
    for _ in range(count):
        if rows and rng.random() < 0.3:
            rows.append(rows[rng.integers(len(rows))])
            continue
        size = 0 if rng.random() < 0.1 else int(rng.integers(1, min(longest, vocabulary) + 1))
        w = weights(rng, kind, size)
        chosen = np.sort(rng.choice(vocabulary, size, replace=False))
        rows.append((chosen, w / (w.sum() if scaled and size else 1.0)))
    asked = int(rng.integers(least, longest + 1))
    own = points[rng.integers(0, vocabulary, asked)].astype(np.float64)
    new = rng.random(asked) < draw(st.sampled_from([0.0, 0.3, 1.0]))
    own[new] += 0.1 * rng.standard_normal((int(new.sum()), dim))
    w = weights(rng, kind, asked)
    query = Measure(own.astype(np.float32), w / (w.sum() if scaled and asked else 1.0))
    sizes = np.array([len(chosen) for chosen, _ in rows], np.int64)
    corpus = Corpus(
        points,
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([np.zeros(0, np.int32), *(chosen for chosen, _ in rows)]).astype(np.int32),
        np.concatenate([np.zeros(0), *(mass for _, mass in rows)]),
    )
    return Library(corpus, query, draw(st.sampled_from(etas)))

"""Do the certificates hold? A million random pairs, each checked again in float64.

    python benchmarks/certificates.py [--pairs 1000000] [--jobs 2] [--seed 0]

Measures of 1 to 40 words in 1 to 300 dimensions: shared words, repeated words, far clusters, weights
over twelve decades, masses from 1e-6 to 1e6, every eta, tolerances 1e-2 to 1e-5. Each pair is solved

    one       by the single solve, whose potentials and plan are at hand: feasibility, the value of the
              dual and the price of the plan are computed again from the points, by other formulas
    float32   in a batch, as `pairwise` does it, all of whose work is in float32
    float64   in a batch, in float64

and the three intervals must meet, since each claims to hold the same J. "failed" counts certificates
that did not hold (target 0), "gap met" the share that reached its tolerance, "worst gap" the largest
(upper - lower) / max(upper, 1e-12 (|mu| + |nu|)) of those that claimed to be certified over the
tolerance asked for (at most 1), "worst left" the largest such gap of the rest after every try
(`pairwise` finishes them as the single solve does), and "J of those" how near the largest J of those
was to nothing, as a share of |mu| + |nu|.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

ETAS = (1.0, 1 / 2, 1 / 3, 1 / 4)
TOLS = (1e-2, 1e-3, 2e-4, 1e-5)
DIMS = (1, 2, 3, 5, 8, 50, 100, 300)
QUERIES, DOCUMENTS = 10, 40  # of one task
ATOL = 1e-12

# What a sum of some dozens of float64 terms of order |mu| + |nu| may lose.
ROUNDING = 1e-14


class Tally(NamedTuple):
    """Of one precision at one eta."""

    pairs: int = 0
    failed: int = 0
    met: int = 0
    worst_met: float = 0.0
    worst_left: float = 0.0
    left_at: float = 0.0

    def and_of(self, other: Tally) -> Tally:
        counts = (self[n] + other[n] for n in range(3))
        return Tally(*counts, *(max(self[n], other[n]) for n in (3, 4, 5)))


Tallies = dict[tuple[str, float], Tally]


def main() -> None:
    parser = argparse.ArgumentParser(description="Check random certificates in float64.")
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    tasks = -(-asked.pairs // (QUERIES * DOCUMENTS))
    start, found = time.perf_counter(), defaultdict(Tally)
    with multiprocessing.get_context("spawn").Pool(asked.jobs) as pool:
        work = ((asked.seed, task) for task in range(tasks))
        for part in pool.imap_unordered(check, work, chunksize=4):
            merge(found, part)
    show(found, time.perf_counter() - start)


def show(found: Tallies, seconds: float) -> None:
    print(
        f"{'solved':8} {'eta':>6} {'pairs':>9} {'failed':>7} {'gap met':>9} "
        f"{'worst gap / tol':>15} {'worst left':>11} {'J of those':>11}"
    )
    for (kind, eta), row in sorted(found.items(), key=lambda item: (item[0][0], -item[0][1])):
        print(
            f"{kind:8} {eta:6.3f} {row.pairs:9,} {row.failed:7,} {row.met / row.pairs:9.4%} "
            f"{row.worst_met:15.3f} {row.worst_left:11.1e} {row.left_at:11.1e}"
        )
    failed = sum(row.failed for row in found.values())
    pairs = sum(row.pairs for (kind, _), row in found.items() if kind == "one")
    print(f"{pairs:,} pairs, {failed} certificates failed; {seconds:.0f} s")


def merge(into: Tallies, part: Tallies) -> None:
    for key, tally in part.items():
        into[key] = into[key].and_of(tally) if key in into else tally


# ---- random measures --------------------------------------------------------------------------------


def task_measures(rng: np.random.Generator) -> tuple[list[Any], list[Any]]:
    from wayfare import Measure

    dim = int(rng.choice(DIMS))
    words = cloud(rng, 120, dim)
    single = rng.random() < 0.5  # vectors come in float32 as often as in float64
    words = words.astype(np.float32 if single else np.float64)
    sides = []
    for count in (QUERIES, DOCUMENTS):
        side = []
        for _ in range(count):
            size = int(rng.integers(1, 41))
            points = words[rng.integers(0, len(words), size)]
            if rng.random() < 0.5:  # words of its own, near those of all
                own = points + 10.0 ** rng.uniform(-7, 0) * rng.standard_normal(points.shape)
                points = own.astype(points.dtype)
            mass = 10.0 ** rng.uniform(-6, 6)
            weights = skewed(rng, size)
            side.append(Measure(points, weights * (mass / weights.sum())))
        sides.append(side)
    some = rng.integers(0, DOCUMENTS, 2)  # a query that is a document, and nearly one
    sides[0][0] = sides[1][some[0]]
    near = sides[1][some[1]]
    sides[0][1] = Measure(near.points, near.weights * (1 + 1e-5 * rng.random(len(near))))
    return sides[0], sides[1]


def cloud(rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
    normal = rng.standard_normal((count, dim))
    kind = rng.integers(4)
    if kind == 0:
        return normal / np.linalg.norm(normal, axis=1, keepdims=True)
    if kind == 1:  # like words: a common direction
        normal += rng.uniform(0, 2) * rng.standard_normal(dim)
        return normal / np.linalg.norm(normal, axis=1, keepdims=True)
    if kind == 2:  # some beyond pi eta of each other, and one cluster far out
        return 0.3 * normal / np.sqrt(dim) + rng.choice([0.0, 0.7, 2.0, 100.0], (count, 1))
    return normal / np.sqrt(dim)


def skewed(rng: np.random.Generator, size: int) -> np.ndarray:
    kind = rng.integers(4)
    if kind == 0:
        return np.ones(size)
    if kind == 1:
        return rng.integers(1, 8, size).astype(float)
    if kind == 2:
        return 10.0 ** rng.uniform(-12, 0, size)
    return rng.random(size) + 1e-3


# ---- three solves and the check ---------------------------------------------------------------------


def check(work: tuple[int, int]) -> Tallies:
    from wayfare import wfr
    from wayfare.many import Documents
    from wayfare.threads import one_blas_thread

    seed, task = work
    rng = np.random.default_rng([seed, task])
    queries, documents = task_measures(rng)
    eta, tol = ETAS[task % len(ETAS)], float(rng.choice(TOLS))
    prepared = Documents.of_measures(documents)
    tallies: Tallies = {}
    with one_blas_thread():
        for query in queries:
            truth = []
            for document in documents:
                answer = wfr.solve(query, document, eta=eta, tol=tol)
                total = query.mass + document.mass
                held = holds(answer, eta, total)
                low, high = answer.certificate.lower, answer.certificate.upper
                truth.append((low, high, total, held))
            low, high, total, held = map(np.array, zip(*truth, strict=True))
            merge(tallies, {("one", eta): tally(low, high, total, held, tol)})
            for kind in ("float32", "float64"):
                bounds = batch(prepared, query, eta, tol, kind)
                slack = ROUNDING * total
                meets = (bounds[0] <= high + slack) & (low <= bounds[1] + slack)
                merge(tallies, {(kind, eta): tally(*bounds, total, meets, tol)})
    return tallies


def batch(documents: Any, query: Any, eta: float, tol: float, kind: str) -> Iterator[np.ndarray]:
    found = documents.solve(
        documents.query(query),
        np.arange(len(documents)),
        eta=eta,
        tol=tol,
        atol=ATOL,
        dtype=np.dtype(kind).type,
    )
    return found.lower, found.upper


def tally(low: Any, high: Any, total: Any, held: Any, tol: float) -> Tally:
    gap = (high - low) / np.maximum(high, ATOL * total)
    met = gap <= tol
    return Tally(
        len(gap),
        int(np.sum(~(held & (low <= high) & (low >= 0)))),
        int(met.sum()),
        float(gap[met].max(initial=0.0)) / tol,
        float(gap[~met].max(initial=0.0)),
        float((high / total)[~met].max(initial=0.0)),
    )


def holds(answer: Any, eta: float, total: float) -> bool:
    """Whether potentials and plan prove what the certificate says, computed from the points."""
    a, b = answer.first, answer.second
    # cdist takes differences; the package takes inner products.
    angle = cdist(a.points.astype(np.float64), b.points.astype(np.float64)) / (2 * eta)
    h = np.where(angle < np.pi / 2, np.cos(np.minimum(angle, np.pi / 2)), 0.0)
    phi, psi = answer.potentials
    rows, cols = a.weights > 0, b.weights > 0
    # a_i b_j >= h_ij^2, of points that have mass; what is destroyed whole has a_i = 0.
    inverse = np.exp(np.minimum(phi[:, None] + psi, 700.0))
    feasible = np.all((h**2 * inverse)[np.ix_(rows, cols)] <= 1 + 1e-9)
    dual = -np.expm1(-phi) @ a.weights - np.expm1(-psi) @ b.weights
    plan, slack = answer.plan, ROUNDING * total
    books = (
        np.abs(plan.sent.sum(1) + plan.destroyed - a.weights).max() <= slack
        and np.abs(plan.received.sum(0) + plan.created - b.weights).max() <= slack
        and min(plan.sent.min(), plan.received.min()) >= 0
    )
    price = total - 2 * float(np.sum(h * np.sqrt(plan.sent) * np.sqrt(plan.received)))
    low, high = answer.certificate.lower, answer.certificate.upper
    proven = low <= max(dual, 0.0) + slack and price <= high + 4 * slack
    return bool(feasible and books and proven)


if __name__ == "__main__":
    main()

"""One query against many documents, and one pair with everything that is to be kept of it."""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import numpy as np

from wayfare.kernels.cpu.anneal import CERTIFIED, CUT, STALLED, Goal
from wayfare.kernels.cpu.components import solve_components
from wayfare.kernels.cpu.jit import jit, jit_bare, jit_within
from wayfare.kernels.cpu.lanes import LANES
from wayfare.kernels.cpu.memory import put, some
from wayfare.kernels.cpu.passes import blank, transpose
from wayfare.kernels.cpu.problem import WEIGHT, shaped
from wayfare.kernels.cpu.sparse import is_long

__all__ = ["Kept", "Spread", "load", "solve_many", "solve_one"]

Kept = namedtuple("Kept", "a b plan")

# What a batch narrows: bounds of J, status, sweeps and stages, one entry a document of the corpus.
Spread = namedtuple("Spread", "lower upper status sweeps stages")


@jit_bare
def load(table: Any, columns: Any, mu: Any, nu: Any, other: float, work: Any) -> None:
    """Copy a document's rows of the table, their transpose, and the weights at mass one."""
    m, n, into = len(mu), len(columns), work.cosines_t
    for j in range(n):
        for i in range(0, into.shape[1], LANES):
            put(into, (j, i), some(table, (columns[j], i), m - i))
    blank(into, n)
    transpose(work.cosines_t, work.cosines)
    for i in range(work.rows.shape[1]):
        work.rows[WEIGHT, i] = mu[i] if i < m else 0.0
    for j in range(work.cols.shape[1]):
        work.cols[WEIGHT, j] = nu[j] / other if j < n else 0.0


@jit_within
def _same(columns: Any, own: Any, weights: Any, mass: float, mu: Any) -> bool:
    """Whether a document is the query itself, up to its mass."""
    if len(columns) != len(own):
        return False
    for j in range(len(columns)):  # noqa: SIM110 (the compiler knows loops)
        if columns[j] != own[j] or weights[j] / mass != mu[j]:
            return False
    return True


@jit_within
def _judged(status: int, lower: float, upper: float, goal: Any) -> tuple[int, float, float]:
    """What a solve found as bounds of J, rounding on the safe side, and how far they reach."""
    rounding = 0.5 * goal.margin
    low = max(goal.total - goal.scale * min(upper + rounding, 1.0), 0.0)
    high = goal.total - goal.scale * max(lower - rounding, 0.0)
    if status == CUT or low > goal.cut:
        return CUT, low, high
    met = high - low <= goal.tol * max(high, goal.atol)
    return CERTIFIED if met else STALLED, low, high


@jit
def solve_many(
    table: Any,
    own: Any,
    mu: Any,
    mass: float,
    indptr: Any,
    columns: Any,
    weights: Any,
    picks: Any,
    tol: float,
    atol: float,
    cut: float,
    best: Any,
    slack: float,
    depth: int,
    work: Any,
    split_work: Any,
    parts: Any,
    spread: Any,
) -> int:
    """Narrow the bounds of J between one query and the documents `picks`, in that order.

    `table[w, i]` is the cosine of row w of the corpus's points and query point i, off by at most
    `slack`; `own` holds the rows of the query's own points where it has any; `mu` sums to one and
    `mass` is the query's. The bounds hold for the exact cosines: rounding is on the safe side.

    A document is left alone once J is proven to be above `cut`, or above the largest of `best`, the
    smallest upper bounds so far, which is kept up to date. Returns how many were worked on.
    """
    m, touched = len(mu), 0
    nothing = Kept(np.zeros(0), np.zeros(0), np.zeros((0, 0)))
    unit = 2.0**-24 if table.itemsize == 4 else 2.0**-53
    for document in picks:
        worst = 0
        for place in range(len(best)):
            if best[place] > best[worst]:
                worst = place
        limit = min(cut, best[worst]) if len(best) else cut
        if spread.lower[document] > limit:
            spread.status[document] = CUT
            continue
        touched += 1
        start, stop = indptr[document], indptr[document + 1]
        nu, other = weights[start:stop], 0.0
        for j in range(stop - start):
            other += nu[j]
        sweeps, stages = 0, 0
        if m == 0 or start == stop or mass == 0.0 or other == 0.0:
            status, low, high = CERTIFIED, mass + other, mass + other
        elif _same(columns[start:stop], own, nu, other, mu):
            low = (math.sqrt(mass) - math.sqrt(other)) ** 2
            status, high = CERTIFIED, low
        else:
            n, total = stop - start, mass + other
            part = shaped(work, m, n)
            load(table, columns[start:stop], mu, nu, other, part)
            # Every result is a sum of at most m + n rounded positive terms, or a maximum of such; long
            # problems are summed in float64.
            terms = 0 if is_long(part, m, n) else m + n
            margin = 2.0 * (slack + (terms + 32) * unit)
            scale = 2.0 * math.sqrt(mass) * math.sqrt(other)
            goal = Goal(total, scale, 0.0, margin, tol, atol * total, limit)
            status, lower, upper, sweeps, stages = solve_components(
                part, m, n, goal, split_work, parts, depth, nothing
            )
            status, low, high = _judged(status, lower, upper, goal)
        before = spread.upper[document]
        high = min(before, high)
        # Equal bounds from two roads may cross in their last bit.
        spread.lower[document] = min(max(spread.lower[document], low), high)
        spread.upper[document] = high
        spread.status[document] = status
        spread.sweeps[document] += sweeps
        spread.stages[document] = stages
        _keep_best(best, worst, before, spread.upper[document])
    return touched


@jit_within
def _keep_best(best: Any, worst: int, before: float, after: float) -> None:
    """Let a document's new upper bound take the place of its old one, or of the largest."""
    if len(best) == 0 or after >= before or after >= best[worst]:
        return
    for place in range(len(best)):
        if best[place] == before:
            best[place] = after
            return
    best[worst] = after


@jit
def solve_one(
    table: Any,
    mu: Any,
    nu: Any,
    goal: Any,
    depth: int,
    work: Any,
    split_work: Any,
    parts: Any,
    kept: Any,
) -> tuple[int, float, float, int, int]:
    """Solve one pair at mass one and keep its feasible potentials and its plan.

    `table[j, i]` is the cosine of point j of the second and point i of the first. `depth` is no constant
    here, since all below would be compiled for that constant again.
    """
    n, m = table.shape
    whole = shaped(work, m, n)
    load(table, np.arange(n), mu, nu, 1.0, whole)
    return solve_components(whole, m, n, goal, split_work, parts, depth, kept)

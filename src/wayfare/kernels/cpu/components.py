"""A problem whose kernel has zeros, taken apart.

Points without a partner are destroyed or created at their mass. What is left falls into the
connected components of the graph `h_ij > 0`, each a problem of its own with its own constant. A
component with one point on a side (a star) has a closed form:

    S = sqrt(mu_i sum_j h_ij^2 nu_j),   a_i = S / mu_i,   b_j = h_ij^2 / a_i.

At small eta nearly every component is a star.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import numpy as np

from wayfare.kernels.cpu.anneal import (
    CERTIFIED,
    CUT,
    SCALE,
    SPARE,
    STALLED,
    WEIGHT,
    Goal,
    anneal,
    feasible_pair,
    shaped,
)
from wayfare.kernels.cpu.jit import jit

__all__ = ["Parts", "parts", "solve_components"]


# Where the components are written: their rows, one component after the other, and where each begins;
# the same for their columns; and which points were met.
Parts = namedtuple("Parts", "rows row_starts cols col_starts met")


def parts(m: int, n: int) -> Parts:
    """Arrays for the components of problems of up to m x n points."""
    sizes = (m, m + 2, n, m + 2, m + n)
    return Parts(*(np.zeros(size, np.int32) for size in sizes))


@jit
def _split(cosines: Any, cosines_t: Any, m: int, n: int, parts: Any) -> int:
    """Breadth-first from each row that has a partner; returns how many components there are."""
    for node in range(m + n):
        parts.met[node] = 0
    count, p, q = 0, 0, 0
    for first in range(m):
        if parts.met[first]:
            continue
        parts.row_starts[count], parts.col_starts[count] = p, q
        parts.met[first] = 1
        parts.rows[p] = first
        row, col, p = p, q, p + 1
        while row < p or col < q:
            if row < p:
                i = parts.rows[row]
                row += 1
                for j in range(n):
                    if cosines[i, j] > 0 and not parts.met[m + j]:
                        parts.met[m + j] = 1
                        parts.cols[q] = j
                        q += 1
            else:
                j = parts.cols[col]
                col += 1
                for i in range(m):
                    if cosines_t[j, i] > 0 and not parts.met[i]:
                        parts.met[i] = 1
                        parts.rows[p] = i
                        p += 1
        if q > parts.col_starts[count]:
            count += 1
        else:
            p -= 1  # a row without a partner is destroyed
    parts.row_starts[count], parts.col_starts[count] = p, q
    return count


@jit
def _star(
    cosines: Any, mu: Any, nu: Any, rows: Any, cols: Any, p: int, q: int, keep: bool, kept: Any
) -> float:
    total = 0.0
    for r in range(p):
        for c in range(q):
            h = float(cosines[rows[r], cols[c]])
            total += mu[rows[r]] * h * h * nu[cols[c]]
    affinity = math.sqrt(total)
    if keep:
        for r in range(p):
            for c in range(q):
                i, j = rows[r], cols[c]
                h = float(cosines[i, j])
                if p == 1:
                    kept.a[i] = affinity / mu[i]
                    kept.b[j] = h * h * mu[i] / affinity
                else:
                    kept.a[i] = h * h * nu[j] / affinity
                    kept.b[j] = affinity / nu[j]
                kept.plan[i, j] = mu[i] * h * h * nu[j] / affinity
    return affinity


@jit
def _store(work: Any, rows: Any, cols: Any, p: int, q: int, kept: Any) -> None:
    """Write a component's feasible potentials, at their best constant, and its plan."""
    feasible_pair(work, p, q)
    mass_a, mass_b = 0.0, 0.0
    for r in range(p):
        kept.a[rows[r]] = float(work.rows[SPARE, r]) ** 2
        mass_a += work.rows[WEIGHT, r] * kept.a[rows[r]]
        for c in range(q):
            entry = float(work.plan[r, c]) * work.rows[SCALE, r] * work.cols[SCALE, c]
            kept.plan[rows[r], cols[c]] = entry
    for c in range(q):
        kept.b[cols[c]] = 1.0 / float(work.cols[SPARE, c]) ** 2
        mass_b += work.cols[WEIGHT, c] * kept.b[cols[c]]
    constant = math.sqrt(mass_b / mass_a)
    for r in range(p):
        kept.a[rows[r]] *= constant
    for c in range(q):
        kept.b[cols[c]] /= constant


@jit
def _take(cosines: Any, mu: Any, nu: Any, rows: Any, cols: Any, p: int, q: int, work: Any) -> None:
    for r in range(p):
        work.rows[WEIGHT, r] = mu[rows[r]]
        for c in range(q):
            h = cosines[rows[r], cols[c]]
            work.cosines[r, c] = h
            work.cosines_t[c, r] = h
    for c in range(q):
        work.cols[WEIGHT, c] = nu[cols[c]]


@jit
def _ceiling(work: Any, p: int, q: int) -> float:
    """The smaller of the closed forms from `a = 1` and from `b = 1`: an upper bound of S."""
    best = np.inf
    for swap in range(2):
        h = work.cosines_t if swap else work.cosines
        mine, other = (work.cols, work.rows) if swap else (work.rows, work.cols)
        k, l = (q, p) if swap else (p, q)
        mass, reach = 0.0, 0.0
        for i in range(k):
            top = h[i, 0]
            for j in range(1, l):
                top = max(top, h[i, j])
            reach += mine[WEIGHT, i] * top * top
        for j in range(l):
            mass += other[WEIGHT, j]
        best = min(best, math.sqrt(mass * reach))
    return best


@jit
def solve_components(
    cosines: Any,
    cosines_t: Any,
    mu: Any,
    nu: Any,
    goal: Any,
    work: Any,
    parts: Any,
    keep: bool,
    kept: Any,
) -> tuple[int, float, float, int, int]:
    """Solve one problem through its components: status, bounds of S, sweeps and stages.

    With `keep` the feasible potentials and the plan are written to `kept`, whose arrays start at 0.
    """
    count = _split(cosines, cosines_t, len(mu), len(nu), parts)
    exact, ceiling = 0.0, 0.0
    for part in range(count):
        rows = parts.rows[parts.row_starts[part] : parts.row_starts[part + 1]]
        cols = parts.cols[parts.col_starts[part] : parts.col_starts[part + 1]]
        p, q = len(rows), len(cols)
        if p == 1 or q == 1:
            exact += _star(cosines, mu, nu, rows, cols, p, q, keep, kept)
        else:
            here = shaped(work, p, q)
            _take(cosines, mu, nu, rows, cols, p, q, here)
            ceiling += _ceiling(here, p, q)
    lower, upper, weight = exact, exact + ceiling, ceiling
    status, sweeps, stages = CERTIFIED, 0, 0
    for part in range(count):
        rows = parts.rows[parts.row_starts[part] : parts.row_starts[part + 1]]
        cols = parts.cols[parts.col_starts[part] : parts.col_starts[part + 1]]
        p, q = len(rows), len(cols)
        if p == 1 or q == 1:
            continue
        here = shaped(work, p, q)
        _take(cosines, mu, nu, rows, cols, p, q, here)
        top = _ceiling(here, p, q)
        # Each component may spend the share of the tolerance that its ceiling is of all ceilings.
        share = top / weight
        own_goal = Goal(
            goal.total,
            goal.scale,
            goal.elsewhere + upper - top,
            goal.margin * share,
            goal.tol * share,
            goal.atol,
            goal.cut,
        )
        done, low, high, more, depth = anneal(here, p, q, own_goal)
        if keep:
            _store(here, rows, cols, p, q, kept)
        lower += low
        upper += min(high, top) - top
        sweeps += more
        stages = max(stages, depth)
        if done == CUT:
            return CUT, lower, upper, sweeps, stages
        if done == STALLED:
            status = STALLED
    if goal.total - goal.scale * (goal.elsewhere + goal.margin + upper) >= goal.cut:
        status = CUT
    return status, lower, upper, sweeps, stages

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
    SUMS,
    WEIGHT,
    Goal,
    anneal,
    feasible_pair,
    shaped,
)
from wayfare.kernels.cpu.jit import jit
from wayfare.kernels.cpu.passes import highest_label, max_rows
from wayfare.kernels.cpu.sparse import anneal_any, is_long

__all__ = ["Parts", "parts", "solve_components"]


# Where the components are written: their rows, one component after the other, and where each begins;
# the same for their columns; which component a label stands for; and a ceiling of each one's affinity.
Parts = namedtuple("Parts", "rows row_starts cols col_starts named ceilings")


def parts(m: int, n: int) -> Parts:
    """Arrays for the components of problems of up to m x n points."""
    sizes = (m, m + 2, n, m + 2, m + 1)
    return Parts._make((*(np.zeros(size, np.int32) for size in sizes), np.zeros(m + 1)))


@jit
def _label(work: Any) -> None:
    """Give all points of a component one number, in SPARE; 0 to points without a partner.

    Each point takes the highest number among its partners until nothing changes, or until all have the
    same: few whole passes over the matrix, where a search from point to point would decide about every
    pair on its own.
    """
    rows, cols = work.rows, work.cols
    for i in range(rows.shape[1]):
        rows[SPARE, i] = i + 1
    before, now, settled = -1.0, 0.0, False
    while now != before and not settled:
        before, now, settled = now, 0.0, True
        highest_label(work.cosines, rows[SPARE], cols[SPARE])
        highest_label(work.cosines_t, cols[SPARE], rows[SPARE])
        top = rows[SPARE].max()
        for i in range(rows.shape[1]):
            now += rows[SPARE, i]
            settled = settled and (rows[SPARE, i] == top or rows[SPARE, i] == 0)
        for j in range(cols.shape[1]):
            now += cols[SPARE, j]
            settled = settled and (cols[SPARE, j] == top or cols[SPARE, j] == 0)


@jit
def _gather(labels: Any, named: Any, count: int, starts: Any, points: Any, size: int) -> None:
    """Write the points of each component, one component after the other."""
    starts[: count + 1] = 0
    for i in range(size):
        if labels[i] > 0:
            starts[named[int(labels[i])] + 1] += 1
    for part in range(count):
        starts[part + 1] += starts[part]
    for i in range(size):
        if labels[i] > 0:
            part = named[int(labels[i])]
            points[starts[part]] = i
            starts[part] += 1
    for part in range(count, 0, -1):
        starts[part] = starts[part - 1]
    starts[0] = 0


@jit
def _split(work: Any, m: int, n: int, parts: Any) -> int:
    """Take a problem apart; returns how many components there are."""
    _label(work)
    labels, named, count = work.rows[SPARE], parts.named, 0
    named[: m + 1] = -1
    for i in range(m):
        label = int(labels[i])
        if label > 0 and named[label] < 0:
            named[label] = count
            count += 1
    _gather(labels, named, count, parts.row_starts, parts.rows, m)
    _gather(work.cols[SPARE], named, count, parts.col_starts, parts.cols, n)
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
    feasible_pair(work)
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
def _take(whole: Any, rows: Any, cols: Any, work: Any) -> None:
    """Copy one component out of a problem."""
    p, q = len(rows), len(cols)
    for r in range(work.cosines.shape[0]):
        into = work.cosines[r]
        if r < p:
            row = whole.cosines[rows[r]]
            for c in range(q):
                into[c] = row[cols[c]]
            into[q:] = 0
        else:
            into[:] = 0
    for c in range(work.cosines_t.shape[0]):
        into = work.cosines_t[c]
        if c < q:
            row = whole.cosines_t[cols[c]]
            for r in range(p):
                into[r] = row[rows[r]]
            into[p:] = 0
        else:
            into[:] = 0
    work.rows[WEIGHT] = 0
    work.cols[WEIGHT] = 0
    for r in range(p):
        work.rows[WEIGHT, r] = whole.rows[WEIGHT, rows[r]]
    for c in range(q):
        work.cols[WEIGHT, c] = whole.cols[WEIGHT, cols[c]]


@jit
def _reach(matrix: Any, side: Any, other: Any) -> float:
    """`<max_j h_ij^2, weights>` of one side, whose points are the columns of `matrix`."""
    other[SCALE] = 1
    max_rows(matrix, other[SCALE], side[SUMS])
    reach = side.dtype.type(0)
    for i in range(side.shape[1]):
        reach += side[WEIGHT, i] * side[SUMS, i] * side[SUMS, i]
    return float(reach)


@jit
def _ceiling(work: Any) -> float:
    """The smaller of the closed forms from `a = 1` and from `b = 1`: an upper bound of S."""
    rows, cols = work.rows, work.cols
    from_cols = rows[WEIGHT].sum() * _reach(work.cosines, cols, rows)
    from_rows = cols[WEIGHT].sum() * _reach(work.cosines_t, rows, cols)
    return math.sqrt(min(from_cols, from_rows))


@jit
def _solve_whole(
    work: Any, m: int, n: int, parts: Any, long: bool, goal: Any, depth: int, keep: bool, kept: Any
) -> tuple[int, float, float, int, int]:
    """Solve a problem of one component where it lies; points without a partner get no weight."""
    for side in (work.rows, work.cols):
        for i in range(side.shape[1]):
            side[WEIGHT, i] = side[WEIGHT, i] if side[SPARE, i] > 0 else side[SPARE, i]
    found = anneal(work, goal, depth) if keep else anneal_any(work, m, n, long, goal, depth)
    if keep:
        for i in range(m):
            parts.rows[i] = i
        for j in range(n):
            parts.cols[j] = j
        _store(work, parts.rows[:m], parts.cols[:n], m, n, kept)
    return found


@jit
def solve_components(
    whole: Any,
    m: int,
    n: int,
    goal: Any,
    work: Any,
    parts: Any,
    depth: int,
    keep: bool,
    kept: Any,
) -> tuple[int, float, float, int, int]:
    """Solve a problem through its components: status, bounds of S, sweeps and stages.

    `whole` holds it as `anneal` wants it, but that points may be without a partner; `work` is another
    workspace. With `keep` the feasible potentials and the plan are written to `kept`, whose arrays
    start at 0.
    """
    count = _split(whole, m, n, parts)
    rows, cols, long = parts.rows, parts.cols, is_long(whole, m, n)
    if count == 1 and parts.row_starts[1] > 1 and parts.col_starts[1] > 1:
        return _solve_whole(whole, m, n, parts, long, goal, depth, keep, kept)
    exact, ceiling, loaded = 0.0, 0.0, -1
    for part in range(count):
        mine = rows[parts.row_starts[part] : parts.row_starts[part + 1]]
        others = cols[parts.col_starts[part] : parts.col_starts[part + 1]]
        p, q = len(mine), len(others)
        if p == 1 or q == 1:
            mu, nu = whole.rows[WEIGHT], whole.cols[WEIGHT]
            exact += _star(whole.cosines, mu, nu, mine, others, p, q, keep, kept)
        else:
            here, loaded = shaped(work, p, q), part
            _take(whole, mine, others, here)
            # Its sums were rounded as often as there are points.
            unit = 2.0**-24 if whole.cosines.itemsize == 4 else 2.0**-53
            parts.ceilings[part] = _ceiling(here) * (1.0 + (p + q + 8) * unit)
            ceiling += parts.ceilings[part]
    lower, upper = exact, exact + ceiling
    status, sweeps, stages = CERTIFIED, 0, 0
    for part in range(count):
        mine = rows[parts.row_starts[part] : parts.row_starts[part + 1]]
        others = cols[parts.col_starts[part] : parts.col_starts[part + 1]]
        p, q = len(mine), len(others)
        if p == 1 or q == 1:
            continue
        here, top = shaped(work, p, q), parts.ceilings[part]
        if loaded != part:
            _take(whole, mine, others, here)
            loaded = part
        # Each component may spend the share of the tolerance that its ceiling is of all ceilings.
        share = top / ceiling
        own_goal = Goal(
            goal.total,
            goal.scale,
            goal.elsewhere + upper - top,
            goal.margin * share,
            goal.tol * share,
            goal.atol,
            goal.cut,
        )
        if keep:
            done, low, high, more, reached = anneal(here, own_goal, depth)
            _store(here, mine, others, p, q, kept)
        else:
            done, low, high, more, reached = anneal_any(here, p, q, long, own_goal, depth)
        lower += low
        upper += min(high, top) - top
        sweeps += more
        stages = max(stages, reached)
        if done == CUT:
            return CUT, lower, upper, sweeps, stages
        if done == STALLED:
            status = STALLED
    if goal.total - goal.scale * (goal.elsewhere + goal.margin + upper) > goal.cut:
        status = CUT
    return status, lower, upper, sweeps, stages

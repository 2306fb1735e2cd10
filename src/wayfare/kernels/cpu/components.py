"""A problem whose kernel has zeros, taken apart.

Points without a partner are destroyed or created at their mass. What is left falls into the
connected components of the graph `h_ij > 0`, each a problem of its own with its own constant. A
component with one point on a side (a star) has a closed form:

    S = sqrt(mu_i sum_j h_ij^2 nu_j),   a_i = S / mu_i,   b_j = h_ij^2 / a_i.

At small eta nearly every component is a star.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wayfare.kernels.cpu.anneal import CERTIFIED, CUT, STALLED, Goal
from wayfare.kernels.cpu.certificate import feasible_pair
from wayfare.kernels.cpu.jit import jit_bare, jit_within
from wayfare.kernels.cpu.lanes import LANES, largest, peak, spread, total, where_larger
from wayfare.kernels.cpu.memory import put, take
from wayfare.kernels.cpu.passes import blank, highest_label, max_rows, transpose
from wayfare.kernels.cpu.problem import SCALE, SPARE, SUMS, WEIGHT, shaped
from wayfare.kernels.cpu.sparse import anneal_any, is_long

__all__ = ["parts", "solve_components"]


# Where the components are written: their rows, one component after the other, and where each begins;
# the same for their columns; which component a label stands for.
ROWS, ROW_STARTS, COLS, COL_STARTS, NAMED = range(5)


def parts(m: int, n: int) -> Any:
    """Room for the components of problems of up to m x n points."""
    return np.zeros((5, max(m, n) + 2), np.int32)


@jit_within
def _settled(side: Any, top: float) -> bool:
    """Whether all points of a side that have a partner have one label."""
    astray = spread(side, 0)
    for j in range(0, side.shape[1], LANES):
        label = take(side, (SPARE, j))
        astray = astray + where_larger(label, 0, top - label, 0)
    return bool(total(astray) == 0)


@jit_bare
def _label(work: Any) -> bool:
    """Give all points of a component one number, in SPARE; 0 to points without a partner.

    Each point takes the highest number among its partners until nothing changes, or until all have the
    same: few whole passes over the matrix, where a search from point to point would decide about every
    pair on its own. Returns whether all have the same.
    """
    rows, cols = work.rows, work.cols
    for i in range(rows.shape[1]):
        rows[SPARE, i] = i + 1
    moved = True
    while moved:
        highest_label(work.cosines, rows[SPARE], cols[SPARE])
        highest_label(work.cosines_t, cols[SPARE], rows[SUMS])
        moves, top = spread(rows, 0), spread(rows, 0)
        for i in range(0, rows.shape[1], LANES):
            label = take(rows, (SUMS, i))
            # The first round takes its number from who has no partner.
            moves = moves + where_larger(label, take(rows, (SPARE, i)), 1, 0)
            top = largest(top, label)
            put(rows, (SPARE, i), label)
        highest = peak(top)
        if _settled(rows, highest) and _settled(cols, highest):
            return True
        moved = total(moves) > 0
    return False


@jit_within
def _partnered(side: Any) -> float:
    """How many points of a side have a partner."""
    count = spread(side, 0)
    for j in range(0, side.shape[1], LANES):
        count = count + where_larger(take(side, (SPARE, j)), 0, 1, 0)
    return float(total(count))


@jit_within
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


@jit_bare
def _split(work: Any, m: int, n: int, parts: Any) -> int:
    """Take a problem whose points are labelled apart; returns how many components there are."""
    labels, named, count = work.rows[SPARE], parts[NAMED], 0
    named[: m + 1] = -1
    for i in range(m):
        label = int(labels[i])
        if label > 0 and named[label] < 0:
            named[label] = count
            count += 1
    _gather(labels, named, count, parts[ROW_STARTS], parts[ROWS], m)
    _gather(work.cols[SPARE], named, count, parts[COL_STARTS], parts[COLS], n)
    return count


@jit_within
def _star(cosines: Any, mu: Any, nu: Any, rows: Any, cols: Any, p: int, q: int, kept: Any) -> float:
    total = 0.0
    for r in range(p):
        for c in range(q):
            h = float(cosines[rows[r], cols[c]])
            total += mu[rows[r]] * h * h * nu[cols[c]]
    affinity = math.sqrt(total)
    if len(kept.a):
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


@jit_within
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


@jit_within
def _take(whole: Any, rows: Any, cols: Any, work: Any) -> None:
    """Copy one component out of a problem."""
    p, q = len(rows), len(cols)
    for r in range(p):
        into, row = work.cosines[r], whole.cosines[rows[r]]
        for c in range(q):
            into[c] = row[cols[c]]
        into[q:] = 0
    blank(work.cosines, p)
    transpose(work.cosines, work.cosines_t)
    work.rows[WEIGHT] = 0
    work.cols[WEIGHT] = 0
    for r in range(p):
        work.rows[WEIGHT, r] = whole.rows[WEIGHT, rows[r]]
    for c in range(q):
        work.cols[WEIGHT, c] = whole.cols[WEIGHT, cols[c]]


@jit_within
def _reach(matrix: Any, side: Any, other: Any) -> float:
    """`<max_j h_ij^2, weights>` of one side, whose points are the columns of `matrix`."""
    other[SCALE] = 1
    max_rows(matrix, other[SCALE], side[SUMS])
    reach = spread(side, 0)
    for i in range(0, side.shape[1], LANES):
        largest_cosine = take(side, (SUMS, i))
        reach = reach + take(side, (WEIGHT, i)) * largest_cosine * largest_cosine
    return float(total(reach))


@jit_within
def _ceiling(work: Any) -> float:
    """The smaller of the closed forms from `a = 1` and from `b = 1`: an upper bound of S."""
    rows, cols = work.rows, work.cols
    from_cols = rows[WEIGHT].sum() * _reach(work.cosines, cols, rows)
    from_rows = cols[WEIGHT].sum() * _reach(work.cosines_t, rows, cols)
    return math.sqrt(min(from_cols, from_rows))


@jit_within
def _leave_alone(work: Any) -> None:
    """Points without a partner get no weight: the rest is solved where it lies."""
    for side in (work.rows, work.cols):
        for i in range(0, side.shape[1], LANES):
            weight = where_larger(take(side, (SPARE, i)), 0, take(side, (WEIGHT, i)), 0)
            put(side, (WEIGHT, i), weight)


@jit_bare
def solve_components(
    whole: Any, m: int, n: int, goal: Any, work: Any, parts: Any, depth: int, kept: Any
) -> tuple[int, float, float, int, int]:
    """Solve a problem through its components: status, bounds of S, sweeps and stages.

    `whole` holds it as `anneal` wants it, but that points may be without a partner; `work` is another
    workspace. The feasible potentials and the plan are written to `kept`, whose arrays start at 0, or
    are empty where nothing is to be kept.
    """
    keep, rows, cols = len(kept.a) > 0, parts[ROWS], parts[COLS]
    long = is_long(whole, m, n) and not keep  # a sparse plan is not one to keep
    if _label(whole) and _partnered(whole.rows) > 1 and _partnered(whole.cols) > 1:
        _leave_alone(whole)
        found: Any = anneal_any(whole, m, n, long, goal, depth)
        if keep:
            for i in range(m):
                rows[i] = i
            for j in range(n):
                cols[j] = j
            _store(whole, rows[:m], cols[:n], m, n, kept)
        return found  # type: ignore[no-any-return]
    count = _split(whole, m, n, parts)
    ceilings = whole.rows[SUMS]
    exact, ceiling, loaded = 0.0, 0.0, -1
    for part in range(count):
        mine = rows[parts[ROW_STARTS, part] : parts[ROW_STARTS, part + 1]]
        others = cols[parts[COL_STARTS, part] : parts[COL_STARTS, part + 1]]
        p, q = len(mine), len(others)
        if p == 1 or q == 1:
            mu, nu = whole.rows[WEIGHT], whole.cols[WEIGHT]
            exact += _star(whole.cosines, mu, nu, mine, others, p, q, kept)
        else:
            here, loaded = shaped(work, p, q), part
            _take(whole, mine, others, here)
            # Its sums were rounded as often as there are points.
            unit = 2.0**-24 if whole.cosines.itemsize == 4 else 2.0**-53
            ceilings[part] = _ceiling(here) * (1.0 + (p + q + 9) * unit)
            ceiling += ceilings[part]
    lower, upper = exact, exact + ceiling
    status, sweeps, stages = CERTIFIED, 0, 0
    for part in range(count):
        mine = rows[parts[ROW_STARTS, part] : parts[ROW_STARTS, part + 1]]
        others = cols[parts[COL_STARTS, part] : parts[COL_STARTS, part + 1]]
        p, q = len(mine), len(others)
        if p == 1 or q == 1:
            continue
        here, top = shaped(work, p, q), float(ceilings[part])
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
        done, low, high, more, reached = anneal_any(here, p, q, long, own_goal, depth)
        if keep:
            _store(here, mine, others, p, q, kept)
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

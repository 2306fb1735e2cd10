"""One long problem: the same path as anneal.py, with a plan that holds only what matters.

From eps = 1/16 on nearly all of a plan lies in few of its entries: one in a hundred on documents of some
hundred words. So

    1  the first sweeps form the plan as they go, from the cosines alone           eps = 1/8, 1/16
    2  entries with less than SHARE of what their row and their column want are dropped
    3  what is left is swept and squared as in anneal.py                            eps = 1/16 ... 1/2048

Dropping loses nothing of a certificate. Its lower bound on S holds for any plan, so it takes the one with
zeros; its upper bound looks at potentials alone, over all cosines. Sums are formed in float64, so the
rounding to allow for does not grow with the documents.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from wayfare.kernels.cpu.anneal import CERTIFIED, CUT, STALLED, anneal
from wayfare.kernels.cpu.jit import jit
from wayfare.kernels.cpu.passes import max_rows
from wayfare.kernels.cpu.powers import exp2, log2
from wayfare.kernels.cpu.problem import BASE, LOG_A, LOG_W, SCALE, SPARE, SUMS, TINY, WEIGHT

__all__ = ["anneal_any", "anneal_sparse", "is_long"]

# With more points than this, of both sides, a problem in float32 is solved with sparse plans.
LONG = 512

# Sweeps a stage, from eps = 1/16: they cost little, so there may be more of them than on a dense plan.
FIRST_SWEEPS = 2
STAGES = np.array([2, 6, 8, 10, 16, 32, 64, 128])
OVER_RELAXATION = 1.8
SHARE = 3e-3
# Beyond this many times the gap that is wanted, one more stage is not enough: look after the next.
FAR = 5.0
LONGEST = 60.0  # of a scaling, in powers of two
LEAST = 0.02  # its 32nd power is still a normal number in float32
FLOOR = 1e-18  # and so is the square of this


@jit
def _power_sums(matrix: Any, other: Any, own: Any, twice: bool, out: Any) -> None:
    """`out_j = sum_i (h_ij other_i own_j)^16`, or to the 32nd power; 0 where `own_j` is 0."""
    least, none = own.dtype.type(LEAST), own.dtype.type(0)
    for j in range(matrix.shape[1]):
        out[j] = none
    for i in range(matrix.shape[0]):
        scale, row = other[i], matrix[i]
        if scale == none:
            continue
        if twice:
            for j in range(matrix.shape[1]):
                entry = max(row[j] * (scale * own[j]), least)
                entry *= entry
                entry *= entry
                entry *= entry
                entry *= entry
                out[j] += entry * entry
        else:
            for j in range(matrix.shape[1]):
                entry = max(row[j] * (scale * own[j]), least)
                entry *= entry
                entry *= entry
                entry *= entry
                out[j] += entry * entry


@jit
def _roots(side: Any) -> None:
    """SPARE becomes `1 / sqrt(a)`, 0 where there is no weight."""
    half, none = side.dtype.type(0.5), side.dtype.type(0)
    for i in range(side.shape[1]):
        root = exp2(-half * side[LOG_A, i])
        side[SPARE, i] = root if side[WEIGHT, i] > none else none


@jit
def _start(work: Any) -> None:
    """Start from `a_i = max_j h_ij^2`, `b_j = max_i h_ij^2 / a_i`."""
    rows, cols = work.rows, work.cols
    real = rows.dtype.type
    tiny, one, two = real(TINY), real(1), real(2)
    for j in range(cols.shape[1]):
        cols[SPARE, j] = one
    max_rows(work.cosines_t, cols[SPARE], rows[SUMS])
    for i in range(rows.shape[1]):
        rows[SUMS, i] = max(rows[SUMS, i], tiny)
        rows[SPARE, i] = one / rows[SUMS, i]
    max_rows(work.cosines, rows[SPARE], cols[SUMS])
    for j in range(cols.shape[1]):
        cols[SUMS, j] = max(cols[SUMS, j], tiny)
    for side in (rows, cols):
        for i in range(side.shape[1]):
            side[LOG_A, i] = two * log2(side[SUMS, i])
            side[LOG_W, i] = log2(max(side[WEIGHT, i], tiny))
        _roots(side)
        _begin(side)


@jit
def _begin(side: Any) -> None:
    """The plan is that of the potentials as they are: nothing is left to scale."""
    one, none = side.dtype.type(1), side.dtype.type(0)
    for i in range(side.shape[1]):
        side[BASE, i] = side[LOG_A, i]
        side[SCALE, i] = one if side[WEIGHT, i] > none else none


@jit
def _step(side: Any, power: Any, relax: Any) -> None:
    """Equation (1) of anneal.py for one side; `SUMS` holds those of the plan before its own scaling."""
    real = side.dtype.type
    tiny, none, most, step = real(TINY), real(0), real(LONGEST), real(relax) / (power + real(1))
    per_power = real(1) / power
    for i in range(side.shape[1]):
        log_a = side[LOG_A, i]
        arrived = log2(max(side[SUMS, i], tiny)) + power * (side[BASE, i] - log_a)
        log_a += step * (arrived - side[LOG_W, i] - log_a)
        scaling = min(max(power * (side[BASE, i] - log_a), -most), most)
        side[LOG_A, i] = side[BASE, i] - scaling * per_power
        side[SCALE, i] = exp2(scaling) if side[WEIGHT, i] > none else none


@jit
def _mass(side: Any) -> float:
    """`<a, weights>`."""
    mass = 0.0
    for i in range(side.shape[1]):
        mass += float(exp2(side[LOG_A, i])) * float(side[WEIGHT, i])
    return mass


@jit
def _translate(rows: Any, cols: Any) -> None:
    """Move the best constant between the potentials; the plan stays what it is."""
    shift = rows.dtype.type(0.5 * math.log2(_mass(rows) / _mass(cols)))
    for i in range(rows.shape[1]):
        rows[LOG_A, i] -= shift
        rows[BASE, i] -= shift
    for j in range(cols.shape[1]):
        cols[LOG_A, j] += shift
        cols[BASE, j] += shift


@jit
def _dense_sweep(work: Any, power: Any, relax: Any, twice: bool) -> None:
    """One sweep over the cosines, whose plan is formed entry by entry and not kept."""
    rows, cols = work.rows, work.cols
    _power_sums(work.cosines_t, cols[SPARE], rows[SPARE], twice, rows[SUMS])
    _step(rows, power, relax)
    _roots(rows)
    _power_sums(work.cosines, rows[SPARE], cols[SPARE], twice, cols[SUMS])
    _step(cols, power, relax)
    _roots(cols)
    _begin(rows)
    _begin(cols)


@jit
def _wanted(side: Any, share: Any, out: Any) -> None:
    """The root of the 32nd order of `share` of what each point wants of the plan."""
    per, log_share = side.dtype.type(1 / 32), log2(share)
    for i in range(side.shape[1]):
        out[i] = exp2((log_share + side[LOG_W, i] + side[LOG_A, i]) * per)


@jit
def _keep(work: Any, m: int, n: int, starts: Any, places: Any, plan: Any) -> None:
    """Write the entries `(h_ij / sqrt(a_i b_j))^32` worth keeping, row after row.

    An entry as large as half the mean of its row, or of its column, is always kept.
    """
    rows, cols = work.rows, work.cols
    real = rows.dtype.type
    wide = cols.shape[1] // 8 * 8
    flags, none = np.zeros(wide, np.uint8), real(0)
    _wanted(rows, real(min(SHARE, 0.5 / n)), rows[SUMS])
    _wanted(cols, real(min(SHARE, 0.5 / m)), cols[SUMS])
    own, least, found = cols[SPARE], cols[SUMS], 0
    for i in range(m):
        starts[i] = found
        scale, enough, row = rows[SPARE, i], rows[SUMS, i], work.cosines[i]
        if scale == none:
            continue
        for j in range(wide):
            entry = row[j] * (scale * own[j])
            flags[j] = (
                np.uint8(1) if entry > none and entry >= min(enough, least[j]) else np.uint8(0)
            )
        some = flags.view(np.uint64)
        for eight in range(len(some)):
            if some[eight] == 0:
                continue
            for j in range(8 * eight, 8 * eight + 8):
                if flags[j] > 0:
                    entry = row[j] * (scale * own[j])
                    entry *= entry
                    entry *= entry
                    entry *= entry
                    entry *= entry
                    places[found] = j
                    plan[found] = entry * entry
                    found += 1
    starts[m] = found


@jit
def _sweep(rows: Any, cols: Any, m: int, starts: Any, places: Any, plan: Any) -> None:
    """`SUMS` of the rows from the scaling of the columns."""
    scale = cols[SCALE]
    for i in range(m):
        total = rows.dtype.type(0)
        for at in range(starts[i], starts[i + 1]):
            total += plan[at] * scale[places[at]]
        rows[SUMS, i] = total


@jit
def _sweep_back(rows: Any, cols: Any, m: int, starts: Any, places: Any, plan: Any) -> None:
    """`SUMS` of the columns from the scaling of the rows."""
    sums = cols[SUMS]
    for j in range(len(sums)):
        sums[j] = 0
    for i in range(m):
        scale = rows[SCALE, i]
        for at in range(starts[i], starts[i + 1]):
            sums[places[at]] += plan[at] * scale


@jit
def _square(rows: Any, cols: Any, m: int, starts: Any, places: Any, plan: Any) -> None:
    """Take the scalings into the plan and square it: half the entropy."""
    floor = plan.dtype.type(FLOOR)
    top, none = 1 / floor, floor - floor
    for i in range(m):
        scale = rows[SCALE, i]
        for at in range(starts[i], starts[i + 1]):
            entry = min(plan[at] * (scale * cols[SCALE, places[at]]), top)
            plan[at] = entry * entry if entry > floor else none
    _begin(rows)
    _begin(cols)


@jit
def _upper(work: Any) -> float:
    """Equation (4) of anneal.py, with sums in float64."""
    rows, cols = work.rows, work.cols
    tiny, one = rows.dtype.type(TINY), rows.dtype.type(1)
    mass_a, mass_b = 0.0, 0.0
    _roots(rows)
    max_rows(work.cosines, rows[SPARE], cols[SUMS])
    for j in range(cols.shape[1]):
        root = max(cols[SUMS, j], tiny)
        mass_b += float(cols[WEIGHT, j]) * float(root) * float(root)
        cols[SUMS, j] = one / root
    max_rows(work.cosines_t, cols[SUMS], rows[SUMS])
    for i in range(rows.shape[1]):
        root = float(rows[SUMS, i])
        mass_a += float(rows[WEIGHT, i]) * root * root
    return math.sqrt(mass_a * mass_b)


@jit
def _lower(work: Any, m: int, starts: Any, places: Any, plan: Any, reach: Any) -> float:
    """Equation (5) of anneal.py, with sums in float64."""
    rows, cols, total = work.rows, work.cols, 0.0
    reach[:] = 0
    for i in range(m):
        sent = 0.0
        for at in range(starts[i], starts[i + 1]):
            sent += float(plan[at]) * float(cols[SCALE, places[at]])
        # A row that vanished in rounding carries nothing; the bound stays a bound.
        share = float(rows[WEIGHT, i]) / sent if sent > TINY else 0.0
        for at in range(starts[i], starts[i + 1]):
            j = places[at]
            h = float(work.cosines[i, j])
            reach[j] += share * float(plan[at]) * float(cols[SCALE, j]) * h * h
    for j in range(len(reach)):
        total += math.sqrt(float(cols[WEIGHT, j]) * reach[j])
    return total


@jit
def anneal_sparse(
    work: Any, m: int, n: int, goal: Any, depth: int
) -> tuple[int, float, float, int, int]:
    """Solve the problem of m x n points in `work`: status, bounds of S, sweeps, stages, as `anneal`.

    Wants what `anneal` wants, in float32. The bounds hold but for 32 roundings of it; a problem that the
    entries which were kept cannot certify comes back STALLED.
    """
    rows, cols = work.rows, work.cols
    real = rows.dtype.type
    plan = work.plan.reshape(work.plan.size)
    places = work.plan_t.reshape(work.plan_t.size).view(np.int32)
    starts, reach = np.empty(m + 1, np.int64), np.empty(cols.shape[1], np.float64)
    _start(work)
    _dense_sweep(work, real(8), 1.0, False)
    _dense_sweep(work, real(8), OVER_RELAXATION, False)
    _translate(rows, cols)
    _roots(rows)
    _roots(cols)
    _dense_sweep(work, real(16), 1.0, True)
    _keep(work, m, n, starts, places, plan)
    power, lower, upper, sweeps, excess = real(16), 0.0, np.inf, FIRST_SWEEPS + 1, np.inf
    stages = min(max(depth - 1, 1), len(STAGES))
    for stage in range(stages):
        if stage:
            _square(rows, cols, m, starts, places, plan)
            power *= real(2)
        for sweep in range(STAGES[stage]):
            relax = OVER_RELAXATION if sweep else 1.0
            _sweep(rows, cols, m, starts, places, plan)
            _step(rows, power, relax)
            _sweep_back(rows, cols, m, starts, places, plan)
            _step(cols, power, relax)
            _translate(rows, cols)
        sweeps += STAGES[stage]
        if excess > FAR and stage % 2 == 1 and stage < stages - 1:
            continue
        upper = _upper(work)
        reached = goal.elsewhere + goal.margin + upper
        if goal.total - goal.scale * reached > goal.cut:
            return CUT, lower, upper, sweeps, stage + 2
        lower = _lower(work, m, starts, places, plan, reach)
        value = goal.total - goal.scale * (goal.elsewhere + lower)
        wanted = goal.tol * max(value, goal.atol) - goal.scale * goal.margin
        gap = goal.scale * (upper - lower)
        if gap <= wanted:
            return CERTIFIED, lower, upper, sweeps, stage + 2
        if wanted <= 0:
            return STALLED, lower, upper, sweeps, stage + 2
        excess = gap / wanted
    return STALLED, lower, upper, sweeps, stages + 1


@jit
def is_long(work: Any, m: int, n: int) -> bool:
    """Whether a problem, or what it falls into, is solved with sparse plans."""
    return bool(work.rows.itemsize == 4 and m + n > LONG)


def anneal_any(work: Any, m: int, n: int, long: bool, goal: Any, depth: int) -> Any:
    """Solve one problem by `anneal_sparse` where it is `long`, which is in float32, or by `anneal`."""


@overload(anneal_any, jit_options={"nogil": True})
def _anneal_any(work: Any, m: Any, n: Any, long: Any, goal: Any, depth: Any) -> Any:
    def dense(work: Any, m: Any, n: Any, long: Any, goal: Any, depth: Any) -> Any:
        return anneal(work, goal, depth)

    def either(work: Any, m: Any, n: Any, long: Any, goal: Any, depth: Any) -> Any:
        return anneal_sparse(work, m, n, goal, depth) if long else anneal(work, goal, depth)

    return either if work.types[0].dtype == types.float32 else dense

"""One dense problem: anneal, certify, stop.

The entropic dual at eps = 1/p has the plan R_ij = (h_ij^2 / (a_i b_j))^p, so halving eps squares the
plan, and the whole path needs one power of the cosines and no exponential of a matrix. One sweep is

    a_i <- a_i t_i^(omega/(p+1)),   t_i = (R 1)_i / (mu_i a_i)          (1)  rows
    b_j <- b_j t_j^(omega/(p+1)),   t_j = (R' 1)_j / (nu_j b_j)         (2)  columns
    (a, b) <- (a / l, b l),         l = sqrt(<a, mu> / <b, nu>)         (3)  translation

with over-relaxation omega: at small eps it needs a half to a third of the sweeps. Between absorptions
R is kept as u_i P_ij v_j, and everything else in base-2 logarithms. The certificate needs no
exponential either:

    upper   b_j = max_i h_ij^2 / a_i, then a_i = max_j h_ij^2 / b_j;  S <= sqrt(<a, mu> <b, nu>)   (4)
    lower   A_ij = mu_i R_ij / (R 1)_i, then the best B for it;
            S >= sum_j sqrt(nu_j sum_i A_ij h_ij^2)                                             (5)

(5) is at least the semi-coupling value of the split that R induces, which by Jensen's inequality is
at least the value of R itself at its best scale: it is the only primal bound that is needed.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import numpy as np

from wayfare.kernels.cpu.jit import jit
from wayfare.kernels.cpu.passes import add_rows, first_plan, max_rows, semicouple_rows, sharpen
from wayfare.kernels.cpu.powers import exp2, log2

__all__ = [
    "CERTIFIED",
    "CUT",
    "DEPTH",
    "STALLED",
    "Goal",
    "Work",
    "anneal",
    "feasible_pair",
    "shaped",
    "workspace",
]

CERTIFIED, STALLED, CUT = 0, 1, 2

# Rows of a side's scratch: the logarithms of the potential, of the same at the last absorption, of the
# scaling since, and of the weights; the scaling; sums of the plan; the weights; a row to work in.
# Between absorptions log a = base - log u / p.
LOG_A, BASE, LOG_U, LOG_W, SCALE, SUMS, WEIGHT, SPARE = range(8)

# Sweeps a stage, from eps = 1/8 down to 1/2048. Short early stages only have to bring the potentials
# near; the long ones at the end run until the certificate is good enough.
STAGES = np.array([2, 2, 4, 4, 6, 10, 16, 64, 128])
DEPTH = len(STAGES)
FIRST_POWER = 8.0
OVER_RELAXATION = 1.8
SWEEPS_BETWEEN_CHECKS = 5
TINY, FLOOR = 1e-30, 1e-18  # the square of the floor is still a normal number in float32

# A scaling is taken into the plan beyond 2^40, and never goes beyond 2^60: a product of two is finite.
ABSORBED, LONGEST = 40, 60

Work = namedtuple("Work", "cosines cosines_t plan plan_t rows cols")

# Of J = total - scale * (elsewhere + S): a solve may stop when its gap is within tol * max(J, atol),
# or when J is proven to be at least `cut`. `elsewhere` is an upper bound on the affinity of the
# parts that are solved on their own, `margin` what rounding will add to the gap in S afterwards.
Goal = namedtuple("Goal", "total scale elsewhere margin tol atol cut")


def workspace(m: int, n: int, dtype: Any) -> Work:
    """Flat arrays for problems of up to m x n points; one thread uses one workspace."""
    m, n = -(-max(m, 1) // 16) * 16, -(-max(n, 1) // 16) * 16
    matrices = (np.zeros(m * n, dtype) for _ in range(4))
    return Work._make((*matrices, np.zeros(8 * m, dtype), np.zeros(8 * n, dtype)))


@jit
def shaped(work: Any, m: int, n: int) -> Any:
    """The workspace as padded matrices of this problem's size: a short stride stays in the near cache."""
    p, q = (m + 7) // 8 * 8, (n + 7) // 8 * 8
    wide_p, wide_q = (m + 15) // 16 * 16, (n + 15) // 16 * 16
    return Work(
        work.cosines[: p * wide_q].reshape(p, wide_q),
        work.cosines_t[: q * wide_p].reshape(q, wide_p),
        work.plan[: p * wide_q].reshape(p, wide_q),
        work.plan_t[: q * wide_p].reshape(q, wide_p),
        work.rows[: 8 * wide_p].reshape(8, wide_p),
        work.cols[: 8 * wide_q].reshape(8, wide_q),
    )


@jit
def _first_potentials(work: Any, tiny: Any) -> None:
    """Start from `a_i = max_j h_ij^2`, `b_j = max_i h_ij^2 / a_i`: feasible, tight in every row.

    Leaves the inverse roots of both as scalings: `h / sqrt(a b)` has 1 for the largest in each row.
    """
    rows, cols = work.rows, work.cols
    zero, one = rows.dtype.type(0), rows.dtype.type(1)
    for j in range(cols.shape[1]):
        cols[SCALE, j] = one
    max_rows(work.cosines_t, cols[SCALE], rows[SUMS])
    for i in range(rows.shape[1]):
        rows[SUMS, i] = max(rows[SUMS, i], tiny)
        rows[SCALE, i] = one / rows[SUMS, i]
    max_rows(work.cosines, rows[SCALE], cols[SUMS])
    for j in range(cols.shape[1]):
        cols[SUMS, j] = max(cols[SUMS, j], tiny)
        cols[SCALE, j] = one / cols[SUMS, j]
    for side in (rows, cols):
        for i in range(side.shape[1]):
            padding = side[WEIGHT, i] == 0
            side[BASE, i] = zero if padding else (one + one) * log2(side[SUMS, i])
            side[LOG_W, i] = log2(max(side[WEIGHT, i], tiny))
            side[LOG_U, i] = zero


@jit
def _absorbed(side: Any, per_power: Any) -> None:
    """Begin anew after the scaling was taken into the plan."""
    zero, one = side.dtype.type(0), side.dtype.type(1)
    for i in range(side.shape[1]):
        side[BASE, i] -= side[LOG_U, i] * per_power
        side[LOG_U, i] = zero
        side[SCALE, i] = one


@jit
def _update(side: Any, power: Any, relax: Any, tiny: Any) -> Any:
    """Equations (1) and (2) for one side; returns by how much scalings went beyond `ABSORBED` in all.

    That is a sum, since the compiler makes no vectors of a largest one.
    """
    real = side.dtype.type
    most, far, beyond = real(LONGEST), real(ABSORBED), real(0)
    step, more = relax * power / (power + real(1)), real(1) + real(1) / power
    for i in range(side.shape[1]):
        u = side[LOG_U, i]
        wanted = side[BASE, i] + side[LOG_W, i] - log2(max(side[SUMS, i], tiny))
        u += step * (wanted - u * more)
        u = min(max(u, -most), most)
        side[LOG_U, i] = u
        side[SCALE, i] = exp2(u)
        beyond += max(abs(u) - far, real(0))
    return beyond


@jit
def _mass(side: Any) -> float:
    """`<a, weights>`."""
    mass = side.dtype.type(0)
    for i in range(side.shape[1]):
        mass += exp2(side[LOG_A, i]) * side[WEIGHT, i]
    return float(mass)


@jit
def _translate(work: Any, per_power: Any) -> None:
    """Bring the potentials up to date, and equation (3): the best constant to move between them."""
    rows, cols = work.rows, work.cols
    for side in (rows, cols):
        for i in range(side.shape[1]):
            side[LOG_A, i] = side[BASE, i] - side[LOG_U, i] * per_power
    shift = rows.dtype.type(0.5 * math.log2(_mass(rows) / _mass(cols)))
    for side, part in ((rows, shift), (cols, -shift)):
        for i in range(side.shape[1]):
            side[LOG_A, i] -= part
            side[BASE, i] -= part


@jit
def feasible_pair(work: Any) -> float:
    """Equation (4). Leaves sqrt(a) in rows[SPARE] and 1 / sqrt(b) in cols[SPARE]: a feasible pair."""
    rows, cols = work.rows, work.cols
    half, one = rows.dtype.type(0.5), rows.dtype.type(1)
    tiny = rows.dtype.type(TINY)
    for i in range(rows.shape[1]):
        rows[SPARE, i] = exp2(-half * rows[LOG_A, i])
    max_rows(work.cosines, rows[SPARE], cols[SPARE])
    mass_a = mass_b = half - half
    for j in range(cols.shape[1]):
        root = max(cols[SPARE, j], tiny)
        mass_b += cols[WEIGHT, j] * root * root
        cols[SPARE, j] = one / root
    max_rows(work.cosines_t, cols[SPARE], rows[SPARE])
    for i in range(rows.shape[1]):
        root = rows[SPARE, i]
        mass_a += rows[WEIGHT, i] * root * root
    return math.sqrt(float(mass_a) * float(mass_b))


@jit
def _lower(work: Any) -> float:
    """Equation (5)."""
    rows, cols = work.rows, work.cols
    tiny, zero = rows.dtype.type(TINY), rows.dtype.type(0)
    add_rows(work.plan_t, cols[SCALE], rows[SUMS])
    for i in range(rows.shape[1]):
        # A row that vanished in rounding carries nothing; the bound stays a bound.
        rows[SUMS, i] = rows[WEIGHT, i] / rows[SUMS, i] if rows[SUMS, i] > tiny else zero
    semicouple_rows(work.plan, work.cosines, rows[SUMS], cols[SUMS])
    affinity = zero
    for j in range(cols.shape[1]):
        affinity += np.sqrt(cols[WEIGHT, j] * cols[SCALE, j] * cols[SUMS, j])
    return float(affinity)


@jit
def anneal(work: Any, goal: Any, depth: int) -> tuple[int, float, float, int, int]:
    """Solve the problem in `work`: status, lower and upper bound of S, sweeps, stages.

    At most `depth` of the stages are run: two already give bounds worth having.

    Wants the cosines with their transpose and the weights, all positive but for the padding; every row
    and column of the cosines must have a positive entry, unless it has no weight. Leaves the plan (up to
    the scalings) and the potentials.
    """
    rows, cols = work.rows, work.cols
    real = rows.dtype.type
    tiny, floor = real(TINY), real(FLOOR)
    _first_potentials(work, tiny)
    first_plan(work.cosines, rows[SCALE], cols[SCALE], work.plan)
    first_plan(work.cosines_t, cols[SCALE], rows[SCALE], work.plan_t)
    power, lower, upper, sweeps = real(FIRST_POWER), 0.0, np.inf, 0
    excess = np.inf  # the gap over the gap that is wanted, at the last check
    for stage in range(depth):
        if stage:
            sharpen(work.plan, rows[SCALE], cols[SCALE], True, floor)
            sharpen(work.plan_t, cols[SCALE], rows[SCALE], True, floor)
        _absorbed(rows, real(1) / power)
        _absorbed(cols, real(1) / power)
        if stage:
            power *= real(2)
        per_power = real(1) / power
        check = STAGES[stage] if stage < 2 or excess > 6 else min(4, STAGES[stage])
        for sweep in range(1, STAGES[stage] + 1):
            # The first sweep after a squaring takes the jump; relaxing it would overshoot.
            relax = real(OVER_RELAXATION) if sweep > 1 else real(1)
            add_rows(work.plan_t, cols[SCALE], rows[SUMS])
            beyond = _update(rows, power, relax, tiny)
            add_rows(work.plan, rows[SCALE], cols[SUMS])
            beyond += _update(cols, power, relax, tiny)
            sweeps += 1
            if beyond > 0:
                sharpen(work.plan, rows[SCALE], cols[SCALE], False, floor)
                sharpen(work.plan_t, cols[SCALE], rows[SCALE], False, floor)
                _absorbed(rows, per_power)
                _absorbed(cols, per_power)
            if sweep % 4 == 0 or sweep == check:
                _translate(work, per_power)
            if sweep == check and stage > 0:
                check += SWEEPS_BETWEEN_CHECKS
                upper = feasible_pair(work)
                reach = goal.elsewhere + goal.margin + upper
                if goal.total - goal.scale * reach > goal.cut:
                    return CUT, lower, upper, sweeps, stage + 1
                lower = _lower(work)
                value = goal.total - goal.scale * (goal.elsewhere + lower)
                wanted = goal.tol * max(value, goal.atol) - goal.scale * goal.margin
                gap = goal.scale * (upper - lower)
                if gap <= wanted:
                    return CERTIFIED, lower, upper, sweeps, stage + 1
                if wanted <= 0:
                    return STALLED, lower, upper, sweeps, stage + 1
                excess = gap / wanted
    return STALLED, lower, upper, sweeps, depth

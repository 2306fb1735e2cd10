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
from wayfare.kernels.cpu.passes import (
    add_rows,
    exp2_row,
    log2_row,
    max_rows,
    semicouple_rows,
    sharpen,
)

__all__ = [
    "CERTIFIED",
    "CUT",
    "STALLED",
    "Goal",
    "Work",
    "anneal",
    "feasible_pair",
    "shaped",
    "workspace",
]

CERTIFIED, STALLED, CUT = 0, 1, 2

# Rows of a side's scratch: the logarithms of the potential, of the scaling since the last absorption
# and of the weights; the scaling; sums of the plan; the weights; two rows to work in.
LOG_A, LOG_U, LOG_W, SCALE, SUMS, WEIGHT, SPARE, BITS = range(8)

# Sweeps a stage, from eps = 1/8 down to 1/2048. Short early stages only have to bring the potentials
# near; the long ones at the end run until the certificate is good enough.
STAGES = np.array([2, 2, 4, 4, 6, 10, 16, 64, 128])
FIRST_POWER = 8.0
OVER_RELAXATION = 1.8
SWEEPS_BETWEEN_CHECKS = 5

Work = namedtuple("Work", "cosines cosines_t plan plan_t rows cols row_bits col_bits")

# Of J = total - scale * (elsewhere + S): a solve may stop when its gap is within tol * max(J, atol),
# or when J is proven to be at least `cut`. `elsewhere` is an upper bound on the affinity of the
# parts that are solved on their own, `margin` what rounding will add to the gap in S afterwards.
Goal = namedtuple("Goal", "total scale elsewhere margin tol atol cut")


def workspace(m: int, n: int, dtype: Any) -> Work:
    """Flat arrays for problems of up to m x n points; one thread uses one workspace."""
    m, n = -(-max(m, 1) // 16) * 16, -(-max(n, 1) // 16) * 16
    matrices = (np.empty(m * n, dtype) for _ in range(4))
    rows, cols = np.zeros(8 * m, dtype), np.zeros(8 * n, dtype)
    integer = np.int32 if dtype == np.float32 else np.int64
    return Work._make((*matrices, rows, cols, rows.view(integer), cols.view(integer)))


@jit
def shaped(work: Any, m: int, n: int) -> Any:
    """The workspace as matrices of this problem's size: a short stride keeps it in the near cache."""
    p, q = (m + 15) // 16 * 16, (n + 15) // 16 * 16
    return Work(
        work.cosines[: m * q].reshape(m, q),
        work.cosines_t[: n * p].reshape(n, p),
        work.plan[: m * q].reshape(m, q),
        work.plan_t[: n * p].reshape(n, p),
        work.rows[: 8 * p].reshape(8, p),
        work.cols[: 8 * q].reshape(8, q),
        work.row_bits[: 8 * p].reshape(8, p),
        work.col_bits[: 8 * q].reshape(8, q),
    )


@jit
def _first_potentials(work: Any, m: int, n: int) -> None:
    """Start from `a_i = max_j h_ij^2`, `b_j = max_i h_ij^2 / a_i`: feasible, tight in every row."""
    rows, cols, one = work.rows, work.cols, work.rows.dtype.type(1)
    two = one + one
    for j in range(n):
        cols[SCALE, j] = one
    max_rows(work.cosines_t, cols[SCALE], rows[SUMS], n, m)
    for i in range(m):
        rows[SCALE, i] = one / rows[SUMS, i]
    max_rows(work.cosines, rows[SCALE], cols[SUMS], m, n)
    for j in range(n):
        cols[SCALE, j] = one / cols[SUMS, j]
    for side, bits, count in ((rows, work.row_bits, m), (cols, work.col_bits, n)):
        log2_row(side[SUMS], bits[SUMS], side[LOG_A], side[BITS], bits[BITS], count)
        log2_row(side[WEIGHT], bits[WEIGHT], side[LOG_W], side[BITS], bits[BITS], count)
        for i in range(count):
            side[LOG_A, i] *= two


@jit
def _first_plan(cosines: Any, scale: Any, across: Any, plan: Any, rows: int, width: int) -> None:
    """`plan = (h / sqrt(a b))^16`, whose largest entry in each row is 1."""
    for i in range(rows):
        s = scale[i]
        for j in range(width):
            entry = cosines[i, j] * s * across[j]
            entry *= entry
            entry *= entry
            entry *= entry
            plan[i, j] = entry * entry


@jit
def _reset(side: Any, n: int) -> None:
    one = side.dtype.type(1)
    for i in range(n):
        side[LOG_U, i] = 0
        side[SCALE, i] = one


@jit
def _update(side: Any, bits: Any, n: int, power: Any, relax: Any, tiny: Any) -> Any:
    """Equations (1) and (2) for one side; returns the largest scaling exponent."""
    step = relax / (power + side.dtype.type(1))
    for i in range(n):
        side[SUMS, i] = max(side[SUMS, i], tiny)
    log2_row(side[SUMS], bits[SUMS], side[SPARE], side[BITS], bits[BITS], n)
    largest = side.dtype.type(0)
    for i in range(n):
        t = step * (side[LOG_U, i] + side[SPARE, i] - side[LOG_W, i] - side[LOG_A, i])
        side[LOG_A, i] += t
        side[LOG_U, i] -= power * t
        largest = max(largest, abs(side[LOG_U, i]))
    exp2_row(side[LOG_U], side[SCALE], side[BITS], bits[BITS], n)
    return largest


@jit
def _mass(side: Any, bits: Any, n: int) -> float:
    """`<a, weights>`."""
    exp2_row(side[LOG_A], side[SPARE], side[BITS], bits[BITS], n)
    mass = 0.0
    for i in range(n):
        mass += side[SPARE, i] * side[WEIGHT, i]
    return mass


@jit
def _translate(work: Any, m: int, n: int) -> None:
    """Equation (3): the best constant to move between the two potentials; the plan stays."""
    mass_a = _mass(work.rows, work.row_bits, m)
    mass_b = _mass(work.cols, work.col_bits, n)
    shift = work.rows.dtype.type(0.5 * math.log2(mass_a / mass_b))
    for i in range(m):
        work.rows[LOG_A, i] -= shift
    for j in range(n):
        work.cols[LOG_A, j] += shift


@jit
def feasible_pair(work: Any, m: int, n: int) -> float:
    """Equation (4). Leaves sqrt(a) in rows[SPARE] and 1 / sqrt(b) in cols[SPARE]: a feasible pair."""
    rows, cols = work.rows, work.cols
    half, one = rows.dtype.type(0.5), rows.dtype.type(1)
    for i in range(m):
        rows[SUMS, i] = -half * rows[LOG_A, i]
    exp2_row(rows[SUMS], rows[SPARE], rows[BITS], work.row_bits[BITS], m)
    max_rows(work.cosines, rows[SPARE], cols[SPARE], m, n)
    mass_b = 0.0
    for j in range(n):
        root = cols[SPARE, j]
        mass_b += cols[WEIGHT, j] * root * root
    for j in range(n):
        cols[SPARE, j] = one / cols[SPARE, j]
    max_rows(work.cosines_t, cols[SPARE], rows[SPARE], n, m)
    mass_a = 0.0
    for i in range(m):
        root = rows[SPARE, i]
        mass_a += rows[WEIGHT, i] * root * root
    return math.sqrt(mass_a * mass_b)


@jit
def _lower(work: Any, m: int, n: int, tiny: Any) -> float:
    """Equation (5)."""
    rows, cols = work.rows, work.cols
    add_rows(work.plan_t, cols[SCALE], rows[SUMS], n, m)
    for i in range(m):
        # A row that vanished in rounding carries nothing; the bound stays a bound.
        rows[SUMS, i] = rows[WEIGHT, i] / rows[SUMS, i] if rows[SUMS, i] > tiny else tiny - tiny
    semicouple_rows(work.plan, work.cosines, rows[SUMS], cols[SUMS], m, n)
    affinity = 0.0
    for j in range(n):
        affinity += math.sqrt(cols[WEIGHT, j] * cols[SCALE, j] * cols[SUMS, j])
    return affinity


@jit
def anneal(work: Any, m: int, n: int, goal: Any) -> tuple[int, float, float, int, int]:
    """Solve the m x n problem in `work`: status, lower and upper bound of S, sweeps, stages.

    Wants the cosines with their transpose and the weights, all positive; every row and column of the
    cosines must have a positive entry. Leaves the plan (up to the scalings) and the potentials.
    """
    rows, cols = work.rows, work.cols
    real = rows.dtype.type
    tiny = real(1e-30)
    floor = real(1e-18)
    _first_potentials(work, m, n)
    _first_plan(work.cosines, rows[SCALE], cols[SCALE], work.plan, m, n)
    _first_plan(work.cosines_t, cols[SCALE], rows[SCALE], work.plan_t, n, m)
    power, lower, upper, sweeps = real(FIRST_POWER), 0.0, np.inf, 0
    excess = np.inf  # the gap over the gap that is wanted, at the last check
    for stage in range(len(STAGES)):
        if stage:
            sharpen(work.plan, rows[SCALE], cols[SCALE], m, n, True, floor)
            sharpen(work.plan_t, cols[SCALE], rows[SCALE], n, m, True, floor)
            power *= real(2)
        _reset(rows, m)
        _reset(cols, n)
        check = STAGES[stage] if stage < 2 or excess > 6 else min(4, STAGES[stage])
        for sweep in range(1, STAGES[stage] + 1):
            # The first sweep after a squaring takes the jump; relaxing it would overshoot.
            relax = real(OVER_RELAXATION) if sweep > 1 else real(1)
            add_rows(work.plan_t, cols[SCALE], rows[SUMS], n, m)
            largest = _update(rows, work.row_bits, m, power, relax, tiny)
            add_rows(work.plan, rows[SCALE], cols[SUMS], m, n)
            largest = max(largest, _update(cols, work.col_bits, n, power, relax, tiny))
            sweeps += 1
            if largest > 40:
                sharpen(work.plan, rows[SCALE], cols[SCALE], m, n, False, floor)
                sharpen(work.plan_t, cols[SCALE], rows[SCALE], n, m, False, floor)
                _reset(rows, m)
                _reset(cols, n)
            if sweep % 4 == 0 or sweep == check:
                _translate(work, m, n)
            if sweep == check and stage > 0:
                check += SWEEPS_BETWEEN_CHECKS
                upper = feasible_pair(work, m, n)
                reach = goal.elsewhere + goal.margin + upper
                if goal.total - goal.scale * reach >= goal.cut:
                    return CUT, lower, upper, sweeps, stage + 1
                lower = _lower(work, m, n, tiny)
                value = goal.total - goal.scale * (goal.elsewhere + lower)
                wanted = goal.tol * max(value, goal.atol) - goal.scale * goal.margin
                gap = goal.scale * (upper - lower)
                if gap <= wanted:
                    return CERTIFIED, lower, upper, sweeps, stage + 1
                if wanted <= 0:
                    return STALLED, lower, upper, sweeps, stage + 1
                excess = gap / wanted
    return STALLED, lower, upper, sweeps, len(STAGES)

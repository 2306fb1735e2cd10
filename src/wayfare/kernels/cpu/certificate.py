"""Bounds of the affinity S of one dense problem: no iterate has to be accurate for them to hold.

    upper   b_j = max_i h_ij^2 / a_i, then a_i = max_j h_ij^2 / b_j;  S <= sqrt(<a, mu> <b, nu>)   (4)
    lower   A_ij = mu_i R_ij / (R 1)_i, then the best B for it;
            S >= sum_j sqrt(nu_j sum_i A_ij h_ij^2)                                             (5)

(5) is at least the semi-coupling value of the split that R induces, which by Jensen's inequality is
at least the value of R itself at its best scale: it is the only primal bound that is needed.
"""

from __future__ import annotations

import math
from typing import Any

from wayfare.kernels.cpu.jit import jit_bare
from wayfare.kernels.cpu.lanes import LANES, largest, root, spread, total, where_larger
from wayfare.kernels.cpu.memory import put, take
from wayfare.kernels.cpu.passes import add_rows, max_rows, semicouple_rows
from wayfare.kernels.cpu.powers import exp2
from wayfare.kernels.cpu.problem import LOG_A, SCALE, SPARE, SUMS, TINY, WEIGHT

__all__ = ["feasible_pair", "lower_bound"]


@jit_bare
def feasible_pair(work: Any) -> float:
    """Equation (4). Leaves sqrt(a) in rows[SPARE] and 1 / sqrt(b) in cols[SPARE]: a feasible pair."""
    rows, cols = work.rows, work.cols
    half, one, tiny = rows.dtype.type(0.5), rows.dtype.type(1), rows.dtype.type(TINY)
    for i in range(0, rows.shape[1], LANES):
        put(rows, (SPARE, i), exp2(take(rows, (LOG_A, i)) * -half))
    max_rows(work.cosines, rows[SPARE], cols[SPARE])
    mass_a = mass_b = spread(rows, 0)
    for j in range(0, cols.shape[1], LANES):
        root_b = largest(take(cols, (SPARE, j)), tiny)
        mass_b = mass_b + take(cols, (WEIGHT, j)) * root_b * root_b
        put(cols, (SPARE, j), one / root_b)
    max_rows(work.cosines_t, cols[SPARE], rows[SPARE])
    for i in range(0, rows.shape[1], LANES):
        root_a = take(rows, (SPARE, i))
        mass_a = mass_a + take(rows, (WEIGHT, i)) * root_a * root_a
    return math.sqrt(float(total(mass_a)) * float(total(mass_b)))


@jit_bare
def lower_bound(work: Any) -> float:
    """Equation (5)."""
    rows, cols, tiny = work.rows, work.cols, work.rows.dtype.type(TINY)
    add_rows(work.plan_t, cols[SCALE], rows[SUMS])
    for i in range(0, rows.shape[1], LANES):
        # A row that vanished in rounding carries nothing; the bound stays a bound.
        sums = take(rows, (SUMS, i))
        share = take(rows, (WEIGHT, i)) / largest(sums, tiny)
        put(rows, (SUMS, i), where_larger(sums, tiny, share, 0))
    semicouple_rows(work.plan, work.cosines, rows[SUMS], cols[SUMS])
    affinity = spread(cols, 0)
    for j in range(0, cols.shape[1], LANES):
        sent = take(cols, (SCALE, j)) * take(cols, (SUMS, j))
        affinity = affinity + root(sent * take(cols, (WEIGHT, j)))
    return float(total(affinity))

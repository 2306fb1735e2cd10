"""Balanced entropic transport of one query against many documents, with everything a gradient needs.

    D = min <c, T> + eps KL(T | mu x nu),  T 1 = mu,  T' 1 = nu
      = max <f, mu> + <g, nu> - eps (sum_ij mu_i nu_j e^((f_i + g_j - c_ij) / eps) - 1)

By the envelope theorem dD/dc = T, dD/dmu = f and dD/dnu = g, up to a constant that a change of fixed
mass does not see. T is kept as u_i K_ij v_j with K = e^((f + g - c) / eps); a scaling that grows too
large is absorbed into f and g, so that single precision suffices at any eps.
"""

from __future__ import annotations

import math
from typing import Any

from wayfare.kernels.cpu.batch import load
from wayfare.kernels.cpu.jit import jit
from wayfare.kernels.cpu.passes import add_rows
from wayfare.kernels.cpu.powers import exp2
from wayfare.kernels.cpu.problem import LOG_A, SCALE, SUMS, WEIGHT, shaped

__all__ = ["transport_many"]

LARGEST_SCALING = 1e12
TINY = 1e-30


@jit
def _start(work: Any, m: int, n: int) -> None:
    """Start from the C-transforms of zero: `f_i = min_j c_ij`, then `g_j = min_i c_ij - f_i`."""
    rows, cols = work.rows, work.cols
    for i in range(m):
        least = work.cosines[i, 0]
        for j in range(n):
            least = min(least, work.cosines[i, j])
        rows[LOG_A, i] = least
    for j in range(n):
        least = work.cosines_t[j, 0] - rows[LOG_A, 0]
        for i in range(m):
            least = min(least, work.cosines_t[j, i] - rows[LOG_A, i])
        cols[LOG_A, j] = least


@jit
def _kernel(work: Any, m: int, n: int, per_eps: Any) -> None:
    """`K = e^((f + g - c) / eps)` and its transpose, 0 in the padding; the scalings start at one."""
    rows, cols, single = work.rows, work.cols, work.plan.itemsize == 4
    rows[SCALE] = 0
    cols[SCALE] = 0
    for i in range(m):
        rows[SCALE, i] = 1
    for j in range(n):
        cols[SCALE, j] = 1
    for i in range(work.plan.shape[0]):
        into = work.plan[i]
        if i < m:
            for j in range(n):
                power = (rows[LOG_A, i] + cols[LOG_A, j] - work.cosines[i, j]) * per_eps
                # The quick power is good to single precision, and would be the error of the plan.
                into[j] = exp2(power) if single else 2.0**power
            into[n:] = 0
        else:
            into[:] = 0
    for j in range(work.plan_t.shape[0]):
        into = work.plan_t[j]
        if j < n:
            for i in range(m):
                into[i] = work.plan[i, j]
            into[m:] = 0
        else:
            into[:] = 0


@jit
def _absorb(side: Any, count: int, eps: Any) -> None:
    for i in range(count):
        side[LOG_A, i] += eps * math.log(side[SCALE, i])


@jit
def _extreme(side: Any, count: int) -> bool:
    for i in range(count):  # noqa: SIM110 (the compiler knows loops)
        if not 1 / LARGEST_SCALING < side[SCALE, i] < LARGEST_SCALING:
            return True
    return False


@jit
def _iterate(work: Any, m: int, n: int, eps: Any, tol: float, sweeps: int) -> bool:
    """Sinkhorn until the rows are off by at most `tol` in sum; ends with columns that are exact."""
    rows, cols = work.rows, work.cols
    per_eps, tiny = rows.dtype.type(1.4426950408889634 / eps), rows.dtype.type(TINY)
    _kernel(work, m, n, per_eps)
    for sweep in range(sweeps + 1):
        add_rows(work.plan_t, cols[SCALE], rows[SUMS])
        if sweep:
            off = 0.0
            for i in range(m):
                off += abs(rows[SCALE, i] * rows[SUMS, i] - rows[WEIGHT, i])
            if off <= tol:
                return True
        if sweep == sweeps:
            return False
        for i in range(m):
            rows[SCALE, i] = rows[WEIGHT, i] / max(rows[SUMS, i], tiny)
        add_rows(work.plan, rows[SCALE], cols[SUMS])
        for j in range(n):
            cols[SCALE, j] = cols[WEIGHT, j] / max(cols[SUMS, j], tiny)
        if _extreme(rows, m) or _extreme(cols, n):
            _absorb(rows, m, eps)
            _absorb(cols, n, eps)
            _kernel(work, m, n, per_eps)
    return False


@jit
def transport_many(
    table: Any,
    mu: Any,
    indptr: Any,
    columns: Any,
    weights: Any,
    eps: float,
    tol: float,
    sweeps: int,
    work: Any,
    values: Any,
    plans: Any,
    by_query: Any,
    by_entry: Any,
) -> int:
    """Solve one query, of costs `table[w, i]`, against each document; returns how many fell short.

    `mu` and the weights of each document sum to one and are positive. Writes D to `values`, the
    plans, one row an entry of the documents, and the potentials of both sides.
    """
    m, short = len(mu), 0
    step = work.dtype.type(eps)
    for document in range(len(indptr) - 1):
        start, stop = indptr[document], indptr[document + 1]
        n = stop - start
        part = shaped(work, m, n)
        load(table, columns[start:stop], mu, weights[start:stop], 1.0, part)
        _start(part, m, n)
        if not _iterate(part, m, n, step, tol, sweeps):
            short += 1
        rows, cols, value = part.rows, part.cols, 0.0
        for i in range(m):
            f = rows[LOG_A, i] + eps * math.log(rows[SCALE, i] / rows[WEIGHT, i])
            by_query[document, i] = f
            value += rows[WEIGHT, i] * f
        for j in range(n):
            g = cols[LOG_A, j] + eps * math.log(cols[SCALE, j] / cols[WEIGHT, j])
            by_entry[start + j] = g
            value += cols[WEIGHT, j] * g
            for i in range(m):
                plans[start + j, i] = rows[SCALE, i] * part.plan_t[j, i] * cols[SCALE, j]
        values[document] = value
    return short

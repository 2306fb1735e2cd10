"""Bounds on balanced transport between one query and many documents, on both sides.

Costs are codes of distances (`codes.py`), a row of them for each word of a document, so that a problem
has its words as rows j, with masses nu_j, and the query's points as columns i, with masses mu_i, both of
mass one. Any potential phi of the query's points bounds the value from below by its C-transforms,

    psi_j = min_i C_ji - phi_i,   phi'_i = min_j C_ji - psi_j;   value >= <phi', mu> + <psi, nu>     (1)

phi = 0 gives the two halves of relaxed WMD; Sinkhorn scalings at a falling eps,

    v_j <- v_j (nu_j / (v_j (K u)_j))^omega,   u_i alike,   K_ji = exp((phi_i + psi_j - C_ji) / eps)  (2)

give ones that come within some thousandths of the value. Their plan, cut back to where neither side is
overdrawn and filled up by the product of what is left (Altschuler, Weed, Rigollet 2017), is a transport
plan, and its price bounds the value from above:

    R_ji = v_j K_ji u_i min(1, mu_i / (K' v)_i u_i),   value <= <R, C> + (r C s) / |s|               (3)

with r and s what R leaves of nu and mu. Rounding goes to the safe side of each: `slack` of it.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import numpy as np

from wayfare.kernels.cpu.codes import FARTHEST
from wayfare.kernels.cpu.jit import jit
from wayfare.kernels.cpu.passes import add_rows
from wayfare.kernels.cpu.powers import exp2, log2

__all__ = ["Work", "relax", "transport_bounds", "workspace"]

# Rows of a side's scratch: weights, their logarithms, the potential, the logarithm of the scaling since
# it was taken into the plan, the scaling itself, sums of the plan, and two rows to work in.
WEIGHT, LOG_W, POTENTIAL, LOG_U, SCALE, SUMS, SPARE, REST = range(8)

# Sweeps at each eps, from a twelfth of the largest cost by halves, until it is small beside the value.
SWEEPS = np.array([3, 5, 8, 12, 16, 24, 24])
FIRST, SHARP = 12.0, 0.016
OVER_RELAXATION = 1.7
TINY, FAR, LONGEST = 1e-30, 1e18, 60
LOG2E = 1.4426950408889634

Work = namedtuple("Work", "costs plan rows cols")


def workspace(m: int, n: int) -> Work:
    """For queries of up to m points and documents of up to n words; one thread uses one workspace."""
    m, n = -(-max(m, 1) // 16) * 16, -(-max(n, 1) // 16) * 16
    matrices = (np.empty(m * n, np.float32) for _ in range(2))
    return Work._make((*matrices, np.zeros(8 * n, np.float32), np.zeros(8 * m, np.float32)))


@jit
def relax(
    near: Any, mu: Any, indptr: Any, indices: Any, picks: Any, scale: float, lower: Any
) -> None:
    """`lower = max(lower, scale sum_i mu_i min_j c_ji)`: the query's words, each to its nearest word."""
    nearest = np.empty(near.shape[1], np.uint16)
    for at in range(len(picks)):
        for i in range(len(nearest)):
            nearest[i] = np.uint16(FARTHEST)
        for place in range(indptr[picks[at]], indptr[picks[at] + 1]):
            row = near[indices[place]]
            for i in range(len(nearest)):
                nearest[i] = row[i] if row[i] < nearest[i] else nearest[i]
        total = 0.0
        for i in range(len(mu)):
            total += mu[i] * nearest[i]
        lower[at] = max(lower[at], total * scale)


@jit
def _shaped(work: Any, width: int, n: int) -> Any:
    high, wide = (n + 7) // 8 * 8, (n + 15) // 16 * 16
    return Work(
        work.costs[: high * width].reshape(high, width),
        work.plan[: high * width].reshape(high, width),
        work.rows[: 8 * wide].reshape(8, wide),
        work.cols[: 8 * width].reshape(8, width),
    )


@jit
def _load(near: Any, unit: float, words: Any, nu: Any, mass: float, mu: Any, work: Any) -> Any:
    """Copy a document's costs and both weights; returns the largest cost."""
    real = work.costs.dtype.type
    scale, top = real(unit * (1 - 1e-6)), real(0)
    m, n, width = len(mu), len(words), work.costs.shape[1]
    for j in range(work.costs.shape[0]):
        into = work.costs[j]
        if j < n:
            row = near[words[j]]
            for i in range(width):
                into[i] = real(row[i]) * scale
            for i in range(m, width):
                into[i] = real(FAR)
            for i in range(m):
                top = max(top, into[i])
        else:
            for i in range(width):
                into[i] = real(FAR)
    rows, cols = work.rows, work.cols
    for i in range(width):
        cols[WEIGHT, i] = mu[i] if i < m else 0.0
    for j in range(rows.shape[1]):
        rows[WEIGHT, j] = nu[j] / mass if j < n else 0.0
    for side in (rows, cols):
        for i in range(side.shape[1]):
            side[LOG_W, i] = log2(max(side[WEIGHT, i], real(TINY)))
            side[LOG_U, i] = real(0)
            side[SCALE, i] = real(1)
            side[POTENTIAL, i] = real(0)
    return top


@jit
def _least_rows(costs: Any, less: Any, out: Any) -> None:
    """`out_j = min_i costs_ji - less_i`."""
    for j in range(costs.shape[0]):
        row, least = costs[j], less.dtype.type(FAR)
        for i in range(len(row)):
            least = min(least, row[i] - less[i])
        out[j] = least


@jit
def _least_columns(costs: Any, less: Any, out: Any) -> None:
    """`out_i = min_j costs_ji - less_j`."""
    for i in range(len(out)):
        out[i] = less.dtype.type(FAR)
    for group in range(costs.shape[0] // 8):
        c, p = costs[8 * group : 8 * group + 8], less[8 * group : 8 * group + 8]
        p0, p1, p2, p3, p4, p5, p6, p7 = p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
        for i in range(len(out)):
            a, b = min(c[0, i] - p0, c[1, i] - p1), min(c[2, i] - p2, c[3, i] - p3)
            d, e = min(c[4, i] - p4, c[5, i] - p5), min(c[6, i] - p6, c[7, i] - p7)
            out[i] = min(out[i], min(min(a, b), min(d, e)))


@jit
def _dots(matrix: Any, scale: Any, out: Any) -> None:
    """`out_j = sum_i matrix_ji scale_i`."""
    zero = matrix.dtype.type(0)
    for group in range(matrix.shape[0] // 4):
        m = matrix[4 * group : 4 * group + 4]
        s0, s1, s2, s3 = zero, zero, zero, zero
        for i in range(matrix.shape[1]):
            s = scale[i]
            s0 += m[0, i] * s
            s1 += m[1, i] * s
            s2 += m[2, i] * s
            s3 += m[3, i] * s
        out[4 * group], out[4 * group + 1] = s0, s1
        out[4 * group + 2], out[4 * group + 3] = s2, s3


@jit
def _lower(work: Any, mu: Any, nu: Any, mass: float) -> float:
    """Equation (1), from the potential of the columns; leaves the pair in `SPARE`."""
    rows, cols, m = work.rows, work.cols, len(mu)
    _least_rows(work.costs, cols[POTENTIAL], rows[SPARE])
    total = away = 0.0
    for j in range(rows.shape[1]):
        if rows[WEIGHT, j] > 0:
            total += rows[SPARE, j] * nu[j] / mass
            away = max(away, abs(float(rows[SPARE, j])))
        else:
            rows[SPARE, j] = -rows.dtype.type(FAR)
    _least_columns(work.costs, rows[SPARE], cols[SPARE])
    for i in range(m):
        total += cols[SPARE, i] * mu[i]
        away = max(away, abs(float(cols[SPARE, i])))
    # Each entry of the pair was rounded a few times, at most at its own size and the largest cost's.
    return total - 4 * 2.0**-23 * away


@jit
def _absorb(side: Any, per_unit: Any) -> None:
    """Take the scalings into the potential."""
    zero, one = side.dtype.type(0), side.dtype.type(1)
    for i in range(side.shape[1]):
        side[POTENTIAL, i] += side[LOG_U, i] * per_unit
        side[LOG_U, i] = zero
        side[SCALE, i] = one


@jit
def _plan(work: Any, per_unit: Any) -> None:
    """`K` of equation (2) from the potentials."""
    rows, cols = work.rows, work.cols
    phi, real = cols[POTENTIAL], cols.dtype.type
    least, zero = real(-LONGEST), real(0)
    for j in range(work.costs.shape[0]):
        costs, plan, psi = work.costs[j], work.plan[j], rows[POTENTIAL, j]
        for i in range(len(costs)):
            power = (phi[i] + psi - costs[i]) * per_unit
            plan[i] = exp2(power) if power > least else zero


@jit
def _update(side: Any, relax: Any) -> Any:
    """Equation (2) for one side; returns by how much scalings went beyond 2^40 in all."""
    real = side.dtype.type
    most, far, tiny, beyond = real(LONGEST), real(40), real(TINY), real(0)
    for i in range(side.shape[1]):
        u = side[LOG_U, i]
        u += relax * (side[LOG_W, i] - log2(max(side[SUMS, i], tiny)) - u)
        u = min(max(u, -most), most) if side[WEIGHT, i] > real(0) else -most
        side[LOG_U, i] = u
        side[SCALE, i] = exp2(u)
        beyond += max(abs(u) - far, real(0)) if side[WEIGHT, i] > real(0) else real(0)
    return beyond


@jit
def _upper(work: Any, m: int, n: int, top: float, unit: float, off: float) -> float:
    """Equation (3), from the plan of the potentials with all scalings taken in."""
    rows, cols, real = work.rows, work.cols, work.rows.dtype.type
    # What a sum of rounded positive terms may be off by, twice.
    loss = (m + n + 32) * 2.0**-23
    keep, tiny = real(1 - loss), real(TINY)
    add_rows(work.plan, rows[SCALE], cols[SUMS])
    for i in range(cols.shape[1]):
        cols[SCALE, i] = min(real(1), keep * cols[WEIGHT, i] / max(cols[SUMS, i], tiny))
    _dots(work.plan, cols[SCALE], rows[SUMS])
    for j in range(rows.shape[1]):
        rows[SCALE, j] = min(real(1), keep * rows[WEIGHT, j] / max(rows[SUMS, j], tiny))
    add_rows(work.plan, rows[SCALE], cols[SUMS])
    left = 0.0
    for i in range(cols.shape[1]):
        cols[REST, i] = max(cols[WEIGHT, i] - cols[SCALE, i] * cols[SUMS, i], real(0))
        left += float(cols[REST, i])
    step, more, up = real(unit), real(2 * off), real(1 + 3e-6)
    price, rest = 0.0, 0.0
    for j in range(n):
        costs, plan, carried, filled = work.costs[j], work.plan[j], real(0), real(0)
        for i in range(m):
            cost = costs[i] * up + step
            cost = np.sqrt(cost * cost + more)
            carried += cost * plan[i] * cols[SCALE, i]
            filled += cost * cols[REST, i]
        price += float(carried * rows[SCALE, j])
        rest += float(filled * max(rows[WEIGHT, j] - rows[SCALE, j] * rows[SUMS, j], real(0)))
    highest = math.sqrt((top * (1 + 3e-6) + unit) ** 2 + 2 * off)
    return (price + rest / max(left, 1e-30)) * (1 + loss) + 4 * loss * highest


@jit
def _bound(
    part: Any,
    mu: Any,
    nu: Any,
    mass: float,
    known: float,
    limit: float,
    top: Any,
    unit: float,
    off: float,
) -> tuple[float, float]:
    """Bounds on the value at mass one; the upper one is infinite where the lower one passes `limit`."""
    rows, cols, real = part.rows, part.cols, part.rows.dtype.type
    lower, eps = known, float(top) / FIRST
    _least_rows(part.costs, cols[POTENTIAL], rows[POTENTIAL])
    for j in range(rows.shape[1]):
        if not rows[WEIGHT, j] > 0:
            rows[POTENTIAL, j] = real(0)
    for stage in range(len(SWEEPS)):
        per_unit = real(LOG2E / eps)
        _plan(part, per_unit)
        for sweep in range(SWEEPS[stage]):
            relax = real(OVER_RELAXATION) if sweep > 0 else real(1)
            _dots(part.plan, cols[SCALE], rows[SUMS])
            beyond = _update(rows, relax)
            add_rows(part.plan, rows[SCALE], cols[SUMS])
            beyond += _update(cols, relax)
            if beyond > 0:
                _absorb(rows, real(1) / per_unit)
                _absorb(cols, real(1) / per_unit)
                _plan(part, per_unit)
        _absorb(rows, real(1) / per_unit)
        _absorb(cols, real(1) / per_unit)
        lower = max(lower, _lower(part, mu, nu, mass))
        if lower > limit:
            return lower, np.inf
        if eps <= SHARP * lower or stage == len(SWEEPS) - 1:
            _plan(part, per_unit)
            break
        eps *= 0.5
    return lower, _upper(part, len(mu), len(nu), float(top), unit, off)


@jit
def transport_bounds(
    near: Any,
    unit: float,
    off: float,
    mu: Any,
    mass: float,
    indptr: Any,
    indices: Any,
    weights: Any,
    masses: Any,
    picks: Any,
    cut: float,
    best: Any,
    work: Any,
    lower: Any,
    upper: Any,
) -> int:
    """Narrow the bounds of `picks`, in this order, while their lower bound is within `cut` and `best`.

    `best` holds the smallest upper bounds so far, and is kept up to date. Returns how many were tried.
    """
    tried = 0
    for at in range(len(picks)):
        limit = min(cut, best.max()) if len(best) else cut
        if lower[at] > limit:
            continue
        tried += 1
        span = slice(indptr[picks[at]], indptr[picks[at] + 1])
        words, nu, other = indices[span], weights[span], masses[picks[at]]
        part = _shaped(work, near.shape[1], len(words))
        top = _load(near, unit, words, nu, other, mu, part)
        if not top > 0:
            low, high = 0.0, math.sqrt(unit * unit + 2 * off)
        else:
            low, high = _bound(part, mu, nu, other, lower[at] / mass, limit / mass, top, unit, off)
        lower[at] = max(lower[at], low * mass)
        upper[at] = min(upper[at], high * mass)
        if len(best) and upper[at] < limit:
            best[np.argmax(best)] = upper[at]
    return tried

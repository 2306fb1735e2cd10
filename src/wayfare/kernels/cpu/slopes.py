"""WFR of one query against many documents, with the derivatives of J that its certificate holds.

In semi-coupling form `J = |mu| + |nu| - 2 max sum_ij h_ij sqrt(A_ij B_ij)`, so by the envelope theorem

    dJ/dh_ij = -2 sqrt(A_ij B_ij)
    dJ/d|x_i - y_j|^2 = 2 sqrt(A_ij B_ij) sinc(t_ij) / (8 eta^2),   t_ij = |x_i - y_j| / 2 eta   (1)
    dJ/dmu_i = 1 - e^-phi_i,   dJ/dnu_j = 1 - e^-psi_j                                          (2)

(1) is `R_ij dC_ij / d|x_i - y_j|^2` with R = h sqrt(A B) carried and C = -2 log h, but the tangent
that grows without limit towards the distance pi eta has met the cosine that vanishes there: nothing
is divided, and a pair at infinite cost, which no plan uses, has derivative zero.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wayfare.kernels.cpu.anneal import STAGES, Goal
from wayfare.kernels.cpu.batch import load
from wayfare.kernels.cpu.components import solve_components
from wayfare.kernels.cpu.jit import jit
from wayfare.kernels.cpu.problem import WEIGHT, shaped

__all__ = ["add_by_word", "differentiate_many", "entry_products"]


@jit
def _sinc(h: float) -> float:
    """`sin(t) / t` where `h = cos(t)`."""
    return math.sqrt((1.0 - h) * (1.0 + h)) / math.acos(h) if h < 1.0 else 1.0


@jit
def _clear(kept: Any, m: int, n: int) -> None:
    for i in range(m):
        kept.a[i] = 0.0
        for j in range(n):
            kept.plan[i, j] = 0.0
    for j in range(n):
        kept.b[j] = 0.0


@jit
def _write(work: Any, kept: Any, m: int, n: int, scale: float, slopes: Any) -> None:
    """Equation (1), `scale` being `2 sqrt(|mu| |nu|) / (8 eta^2)`, one row of `slopes` a column."""
    reach = np.zeros(n)
    for i in range(m):
        carried = 0.0
        for j in range(n):
            carried += kept.plan[i, j]
        share = work.rows[WEIGHT, i] / carried if carried > 0 else 0.0
        for j in range(n):
            kept.plan[i, j] *= share
            h = float(work.cosines[i, j])
            reach[j] += kept.plan[i, j] * h * h
    for j in range(n):
        reach[j] = math.sqrt(work.cols[WEIGHT, j] / reach[j]) if reach[j] > 0 else 0.0
    for i in range(m):
        for j in range(n):
            met = kept.plan[i, j] * reach[j]
            if met > 0:
                h = float(work.cosines[i, j])
                slopes[j, i] = scale * met * h * _sinc(h)
            else:
                slopes[j, i] = 0


@jit
def differentiate_many(
    table: Any,
    own: Any,
    mu: Any,
    mass: float,
    indptr: Any,
    columns: Any,
    weights: Any,
    eta: float,
    tol: float,
    work: Any,
    split_work: Any,
    parts: Any,
    kept: Any,
    values: Any,
    slopes: Any,
    by_query: Any,
    by_entry: Any,
) -> int:
    """Solve one query, of cosines `table[w, i]`, against each document; returns how many fell short.

    `mu` sums to one and `mass` is the query's. Writes J to `values`, equation (1) to `slopes`, one row
    an entry of the documents, and equation (2) for both sides.
    """
    m, short = len(mu), 0
    for document in range(len(indptr) - 1):
        start, stop = indptr[document], indptr[document + 1]
        n, other, same = stop - start, 0.0, m == stop - start
        for j in range(start, stop):
            other += weights[j]
        for j in range(n):
            same = same and columns[start + j] == own[j]
            same = same and abs(weights[start + j] / other - mu[j]) <= 1e-15
        total, ratio = mass + other, math.sqrt(other / mass)
        if same:
            # The document is the query: J = (sqrt |mu| - sqrt |nu|)^2, and no point wants to move.
            values[document] = (math.sqrt(mass) - math.sqrt(other)) ** 2
            slopes[start:stop] = 0
            by_query[document] = 1.0 - ratio
            by_entry[start:stop] = 1.0 - 1.0 / ratio
            continue
        scale = 2.0 * math.sqrt(mass) * math.sqrt(other)
        part = shaped(work, m, n)
        load(table, columns[start:stop], mu, weights[start:stop], other, part)
        _clear(kept, m, n)
        goal = Goal(total, scale, 0.0, 0.0, tol, 1e-6 * total, np.inf)
        status, lower, _, _, _ = solve_components(
            part, m, n, goal, split_work, parts, len(STAGES), kept
        )
        short += status != 0
        values[document] = max(total - scale * lower, 0.0)
        _write(part, kept, m, n, scale / (8.0 * eta * eta), slopes[start:stop])
        for i in range(m):
            by_query[document, i] = 1.0 - kept.a[i] * ratio
        for j in range(n):
            by_entry[start + j] = 1.0 - kept.b[j] / ratio
    return short


@jit
def add_by_word(slopes: Any, factors: Any, indptr: Any, columns: Any, out: Any) -> None:
    """`out_w = sum_e factor_e slopes_e` over the entries e of word w, `factors` one a document."""
    for document in range(len(indptr) - 1):
        factor = slopes.dtype.type(factors[document])
        for entry in range(indptr[document], indptr[document + 1]):
            row, line = out[columns[entry]], slopes[entry]
            for i in range(slopes.shape[1]):
                row[i] += factor * line[i]


@jit
def entry_products(pull: Any, points: Any, indptr: Any, columns: Any, out: Any) -> None:
    """`out_e = <pull_n, point_v>` for each entry e, of document n and point v."""
    for document in range(len(indptr) - 1):
        row = pull[document]
        for entry in range(indptr[document], indptr[document + 1]):
            point, total = points[columns[entry]], 0.0
            for i in range(len(row)):
                total += row[i] * point[i]
            out[entry] = total

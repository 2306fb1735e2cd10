"""Upper bounds on the affinity of one query and many documents, without solving anything.

`near[w, i]` is the cosine of word w and query point i, rounded up to a multiple of 1 / UNIT and kept in
a byte, zero in the padding: on a large vocabulary these bounds wait for memory, not for arithmetic.
Any potential `a` gives a bound with its C-transform; these take `a` from what is already there. Roots
of potentials are kept, `alpha = sqrt(a)`, since they compare with cosines directly.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wayfare.kernels.cpu.jit import jit
from wayfare.kernels.cpu.passes import max_rows

__all__ = [
    "UNIT",
    "average_potential",
    "pair_bounds",
    "round_up",
    "word_bounds",
    "word_potential",
]

UNIT = 254.0


@jit
def round_up(cosines: Any, near: Any, reach: Any, slack: float) -> None:
    """Fill `near`, and `reach_w = max_i h_wi`, both above cosines that are off by `slack`."""
    width = cosines.shape[1]
    unit, up = np.float32(UNIT), np.float32(1.001 + UNIT * slack)
    more = np.float32(slack + 1e-6)
    for w in range(cosines.shape[0]):
        top = np.float32(0)
        for i in range(width):
            h = cosines[w, i]
            top = max(top, h)
            near[w, i] = np.uint8(min(h * unit + up, np.float32(255))) if h > 0 else np.uint8(0)
        for i in range(width, near.shape[1]):
            near[w, i] = np.uint8(0)
        reach[w] = top + more if top > 0 else np.float32(0)


@jit
def word_bounds(
    indptr: Any, indices: Any, weights: Any, potential: Any, own: float, out: Any
) -> None:
    """`out = sqrt(own * sum_j nu_j potential_j)` for every document.

    With `potential_w = max_i k_wi / a_i` and `own = <a, mu>` this bounds the affinity, for any `a`.
    """
    for document in range(len(indptr) - 1):
        total = np.float32(0)
        for at in range(indptr[document], indptr[document + 1]):
            total += weights[at] * potential[indices[at]]
        out[document] = math.sqrt(own * total)


@jit
def word_potential(near: Any, inverse: Any, out: Any) -> None:
    """`out_w = max_i (h_wi inverse_i)^2`: the C-transform of `a = 1 / inverse^2`."""
    width = near.shape[1]
    unit = np.float32(1.0000005 / UNIT)
    for w in range(near.shape[0]):
        top = np.float32(0)
        for i in range(width):
            top = max(top, np.float32(near[w, i]) * inverse[i])
        out[w] = (top * unit) * (top * unit)


@jit
def average_potential(near: Any, words: Any, masses: Any, mu: Any, rounds: int, alpha: Any) -> None:
    """A potential of the query against the average document: `alpha = sqrt(a)` in the padded width.

    `masses` is the corpus's mass on `words`. Some damped sweeps at eps = 1/4 with hard columns are
    enough: any `a` bounds, and this one makes the sum of all bounds small.
    """
    width, m = near.shape[1], len(mu)
    zero, one = np.float32(0), np.float32(1)
    inverse, row, arrived = (
        np.empty(width, np.float32),
        np.empty(width, np.float32),
        np.empty(width),
    )
    for i in range(width):
        alpha[i] = one
    for _ in range(rounds):
        for i in range(width):
            inverse[i] = one / alpha[i]
            arrived[i] = 0.0
        for at in range(len(words)):
            word = words[at]
            top = zero
            for i in range(width):
                row[i] = np.float32(near[word, i]) * inverse[i]
                top = max(top, row[i])
            if top > 0:
                flat, total = one / top, zero
                for i in range(width):
                    share = row[i] * flat
                    share *= share
                    share *= share
                    row[i] = share * share
                    total += row[i]
                weight = masses[at] * top * top / total
                for i in range(width):
                    arrived[i] += weight * row[i]
        scale = 0.0
        for i in range(m):
            scale += arrived[i]
        for i in range(m):
            # a <- a sqrt(r / (mu a)), in roots; a query point nothing reaches keeps a small a.
            a = float(alpha[i]) ** 2
            a *= math.sqrt((arrived[i] / scale + 1e-9) / (mu[i] * a)) if scale > 0 else 1.0
            alpha[i] = math.sqrt(a)


@jit
def _row_maxima(block: Any, scale: Any, out: Any, rows: int, width: int) -> None:
    """`out_j = max_i block_ji scale_i`, four rows at a time."""
    zero = np.float32(0)
    j = 0
    while j + 4 <= rows:
        t0, t1, t2, t3 = zero, zero, zero, zero
        for i in range(width):
            s = scale[i]
            t0 = max(t0, block[j, i] * s)
            t1 = max(t1, block[j + 1, i] * s)
            t2 = max(t2, block[j + 2, i] * s)
            t3 = max(t3, block[j + 3, i] * s)
        out[j], out[j + 1], out[j + 2], out[j + 3] = t0, t1, t2, t3
        j += 4
    while j < rows:
        t0 = zero
        for i in range(width):
            t0 = max(t0, block[j, i] * scale[i])
        out[j] = t0
        j += 1


@jit
def pair_bounds(
    near: Any,
    reach: Any,
    mu: Any,
    indptr: Any,
    indices: Any,
    weights: Any,
    picks: Any,
    limits: Any,
    longest: int,
    out: Any,
    roots: Any,
) -> None:
    """The best of four bounds on the affinity of each of `picks`, until one is below its limit.

        rows            b = 1 where anything is reached,  a_i = max_j k_ij
        columns         a = 1 where anything is reached,  b_j = reach_j^2
        columns first   b_j = reach_j^2,                  a_i = max_j k_ij / b_j
        their mean      a = sqrt(a' a'') of the first and the third, then b from a, then a from b

    Pairs of potentials are feasible in the logarithm, where the dual is concave, and the mean is a far
    better point than either: it discards what would take some sweeps. Masses that nothing reaches are
    left out of every product. The roots of the last `a` are left in `roots` while it has rows.
    """
    width, m = near.shape[1], len(mu)
    zero, one, unit = np.float32(0), np.float32(1), np.float32(1.0000005 / UNIT)
    block = np.empty((longest + 1, width), np.float32)
    flat, ones = np.empty(longest + 1, np.float32), np.ones(longest + 1, np.float32)
    alpha, second = np.empty(width, np.float32), np.empty(width, np.float32)
    for place in range(len(picks)):
        start, stop = indptr[picks[place]], indptr[picks[place] + 1]
        rows, mass, by_reach = stop - start, 0.0, 0.0
        for j in range(rows):
            word = indices[start + j]
            for i in range(width):
                block[j, i] = np.float32(near[word, i]) * unit
            top = reach[word]
            flat[j] = one / top if top > 0 else zero
            mass += weights[start + j] if top > 0 else 0.0
            by_reach += weights[start + j] * top * top
        max_rows(block, ones, alpha, rows, width)
        max_rows(block, flat, second, rows, width)
        own, by_rows, by_columns = 0.0, 0.0, 0.0
        for i in range(m):
            own += mu[i] if alpha[i] > 0 else 0.0
            by_rows += mu[i] * alpha[i] * alpha[i]
            by_columns += mu[i] * second[i] * second[i]
        best = min(mass * by_rows, own * by_reach, by_columns * by_reach)
        if math.sqrt(best) >= limits[place]:
            for i in range(width):
                second[i] = one / math.sqrt(alpha[i] * second[i]) if alpha[i] > 0 else zero
            _row_maxima(block, second, flat, rows, width)
            mean_b = 0.0
            for j in range(rows):
                beta = flat[j]
                mean_b += weights[start + j] * beta * beta
                flat[j] = one / beta if beta > 0 else zero
            max_rows(block, flat, alpha, rows, width)
            mean_a = 0.0
            for i in range(m):
                mean_a += mu[i] * alpha[i] * alpha[i]
            best = min(best, mean_a * mean_b)
        out[place] = math.sqrt(best)
        if place < len(roots):
            for i in range(width):
                roots[place, i] = alpha[i]

"""Upper bounds on the affinity of one query and many documents, from one number a word.

Cosines are rounded up to a multiple of 1 / UNIT and kept in a byte: on a large vocabulary these bounds
wait for memory, not for arithmetic. A column is one query point over all words, `near[w]` a word's row of
all columns, zero in the padding.
Any potential `a` gives a bound with its C-transform; these take `a` from what is already there. Roots
of potentials are kept, `alpha = sqrt(a)`, since they compare with cosines directly.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wayfare.kernels.cpu.jit import jit

__all__ = [
    "UNIT",
    "average_potential",
    "column_maxima",
    "interleave",
    "word_bounds",
    "word_potential",
]

UNIT = 254.0
DAMPED = 0.3


@jit
def column_maxima(columns: Any, out: Any) -> None:
    """`out_w = max_i columns_iw`, in bytes."""
    for w in range(len(out)):
        out[w] = np.uint8(0)
    for i in range(len(columns)):
        for w in range(len(out)):
            out[w] = columns[i, w] if columns[i, w] > out[w] else out[w]


@jit
def word_potential(columns: Any, inverse: Any, out: Any) -> None:
    """`out_w = max_i (h_wi inverse_i)^2`: the C-transform of `a = 1 / inverse^2`."""
    unit, size = np.float32(1.000001 / UNIT), 4096
    roots = np.empty(size, np.float32)
    for start in range(0, len(out), size):
        count = min(size, len(out) - start)
        for w in range(count):
            roots[w] = np.float32(0)
        for i in range(len(columns)):
            scale, column = inverse[i], columns[i, start : start + count]
            for w in range(count):
                roots[w] = max(roots[w], np.float32(column[w]) * scale)
        part = out[start : start + count]
        for w in range(count):
            part[w] = (roots[w] * unit) * (roots[w] * unit)


@jit
def _swap(a: Any, b: Any, mask: Any, shift: Any) -> tuple[Any, Any]:
    return (a & mask) | ((b & mask) << shift), ((a >> shift) & mask) | (b & ~mask)


@jit
def interleave(columns: Any, near: Any) -> None:
    """Turn columns into rows: `near[w]` holds the bytes of word w of all columns.

    Both arrays are of uint64: eight words of a column, or eight columns of a word. The bytes of an
    8 x 8 square change places in three rounds of swaps, 64 words at a time.
    """
    m8, m16 = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
    m32 = np.uint64(0x00000000FFFFFFFF)
    s8, s16, s32 = np.uint64(8), np.uint64(16), np.uint64(32)
    for first in range(0, columns.shape[1], 8):
        for group in range(near.shape[1]):
            i = 8 * group
            for block in range(first, first + 8):
                a, b = _swap(columns[i, block], columns[i + 1, block], m8, s8)
                c, d = _swap(columns[i + 2, block], columns[i + 3, block], m8, s8)
                e, f = _swap(columns[i + 4, block], columns[i + 5, block], m8, s8)
                g, h = _swap(columns[i + 6, block], columns[i + 7, block], m8, s8)
                a, c = _swap(a, c, m16, s16)
                b, d = _swap(b, d, m16, s16)
                e, g = _swap(e, g, m16, s16)
                f, h = _swap(f, h, m16, s16)
                w = 8 * block
                near[w, group], near[w + 4, group] = _swap(a, e, m32, s32)
                near[w + 1, group], near[w + 5, group] = _swap(b, f, m32, s32)
                near[w + 2, group], near[w + 6, group] = _swap(c, g, m32, s32)
                near[w + 3, group], near[w + 7, group] = _swap(d, h, m32, s32)


@jit
def word_bounds(
    indptr: Any, indices: Any, weights: Any, potentials: Any, own: Any, out: Any
) -> None:
    """`out = sqrt(min over p of own_p sum_j nu_j potentials_jp)` for every document, for two `p`.

    `potentials[w, p]` lie side by side: most of the time goes into fetching them. With
    `potential_w = max_i k_wi / a_i` and `own = <a, mu>` this bounds the affinity, for any `a`.
    """
    zero = np.float32(0)
    for document in range(len(indptr) - 1):
        start, stop = indptr[document], indptr[document + 1]
        # Four words at a time in sums of their own: one sum would wait for its own last term.
        a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = zero
        four = start + (stop - start) // 4 * 4
        for at in range(start, four, 4):
            i, j, k, l = indices[at], indices[at + 1], indices[at + 2], indices[at + 3]
            p, q, r, s = weights[at], weights[at + 1], weights[at + 2], weights[at + 3]
            a0, b0 = a0 + p * potentials[i, 0], b0 + p * potentials[i, 1]
            a1, b1 = a1 + q * potentials[j, 0], b1 + q * potentials[j, 1]
            a2, b2 = a2 + r * potentials[k, 0], b2 + r * potentials[k, 1]
            a3, b3 = a3 + s * potentials[l, 0], b3 + s * potentials[l, 1]
        for at in range(four, stop):
            i, p = indices[at], weights[at]
            a0, b0 = a0 + p * potentials[i, 0], b0 + p * potentials[i, 1]
        first, second = (a0 + a1) + (a2 + a3), (b0 + b1) + (b2 + b3)
        out[document] = math.sqrt(min(own[0] * first, own[1] * second))


@jit
def average_potential(near: Any, words: Any, masses: Any, mu: Any, rounds: int, alpha: Any) -> None:
    """A potential of the query against the average document: `alpha = sqrt(a)` in the padded width.

    `masses` is the corpus's mass on `words`. Some sweeps at eps = 1/4 with hard columns are enough: any
    `a` bounds, and this one makes the sum of all bounds small. Longer steps than `DAMPED` swing.
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
            # a <- a (r / (mu a))^DAMPED, in roots; a query point nothing reaches keeps a small a.
            if scale > 0:
                ratio = (arrived[i] / scale + 1e-9) / (mu[i] * float(alpha[i]) ** 2)
                alpha[i] *= ratio ** (0.5 * DAMPED)

"""The passes over one small dense problem, in lanes of 16 numbers.

A matrix is walked in one way only: rows of it, scaled, are added into (or compared with) one row of
results. That shape needs no sum across a vector; it is why every matrix is kept with its transpose.
Matrices come padded with zeros, their rows to a multiple of 8 and their columns to one of 16, so that
no loop has a ragged end, and rows begin where a line of the cache does. Powers go through base-2
logarithms.
"""

from __future__ import annotations

from typing import Any

from wayfare.kernels.cpu.jit import jit_bare, jit_in_order, jit_within
from wayfare.kernels.cpu.lanes import LANES, largest, smallest, spread, where_larger
from wayfare.kernels.cpu.memory import alike, put, take, turn

__all__ = [
    "add_rows",
    "blank",
    "first_plan",
    "highest_label",
    "max_rows",
    "semicouple_rows",
    "sharpen",
    "transpose",
]


@jit_bare
def add_rows(matrix: Any, scale: Any, out: Any) -> None:
    """`out_j = sum_i scale_i matrix_ij`.

    Up to 48 columns at a time, since a scale that was read once is used for all of them, in several
    sums each: one sum would have to wait for its own last term.
    """
    columns = matrix.shape[1]
    threes = columns // (3 * LANES) * (3 * LANES)
    for j in range(0, threes, 3 * LANES):
        _add_three(matrix, scale, out, j)
    if columns - threes == LANES:
        _add_one(matrix, scale, out, threes)
    elif columns - threes == 2 * LANES:
        _add_two(matrix, scale, out, threes)


@jit_within
def _add_one(matrix: Any, scale: Any, out: Any, j: int) -> None:
    a = b = c = d = spread(out, 0)
    for i in range(0, matrix.shape[0], 4):
        a = a + take(matrix, (i, j)) * alike(scale, i)
        b = b + take(matrix, (i + 1, j)) * alike(scale, i + 1)
        c = c + take(matrix, (i + 2, j)) * alike(scale, i + 2)
        d = d + take(matrix, (i + 3, j)) * alike(scale, i + 3)
    put(out, j, (a + b) + (c + d))


@jit_within
def _add_two(matrix: Any, scale: Any, out: Any, j: int) -> None:
    k = j + LANES
    a = b = c = d = p = q = r = s = spread(out, 0)
    for i in range(0, matrix.shape[0], 4):
        a, p = (
            a + take(matrix, (i, j)) * alike(scale, i),
            p + take(matrix, (i, k)) * alike(scale, i),
        )
        b, q = (
            b + take(matrix, (i + 1, j)) * alike(scale, i + 1),
            q + take(matrix, (i + 1, k)) * alike(scale, i + 1),
        )
        c, r = (
            c + take(matrix, (i + 2, j)) * alike(scale, i + 2),
            r + take(matrix, (i + 2, k)) * alike(scale, i + 2),
        )
        d, s = (
            d + take(matrix, (i + 3, j)) * alike(scale, i + 3),
            s + take(matrix, (i + 3, k)) * alike(scale, i + 3),
        )
    put(out, j, (a + b) + (c + d))
    put(out, k, (p + q) + (r + s))


@jit_within
def _add_three(matrix: Any, scale: Any, out: Any, j: int) -> None:
    k, m = j + LANES, j + 2 * LANES
    a = b = p = q = x = y = spread(out, 0)
    for i in range(0, matrix.shape[0], 2):
        s, t = alike(scale, i), alike(scale, i + 1)
        a, b = a + take(matrix, (i, j)) * s, b + take(matrix, (i + 1, j)) * t
        p, q = p + take(matrix, (i, k)) * s, q + take(matrix, (i + 1, k)) * t
        x, y = x + take(matrix, (i, m)) * s, y + take(matrix, (i + 1, m)) * t
    put(out, j, a + b)
    put(out, k, p + q)
    put(out, m, x + y)


@jit_bare
def max_rows(matrix: Any, scale: Any, out: Any) -> None:
    """`out_j = max_i scale_i matrix_ij`, at least 0."""
    for j in range(0, matrix.shape[1], LANES):
        a = b = c = d = spread(out, 0)
        for i in range(0, matrix.shape[0], 4):
            a = largest(a, take(matrix, (i, j)) * alike(scale, i))
            b = largest(b, take(matrix, (i + 1, j)) * alike(scale, i + 1))
            c = largest(c, take(matrix, (i + 2, j)) * alike(scale, i + 2))
            d = largest(d, take(matrix, (i + 3, j)) * alike(scale, i + 3))
        put(out, j, largest(largest(a, b), largest(c, d)))


@jit_bare
def highest_label(matrix: Any, labels: Any, out: Any) -> None:
    """`out_j = max { labels_i : matrix_ij > 0 }`, 0 where there is none."""
    for j in range(0, matrix.shape[1], LANES):
        a = b = none = spread(out, 0)
        for i in range(0, matrix.shape[0], 2):
            a = largest(a, where_larger(take(matrix, (i, j)), none, alike(labels, i), none))
            b = largest(b, where_larger(take(matrix, (i + 1, j)), none, alike(labels, i + 1), none))
        put(out, j, largest(a, b))


@jit_bare
def semicouple_rows(plan: Any, cosines: Any, scale: Any, out: Any) -> None:
    """`out_j = sum_i scale_i plan_ij cosines_ij^2`."""
    for j in range(0, plan.shape[1], LANES):
        a = b = spread(out, 0)
        for i in range(0, plan.shape[0], 2):
            h, g = take(cosines, (i, j)), take(cosines, (i + 1, j))
            a = a + take(plan, (i, j)) * h * (h * alike(scale, i))
            b = b + take(plan, (i + 1, j)) * g * (g * alike(scale, i + 1))
        put(out, j, a + b)


@jit_bare
def blank(matrix: Any, first: int) -> None:
    """Zeros in the rows from `first` on, up to a multiple of 16: the workspace has room for that."""
    for i in range(first, (first + LANES - 1) // LANES * LANES):
        for j in range(0, matrix.shape[1], LANES):
            put(matrix, (i, j), 0)


@jit_bare
def transpose(matrix: Any, out: Any) -> None:
    """`out_ij = matrix_ji`, 16 x 16 entries at a time; `blank` must have been there."""
    for i in range(0, out.shape[1], LANES):
        for j in range(0, out.shape[0], LANES):
            turn(matrix, (i, j), out, (j, i))


# A plan and its transpose are worked on apart, and a certificate takes row sums from the one and
# entries from the other: they must stay equal to the last bit, however often they are squared. A
# product commutes but does not associate, hence the brackets, and compilation in order.


@jit_in_order
def first_plan(cosines: Any, scale: Any, across: Any, plan: Any) -> None:
    """`plan = (h scale_i across_j)^16`."""
    for i in range(plan.shape[0]):
        for j in range(0, plan.shape[1], LANES):
            entry = take(cosines, (i, j)) * (take(across, j) * alike(scale, i))
            entry = entry * entry
            entry = entry * entry
            entry = entry * entry
            put(plan, (i, j), entry * entry)


@jit_in_order
def sharpen(plan: Any, scale: Any, across: Any, square: bool, floor: Any) -> None:
    """Take the scalings into the plan, and square it: half the entropy, no exponential needed.

    Entries below `floor` become 0, before they could become subnormal numbers; those above its inverse
    stay there, before they could become infinite.
    """
    zero, top = floor - floor, 1 / floor
    for i in range(plan.shape[0]):
        for j in range(0, plan.shape[1], LANES):
            entry = take(plan, (i, j)) * (take(across, j) * alike(scale, i))
            entry = smallest(entry, top)
            if square:
                entry = where_larger(entry, floor, entry * entry, zero)
            put(plan, (i, j), entry)

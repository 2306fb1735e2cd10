"""The passes over one small dense problem, each written so that the compiler makes vectors of it.

A matrix is walked in one way only: rows of it, scaled, are added into (or compared with) one row of
results. That shape keeps eight independent products in flight and needs no sum across a vector; it is
why every matrix is kept with its transpose. Matrices come padded with zeros, their rows to a multiple
of 8 and their columns to one of 16, so that no loop has a ragged end. Powers go through base-2
logarithms.
"""

from __future__ import annotations

from typing import Any

from wayfare.kernels.cpu.jit import jit, jit_in_order

__all__ = [
    "add_rows",
    "first_plan",
    "highest_label",
    "max_rows",
    "semicouple_rows",
    "sharpen",
    "transpose",
]


@jit
def add_rows(matrix: Any, scale: Any, out: Any) -> None:
    """`out_j = sum_i scale_i matrix_ij`."""
    for group in range(matrix.shape[0] // 8):
        m, s = matrix[8 * group : 8 * group + 8], scale[8 * group : 8 * group + 8]
        s0, s1, s2, s3, s4, s5, s6, s7 = s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
        if group == 0:
            for j in range(matrix.shape[1]):
                left = m[0, j] * s0 + m[1, j] * s1 + m[2, j] * s2 + m[3, j] * s3
                out[j] = left + (m[4, j] * s4 + m[5, j] * s5 + m[6, j] * s6 + m[7, j] * s7)
        else:
            for j in range(matrix.shape[1]):
                left = m[0, j] * s0 + m[1, j] * s1 + m[2, j] * s2 + m[3, j] * s3
                out[j] += left + (m[4, j] * s4 + m[5, j] * s5 + m[6, j] * s6 + m[7, j] * s7)


@jit
def max_rows(matrix: Any, scale: Any, out: Any) -> None:
    """`out_j = max_i scale_i matrix_ij`, at least 0."""
    for j in range(matrix.shape[1]):
        out[j] = 0
    for group in range(matrix.shape[0] // 8):
        m, s = matrix[8 * group : 8 * group + 8], scale[8 * group : 8 * group + 8]
        s0, s1, s2, s3, s4, s5, s6, s7 = s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
        for j in range(matrix.shape[1]):
            a, b = max(m[0, j] * s0, m[1, j] * s1), max(m[2, j] * s2, m[3, j] * s3)
            c, d = max(m[4, j] * s4, m[5, j] * s5), max(m[6, j] * s6, m[7, j] * s7)
            out[j] = max(out[j], max(max(a, b), max(c, d)))


@jit
def highest_label(matrix: Any, labels: Any, out: Any) -> None:
    """`out_j = max { labels_i : matrix_ij > 0 }`, 0 where there is none."""
    zero = labels.dtype.type(0)
    for j in range(matrix.shape[1]):
        out[j] = zero
    for group in range(matrix.shape[0] // 4):
        m, s = matrix[4 * group : 4 * group + 4], labels[4 * group : 4 * group + 4]
        s0, s1, s2, s3 = s[0], s[1], s[2], s[3]
        for j in range(matrix.shape[1]):
            a, b = s0 if m[0, j] > zero else zero, s1 if m[1, j] > zero else zero
            c, d = s2 if m[2, j] > zero else zero, s3 if m[3, j] > zero else zero
            out[j] = max(out[j], max(max(a, b), max(c, d)))


@jit
def semicouple_rows(plan: Any, cosines: Any, scale: Any, out: Any) -> None:
    """`out_j = sum_i scale_i plan_ij cosines_ij^2`."""
    for j in range(plan.shape[1]):
        out[j] = 0
    for group in range(plan.shape[0] // 4):
        some = slice(4 * group, 4 * group + 4)
        p, h, s = plan[some], cosines[some], scale[some]
        s0, s1, s2, s3 = s[0], s[1], s[2], s[3]
        for j in range(plan.shape[1]):
            left = p[0, j] * h[0, j] * h[0, j] * s0 + p[1, j] * h[1, j] * h[1, j] * s1
            right = p[2, j] * h[2, j] * h[2, j] * s2 + p[3, j] * h[3, j] * h[3, j] * s3
            out[j] += left + right


@jit
def transpose(matrix: Any, out: Any) -> None:
    """`out_ij = matrix_ji`; the columns of `out` beyond the rows of `matrix` become 0.

    Eight rows of `out` at a time: entry by entry along one column, long rows would be fetched anew for
    nearly every entry.
    """
    cols = matrix.shape[0]
    for group in range(out.shape[0] // 8):
        o = out[8 * group : 8 * group + 8]
        for j in range(cols):
            m = matrix[j, 8 * group : 8 * group + 8]
            o[0, j], o[1, j], o[2, j], o[3, j] = m[0], m[1], m[2], m[3]
            o[4, j], o[5, j], o[6, j], o[7, j] = m[4], m[5], m[6], m[7]
    out[:, cols:] = 0


# A plan and its transpose are worked on apart, and a certificate takes row sums from the one and
# entries from the other: they must stay equal to the last bit, however often they are squared. A
# product commutes but does not associate, hence the brackets, and compilation in order.


@jit_in_order
def first_plan(cosines: Any, scale: Any, across: Any, plan: Any) -> None:
    """`plan = (h scale_i across_j)^16`."""
    for i in range(plan.shape[0]):
        s = scale[i]
        for j in range(plan.shape[1]):
            entry = cosines[i, j] * (s * across[j])
            entry *= entry
            entry *= entry
            entry *= entry
            plan[i, j] = entry * entry


@jit_in_order
def sharpen(plan: Any, scale: Any, across: Any, square: bool, floor: Any) -> None:
    """Take the scalings into the plan, and square it: half the entropy, no exponential needed.

    Entries below `floor` become 0, before they could become subnormal numbers; those above its inverse
    stay there, before they could become infinite.
    """
    zero, top = floor - floor, 1 / floor
    for i in range(plan.shape[0]):
        s, row = scale[i], plan[i]
        if square:
            for j in range(len(row)):
                entry = row[j] * (s * across[j])
                entry = entry if entry < top else top
                entry = entry if entry > floor else zero
                row[j] = entry * entry
        else:
            for j in range(len(row)):
                entry = row[j] * (s * across[j])
                row[j] = entry if entry < top else top

"""The passes over one small dense problem, each written so that the compiler makes vectors of it.

A matrix is walked in one way only: rows of it, scaled, are added into (or compared with) one row of
results. That shape keeps eight independent products in flight and needs no sum across a vector; it is
why every matrix is kept with its transpose. Powers go through base-2 logarithms.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numba.extending import overload

from wayfare.kernels.cpu.jit import FAST_MATH, jit

__all__ = ["add_rows", "exp2_row", "log2_row", "max_rows", "semicouple_rows", "sharpen"]


@jit
def add_rows(matrix: Any, scale: Any, out: Any, rows: int, width: int) -> None:
    """`out_j = sum_i scale_i matrix_ij`."""
    for j in range(width):
        out[j] = 0
    i = 0
    while i + 8 <= rows:
        s0, s1, s2, s3 = scale[i], scale[i + 1], scale[i + 2], scale[i + 3]
        s4, s5, s6, s7 = scale[i + 4], scale[i + 5], scale[i + 6], scale[i + 7]
        for j in range(width):
            out[j] += (
                matrix[i, j] * s0
                + matrix[i + 1, j] * s1
                + matrix[i + 2, j] * s2
                + matrix[i + 3, j] * s3
                + matrix[i + 4, j] * s4
                + matrix[i + 5, j] * s5
                + matrix[i + 6, j] * s6
                + matrix[i + 7, j] * s7
            )
        i += 8
    while i < rows:
        s0 = scale[i]
        for j in range(width):
            out[j] += matrix[i, j] * s0
        i += 1


@jit
def max_rows(matrix: Any, scale: Any, out: Any, rows: int, width: int) -> None:
    """`out_j = max_i scale_i matrix_ij`, at least 0."""
    for j in range(width):
        out[j] = 0
    i = 0
    while i + 4 <= rows:
        s0, s1, s2, s3 = scale[i], scale[i + 1], scale[i + 2], scale[i + 3]
        for j in range(width):
            left = max(matrix[i, j] * s0, matrix[i + 1, j] * s1)
            right = max(matrix[i + 2, j] * s2, matrix[i + 3, j] * s3)
            out[j] = max(out[j], max(left, right))
        i += 4
    while i < rows:
        s0 = scale[i]
        for j in range(width):
            out[j] = max(out[j], matrix[i, j] * s0)
        i += 1


@jit
def semicouple_rows(plan: Any, cosines: Any, scale: Any, out: Any, rows: int, width: int) -> None:
    """`out_j = sum_i scale_i plan_ij cosines_ij^2`."""
    for j in range(width):
        out[j] = 0
    i = 0
    while i + 4 <= rows:
        s0, s1, s2, s3 = scale[i], scale[i + 1], scale[i + 2], scale[i + 3]
        for j in range(width):
            out[j] += (
                plan[i, j] * cosines[i, j] * cosines[i, j] * s0
                + plan[i + 1, j] * cosines[i + 1, j] * cosines[i + 1, j] * s1
                + plan[i + 2, j] * cosines[i + 2, j] * cosines[i + 2, j] * s2
                + plan[i + 3, j] * cosines[i + 3, j] * cosines[i + 3, j] * s3
            )
        i += 4
    while i < rows:
        s0 = scale[i]
        for j in range(width):
            out[j] += plan[i, j] * cosines[i, j] * cosines[i, j] * s0
        i += 1


@jit
def sharpen(
    plan: Any, scale: Any, scale_across: Any, rows: int, width: int, square: bool, floor: Any
) -> None:
    """Take the scalings into the plan, and square it: half the entropy, no exponential needed.

    Entries below `floor` become 0, before they could become subnormal numbers.
    """
    for i in range(rows):
        s = scale[i]
        if square:
            for j in range(width):
                entry = plan[i, j] * s * scale_across[j]
                entry = entry if entry > floor else floor - floor
                plan[i, j] = entry * entry
        else:
            for j in range(width):
                plan[i, j] *= s * scale_across[j]


def log2_row(values: Any, value_bits: Any, out: Any, scratch: Any, bits: Any, n: int) -> None:
    """`out_j = log2(values_j)` for positive, normal numbers."""


def exp2_row(values: Any, out: Any, scratch: Any, bits: Any, n: int) -> None:
    """`out_j = 2^values_j`, the exponent clamped to what the type holds as a normal number."""


@overload(log2_row, jit_options={"fastmath": FAST_MATH})
def _log2_row(values: Any, value_bits: Any, out: Any, scratch: Any, bits: Any, n: int) -> Any:
    return _log2_single if values.dtype == numba.float32 else _log2_double


@overload(exp2_row, jit_options={"fastmath": FAST_MATH})
def _exp2_row(values: Any, out: Any, scratch: Any, bits: Any, n: int) -> Any:
    return _exp2_single if values.dtype == numba.float32 else _exp2_double


def _log2_double(values: Any, value_bits: Any, out: Any, scratch: Any, bits: Any, n: int) -> None:
    for j in range(n):
        out[j] = math.log2(values[j])


def _exp2_double(values: Any, out: Any, scratch: Any, bits: Any, n: int) -> None:
    for j in range(n):
        out[j] = 2.0 ** min(max(values[j], -1000.0), 1000.0)


# llvmlite carries no vector math library, so log and exp in a loop would run one by one. These two
# are polynomials on the mantissa and shifts of the exponent, which vectorise on every CPU. They need
# no more than single precision: an error here perturbs a potential, never a certificate.


def _log2_single(values: Any, value_bits: Any, out: Any, scratch: Any, bits: Any, n: int) -> None:
    one, half = np.float32(1), np.float32(0.5)
    for j in range(n):
        exponent = (value_bits[j] - np.int32(0x3F3504F3)) >> np.int32(23)
        bits[j] = value_bits[j] - (exponent << np.int32(23))
        out[j] = np.float32(exponent)
    for j in range(n):
        f = scratch[j] - one
        y = np.float32(0.070376836)
        y = y * f - np.float32(0.115146103)
        y = y * f + np.float32(0.116769987)
        y = y * f - np.float32(0.124201408)
        y = y * f + np.float32(0.142493228)
        y = y * f - np.float32(0.166680577)
        y = y * f + np.float32(0.200007148)
        y = y * f - np.float32(0.249999940)
        y = y * f + np.float32(0.333333312)
        out[j] += (y * f * f * f - half * f * f + f) * np.float32(1.442695041)


def _exp2_single(values: Any, out: Any, scratch: Any, bits: Any, n: int) -> None:
    for j in range(n):
        x = min(max(values[j], np.float32(-126)), np.float32(126))
        whole = np.int32(x + np.float32(128.5)) - np.int32(128)
        bits[j] = (whole + np.int32(127)) << np.int32(23)
        t = x - np.float32(whole)
        y = np.float32(0.0013333558)
        y = y * t + np.float32(0.0096181291)
        y = y * t + np.float32(0.0555041087)
        y = y * t + np.float32(0.2402265070)
        y = y * t + np.float32(0.6931471806)
        out[j] = y * t + np.float32(1)
    for j in range(n):
        out[j] *= scratch[j]

"""Distances of words as 16-bit codes: half the bytes of float32, and still far finer than any bound.

A code c says that the distance is at least `unit c` and at most `sqrt((unit (c + 1))^2 + 2 off)`, where
`off` is how far off a squared distance in float32 may be. A column is one query point over all words,
`near[w]` a word's row of all columns. Padding holds `FARTHEST`, which no minimum takes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wayfare.kernels.cpu.jit import jit

__all__ = ["CODES", "FARTHEST", "codes_from_products", "column_minima", "interleave"]

FARTHEST = 65535
CODES = 65000.0  # codes of true distances stay below it
BLOCK = 1024  # words whose codes of all columns stay in the near cache


@jit
def codes_from_products(
    products: Any, squared: float, words_squared: Any, unit: float, column: Any
) -> None:
    """Fill a column from `products_w = <x_w, y>`, rounded down; `squared` is `|y|^2`, less the slack."""
    zero, two, top = np.float32(0), np.float32(2), np.float32(FARTHEST - 1)
    own, scale = np.float32(squared), np.float32((1 - 1e-6) / unit)
    for w in range(len(products)):
        apart = np.sqrt(max(own + words_squared[w] - two * products[w], zero))
        column[w] = np.uint16(min(apart * scale, top))


@jit
def column_minima(columns: Any, out: Any) -> None:
    """`out_w = min_i columns_iw`."""
    for w in range(len(out)):
        out[w] = np.uint16(FARTHEST)
    for start in range(0, len(out), BLOCK):
        some = out[start : start + BLOCK]
        for i in range(len(columns)):
            column = columns[i, start : start + BLOCK]
            for w in range(len(some)):
                some[w] = column[w] if column[w] < some[w] else some[w]


@jit
def interleave(columns: Any, near: Any) -> None:
    """Turn columns into rows: `near[w]` holds the codes of word w of all columns.

    Both arrays are of uint64: four words of a column, or four columns of a word. The codes of a 4 x 4
    square change places in two rounds of swaps.
    """
    m16, m32 = np.uint64(0x0000FFFF0000FFFF), np.uint64(0x00000000FFFFFFFF)
    s16, s32 = np.uint64(16), np.uint64(32)
    for first in range(0, columns.shape[1], 16):
        last = min(first + 16, columns.shape[1])
        for group in range(near.shape[1]):
            i = 4 * group
            for block in range(first, last):
                p, q = columns[i, block], columns[i + 1, block]
                r, s = columns[i + 2, block], columns[i + 3, block]
                a, b = (p & m16) | ((q & m16) << s16), ((p >> s16) & m16) | (q & ~m16)
                c, d = (r & m16) | ((s & m16) << s16), ((r >> s16) & m16) | (s & ~m16)
                w = 4 * block
                near[w, group] = (a & m32) | (c << s32)
                near[w + 1, group] = (b & m32) | (d << s32)
                near[w + 2, group] = (a >> s32) | (c & ~m32)
                near[w + 3, group] = (b >> s32) | (d & ~m32)

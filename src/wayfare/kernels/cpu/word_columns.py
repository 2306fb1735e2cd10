"""Columns of cosines in bytes, rounded up, from inner products in 16-bit whole numbers.

A point x of length |x| is kept as `q = round(2^15 x / |x|)`. Cauchy and Schwarz bound what that loses,

    |<x, y> - |x| |y| <q_x, q_y> / 2^30| <= |x| |y| (e_x + e_y + e_x e_y),   e = |x / |x| - q / 2^15|

and keep every sum below 2^31, since each |q| is at most 2^15 (1 + e). The loss is added before a product
becomes a distance, so that no byte is below its cosine, and one of 0 says that there is none.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wayfare.kernels.cpu.jit import jit_in_order
from wayfare.kernels.cpu.table import HALF_PI_SQUARED
from wayfare.kernels.cpu.tiles import GROUP, LANES, PANELS, multiply_shorts
from wayfare.kernels.cpu.word_bounds import UNIT

__all__ = ["BLOCK", "SHARE", "byte_columns", "pack_query", "pack_words"]

BLOCK = LANES * PANELS  # words of a tile
ONE = 32768.0
SHORTEST = 1e-15  # of a length that is divided by
# What float32 may lose of a squared distance, as a share of both squared lengths.
SHARE = 1e-6


@jit_in_order
def _quantise(point: Any, out: Any) -> tuple[float, float, float]:
    """Fill `out` with 16-bit numbers; returns the length, its square and the share that is lost.

    A point too long for float32 gets an infinite length, and is then near everything.
    """
    squared, lost, top = 0.0, 0.0, 32767.0
    for k in range(len(point)):
        squared += float(point[k]) * float(point[k])
    length = max(math.sqrt(squared), SHORTEST)
    if not length < 1e18:
        for k in range(len(point)):
            out[k] = np.int16(0)
        return np.inf, np.inf, 0.0
    scale = ONE / length
    for k in range(len(point)):
        wanted = float(point[k]) * scale
        whole = min(math.floor(wanted + 0.5), top)
        out[k] = np.int16(whole)
        lost += (wanted - whole) ** 2
    return length, squared, math.sqrt(lost) / ONE


@jit_in_order
def pack_words(points: Any, words: Any, lengths: Any, squared: Any) -> float:
    """Fill `words[block, panel, pair, lane, 2]`; returns the largest share lost.

    Lengths and squares are of float32, the squares rounded down. What pads a block is at an infinite
    distance.
    """
    worst, buffer = 0.0, np.zeros(2 * words.shape[2], np.int16)
    words[:] = 0
    for w in range(len(lengths)):
        if w >= len(points):
            lengths[w], squared[w] = 0.0, np.inf
            continue
        length, square, lost = _quantise(points[w], buffer)
        lengths[w], squared[w] = length / ONE, square * (1.0 - SHARE)
        worst = max(worst, lost)
        into = words[w // BLOCK, w % BLOCK // LANES]
        for pair in range(words.shape[2]):
            into[pair, w % LANES, 0] = buffer[2 * pair]
            into[pair, w % LANES, 1] = buffer[2 * pair + 1]
    return worst


@jit_in_order
def pack_query(points: Any, query: Any, lengths: Any, squared: Any) -> float:
    """The same for `query[point, pair * 2]`, padded with points of length 0."""
    worst = 0.0
    query[:] = 0
    lengths[:] = 0
    squared[:] = 0
    for i in range(len(points)):
        length, square, lost = _quantise(points[i], query[i])
        lengths[i], squared[i] = length / ONE, square * (1.0 - SHARE)
        worst = max(worst, lost)
    return worst


@jit_in_order
def _bytes_of(
    tile: Any,
    loss: Any,
    lengths: Any,
    squared: Any,
    start: int,
    query_lengths: Any,
    query_squared: Any,
    first: int,
    scale: Any,
    columns: Any,
) -> None:
    """`columns[i, w]` above `UNIT cos_+(sqrt(z))` for one tile, z being the least its square may be.

    One function for a whole tile: cutting its arrays into rows would take as long as its products.
    """
    real = np.float32
    zero, one, two, limit = real(0), real(1), real(2), real(HALF_PI_SQUARED * 1.000001)
    long, square = lengths[start : start + BLOCK], squared[start : start + BLOCK]
    for row in range(min(GROUP, len(columns) - first)):
        twice, own = two * query_lengths[first + row], query_squared[first + row]
        into = columns[first + row, start : start + BLOCK]
        products = tile[row * BLOCK : (row + 1) * BLOCK]
        for w in range(len(into)):
            inner = (real(products[w]) + loss) * (long[w] * twice)
            z = ((square[w] + own) - inner) * scale
            z = z if z > zero else zero  # also where it is no number
            y = real(1 / 479001600)
            y = y * z - real(1 / 3628800)
            y = y * z + real(1 / 40320)
            y = y * z - real(1 / 720)
            y = y * z + real(1 / 24)
            y = y * z - real(0.5)
            y = y * z + one
            y = y if y > zero else zero
            byte = y * real(UNIT) + real(1.001)
            into[w] = np.uint8(byte if z < limit else zero)


@jit_in_order
def byte_columns(
    words: Any,
    lengths: Any,
    squared: Any,
    query: Any,
    query_lengths: Any,
    query_squared: Any,
    lost: float,
    per_squared: float,
    columns: Any,
) -> None:
    """Fill `columns[i, w]` with bytes above `UNIT cos_+(|x_w - y_i| / 2 eta)`; 0 where that is 0.

    `lost` is the share of both lengths by which a product may be off, `per_squared` is `1 / (4 eta^2)`.
    """
    pairs, size = words.shape[2], words.shape[2] * 2
    tile = np.empty(GROUP * BLOCK, np.int32)
    # The 256 stand for what a product loses in becoming a float32.
    loss, scale = np.float32(lost * ONE * ONE + 256.0), np.float32(per_squared * (1.0 - 1e-7))
    for block in range(len(words)):
        near = words[block].reshape(PANELS * pairs * LANES * 2)
        for first in range(0, len(query), GROUP):
            group = query[first : first + GROUP].reshape(GROUP * size)
            multiply_shorts(near, group, tile, pairs)
            _bytes_of(
                tile,
                loss,
                lengths,
                squared,
                block * BLOCK,
                query_lengths,
                query_squared,
                first,
                scale,
                columns,
            )

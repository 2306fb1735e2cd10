"""The query-by-vocabulary table: inner products of words to cosines, in one pass over memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from wayfare.kernels.cpu.jit import jit
from wayfare.kernels.cpu.tiles import GROUP, LANES, multiply_floats

__all__ = ["cosines_from_products", "single_cosines"]

# cos(sqrt(z)) as its power series: entire in z = (d / 2 eta)^2, so neither a square root nor a range
# reduction is needed. Up to z = (pi/2)^2 seven terms are exact to 6e-9, nine to 4e-13 and so on.
DOUBLE_TERMS = 13
HALF_PI_SQUARED = 2.4674011002723395


_ONE, _TWO, _THREE, _FOUR = multiply_floats


@jit
def _write_tile(
    tile: Any,
    wide: int,
    words_squared: Any,
    first: int,
    squared: Any,
    start: int,
    scale: Any,
    out: Any,
) -> None:
    """One tile of products, of rows `wide`, as cosines from `out[first, start]` on, in float32."""
    real = np.float32
    two, zero, limit = real(2), real(0), real(HALF_PI_SQUARED)
    for row in range(min(GROUP, out.shape[0] - first)):
        own, into = words_squared[first + row], out[first + row, start:]
        products, square = tile[row * wide : (row + 1) * wide], squared[start:]
        for i in range(min(len(products), len(into))):
            z = max((own + square[i] - two * products[i]) * scale, zero)
            y = real(1 / 479001600)
            y = y * z - real(1 / 3628800)
            y = y * z + real(1 / 40320)
            y = y * z - real(1 / 720)
            y = y * z + real(1 / 24)
            y = y * z - real(0.5)
            y = y * z + real(1)
            into[i] = y if z < limit and y > zero else zero


@jit
def _panels_of(query: Any, count: int) -> Any:
    """The query's points as the columns of panels, with zeros beyond them."""
    panels = np.zeros((count, query.shape[1], LANES), np.float32)
    for i in range(len(query)):
        into = panels[i // LANES]
        for term in range(query.shape[1]):
            into[term, i % LANES] = query[i, term]
    return panels


@jit
def single_cosines(
    words: Any, words_squared: Any, query: Any, query_squared: Any, per_squared: float, out: Any
) -> None:
    """`out[w, i] = cos_+(|x_w - y_i| / 2 eta)` in float32, straight from the points.

    Arguments as for `cosines_from_products`. There is a dimension or more.
    """
    count, terms = -(-len(query) // LANES), query.shape[1]
    panels, scale = _panels_of(query, count), np.float32(per_squared)
    tile = np.empty(GROUP * 4 * LANES, np.float32)
    last, whole = np.zeros((GROUP, terms), np.float32), len(words) // GROUP * GROUP
    last[: len(words) - whole] = words[whole:]
    done = 0
    while done < count:
        # Five are three and two: one alone would leave most registers idle.
        some = 3 if count - done == 5 else min(4, count - done)
        near = panels[done : done + some].reshape(some * terms * LANES)
        for first in range(0, len(words), GROUP):
            rows = words[first : first + GROUP] if first < whole else last
            group = rows.reshape(GROUP * terms)
            if some == 4:
                _FOUR(near, group, tile, terms)
            elif some == 3:
                _THREE(near, group, tile, terms)
            elif some == 2:
                _TWO(near, group, tile, terms)
            else:
                _ONE(near, group, tile, terms)
            _write_tile(
                tile, some * LANES, words_squared, first, query_squared, done * LANES, scale, out
            )
        done += some


@jit
def cosines_from_products(
    table: Any, words_squared: Any, query_squared: Any, per_squared: float
) -> None:
    """Turn `table[w, i] = <x_w, y_i>` into `cos_+(|x_w - y_i| / 2 eta)`, in place, in float64.

    `words_squared` and `query_squared` are squared norms, `per_squared` is `1 / (4 eta^2)`.
    """
    for w in range(table.shape[0]):
        own, row = words_squared[w], table[w]
        for i in range(table.shape[1]):
            z = max((own + query_squared[i] - 2.0 * row[i]) * per_squared, 0.0)
            y = 0.0
            for term in range(DOUBLE_TERMS, 0, -1):
                y = 1.0 - y * z / ((2 * term - 1) * 2 * term)
            row[i] = y if z < HALF_PI_SQUARED and y > 0.0 else 0.0

"""The query-by-vocabulary table: inner products of words to cosines, in one pass over memory."""

from __future__ import annotations

from typing import Any

from wayfare.kernels.cpu.jit import jit

__all__ = ["cosines_from_products"]

# cos(sqrt(z)) as its power series: entire in z = (d / 2 eta)^2, so neither a square root nor a range
# reduction is needed. Up to z = (pi/2)^2 seven terms are exact to 6e-9, nine to 4e-13 and so on.
SINGLE_TERMS, DOUBLE_TERMS = 7, 13
HALF_PI_SQUARED = 2.4674011002723395


@jit
def cosines_from_products(
    table: Any, words_squared: Any, query_squared: Any, per_squared: float
) -> None:
    """Turn `table[w, i] = <x_w, y_i>` into `cos_+(|x_w - y_i| / 2 eta)`, in place.

    `words_squared` and `query_squared` are squared norms, `per_squared` is `1 / (4 eta^2)`.
    """
    real = table.dtype.type
    terms = SINGLE_TERMS if table.itemsize == 4 else DOUBLE_TERMS
    scale, two, zero = real(per_squared), real(2), real(0)
    limit = real(HALF_PI_SQUARED)
    width = table.shape[1]
    for w in range(table.shape[0]):
        own = words_squared[w]
        row = table[w]
        if terms == SINGLE_TERMS:
            for i in range(width):
                z = max((own + query_squared[i] - two * row[i]) * scale, zero)
                y = real(1 / 479001600)
                y = y * z - real(1 / 3628800)
                y = y * z + real(1 / 40320)
                y = y * z - real(1 / 720)
                y = y * z + real(1 / 24)
                y = y * z - real(0.5)
                y = y * z + real(1)
                row[i] = y if z < limit and y > zero else zero
        else:
            for i in range(width):
                z = max((own + query_squared[i] - two * row[i]) * scale, zero)
                y = real(0)
                for term in range(DOUBLE_TERMS, 0, -1):
                    y = real(1) - y * z / real((2 * term - 1) * 2 * term)
                row[i] = y if z < limit and y > zero else zero

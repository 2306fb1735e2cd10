"""One dense problem as the kernels hold it: its matrices with their transposes, and a scratch a side."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from wayfare.kernels.cpu.jit import jit_views
from wayfare.kernels.cpu.lanes import LANES

__all__ = ["Work", "shaped", "workspace"]

# Rows of a side's scratch: the logarithms of the potential, of the same at the last absorption, of the
# scaling since, and of the weights; the scaling; sums of the plan; the weights; a row to work in; the
# logarithm of the potential at the end of the stage before.
# Between absorptions log a = base - log u / p.
LOG_A, BASE, LOG_U, LOG_W, SCALE, SUMS, WEIGHT, SPARE, BEFORE = range(9)
SIDE_ROWS = 9

TINY, FLOOR = 1e-30, 1e-18  # the square of the floor is still a normal number in float32

Work = namedtuple("Work", "cosines cosines_t plan plan_t rows cols")


def workspace(m: int, n: int, dtype: Any) -> Any:
    """Room for problems of up to m x n points, for `shaped`; one thread uses one workspace.

    One flat array: to take many arrays over from Python, again for each call, is what would take time.
    """
    m, n = -(-max(m, 1) // LANES) * LANES, -(-max(n, 1) // LANES) * LANES
    return _aligned(4 * m * n + SIDE_ROWS * (m + n), dtype)


def _aligned(size: int, dtype: Any) -> Any:
    """Zeros that begin where a line of the cache does: lanes that lie across two take two reads."""
    line = 64 // np.dtype(dtype).itemsize
    array = np.zeros(size + line, dtype)
    first = -array.ctypes.data // array.itemsize % line
    return array[first : first + size]


@jit_views
def shaped(work: Any, m: int, n: int) -> Any:
    """The workspace as padded matrices of this problem's size: a short stride stays in the near cache."""
    p, q = (m + 7) // 8 * 8, (n + 7) // 8 * 8
    wide_p, wide_q = (m + LANES - 1) // LANES * LANES, (n + LANES - 1) // LANES * LANES
    # Behind the last row of each there is room for as many as make 16: `transpose` wants that.
    size = wide_p * wide_q
    end = 4 * size + SIDE_ROWS * wide_p
    return Work(
        work[: p * wide_q].reshape(p, wide_q),
        work[size : size + q * wide_p].reshape(q, wide_p),
        work[2 * size : 2 * size + p * wide_q].reshape(p, wide_q),
        work[3 * size : 3 * size + q * wide_p].reshape(q, wide_p),
        work[4 * size : end].reshape(SIDE_ROWS, wide_p),
        work[end : end + SIDE_ROWS * wide_q].reshape(SIDE_ROWS, wide_q),
    )

"""One Triton program a pair whose plan does not fit in registers: tile by tile, from memory.

The same pass as `fused.py`. The shorter side's vectors stay in registers whole; the plan lies in memory,
column after column, and is walked in tiles of some columns. Columns and the rows that follow them are
one walk:

    rows from the sums that the last walk left;  for each tile: columns, then their share of the next sums

Potentials of the longer side lie in memory.
"""

from __future__ import annotations

from wayfare.kernels.gpu.fused import (
    FLOOR,
    SCALE_LIMIT,
    TINY,
    inverse,
    log2,
    move,
    root,
    shift,
)
from wayfare.kernels.gpu.tritons import tl, triton

__all__ = ["solve_in_tiles"]


@triton.jit
def _tile(table, row_at, col_at, row_here, col_here):
    """The cosines of all rows with some columns, 0 in the padding, which points at a valid place."""
    h = tl.load(table + row_at[:, None] + col_at[None, :])
    return h * row_here[:, None] * col_here[None, :]


@triton.jit
def solve_in_tiles(
    table,
    row_stride,
    col_stride,
    row_starts,
    row_places,
    row_shares,
    col_starts,
    col_places,
    col_shares,
    pair_row,
    pair_col,
    potentials,
    plans,
    cols_scale,
    width,
    stages,
    depth,
    power,
    fresh,
    out_low,
    out_high,
    M: tl.constexpr,
    TILE: tl.constexpr,
    RELAX: tl.constexpr,
):
    """One pass over the pair of this program: bounds on S, as computed, and the potentials.

    For each pair `potentials` holds M + `width` numbers, `plans` M * `width` and `cols_scale` `width`;
    `width` is a multiple of the tile, at least the size of the longer side.
    """
    pair = tl.program_id(0).to(tl.int64)
    first, second = tl.load(pair_row + pair), tl.load(pair_col + pair)
    start, begin = tl.load(row_starts + first), tl.load(col_starts + second)
    m = (tl.load(row_starts + first + 1) - start).to(tl.int32)
    n = (tl.load(col_starts + second + 1) - begin).to(tl.int32)
    i, k = tl.arange(0, M), tl.arange(0, TILE)
    row_at = tl.load(row_places + start + i, mask=i < m, other=0).to(tl.int64) * row_stride
    mu = tl.load(row_shares + start + i, mask=i < m, other=0.0)
    real = table.dtype.element_ty
    row_here = (i < m).to(real)
    plans += pair * M * width
    rows_log = potentials + pair * (M + width)
    cols_log = rows_log + M
    cols_scale += pair * width
    col_places += begin
    col_shares += begin
    power = tl.cast(power, real)

    rows = tl.load(rows_log + i)
    if fresh > 0:
        reach = tl.zeros_like(mu)
        t = 0
        while t < n:
            j = t + k
            col_at = tl.load(col_places + j, mask=j < n, other=0).to(tl.int64) * col_stride
            reach = tl.maximum(
                reach, tl.max(_tile(table, row_at, col_at, row_here, (j < n).to(real)), axis=1)
            )
            t += TILE
        rows = 2.0 * log2(reach)
        t = 0
        while t < n:
            j = t + k
            col_at = tl.load(col_places + j, mask=j < n, other=0).to(tl.int64) * col_stride
            h = _tile(table, row_at, col_at, row_here, (j < n).to(real))
            across = tl.max(h * inverse(reach)[:, None], axis=0)
            tl.store(cols_log + j, 2.0 * log2(across))
            t += TILE
        tl.debug_barrier()

    # The plan, and the sums of its rows.
    sums = tl.zeros_like(mu)
    t = 0
    while t < n:
        j = t + k
        col_at = tl.load(col_places + j, mask=j < n, other=0).to(tl.int64) * col_stride
        h = _tile(table, row_at, col_at, row_here, (j < n).to(real))
        cols = tl.load(cols_log + j)
        exponent = power * (2.0 * log2(h) - rows[:, None] - cols[None, :])
        plan = tl.where(h > 0, tl.exp2(tl.minimum(exponent, SCALE_LIMIT)), 0.0)
        tl.store(plans + j[None, :] * M + i[:, None], plan)
        tl.store(cols_scale + j, tl.zeros_like(cols))
        sums += tl.sum(plan, axis=1)
        t += TILE
    tl.debug_barrier()

    row_scale = tl.zeros_like(mu)
    stage = 0
    while stage < depth:
        length = tl.load(stages + stage)
        sweep = 0
        while sweep < length:
            step = tl.cast(tl.where(sweep > 0, RELAX, 1.0), real) / (power + 1.0)
            rows, row_scale = move(rows, row_scale, sums, mu, power, step)
            u = tl.exp2(row_scale)
            sums = tl.zeros_like(mu)
            t = 0
            while t < n:
                j = t + k
                plan = tl.load(plans + j[None, :] * M + i[:, None])
                cols = tl.load(cols_log + j)
                scale = tl.load(cols_scale + j)
                nu = tl.load(col_shares + j, mask=j < n, other=0.0)
                arrived = tl.sum(plan * u[:, None], axis=0)
                cols, scale = move(cols, scale, arrived, nu, power, step)
                sums += tl.sum(plan * tl.exp2(scale)[None, :], axis=1)
                tl.debug_barrier()
                tl.store(cols_log + j, cols)
                tl.store(cols_scale + j, scale)
                t += TILE
            tl.debug_barrier()
            sweep += 1

        # (3), once a stage: the best constant between the two.
        a = root(rows)
        mass_a = tl.sum(mu * a * a, axis=0)
        mass_b = mass_a * 0.0
        t = 0
        while t < n:
            j = t + k
            b = root(tl.load(cols_log + j))
            mass_b += tl.sum(tl.load(col_shares + j, mask=j < n, other=0.0) * b * b, axis=0)
            t += TILE
        constant = shift(mass_a, mass_b)
        rows -= constant
        tl.debug_barrier()

        stage += 1
        last = stage == depth
        u = tl.exp2(row_scale)
        after = tl.zeros_like(mu)
        t = 0
        while t < n:
            j = t + k
            cols = tl.load(cols_log + j)
            scale = tl.load(cols_scale + j)
            plan = tl.load(plans + j[None, :] * M + i[:, None])
            squared = plan * u[:, None] * tl.exp2(scale)[None, :]
            squared = tl.where(squared > FLOOR, squared * squared, 0.0)
            after += tl.sum(squared, axis=1)
            tl.debug_barrier()
            tl.store(cols_log + j, cols + constant)
            tl.store(cols_scale + j, tl.where(last, scale, 0.0))
            at = plans + j[None, :] * M + i[:, None]
            tl.store(at, tl.where(last, plan, squared))
            t += TILE
        tl.debug_barrier()
        if stage < depth:
            sums = after
            row_scale = tl.zeros_like(mu)
            power *= 2.0

    # (5) and (4), in one walk: a column of a tile is whole.
    share = tl.where(sums > TINY, mu * inverse(sums), 0.0)
    low, mass_b = tl.sum(share, axis=0) * 0.0, tl.sum(share, axis=0) * 0.0
    back = tl.zeros_like(mu)
    t = 0
    while t < n:
        j = t + k
        col_at = tl.load(col_places + j, mask=j < n, other=0).to(tl.int64) * col_stride
        h = _tile(table, row_at, col_at, row_here, (j < n).to(real))
        plan = tl.load(plans + j[None, :] * M + i[:, None])
        nu = tl.load(col_shares + j, mask=j < n, other=0.0)
        v = tl.exp2(tl.load(cols_scale + j))
        arriving = tl.sum(plan * h * h * share[:, None], axis=0)
        low += tl.sum(tl.sqrt(nu * v * arriving), axis=0)
        b = tl.max(h * root(-rows)[:, None], axis=0)
        mass_b += tl.sum(nu * b * b, axis=0)
        back = tl.maximum(back, tl.max(h * inverse(b)[None, :], axis=1))
        t += TILE
    high = tl.sqrt(tl.sum(mu * back * back, axis=0) * mass_b)
    tl.store(out_low + pair, low)
    tl.store(out_high + pair, high)
    tl.store(rows_log + i, rows)

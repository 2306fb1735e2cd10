"""One Triton program a pair, in registers: gather, anneal, certify.

    gather    rows of the table by word, columns by place in the corpus
    start     feasible potentials, or those of the pass before; the plan that they have
    sweep     rows, columns; at the end of a stage the translation, and half the entropy
    certify   the cosines are gathered once more: (4) and (5) of `kernels/cpu/certificate.py`

A pair whose kernel falls apart gets one constant for all of it. On R8 that takes as many sweeps as a
constant for each part, on clouds in three parts of other masses up to 3% more; finding the parts would
cost several sweeps in every pass, and a third of the registers.

A pass has no branch on what it finds: whoever called it looks at the bounds and sends what is still open
into the next pass. The plan is kept twice, with rows and with columns along the lanes, so that each sum
runs down the registers of a thread and needs no shuffle. The table may be in float32 or float64;
everything follows it.
"""

from __future__ import annotations

from wayfare.kernels.gpu.tritons import tl, triton

__all__ = ["solve_in_registers"]

LARGEST = tl.constexpr(30.0)
TINY = tl.constexpr(1e-30)
FLOOR = tl.constexpr(1e-18)
SCALE_LIMIT = tl.constexpr(100.0)


@triton.jit
def inverse(x):
    return tl.where(x > 0, 1.0 / tl.where(x > 0, x, 1.0), 0.0)


@triton.jit
def log2(x):
    return tl.log2(tl.where(x > 0, x, 1.0))


@triton.jit
def root(logarithm):
    return tl.exp2(tl.minimum(tl.maximum(0.5 * logarithm, -LARGEST), LARGEST))


@triton.jit
def move(potential, scale, sums, weight, power, step):
    """Equations (1) and (2); a scaling stays in range, and the potential with it."""
    wanted = step * (scale + log2(tl.maximum(sums, TINY)) - log2(weight) - potential)
    wanted = tl.where((weight > 0) & (sums > 0), wanted, 0.0)
    after = tl.minimum(tl.maximum(scale - power * wanted, -SCALE_LIMIT), SCALE_LIMIT)
    return potential + (scale - after) / power, after


@triton.jit
def shift(a, b):
    """Half the logarithm of `a / b`, and 0 where either has no mass."""
    live = (a > 0) & (b > 0)
    return tl.where(live, 0.5 * (log2(a) - log2(b)), 0.0)


@triton.jit
def _plan(h, row_log, col_log, power):
    """`(h_ij^2 / (a_i b_j))^power`, through logarithms."""
    exponent = power * (2.0 * log2(h) - row_log - col_log)
    return tl.where(h > 0, tl.exp2(tl.minimum(exponent, SCALE_LIMIT)), 0.0)


@triton.jit
def _gather(table, words, columns, some_rows, some_columns, stride):
    at = words[:, None] * stride + columns[None, :]
    return tl.load(table + at, mask=some_rows[:, None] & some_columns[None, :], other=0.0)


@triton.jit
def _gather_t(table, words, columns, some_rows, some_columns, stride):
    at = words[None, :] * stride + columns[:, None]
    return tl.load(table + at, mask=some_rows[None, :] & some_columns[:, None], other=0.0)


@triton.jit
def solve_in_registers(
    table,
    stride,
    first_starts,
    first_words,
    first_shares,
    second_starts,
    second_columns,
    second_shares,
    pair_first,
    pair_second,
    potentials,
    stages,
    depth,
    power,
    fresh,
    out_low,
    out_high,
    M: tl.constexpr,
    N: tl.constexpr,
    RELAX: tl.constexpr,
):
    """One pass over the pair of this program: bounds on S, as computed, and the potentials.

    `table` has a row for each word of the first documents and a column for each place of the second.
    `M` and `N` are powers of two, at least the sizes of the pair.
    """
    pair = tl.program_id(0).to(tl.int64)
    first, second = tl.load(pair_first + pair), tl.load(pair_second + pair)
    start, begin = tl.load(first_starts + first), tl.load(second_starts + second)
    m = (tl.load(first_starts + first + 1) - start).to(tl.int32)
    n = (tl.load(second_starts + second + 1) - begin).to(tl.int32)
    i, j = tl.arange(0, M), tl.arange(0, N)
    words = tl.load(first_words + start + i, mask=i < m, other=0)
    columns = tl.load(second_columns + begin + j, mask=j < n, other=0)
    mu = tl.load(first_shares + start + i, mask=i < m, other=0.0)
    nu = tl.load(second_shares + begin + j, mask=j < n, other=0.0)
    potentials += pair * (M + N)
    real = table.dtype.element_ty
    power = tl.cast(power, real)

    h = _gather(table, words, columns, i < m, j < n, stride)
    h_t = _gather_t(table, words, columns, i < m, j < n, stride)
    if fresh > 0:
        # a_i = max_j h_ij^2, b_j = max_i h_ij^2 / a_i: feasible, tight in every row.
        reach = tl.max(h, axis=1)
        across = tl.max(h_t * inverse(reach)[None, :], axis=1)
        rows = 2.0 * log2(reach)
        cols = 2.0 * log2(across)
    else:
        rows = tl.load(potentials + i)
        cols = tl.load(potentials + M + j)
    plan = _plan(h, rows[:, None], cols[None, :], power)
    plan_t = _plan(h_t, rows[None, :], cols[:, None], power)
    row_scale, col_scale = tl.zeros_like(mu), tl.zeros_like(nu)
    # `while` and not `range`, whose bounds the interpreter cannot read off an array.
    stage = 0
    while stage < depth:
        length = tl.load(stages + stage)
        sweep = 0
        while sweep < length:
            # The first sweep after a squaring takes the jump; relaxing it would overshoot.
            step = tl.cast(tl.where(sweep > 0, RELAX, 1.0), real) / (power + 1.0)
            sums = tl.sum(plan * tl.exp2(col_scale)[None, :], axis=1)
            rows, row_scale = move(rows, row_scale, sums, mu, power, step)
            sums = tl.sum(plan_t * tl.exp2(row_scale)[None, :], axis=1)
            cols, col_scale = move(cols, col_scale, sums, nu, power, step)
            sweep += 1
        # (3), once a stage.
        a, b = root(rows), root(cols)
        constant = shift(tl.sum(mu * a * a, axis=0), tl.sum(nu * b * b, axis=0))
        rows -= constant
        cols += constant
        stage += 1
        if stage < depth:
            u, v = tl.exp2(row_scale), tl.exp2(col_scale)
            plan = plan * u[:, None] * v[None, :]
            plan_t = plan_t * u[None, :] * v[:, None]
            plan = tl.where(plan > FLOOR, plan * plan, 0.0)
            plan_t = tl.where(plan_t > FLOOR, plan_t * plan_t, 0.0)
            row_scale, col_scale = tl.zeros_like(mu), tl.zeros_like(nu)
            power *= 2.0

    # Always 0, but the compiler cannot know: it would keep all addresses in registers all the while.
    nought = tl.minimum(depth, 0)
    words = tl.load(first_words + start + nought + i, mask=i < m, other=0)
    columns = tl.load(second_columns + begin + nought + j, mask=j < n, other=0)
    some_rows, some_columns = i < m + nought, j < n + nought
    # (5): the rows of the plan brought to mu, and the best columns for them.
    v = tl.exp2(col_scale)
    sums = tl.sum(plan * v[None, :], axis=1)
    share = tl.where(sums > TINY, mu * inverse(sums), 0.0)
    h_t = _gather_t(table, words, columns, some_rows, some_columns, stride)
    arriving = tl.sum(plan_t * h_t * h_t * share[None, :], axis=1)
    low = tl.sum(tl.sqrt(nu * v * arriving), axis=0)
    # (4): b_j = max_i h_ij^2 / a_i, then a_i = max_j h_ij^2 / b_j, in roots.
    b = tl.max(h_t * root(-rows)[None, :], axis=1)
    h = _gather(table, words, columns, some_rows, some_columns, stride)
    a = tl.max(h * inverse(b)[None, :], axis=1)
    high = tl.sqrt(tl.sum(mu * a * a, axis=0) * tl.sum(nu * b * b, axis=0))
    tl.store(out_low + pair, low)
    tl.store(out_high + pair, high)
    tl.store(potentials + i, rows)
    tl.store(potentials + M + j, cols)

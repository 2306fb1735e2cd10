"""Pairs of documents by size class, pass after pass, until each is certified or left open.

    sort       pairs into classes of padded sizes, 16 x 16 up
    pass       each class in blocks that fit the memory; what meets its goal leaves
    close up   the rest goes into the next pass with its potentials

Bounds on J are formed in float64 from bounds on S, with every rounding on the safe side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from wayfare.errors import WayfareError
from wayfare.kernels.gpu.engines import Batch, Engine
from wayfare.kernels.gpu.placed import Table
from wayfare.kernels.gpu.problem import PASSES, Pass, rounding_of
from wayfare.kernels.gpu.torches import free_bytes, is_out_of_memory, relieve, torch

__all__ = ["Goal", "Narrowed", "in_blocks", "narrow", "nothing_found"]

Tensor = Any

SMALLEST_CLASS = 16
MOST_PAIRS_A_BLOCK = 1 << 22
ROOTS = 1e-15  # what two square roots may lose, as a share of the masses


@dataclass(frozen=True)
class Goal:
    """A pair is done when its gap is within `tol * max(J, atol * (|mu| + |nu|))`, or J is above `cut`."""

    tol: float
    atol: float
    cut: Tensor | None = None


@dataclass(frozen=True)
class Narrowed:
    """Bounds on J of each pair, in float64, which are still open, the masses and the sweeps."""

    lower: Tensor
    upper: Tensor
    open: Tensor
    sweeps: Tensor
    total: Tensor

    def put(self, some: Any, found: Narrowed) -> None:
        """Take in what was found of some of the pairs."""
        t = torch()
        self.lower[some] = t.maximum(self.lower[some], found.lower)
        self.upper[some] = t.minimum(self.upper[some], found.upper)
        self.open[some] = found.open
        self.sweeps[some] += found.sweeps


def nothing_found(mine: Any, other: Any, first: Tensor, second: Tensor) -> Narrowed:
    """What the masses of documents alone say: `(sqrt |mu| - sqrt |nu|)^2 <= J <= |mu| + |nu|`."""
    t = torch()
    p, q = mine.masses[first], other.masses[second]
    total = p + q
    empty = (mine.sizes[first] == 0) | (other.sizes[second] == 0)
    apart = (p.sqrt() - q.sqrt()).square()
    # Near equal masses the square does not cancel, but its roots are rounded.
    lower = t.where(empty, total, (apart - ROOTS * total).clamp(min=0.0))
    return Narrowed(lower, total.clone(), ~empty, t.zeros_like(first, dtype=t.int32), total)


@dataclass(frozen=True)
class _Pairs:
    """All pairs at once: what is asked and, filled in as it is found, what is proven."""

    table: Table
    first: Tensor
    second: Tensor
    total: Tensor
    scale: Tensor
    rounding: Tensor
    found: Narrowed

    @classmethod
    def of(cls, table: Table, first: Tensor, second: Tensor) -> _Pairs:
        mine, other = table.first.masses[first], table.second.masses[second]
        total, scale = mine + other, 2.0 * mine.sqrt() * other.sqrt()
        m, n = table.first.sizes[first], table.second.sizes[second]
        found = nothing_found(table.first, table.second, first, second)
        rounding = rounding_of(m + n, table.slack, table.cosines.dtype)
        return cls(table, first, second, total, scale, rounding, found)


def narrow(
    table: Table,
    first: Tensor,
    second: Tensor,
    goal: Goal,
    engines: Sequence[Engine],
    passes: Sequence[Pass] = PASSES,
) -> Narrowed:
    """Bound J of the documents `first` and `second` of a table, pair by pair.

    A pair is left open where every pass has run, or rounding forbids what is asked.
    """
    t = torch()
    pairs = _Pairs.of(table, first, second)
    rows, cols = (_class_of(side.sizes) for side in (table.first, table.second))
    codes = t.where(pairs.found.open, rows[first] * 64 + cols[second], 0)
    order = codes.argsort(stable=True)
    begin = 0
    for code, count in enumerate(codes.bincount().tolist()):
        some = order[begin : begin + count]
        begin += count
        if code and count:
            m, n = 1 << code // 64, 1 << code % 64
            engine = next(one for one in engines if one.takes(m, n, table))

            run = partial(_run_passes, pairs, some, (m, n), goal, engine, passes)

            memory = free_bytes(table.cosines.device) // 2
            block = min(memory // engine.bytes_a_pair(m, n, table), MOST_PAIRS_A_BLOCK)
            in_blocks(run, count, int(block))
    return pairs.found


def _class_of(sizes: Tensor) -> Tensor:
    """The exponent of the next power of two; an empty document has none and is left out."""
    return sizes.clamp(min=SMALLEST_CLASS).sub(1).double().log2().floor().long() + 1


def in_blocks(work: Callable[[slice], None], count: int, size: int) -> None:
    """Call `work` on consecutive blocks of `count` things; out of memory halves the block and goes on.

    Before the first halving, what is kept on the device for later is given back.
    """
    start, size, relieved = 0, max(min(size, count), 1), False
    while start < count:
        try:
            work(slice(start, min(start + size, count)))
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            if size == 1 and relieved:
                raise WayfareError(
                    "device: its memory does not hold one block of documents; free memory on it, "
                    'shorten the longest documents, or use device="cpu"'
                ) from error
        else:
            start += size
            continue
        # Outside the handler, where the traceback no longer keeps the failed block's tensors alive.
        if relieved or not relieve():
            size = (size + 1) // 2
        relieved = True


def _run_passes(
    pairs: _Pairs,
    picks: Tensor,
    size: tuple[int, int],
    goal: Goal,
    engine: Engine,
    passes: Sequence[Pass],
    block: slice,
) -> None:
    some, potentials = picks[block], None
    for now in passes:
        batch = Batch(pairs.table, pairs.first[some], pairs.second[some], *size)
        low, high, potentials = engine.run(batch, now, potentials)
        pairs.found.sweeps[some] += sum(now.stages)
        worth = _record(pairs, some, low, high, goal)
        some = some[worth]
        if not len(some):
            return
        potentials = potentials[worth]


def _record(pairs: _Pairs, some: Tensor, low: Tensor, high: Tensor, goal: Goal) -> Tensor:
    """Take bounds on S into the bounds on J; tells which pairs are worth another pass."""
    t, found = torch(), pairs.found
    total, scale, rounding = pairs.total[some], pairs.scale[some], pairs.rounding[some]
    # What is no number proves nothing.
    high = t.nan_to_num(high.double(), nan=1.0, posinf=1.0) + rounding
    low = t.nan_to_num(low.double(), nan=0.0, posinf=0.0) - rounding
    lower = t.maximum(found.lower[some], total - scale * high.clamp(max=1.0))
    upper = t.minimum(found.upper[some], total - scale * low.clamp(0.0, 1.0))
    upper = t.maximum(lower, upper)
    wanted = goal.tol * t.maximum(upper, goal.atol * total)
    left = upper - lower > wanted
    if goal.cut is not None:
        left &= lower <= goal.cut[some]
    found.lower[some], found.upper[some], found.open[some] = lower, upper, left
    return left & (2.0 * rounding * scale < wanted)

"""Who runs a pass over the pairs of one size class: Triton in registers or in tiles, or plain PyTorch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from wayfare.kernels.gpu.placed import Side, Table
from wayfare.kernels.gpu.plain import pass_padded
from wayfare.kernels.gpu.problem import OVER_RELAXATION, Pass
from wayfare.kernels.gpu.torches import torch
from wayfare.kernels.gpu.tritons import HAS_TRITON

__all__ = ["Batch", "Engine", "Found", "Fused", "Plain", "Tiled", "best_engine"]

Tensor = Any

# Entries of a plan that fit in registers twice, with their vectors; and how many a thread takes.
MOST_IN_REGISTERS = 128 * 128
ENTRIES_A_THREAD = 32
MOST_WARPS = 16
# Points of the shorter side of a tiled pair, and entries of a tile.
MOST_ROWS = 512
TILE_ENTRIES = 8192


# Bounds on S of pairs of documents, as computed, and their potentials (pairs, m + n).
Found = tuple[Tensor, Tensor, Tensor]


@dataclass(frozen=True)
class Batch:
    """Pairs of documents of a table, padded to m x n points."""

    table: Table
    first: Tensor
    second: Tensor
    m: int
    n: int


class Engine(Protocol):
    """Runs a pass over pairs of one size class."""

    def takes(self, m: int, n: int, table: Table) -> bool:
        """Whether problems of this size are for it."""

    def bytes_a_pair(self, m: int, n: int, table: Table) -> int:
        """What one pair takes of the device's memory while a pass runs."""

    def run(self, some: Batch, now: Pass, before: Tensor | None) -> Found:
        """Bound the pairs, from the potentials of the pass before."""


class Plain:
    """The padded batch of `plain.py`: any size, any device."""

    def takes(self, m: int, n: int, table: Table) -> bool:
        """Always."""
        return True

    def bytes_a_pair(self, m: int, n: int, table: Table) -> int:
        """About ten matrices: the cosines, the plan and what is formed on the way."""
        return 10 * m * n * int(table.cosines.element_size())

    def run(self, some: Batch, now: Pass, before: Tensor | None) -> Found:
        """Pad, gather and solve."""
        t, table = torch(), some.table
        rows, mu = _padded(table.first, some.first, some.m)
        cols, nu = _padded(table.second, some.second, some.n)
        h = table.cosines[rows[:, :, None], cols[:, None, :]]
        h = t.where((mu > 0)[:, :, None] & (nu > 0)[:, None, :], h, 0.0)
        start = None if before is None else (before[:, : some.m], before[:, some.m :])
        low, high, after = pass_padded(h, mu, nu, now, start)
        return low, high, t.cat(after, 1)


def _padded(side: Side, documents: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """The places and the shares of some documents, as rows of one width; a share of 0 is padding."""
    t = torch()
    at = t.arange(width, device=documents.device)
    inside = at < side.sizes[documents, None]
    entries = t.where(inside, side.starts[documents, None] + at, 0)
    places = side.places[entries].long()
    return t.where(inside, places, 0), t.where(inside, side.shares[entries], 0.0)


class Fused:
    """The Triton kernel of `fused.py`, for pairs that fit in registers."""

    def takes(self, m: int, n: int, table: Table) -> bool:
        """Up to 128 x 128, 256 x 64 and so on; half of that in float64."""
        return m * n * int(table.cosines.element_size()) <= 4 * MOST_IN_REGISTERS

    def bytes_a_pair(self, m: int, n: int, table: Table) -> int:
        """Its potentials and bounds, and their copies when a pass closes up."""
        return 3 * (m + n + 8) * int(table.cosines.element_size())

    def run(self, some: Batch, now: Pass, before: Tensor | None) -> Found:
        """Launch one program a pair."""
        from wayfare.kernels.gpu import fused

        table = some.table
        return _launch(
            fused.solve_in_registers,
            table.cosines,
            [table.cosines.stride(0)],
            (table.first, some.first, some.m),
            (table.second, some.second, some.n),
            [],
            now,
            before,
            M=some.m,
            N=some.n,
            num_warps=warps_for(some.m, some.n),
        )


class Tiled:
    """The Triton kernel of `tiled.py`, for pairs whose shorter side fits in registers."""

    def takes(self, m: int, n: int, table: Table) -> bool:
        """Up to 512 points on the shorter side, in float32; what is left of them is for `Plain`."""
        return min(m, n) <= MOST_ROWS and int(table.cosines.element_size()) == 4

    def bytes_a_pair(self, m: int, n: int, table: Table) -> int:
        """Its plan and its potentials."""
        return (m * n + 4 * (m + n)) * int(table.cosines.element_size())

    def run(self, some: Batch, now: Pass, before: Tensor | None) -> Found:
        """Launch one program a pair; the shorter side are its rows."""
        from wayfare.kernels.gpu import tiled

        t, table = torch(), some.table
        sides = [
            ((table.first, some.first, some.m), table.cosines.stride(0)),
            ((table.second, some.second, some.n), 1),
        ]
        (rows, down), (cols, across) = sides if some.m <= some.n else sides[::-1]
        like = {"dtype": table.cosines.dtype, "device": table.cosines.device}
        count, height, width = len(some.first), rows[2], cols[2]
        plans, scales = (t.empty(count, size, **like) for size in (height * width, width))
        return _launch(
            tiled.solve_in_tiles,
            table.cosines,
            [down, across],
            rows,
            cols,
            [plans, scales, width],
            now,
            before,
            M=height,
            TILE=min(TILE_ENTRIES // height, width),
            # Two warps along the columns at least: Triton 3.6 fails to compile the layout with one.
            num_warps=max(height // 16, 16),
        )


def _launch(
    kernel: Any,
    cosines: Tensor,
    strides: list[int],
    rows: tuple[Side, Tensor, int],
    cols: tuple[Side, Tensor, int],
    scratch: list[Any],
    now: Pass,
    before: Tensor | None,
    **constants: int,
) -> Found:
    """One program for each pair of a document of `rows` with one of `cols`, padded to their sizes."""
    t, count = torch(), len(rows[1])
    like = {"dtype": cosines.dtype, "device": cosines.device}
    potentials = t.empty(count, rows[2] + cols[2], **like) if before is None else before
    low, high = t.empty(count, **like), t.empty(count, **like)
    kernel[(count,)](
        cosines,
        *strides,
        *(
            array
            for side in (rows[0], cols[0])
            for array in (side.starts, side.places, side.shares)
        ),
        *(documents.to(t.int32) for _, documents, _ in (rows, cols)),
        potentials,
        *scratch,
        t.tensor(now.stages, dtype=t.int32, device=like["device"]),
        len(now.stages),
        now.power,
        int(now.fresh),
        low,
        high,
        RELAX=OVER_RELAXATION,
        **constants,
    )
    return low, high, potentials


def warps_for(m: int, n: int) -> int:
    """How many warps share one pair: so many that its plan fits in their registers."""
    return min(max(m * n // (32 * ENTRIES_A_THREAD), 1), MOST_WARPS)


def best_engine(device: Any) -> tuple[Engine, ...]:
    """The engines for a device, the first that takes a pair's size runs it."""
    if device.type == "cuda" and HAS_TRITON:
        return (Fused(), Tiled(), Plain())
    return (Plain(),)

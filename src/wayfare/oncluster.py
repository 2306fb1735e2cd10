"""All pairs of two corpora on the workers of a Dask cluster: the matrix in tiles, a task each.

A block of documents is sent once and kept by the workers that need it; what comes back are the bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import InputError
from wayfare.extras import require
from wayfare.many import Documents
from wayfare.progress import Progress

__all__ = ["all_pairs", "check_client"]

Array = NDArray[np.float64]
Solve = Callable[[Documents, Documents | None], tuple[Array, Array]]

TILE = 512  # documents on a side


def check_client(client: Any) -> Any:
    """Return a Dask client, or say what came instead."""
    distributed = require("distributed", extra="dask")
    if not isinstance(client, distributed.Client):
        raise InputError(f"client: {type(client).__name__} came; give a dask.distributed.Client")
    return client


def all_pairs(
    client: Any, first: Documents, second: Documents | None, solve: Solve, show: bool | None
) -> tuple[Array, Array]:
    """The two matrices of `solve` for all pairs; of those above the diagonal where `second` is None."""
    distributed: Any = import_module("distributed")
    check_client(client)
    columns = first if second is None else second
    lower, upper = (np.zeros((len(first), len(columns))) for _ in range(2))
    rows_sent = _sent(client, first)
    columns_sent = rows_sent if second is None else _sent(client, columns)
    tiles: dict[Any, tuple[slice, slice]] = {}
    for rows, block in rows_sent.items():
        for cols, other in columns_sent.items():
            if second is None and cols < rows:
                continue
            whole = second is not None or cols != rows
            tile = client.submit(_solved, solve, block, other if whole else None, pure=False)
            tiles[tile] = (_span(rows, first), _span(cols, columns))
    with Progress("solving", total=upper.size, unit="pairs", show=show) as progress:
        for tile in distributed.as_completed(list(tiles)):
            at = tiles.pop(tile)
            lower[at], upper[at] = tile.result()
            progress.advance(lower[at].size)
    return lower, upper


def _sent(client: Any, documents: Documents) -> dict[int, Any]:
    """Blocks of documents on the workers, by their first document; made again if a worker dies."""
    return {
        start: client.submit(_same, documents.block(start, stop), pure=False)
        for start, stop in _edges(len(documents))
    }


def _edges(count: int) -> Iterator[tuple[int, int]]:
    for start in range(0, count, TILE):
        yield start, min(start + TILE, count)


def _span(start: int, documents: Documents) -> slice:
    return slice(start, min(start + TILE, len(documents)))


def _same(block: Documents) -> Documents:
    return block


def _solved(solve: Solve, first: Documents, second: Documents | None) -> tuple[Array, Array]:
    return solve(first, second)

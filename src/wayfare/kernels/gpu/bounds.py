"""Lower bounds for search on the device: one number a word and query, for all documents at once."""

from __future__ import annotations

from typing import Any

from wayfare.kernels.gpu.pairs import nothing_found
from wayfare.kernels.gpu.placed import Table
from wayfare.kernels.gpu.torches import torch

__all__ = ["word_bounds"]

Tensor = Any

# What a bound loses to float32: some products a term, and one unit for each term of a sum.
ROUNDING, UNIT = 1e-5, 2.0**-24
# Terms that are summed at once.
TERMS = 1 << 28


def word_bounds(table: Table) -> Tensor:
    """`J >= |mu| + |nu| - 2 sqrt(|mu| sum_j nu_j max_i k_ij)` for each query and document.

    The columns of the table are words, as `vocabulary_table` makes them.
    """
    t, queries, documents = torch(), table.first, table.second
    count, entries = len(queries.sizes), max(len(documents.places), 1)
    affinity = t.zeros(count, len(documents.sizes), dtype=t.float64, device=table.cosines.device)
    step = max(TERMS // entries, 1)
    for start in range(0, count, step):
        some = slice(start, min(start + step, count))
        span = slice(int(queries.starts[some.start]), int(queries.starts[some.stop]))
        near = table.cosines[queries.places[span].long()]
        reach = t.segment_reduce(
            near, "max", lengths=queries.sizes[some], axis=0, initial=0.0, unsafe=True
        )
        terms = reach.square_().T[documents.places.long()] * documents.shares[:, None]
        sums = t.segment_reduce(terms, "sum", lengths=documents.sizes, axis=0, initial=0.0)
        affinity[some] = sums.T.double().sqrt()
    longest = int(documents.sizes.max()) if len(documents.sizes) else 0
    affinity *= 1 + ROUNDING + longest * UNIT
    affinity += table.slack
    first = t.arange(count, device=affinity.device)[:, None]
    second = t.arange(affinity.shape[1], device=affinity.device)[None, :]
    known = nothing_found(queries, documents, first, second).lower
    mine, other = queries.masses[first], documents.masses[second]
    scale = 2.0 * mine.sqrt() * other.sqrt()
    return t.maximum(known, mine + other - scale * affinity.clamp_(max=1.0))

"""Lower bounds for search on the device: for all queries and documents at once."""

from __future__ import annotations

from typing import Any

from wayfare.kernels.gpu.pairs import nothing_found
from wayfare.kernels.gpu.placed import Table
from wayfare.kernels.gpu.torches import torch

__all__ = ["search_bounds"]

Tensor = Any

# What a bound loses to float32: some products a term, and one unit for each term of a sum.
ROUNDING, UNIT = 1e-5, 2.0**-24
# Terms that are summed at once.
TERMS = 1 << 28


def search_bounds(table: Table) -> Tensor:
    """The larger of two lower bounds on J, for each query and document.

        from a = 1   J >= |mu| + |nu| - 2 sqrt(|mu| sum_j nu_j max_i k_ij)
        from b = 1   J >= |mu| + |nu| - 2 sqrt(|nu| sum_i mu_i max_j k_ij)

    The columns of the table are words, as `vocabulary_table` makes them.
    """
    t, queries, documents = torch(), table.first, table.second
    affinity = t.minimum(_reached_words(table), _reached_rows(table)).sqrt_()
    longest = max(int(side.sizes.max()) if len(side.sizes) else 0 for side in (queries, documents))
    affinity *= 1 + ROUNDING + longest * UNIT
    affinity += table.slack
    first = t.arange(len(queries.sizes), device=affinity.device)[:, None]
    second = t.arange(affinity.shape[1], device=affinity.device)[None, :]
    known = nothing_found(queries, documents, first, second).lower
    mine, other = queries.masses[first], documents.masses[second]
    scale = 2.0 * mine.sqrt() * other.sqrt()
    return t.maximum(known, mine + other - scale * affinity.clamp_(max=1.0))


def _reached_words(table: Table) -> Tensor:
    """`sum_j nu_j max_i k_ij` at mass one, (queries, documents): one number a word and query."""
    t, queries, documents = torch(), table.first, table.second
    count = len(queries.sizes)
    out = t.zeros(count, len(documents.sizes), dtype=t.float64, device=table.cosines.device)
    step = max(TERMS // max(len(documents.places), 1), 1)
    for start in range(0, count, step):
        some = slice(start, min(start + step, count))
        span = slice(int(queries.starts[some.start]), int(queries.starts[some.stop]))
        near = table.cosines[queries.places[span].long()]
        reach = t.segment_reduce(
            near, "max", lengths=queries.sizes[some], axis=0, initial=0.0, unsafe=True
        )
        terms = reach.square_().T[documents.places.long()] * documents.shares[:, None]
        sums = t.segment_reduce(terms, "sum", lengths=documents.sizes, axis=0, initial=0.0)
        out[some] = sums.T.double()
    return out


def _reached_rows(table: Table) -> Tensor:
    """`sum_i mu_i max_j k_ij` at mass one, (queries, documents): one number a document and query word.

    A word that many queries have is looked up in each document once for all of them. A sum has terms
    other than 0 for the words of its query only, so that no others round.
    """
    t, queries, documents = torch(), table.first, table.second
    words, count = len(table.cosines), len(queries.sizes)
    like = {"dtype": table.cosines.dtype, "device": table.cosines.device}
    owners = t.arange(count, device=like["device"]).repeat_interleave(queries.sizes)
    shares = t.zeros(words, count, **like)
    shares.index_put_((queries.places.long(), owners), queries.shares, accumulate=True)
    out = t.zeros(len(documents.sizes), count, dtype=t.float64, device=like["device"])
    step = max(TERMS // max(len(documents.places), 1), 1)
    for start in range(0, words, step):
        some = slice(start, start + step)
        near = table.cosines[some].T.contiguous()[documents.places.long()]
        reach = t.segment_reduce(
            near, "max", lengths=documents.sizes, axis=0, initial=0.0, unsafe=True
        )
        out += reach.square_() @ shares[some]
    return out.T

"""From what each shard found to one answer, proven over all of them.

Each shard proves that what it left out lies beyond what it returned, or beyond the limit it was given.
So the nearest of all are among what the shards returned, and only there can it be open which of two is
nearer: where the intervals of two shards overlap at the border.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np

from wayfare.search import Hits, SearchWork

__all__ = ["Found", "merge", "nearest_upper"]

# How far the border is refined, in turn, as in a search of one index.
BORDER_TOLS = (1e-4, 1e-6, 1e-8, 1e-10)
# How far apart the bounds of two copies of one document may lie, by the order of their sums alone.
COPIES = 1e-4


@dataclass(frozen=True)
class Found:
    """One document that a share of the shards returned."""

    share: int
    id: Any
    lower: float
    upper: float
    text: str | None


Refine = Callable[[Sequence[Found], float], dict[Any, tuple[float, float]]]
Equal = Callable[[Found, Found], bool]


def nearest_upper(parts: Sequence[Hits], k: int | None) -> float | None:
    """The k-th smallest upper bound so far: what lies beyond it cannot be in the answer."""
    if k is None:
        return None
    uppers = np.concatenate([part.upper for part in parts] or [np.empty(0)])
    return float(np.partition(uppers, k - 1)[k - 1]) if len(uppers) >= k else None


def merge(
    parts: dict[int, Hits], k: int | None, missing: Sequence[str], refine: Refine, equal: Equal
) -> Hits:
    """One answer out of those of the shards."""
    found = _alike([one for share, hits in parts.items() for one in _listed(share, hits)], equal)
    count = len(found) if k is None else min(k, len(found))
    fast = not all(hits.exact or hits.tied for hits in parts.values())
    refined = 0
    for tol in () if fast else BORDER_TOLS:
        border = _border(found, count, equal)
        if not border:
            break
        known = refine(border, tol)
        refined += len(border)
        found = [_narrowed(one, known.get(one.id)) for one in found]
        found = _alike(found, equal)
    found.sort(key=_order)
    inside, border = found[:count], _border(found, count, equal)
    # A tie at the border of one shard is of no account where the border of all is nearer.
    reach = max((one.upper for one in inside), default=0.0) if count == k else np.inf
    unsure = [hits for hits in parts.values() if not (hits.exact or hits.outside >= reach)]
    tied = [id for hits in unsure for id in hits.tied] + [one.id for one in border]
    work = reduce(add, (hits.work for hits in parts.values()), SearchWork(refined=refined))
    texts = [one.text for one in inside]
    return Hits(
        ids=[one.id for one in inside],
        distances=np.array([one.upper for one in inside]),
        lower=np.array([one.lower for one in inside]),
        upper=np.array([one.upper for one in inside]),
        exact=not (unsure or border or missing),
        ordered=all(_follows(one, after, equal) for one, after in pairwise(inside)),
        work=work,
        tied=list(dict.fromkeys(tied)),
        texts=None if all(text is None for text in texts) else texts,
        outside=min(
            [hits.outside for hits in parts.values()] + [one.lower for one in found[count:]]
        )
        if parts and not missing
        else 0.0,
        missing=tuple(missing),
    )


def _listed(share: int, hits: Hits) -> list[Found]:
    return [Found(share, hit.id, hit.lower, hit.upper, hit.text) for hit in hits]


def _order(one: Found) -> tuple[float, Any]:
    return one.upper, one.id


def _narrowed(one: Found, known: tuple[float, float] | None) -> Found:
    if known is None:
        return one
    return replace(one, lower=max(one.lower, known[0]), upper=min(one.upper, known[1]))


def _alike(found: list[Found], equal: Equal) -> list[Found]:
    """Give copies of one document one interval, so that their ids decide: what is proven of one holds
    for all, and the order in which a shard added up its words must not show.
    """
    ranked = sorted(found, key=_order)
    for at in range(len(ranked)):
        for other in range(at + 1, len(ranked)):
            a, b = ranked[at], ranked[other]
            if not _close(a, b):
                break
            if (a.lower, a.upper) != (b.lower, b.upper) and equal(a, b):
                lower, upper = max(a.lower, b.lower), min(a.upper, b.upper)
                ranked[at] = replace(a, lower=lower, upper=upper)
                ranked[other] = replace(b, lower=lower, upper=upper)
    return ranked


def _close(a: Found, b: Found) -> bool:
    """Whether two intervals could be those of one document; to look costs a journey to its shard."""
    return abs(a.upper - b.upper) <= COPIES * max(a.upper, b.upper)


def _follows(one: Found, after: Found, equal: Equal) -> bool:
    return one.upper <= after.lower or (_close(one, after) and equal(one, after))


def _border(found: list[Found], k: int, equal: Equal) -> list[Found]:
    """Documents whose intervals do not tell whether they are inside."""
    ranked = sorted(found, key=_order)
    inside, rest = ranked[:k], ranked[k:]
    if not inside or not rest:
        return []
    reach, nearest = max(one.upper for one in inside), min(one.lower for one in rest)
    if nearest >= reach:
        return []
    near = [one for one in inside if one.upper > nearest]
    far = [one for one in rest if one.lower < reach]
    settled = all(
        a.upper <= b.lower or (a.id < b.id and _close(a, b) and equal(a, b))
        for a in near
        for b in far
    )
    return [] if settled else near + far

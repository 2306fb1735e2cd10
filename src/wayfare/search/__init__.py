"""Certified search: the nearest documents, and the proof that no other is nearer.

hits.py       what a search answers
cascade.py    WFR: bound, narrow, solve, prove
on_device.py WFR for many queries at once on a GPU
balanced.py   WMD by prefetch and prune; Hellinger
paper.py      the paper's Algorithm 3
door.py       search by name, many queries, and re-ranking
"""

from wayfare.search.door import Mode, SearchMetric, rank, search, search_many
from wayfare.search.hits import Hit, Hits, SearchWork

__all__ = [
    "Hit",
    "Hits",
    "Mode",
    "SearchMetric",
    "SearchWork",
    "rank",
    "search",
    "search_many",
]

"""Certified search: the nearest documents, and the proof that no other is nearer.

hits.py       what a search answers
request.py    what is searched for, and how long it may take
parts.py      one collection in one search
cascade.py    WFR: bound, narrow, solve
proof.py      what is proven of the answer, and its order
rounds.py     many queries against documents on a GPU, step by step
on_device.py  WFR for many queries at once on a GPU
closed.py     Hellinger, and WFR from the zero measure
balanced.py   WMD: bound, narrow, transport
spans.py      how far each word is from the query's, for balanced.py
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

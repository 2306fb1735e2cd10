"""A corpus on disk, searched exactly; what it promises stands in docs/indexes.md.

    index.json                 the name of the catalogue that counts
    catalog-<token>.sqlite     ids, texts, facet values, words, settings, and which files count
    words-<token>.*            the words as points, for all segments; only ever longer
    documents-<token>.segment  documents as arrays; never changed
    fit-<token>.segment        what a weighting was fitted to
    write.lock                 held by the one writer

lock.py        one writer at a time
files.py       whole or not there: sync, rename
segments.py    arrays in a file, mapped
words.py       the words as points
catalog.py     the SQLite side
settings.py    what an index was built with
reading.py     how it reads texts
facets.py      labels and metadata as numbers
snapshot.py    the state at one moment
shelving.py    documents on their way into a segment
incoming.py    new documents in the numbering of an index
writing.py     add, delete, compact
building.py    build
answering.py   a caller's arguments to a search, and back
graph.py       the graph of neighbours
state.py       what an index tells about itself
states.py      one snapshot after the other, and whose turn it is to write
index.py       the door
"""

from __future__ import annotations

from wayfare.index.index import Index
from wayfare.index.state import Document, IndexInfo

__all__ = ["Document", "Index", "IndexInfo"]

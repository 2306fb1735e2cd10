"""Many documents over one set of points, from every form in which people have them.

counting.py   words -> numbers -> counts, a block of documents at a time
assemble.py   counts -> embedded, unknown words dropped, weighed; all in bounded memory
columns.py    ids, labels, metadata
points.py     points and weights of the caller's own
build.py      the arrays of a Corpus: a function a source
corpus.py     Corpus
"""

from __future__ import annotations

from wayfare.corpus.corpus import Corpus

__all__ = ["Corpus"]

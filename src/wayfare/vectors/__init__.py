"""Words to points, in every form that word vectors come in.

word_vectors.py   WordVectors: the one class that the rest of the house knows
arguments.py      what its methods are given, checked
builtin.py        the vectors that come with the installation
hub.py            models by name
cache.py          what was parsed once, memory-mapped

store.py          the interface of what stands behind WordVectors, and its three kinds:
table.py            one row a word
tokens.py           one row a token; a word is the mean of its tokens
ngrams.py           one row a word and one a bucket of character n-grams: fastText
vocabulary.py     words to rows without a dictionary

formats/          a file each: how they are told apart, and how they are read
"""

from __future__ import annotations

from wayfare.vectors.cache import CacheEntry, CacheInfo, cache_info, clear_cache
from wayfare.vectors.store import LoadReport
from wayfare.vectors.word_vectors import WordVectors

__all__ = ["CacheEntry", "CacheInfo", "LoadReport", "WordVectors", "cache_info", "clear_cache"]

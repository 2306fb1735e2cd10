"""Certified Wasserstein-Fisher-Rao distances between documents, and exact search under them.

Names are imported when they are first used, so that `import wayfare` stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wayfare.corpus import Corpus
    from wayfare.errors import WayfareError
    from wayfare.front import DistanceBounds, distance, pairwise, pairwise_bounds
    from wayfare.index import Index
    from wayfare.measure import Measure
    from wayfare.search import Hits, rank
    from wayfare.solution import Certificate, Plan, Solution, Status
    from wayfare.text import tokenize
    from wayfare.vectors import WordVectors

__version__ = "0.1.0"

# Each public name and the room it lives in.
_ROOMS = {
    "Certificate": "wayfare.solution",
    "Corpus": "wayfare.corpus",
    "DistanceBounds": "wayfare.front",
    "Hits": "wayfare.search",
    "Index": "wayfare.index",
    "Measure": "wayfare.measure",
    "Plan": "wayfare.solution",
    "Solution": "wayfare.solution",
    "Status": "wayfare.solution",
    "WayfareError": "wayfare.errors",
    "WordVectors": "wayfare.vectors",
    "distance": "wayfare.front",
    "pairwise": "wayfare.front",
    "pairwise_bounds": "wayfare.front",
    "rank": "wayfare.search",
    "tokenize": "wayfare.text",
}

# Rooms that are opened by their own name: `wayfare.learn`, `wayfare.scale`.
_OPEN_ROOMS = ("errors", "learn", "scale")

__all__ = [
    "Certificate",
    "Corpus",
    "DistanceBounds",
    "Hits",
    "Index",
    "Measure",
    "Plan",
    "Solution",
    "Status",
    "WayfareError",
    "WordVectors",
    "__version__",
    "distance",
    "pairwise",
    "pairwise_bounds",
    "rank",
    "tokenize",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        value = getattr(import_module(_ROOMS[name]), name)
        globals()[name] = value
        return value
    if name in _OPEN_ROOMS:
        return import_module(f"wayfare.{name}")
    raise AttributeError(f"module 'wayfare' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

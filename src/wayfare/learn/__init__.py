"""Learning with documents: scikit-learn estimators over certified distances.

documents.py   what estimators take as X, as a corpus
nearest.py     the nearest documents, in an order that can be relied on
votes.py       the vote of the neighbours
neighbors.py   WFRNeighborsClassifier
"""

from __future__ import annotations

from wayfare.learn.neighbors import WFRNeighborsClassifier

__all__ = ["WFRNeighborsClassifier"]

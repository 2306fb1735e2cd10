"""Learning with documents: scikit-learn estimators over certified distances.

documents.py   what estimators take as X, as a corpus
nearest.py     the nearest documents, in an order that can be relied on
votes.py       the vote of the neighbours
neighbors.py   WFRNeighborsClassifier
selection.py   WFRNeighborsClassifierCV: k, eta and weighting from the training data
graph.py       WFRNeighborsTransformer: the k-nearest graph
"""

from __future__ import annotations

from wayfare.learn.graph import WFRNeighborsTransformer
from wayfare.learn.neighbors import WFRNeighborsClassifier
from wayfare.learn.selection import WFRNeighborsClassifierCV

__all__ = ["WFRNeighborsClassifier", "WFRNeighborsClassifierCV", "WFRNeighborsTransformer"]

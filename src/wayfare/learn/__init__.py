"""Learning with documents: scikit-learn estimators over certified distances.

documents.py   what estimators take as X, as a corpus
nearest.py     the nearest documents, in an order that can be relied on
votes.py       the vote of the neighbours
neighbors.py   WFRNeighborsClassifier
selection.py   WFRNeighborsClassifierCV: k, eta and weighting from the training data
graph.py       WFRNeighborsTransformer: the k-nearest graph
transformer.py what the embeddings have in common
embedding.py   WordMoversEmbedding: distances to random documents
embedding_cv.py    ... with its settings chosen on the training data
linear.py      LinearWFREmbedding: vectors whose Euclidean distance stands for WFR
supervised/    SupervisedWMD and SupervisedWFR: distances learnt from labels
"""

from __future__ import annotations

from wayfare.learn.embedding import WordMoversEmbedding
from wayfare.learn.embedding_cv import WordMoversEmbeddingCV
from wayfare.learn.graph import WFRNeighborsTransformer
from wayfare.learn.linear import LinearWFREmbedding
from wayfare.learn.neighbors import WFRNeighborsClassifier
from wayfare.learn.selection import WFRNeighborsClassifierCV
from wayfare.learn.supervised import SupervisedWFR, SupervisedWMD

__all__ = [
    "LinearWFREmbedding",
    "SupervisedWFR",
    "SupervisedWMD",
    "WFRNeighborsClassifier",
    "WFRNeighborsClassifierCV",
    "WFRNeighborsTransformer",
    "WordMoversEmbedding",
    "WordMoversEmbeddingCV",
]

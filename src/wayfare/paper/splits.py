"""Which documents are learnt from, and which are asked."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfare.paper.datasets import Dataset
from wayfare.paper.scope import Scope

__all__ = ["Split", "splits_of"]

TRAINING = 0.7

Rows = NDArray[np.int64]


class Split(NamedTuple):
    """Rows of a dataset."""

    train: Rows
    test: Rows


def splits_of(data: Dataset, scope: Scope) -> list[Split]:
    """The splits that came with the data, or seeded ones of 70 and 30 percent; samples of them in haste.

    >>> from wayfare.paper import CARDS, Dataset
    >>> from wayfare import Corpus
    >>> corpus = Corpus.from_tokens([["rain"]] * 10, weighting="counts")
    >>> data = Dataset(CARDS["twitter"], corpus, [0, 1] * 5, ())
    >>> [len(side) for split in splits_of(data, Scope(splits=2)) for side in split]
    [7, 3, 7, 3]
    """
    if data.given:
        found = [
            Split(*(np.flatnonzero([one == side for one in column]) for side in ("train", "test")))
            for column in data.given
        ]
    else:
        found = [_drawn(len(data), scope.seed, number) for number in range(scope.splits)]
    return [_sampled(split, scope, number) for number, split in enumerate(found[: scope.splits])]


def _drawn(count: int, seed: int, number: int) -> Split:
    order = np.random.default_rng([seed, number]).permutation(count)
    edge = round(TRAINING * count)
    return Split(np.sort(order[:edge]), np.sort(order[edge:]))


def _sampled(split: Split, scope: Scope, number: int) -> Split:
    if scope.documents is None:
        return split
    rng = np.random.default_rng([scope.seed, number, 1])
    most = round(TRAINING * scope.documents), round((1 - TRAINING) * scope.documents)
    sides = (
        np.sort(rng.permutation(rows)[:count]) for rows, count in zip(split, most, strict=True)
    )
    return Split(*sides)

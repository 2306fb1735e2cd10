"""One learning problem, apart from how its documents were read: start, learn, judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import InputError
from wayfare.learn.supervised.descent import Course, Parts, Schedule, descend
from wayfare.learn.supervised.initial import starting_map, word_centroids
from wayfare.learn.supervised.nca import calibrated
from wayfare.learn.supervised.objective import TransportLoss
from wayfare.learn.supervised.parameters import Parameters, Rows
from wayfare.learn.supervised.pools import Pools
from wayfare.learn.supervised.transport import Transport
from wayfare.learn.votes import majority, votes

__all__ = ["MOST_NEIGHBOURS", "Lesson", "divide"]

Array = NDArray[np.float64]

MOST_NEIGHBOURS = 19  # k is chosen among 1 to 19, as the papers do
SAMPLE = 64  # anchors by which the temperature is set


def divide(classes: NDArray[np.int64], fraction: float, seed: int) -> Parts:
    """Set a share of each class aside for validation, rounded down; the rest is for training."""
    order = np.random.default_rng((seed, 1)).permutation(len(classes))
    aside = []
    for one in np.unique(classes):
        members = order[classes[order] == one]
        aside.append(members[: int(fraction * len(members))])
    validation = np.sort(np.concatenate(aside))
    if fraction and not len(validation):
        raise InputError(
            f"validation_fraction: {fraction:g} of {len(classes)} documents leaves none to judge by; "
            "give more documents, a larger share, or 0 for no early stopping"
        )
    return Parts(np.setdiff1d(np.arange(len(classes)), validation), validation)


@dataclass(frozen=True)
class Lesson:
    """Documents, their classes, the distance to learn, and how."""

    rows: Rows
    classes: NDArray[np.int64]
    parts: Parts
    transport: Transport
    pool: int
    schedule: Schedule
    n_jobs: int
    show: bool | None

    @property
    def pools(self) -> Pools:
        """Who is compared with whom."""
        return Pools(self.rows, self.classes, self.parts.training, self.pool)

    def loss(self, temperature: float) -> TransportLoss:
        """The loss at a temperature."""
        return TransportLoss(self.rows, self.classes, self.transport, temperature, self.n_jobs)

    def first(self, kind: str, components: int | None) -> Parameters:
        """The map that descent would start from without the word-centroid learner; weights of one."""
        at = starting_map(self.rows, kind, components)
        return Parameters(at, np.zeros(len(self.rows.points)))

    def better_start(self, first: Parameters) -> Parameters:
        """What the word-centroid learner makes of `first`, or `first` where that does no good.

        With many rare words it can learn the training documents by heart; the neighbours of the
        validation part, over all k, decide.
        """
        learnt = self._centroids(first)
        if not len(self.parts.validation):
            return learnt
        return learnt if self.errors(learnt).mean() <= self.errors(first).mean() else first

    def _centroids(self, at: Parameters) -> Parameters:
        return word_centroids(
            self.rows,
            self.classes,
            self.parts,
            at,
            learning_rate=self.schedule.learning_rate,
            seed=self.schedule.seed,
            weight_range=self.schedule.weight_range,
            show=self.show,
        )

    def temperature(self, at: Parameters) -> float:
        """The temperature at which an anchor looks at a handful of neighbours, not at one or all."""
        rng = np.random.default_rng((self.schedule.seed, 2))
        some = rng.permutation(self.parts.training)[:SAMPLE]
        return calibrated(self.loss(1.0).verdict(at, self.pools.seen(at).of(some)).values)

    def run(self, course: Course, save: Callable[[Course], None] | None) -> Course:
        """Descend from `course` to the end."""
        loss = self.loss(course.temperature)
        return descend(
            loss, course, self.schedule, self.pools, self.parts, save=save, show=self.show
        )

    def errors(self, at: Parameters) -> Array:
        """The share of the validation part that 1, 2, ... of its neighbours get wrong."""
        anchors = self.pools.seen(at).of(self.parts.validation)
        values = self.loss(1.0).verdict(at, anchors).values
        most = min([MOST_NEIGHBOURS, *(len(found) for found in values)])
        near = [
            self.classes[anchor.neighbours[np.argsort(found, kind="stable")[:most]]]
            for anchor, found in zip(anchors, values, strict=True)
        ]
        won, _ = votes(np.array(near), majority(self.classes, int(self.classes.max()) + 1))
        return np.asarray(np.mean(won != self.classes[self.parts.validation][:, None], axis=0))

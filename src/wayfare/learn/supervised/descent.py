"""Descent by mini-batches (Adam) with early stopping, from one check to the next.

A `Course` is all there is to know between two steps, so that one that was saved at a check goes on
exactly as if it had never stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from wayfare.learn.supervised.objective import Anchor, Objective
from wayfare.learn.supervised.parameters import Parameters
from wayfare.learn.supervised.pools import Pools
from wayfare.progress import Progress

__all__ = ["Course", "Parts", "Schedule", "descend"]

Array = NDArray[np.float64]

FIRST, SECOND, FLOOR = 0.9, 0.99, 1e-12  # Adam's memories, and what keeps its quotient finite


@dataclass(frozen=True)
class Schedule:
    """How long, how fast, and when to stop."""

    max_iter: int
    batch_size: int
    learning_rate: float
    check_every: int
    patience: int
    seed: int
    weight_range: tuple[float, float]


@dataclass(frozen=True)
class Parts:
    """The documents that are learnt from, and those that only judge (none: the last step is kept)."""

    training: NDArray[np.int64]
    validation: NDArray[np.int64]


@dataclass(frozen=True)
class Course:
    """Where descent stands: parameters, Adam's moments, the best so far, and each check's losses.

    The temperature is the loss's, set before the first step.
    A row of `history` is (step, mean training loss since the last check, validation loss).
    """

    at: Parameters
    moments: tuple[tuple[Array, Array], ...]
    best: Parameters
    temperature: float
    best_loss: float = np.inf
    best_step: int = 0
    step: int = 0
    history: Array = field(default_factory=lambda: np.zeros((0, 3)))

    @classmethod
    def start(cls, at: Parameters, temperature: float) -> Course:
        """A course that has not taken a step."""
        maps, weights = np.zeros_like(at.map), np.zeros_like(at.log_weights)
        return cls(at, ((maps, maps), (weights, weights)), at, temperature)

    def checks_since_best(self) -> int:
        """How many checks have passed without a better loss."""
        return int(np.sum(self.history[:, 0] > self.best_step))


def descend(
    objective: Objective,
    course: Course,
    schedule: Schedule,
    pools: Pools,
    parts: Parts,
    *,
    save: Callable[[Course], None] | None = None,
    what: str = "learning",
    show: bool | None = None,
) -> Course:
    """Go on from `course` until the schedule ends or the validation loss stops falling."""
    batches = _Batches(parts.training, schedule.batch_size, schedule.seed)
    anchors: dict[int, Anchor] = {}
    losses: list[float] = []
    with Progress(what, total=schedule.max_iter, unit="steps", show=show) as bar:
        bar.advance(course.step)
        while True:
            if course.step % schedule.check_every == 0 or course.step >= schedule.max_iter:
                course = _check(objective, course, pools, parts, losses)
                losses, anchors = [], {}
                if save is not None and course.step % schedule.check_every == 0:
                    save(course)
                if course.step >= schedule.max_iter:
                    break
                if len(parts.validation) and course.checks_since_best() >= schedule.patience:
                    break
                seen = pools.seen(course.at)
            batch = batches.at(course.step)
            new = np.array([d for d in batch if int(d) not in anchors], np.int64)
            anchors |= {anchor.document: anchor for anchor in seen.of(new)}
            loss, gradient = objective.gradient(course.at, [anchors[int(d)] for d in batch])
            losses.append(loss)
            course = _step(course, (gradient.map, gradient.log_weights), schedule)
            bar.advance()
    return course


@dataclass(frozen=True)
class _Batches:
    """The documents of each step: a new order for each pass, known from the seed alone."""

    documents: NDArray[np.int64]
    size: int
    seed: int

    def at(self, step: int) -> NDArray[np.int64]:
        size = min(self.size, len(self.documents))
        a_pass = max(len(self.documents) // size, 1)
        order = np.random.default_rng((self.seed, step // a_pass)).permutation(self.documents)
        start = (step % a_pass) * size
        return np.asarray(order[start : start + size])


def _check(
    objective: Objective, course: Course, pools: Pools, parts: Parts, losses: list[float]
) -> Course:
    """Judge the parameters on the validation part; a course that was saved here is judged already."""
    if len(course.history) and course.history[-1, 0] == course.step:
        return course
    trained = float(np.mean(losses)) if losses else np.nan
    if len(parts.validation):
        judged = objective.verdict(course.at, pools.seen(course.at).of(parts.validation)).mean
    else:
        judged = np.nan
    history = np.vstack([course.history, [course.step, trained, judged]])
    course = replace(course, history=history)
    if not judged >= course.best_loss:
        course = replace(course, best=course.at, best_loss=judged, best_step=course.step)
    return course


def _step(course: Course, gradient: tuple[Array, Array], schedule: Schedule) -> Course:
    """One step of Adam; the map's is in units of its entries, the weights stay in their range."""
    count = course.step + 1
    first, second = (tuple(moments) for moments in zip(*course.moments, strict=True))
    first = tuple(FIRST * m + (1 - FIRST) * g for m, g in zip(first, gradient, strict=True))
    second = tuple(SECOND * m + (1 - SECOND) * g**2 for m, g in zip(second, gradient, strict=True))
    by_map, by_weight = (
        schedule.learning_rate * m / (1 - FIRST**count) / (np.sqrt(v / (1 - SECOND**count)) + FLOOR)
        for m, v in zip(first, second, strict=True)
    )
    scale = float(np.sqrt(np.mean(course.at.map**2)))
    low, high = np.log(schedule.weight_range)
    at = Parameters(
        course.at.map - scale * by_map, np.clip(course.at.log_weights - by_weight, low, high)
    )
    return replace(course, at=at, moments=tuple(zip(first, second, strict=True)), step=count)

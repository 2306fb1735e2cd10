"""Where descent starts: the identity, principal components, or the word-centroid learner."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import InputError
from wayfare.learn.supervised.centroid_loss import CentroidLoss
from wayfare.learn.supervised.descent import Course, Parts, Schedule, descend
from wayfare.learn.supervised.nca import calibrated
from wayfare.learn.supervised.parameters import Parameters, Rows
from wayfare.learn.supervised.pools import Pools

__all__ = ["INITIALISATIONS", "starting_map", "word_centroids", "word_variance"]

Array = NDArray[np.float64]

INITIALISATIONS = ("centroids", "pca", "identity")

# The word-centroid learner is cheap: larger batches, all documents as neighbours, short patience.
CENTROID_STEPS, CENTROID_BATCH, CENTROID_POOL, CENTROID_PATIENCE = 200, 128, 2000, 4


def _covariance(rows: Rows) -> tuple[Array, Array]:
    """The mean of the words, each weighing what it weighs in all documents, and their covariance."""
    mass = np.bincount(rows.indices, rows.weights, len(rows.points)).astype(np.float64)
    mass /= mass.sum()
    mean = mass @ rows.points
    apart = rows.points - mean
    return mean, (apart * mass[:, None]).T @ apart


def word_variance(rows: Rows, map_: Array) -> float:
    """`E |A x - E A x|^2` over the words of all documents by their weight.

    >>> rows = Rows(np.array([[0.0], [2.0]]), np.array([0, 2]), np.array([0, 1]), np.ones(2))
    >>> word_variance(rows, np.eye(1))
    1.0
    """
    _, covariance = _covariance(rows)
    return float(np.einsum("ij,jk,ik->", map_, covariance, map_))


def starting_map(rows: Rows, kind: str, components: int | None) -> Array:
    """The identity, or the principal components where fewer are wanted or asked for.

    They are scaled so that the words keep their variance, and distances their unit.
    """
    _, covariance = _covariance(rows)
    width = len(covariance)
    if components is None or components == width:
        if kind != "pca":
            return np.eye(width)
        components = width
    elif kind == "identity":
        raise InputError(
            f'init="identity": n_components={components} came for vectors of {width} dimensions; '
            'leave n_components=None, or use init="pca"'
        )
    if not 1 <= components <= width:
        raise InputError(
            f"n_components: {components} came; give 1 to {width}, the dimensions of the vectors"
        )
    values, axes = np.linalg.eigh(covariance)
    top = axes[:, ::-1][:, :components].T
    # Signs are settled, so that the same documents give the same map on every machine.
    top = top * np.sign(top[np.arange(components), np.abs(top).argmax(axis=1)])[:, None]
    kept = float(values[::-1][:components].sum())
    return np.asarray(top * np.sqrt(values.sum() / kept) if kept > 0 else top)


def word_centroids(
    rows: Rows,
    classes: NDArray[np.intp],
    parts: Parts,
    at: Parameters,
    *,
    learning_rate: float,
    seed: int,
    weight_range: tuple[float, float],
    show: bool | None,
) -> Parameters:
    """Learn map and weights on centroids; the words keep the variance that they had under `at`."""
    rows = replace(rows, keep_mass=True)
    pools = Pools(rows, classes, parts.training, CENTROID_POOL)
    sample = pools.seen(at).of(parts.training[:CENTROID_BATCH])
    values = CentroidLoss(rows, classes, 1.0).verdict(at, sample).values
    temperature = calibrated(values)
    loss = CentroidLoss(rows, classes, temperature)
    schedule = Schedule(
        max_iter=CENTROID_STEPS,
        batch_size=CENTROID_BATCH,
        learning_rate=learning_rate,
        check_every=10,
        patience=CENTROID_PATIENCE,
        seed=seed,
        weight_range=weight_range,
    )
    before = word_variance(rows, at.map)
    what = "learning on centroids"
    course = descend(
        loss, Course.start(at, temperature), schedule, pools, parts, what=what, show=show
    )
    after = word_variance(rows, course.best.map)
    return Parameters(course.best.map * np.sqrt(before / after), course.best.log_weights)

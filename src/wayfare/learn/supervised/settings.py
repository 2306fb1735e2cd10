"""The settings of the estimators: what each may be, checked once and said clearly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wayfare.errors import InputError
from wayfare.learn.supervised.initial import INITIALISATIONS

__all__ = ["check", "deciding"]

# What a course does not depend on, or what may change when it is taken up again.
_IMMATERIAL = {
    "checkpoint",
    "max_iter",
    "n_jobs",
    "k",
    "patience",
    "progress",
    "random_state",
    "tokenizer",
    "vectors",
    "warm_start",
    "weighting",
}


def deciding(estimator: Any) -> dict[str, Any]:
    """The settings on which a course depends besides its documents and its seed."""
    asked = estimator.get_params(deep=False) | {"metric": type(estimator).__name__}
    return {name: value for name, value in asked.items() if name not in _IMMATERIAL}


def _whole(value: Any, least: int) -> bool:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and bool(value >= least)


def _real(value: Any) -> bool:
    good = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return good and bool(np.isfinite(value))


def _is_range(value: Any) -> bool:
    if not isinstance(value, tuple | list) or len(value) != 2:
        return False
    return all(map(_real, value)) and 0 < value[0] <= 1 <= value[1]


_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "n_components": (lambda v: v is None or _whole(v, 1), "a whole number from 1, or None"),
    "init": (lambda v: v in INITIALISATIONS, f"one of {', '.join(INITIALISATIONS)}"),
    "k": (
        lambda v: v is None or _whole(v, 1),
        "a whole number from 1, or None to choose",
    ),
    "pool": (lambda v: _whole(v, 2), "a whole number from 2"),
    "batch_size": (lambda v: _whole(v, 1), "a whole number from 1"),
    "max_iter": (lambda v: _whole(v, 0), "a whole number from 0"),
    "learning_rate": (lambda v: _real(v) and v > 0, "a positive number, such as 0.02"),
    "weight_range": (_is_range, "two positive numbers around 1, such as (0.01, 10)"),
    "validation_fraction": (lambda v: _real(v) and 0 <= v < 1, "a number in [0, 1)"),
    "check_every": (lambda v: _whole(v, 1), "a whole number from 1"),
    "patience": (lambda v: _whole(v, 1), "a whole number of checks from 1"),
    "solver": (lambda v: v in ("entropic", "exact"), '"entropic" or "exact"'),
    "cost": (lambda v: v in ("squared", "euclidean"), '"squared" or "euclidean"'),
    "regularization": (lambda v: _real(v) and v > 0, "a positive number, such as 10"),
    "eta": (lambda v: v is None or (_real(v) and v > 0), "a positive number, or None"),
    "tol": (lambda v: _real(v) and v > 0, "a positive number, such as 1e-2"),
    "mass": (lambda v: v in ("keep", "free"), '"keep" or "free"'),
}


def check(estimator: Any) -> None:
    """Raise `InputError` for a setting that cannot be used, and for two that contradict each other."""
    asked = estimator.get_params(deep=False)
    for name, (good, wanted) in _RULES.items():
        if name in asked and not good(asked[name]):
            raise InputError(f"{name}: {asked[name]!r} came; give {wanted}")
    if asked["k"] is None and not asked["validation_fraction"]:
        raise InputError(
            "k: None came, to be chosen on a validation part, but validation_fraction=0 "
            "sets none aside; give a k"
        )
    if asked["warm_start"] and asked["checkpoint"] is not None:
        raise InputError(
            "warm_start, checkpoint: both came, and each says where to start; give one of them"
        )

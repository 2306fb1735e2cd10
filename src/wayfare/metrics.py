"""The metrics by name. A new one is a function that returns a `Solution`, and a line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from wayfare import wfr, wmd
from wayfare.errors import InputError
from wayfare.measure import Measure
from wayfare.solution import Solution

__all__ = ["METRICS", "MetricName", "Settings", "metric_named"]

MetricName = Literal["wfr", "wmd", "wmd-wfr-cost", "rwmd", "wcd", "hellinger"]


@dataclass(frozen=True)
class Settings:
    """What a metric may need to know; each takes what it uses."""

    eta: float = 0.5
    tol: float = 1e-3
    atol: float = 1e-12
    method: wfr.Method = "auto"


Metric = Callable[[Measure, Measure, Settings], Solution]

METRICS: dict[str, Metric] = {
    "wfr": lambda a, b, s: wfr.solve(a, b, eta=s.eta, tol=s.tol, atol=s.atol, method=s.method),
    "wmd": lambda a, b, s: wmd.wmd(a, b),
    "wmd-wfr-cost": lambda a, b, s: wmd.wmd_wfr_cost(a, b, eta=s.eta),
    "rwmd": lambda a, b, s: wmd.rwmd(a, b),
    "wcd": lambda a, b, s: wmd.wcd(a, b),
    "hellinger": lambda a, b, s: wmd.hellinger(a, b),
}


def metric_named(name: str) -> Metric:
    """The metric of that name.

    >>> metric_named("euclid")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    wayfare.errors.InputError: metric: 'euclid' came; give one of wfr, wmd, wmd-wfr-cost, ...
    """
    if not isinstance(name, str) or name not in METRICS:
        raise InputError(f"metric: {name!r} came; give one of {', '.join(METRICS)}")
    return METRICS[name]

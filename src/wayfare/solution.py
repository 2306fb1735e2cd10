"""What an answer is: a certificate, a plan, the potentials, and what it took to find them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from wayfare.explain import Explanation
    from wayfare.measure import Measure

__all__ = ["Certificate", "Plan", "Solution", "Status", "Work"]

Array = NDArray[np.float64]

# Below this share of non-zero entries a plan is handed out as a sparse matrix.
SPARSE_PLAN = 0.25


class Status(StrEnum):
    """How an answer ended; `remedy` says what to do about it."""

    CERTIFIED = "certified"
    EXACT = "exact"
    STALLED = "stalled"
    UNCERTIFIED = "uncertified"
    INFEASIBLE = "infeasible"

    @property
    def remedy(self) -> str:
        """What the status means, and what to do where that is anything."""
        return _REMEDIES[self]


_REMEDIES = {
    Status.CERTIFIED: "the bounds meet the tolerance",
    Status.EXACT: "a closed form or an exact solver; the bounds differ by rounding only",
    Status.STALLED: "the bounds hold but do not meet the tolerance: double precision ended first; "
    "ask for a larger tol, or raise atol if the documents are nearly equal",
    Status.UNCERTIFIED: "a fixed schedule ran to its end; the bounds hold, but no tolerance was asked "
    'for; use method="auto" for one that stops at tol',
    Status.INFEASIBLE: "no transport plan of finite cost exists, so the value is infinite; "
    'use a larger eta, or metric="wfr", which may destroy and create mass',
}


@dataclass(frozen=True)
class Certificate:
    """Proven bounds on the objective, in its unit: `lower <= objective <= upper`, in float64.

    >>> Certificate(0.4995, 0.5).gap
    0.0010000000000000009
    """

    lower: float
    upper: float
    atol: float = field(default=1e-12, repr=False)

    @property
    def gap(self) -> float:
        """`(upper - lower) / max(upper, atol)`, the relative gap; 0 where both are infinite."""
        if self.upper == self.lower:
            return 0.0
        return (self.upper - self.lower) / max(self.upper, self.atol)


@dataclass(frozen=True)
class Work:
    """What an answer took: Sinkhorn sweeps, annealing stages, Newton steps of the finish."""

    sweeps: int = 0
    stages: int = 0
    newton_steps: int = 0


@dataclass(frozen=True, eq=False)
class Plan:
    """Who carries what to whom, split so that every line has its own price.

    `sent[i, j]` is the mass that point i of the first measure gives to its pair with point j of the
    second, `received[i, j]` the mass that arrives there; the pair costs
    `sent + received - 2 h_ij sqrt(sent received)`. What is in no pair is `destroyed` or `created` at
    its mass. The costs of all pairs and these masses sum to the objective. `carried` is the transport
    plan R of the primal problem, `h_ij sqrt(sent received)`. For a balanced metric the three are one,
    and a pair costs `sent * cost_ij`.
    """

    sent: Array
    received: Array
    cosines: Array | None
    costs: Array
    destroyed: Array
    created: Array

    @cached_property
    def carried(self) -> Array:
        """The transport plan R, dense."""
        if self.cosines is None:
            return self.sent
        return np.asarray(self.cosines * np.sqrt(self.sent) * np.sqrt(self.received))

    @property
    def matrix(self) -> Array | csr_array[Any, Any]:
        """The transport plan R: a sparse matrix where few pairs carry anything, else an array."""
        if np.count_nonzero(self.carried) > SPARSE_PLAN * self.carried.size:
            return self.carried
        from scipy.sparse import csr_array

        return csr_array(self.carried)

    @property
    def total(self) -> float:
        """The sum of all prices: the objective."""
        return float(self.costs.sum() + self.destroyed.sum() + self.created.sum())


@dataclass(frozen=True, eq=False)
class Solution:
    """The distance between two measures, with its proof.

    `value` is the distance (for `wfr`, `eta sqrt(2 J)`), `objective` what was minimised (for `wfr`,
    J), attained by `plan` and bounded by `certificate`. `potentials` are the dual variables
    `(phi, psi)` that prove the lower bound: feasible, `phi_i + psi_j <= C_ij` between all points that
    have weight, and infinite for a point that has none, or that is destroyed or created whole.
    """

    metric: str
    value: float
    objective: float
    certificate: Certificate
    status: Status
    first: Measure
    second: Measure
    eta: float | None
    tol: float
    work: Work
    potentials: tuple[Array, Array] | None = field(repr=False, default=None)
    _plan: Any = field(repr=False, default=None)

    @cached_property
    def plan(self) -> Plan | None:
        """The transport plan, made when it is first asked for; None for metrics that have none."""
        return self._plan() if callable(self._plan) else None

    @property
    def bounds(self) -> tuple[float, float]:
        """Proven bounds on `value`, in its unit: `lower <= value <= upper`."""
        return self._value_at(self.certificate.lower), self._value_at(self.certificate.upper)

    def _value_at(self, objective: float) -> float:
        if self.metric == "wfr" and self.eta is not None:
            return float(self.eta * np.sqrt(2 * objective))
        return float(np.sqrt(objective / 2)) if self.metric == "hellinger" else objective

    @property
    def similarity(self) -> float:
        """`1 - J / (|mu| + |nu|)`, in [0, 1] for `wfr` and `hellinger`; 1 for two zero measures."""
        total = self.first.mass + self.second.mass
        return 1.0 - self.objective / total if total else 1.0

    def explain(self) -> Explanation:
        """Who carried what to whom at what price, in lines that add up to `objective`.

        Raises `InputError` where there is no plan: for `rwmd`, `wcd` and `hellinger`, and where no
        plan of finite cost exists.
        """
        from wayfare.explain import explain

        return explain(self)

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        low, high = self.certificate.lower, self.certificate.upper
        setting = f", eta={self.eta:g}" if self.eta is not None else ""
        return (
            f"Solution({self.metric}{setting}: {self.value:.6g}, objective in "
            f"[{low:.6g}, {high:.6g}], {self.status.value})"
        )

"""Algorithms 1 and 2 of the paper, line by line, in float64 NumPy: the oracle of the tests.

Comments cite the algorithms' lines. Infinite costs stay infinite: `exp(-inf)` is 0, and a row or
column of zeros keeps the potential that destroys its mass.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["PAPER_SCHEDULE", "objective", "wfr_doc_dist", "wfr_sinkhorn"]

Array = NDArray[np.float64]

# {(eps_m, n_m)} = {(e^{-m-1}, 32 m)}, m = 1..5: 480 sweeps in all.
PAPER_SCHEDULE: tuple[tuple[float, int], ...] = tuple(
    (float(np.exp(-m - 1)), 32 * m) for m in range(1, 6)
)

TOO_LARGE = 1e50


def wfr_sinkhorn(
    mu: Array,
    nu: Array,
    cost: Array,
    eps: float,
    sweeps: int,
    phi: Array | None = None,
    psi: Array | None = None,
) -> tuple[Array, Array, Array]:
    """Algorithm 1, WFRSinkhorn(mu, nu, C, eps, n, phi, psi): the plan and the potentials."""
    if phi is None or psi is None:
        phi, psi = np.zeros_like(mu), np.zeros_like(nu)
    b = np.ones_like(nu)
    plan = np.exp((phi[:, None] + psi - cost) / eps)
    for sweep in range(1, sweeps + 1):
        a = _scaling(mu, phi, plan @ b, eps)  # a_i <- (mu_i / e^phi_i sum_j R_ij b_j)^(1/(1+eps))
        b = _scaling(nu, psi, a @ plan, eps)  # b_j <- (nu_j / e^psi_j sum_i R_ij a_i)^(1/(1+eps))
        if max(a.max(initial=0), b.max(initial=0)) > TOO_LARGE or sweep == sweeps:
            phi = phi + eps * np.log(a)
            psi = psi + eps * np.log(b)
            plan = np.exp((phi[:, None] + psi - cost) / eps)
            b = np.ones_like(nu)
    return plan, phi, psi


def _scaling(weights: Array, potential: Array, sums: Array, eps: float) -> Array:
    """The paper's quotient; 1 where nothing can be carried, so that the potential stays finite."""
    reached = (sums > 0) & (weights > 0)
    quotient = np.ones_like(weights)
    np.divide(weights, np.exp(potential) * sums, out=quotient, where=reached)
    return np.asarray(quotient ** (1 / (1 + eps)))


def wfr_doc_dist(
    mu: Array,
    nu: Array,
    cosines: Array,
    schedule: Sequence[tuple[float, int]] = PAPER_SCHEDULE,
) -> tuple[Array, Array, Array]:
    """Algorithm 2, WFRDocDist: the plan and the potentials after the last (eps_m, n_m).

    >>> plan, phi, psi = wfr_doc_dist(np.ones(1), np.ones(1), np.array([[0.5]]))
    >>> round(objective(plan, np.ones(1), np.ones(1), np.array([[0.5]])), 3)
    1.0
    """
    with np.errstate(divide="ignore"):
        cost = -2 * np.log(cosines)  # C_ij <- -2 log cos_+(|x_i - y_j| / 2 eta)
    phi = psi = None
    plan = np.zeros_like(cost)
    for eps, sweeps in schedule:
        plan, phi, psi = wfr_sinkhorn(mu, nu, cost, eps, sweeps, phi, psi)
    assert phi is not None
    assert psi is not None
    return plan, phi, psi


def objective(plan: Array, mu: Array, nu: Array, cosines: Array) -> float:
    """`J(R) = <C, R> + KL(R 1 | mu) + KL(R' 1 | nu)`, infinite where the plan pays infinity."""
    carried = plan > 0
    if np.any(carried & (cosines == 0)):
        return float("inf")
    transport = float(np.sum(-2 * np.log(cosines[carried]) * plan[carried]))
    return transport + _kl(plan.sum(axis=1), mu) + _kl(plan.sum(axis=0), nu)


def _kl(r: Array, mu: Array) -> float:
    if np.any((r > 0) & (mu == 0)):
        return float("inf")
    some = r > 0
    return float(np.sum(r[some] * np.log(r[some] / mu[some])) - r.sum() + mu.sum())

"""The finish: a primal-dual interior-point method in float64, for tolerances beyond Sinkhorn.

Over the pairs of finite cost, with slack s_ij = C_ij - phi_i - psi_j, the optimum satisfies

    mu_i e^-phi_i = sum_j R_ij,   nu_j e^-psi_j = sum_i R_ij,   R_ij s_ij = 0,   R >= 0, s >= 0,

and the method follows R_ij s_ij = tau to tau -> 0 (Mehrotra's predictor and corrector). With
W = R / s one Newton step is the symmetric positive definite system

    [ diag(mu e^-phi + W 1)        W                 ] [dphi]   [mu e^-phi - (tau / s) 1 ]
    [        W'          diag(nu e^-psi + W' 1)      ] [dpsi] = [nu e^-psi - (tau / s)' 1],

solved through its Schur complement on the smaller side: O(m^2 n) work a step, about twenty steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["finish"]

Array = NDArray[np.float64]

MOST_STEPS = 80
TO_THE_WALL = 0.995  # how much of the way to the boundary a step may go
# How far a potential may move in a step. Points of next to no mass are flat directions, where Newton's
# model of e^-phi would otherwise throw them hundreds away, and no later step bring them back.
LONGEST_JUMP = 4.0


def finish(
    cosines: Array, mu: Array, nu: Array, good_enough: Any
) -> tuple[Array, Array, Array, int]:
    """Potentials `phi`, `psi` and plan `R` of one problem, and the steps taken.

    Every row and column of `cosines` must have a positive entry, and the weights must be positive.
    `good_enough(phi, psi, plan) -> bool` is asked after each step; the method also stops where
    double precision ends.

    >>> h, mass = np.array([[0.5]]), np.array([1.0])
    >>> phi, psi, plan, steps = finish(h, mass, mass, lambda *state: False)
    >>> round(float(plan[0, 0]), 6)
    0.5
    """
    if len(mu) > len(nu):
        psi, phi, plan, steps = finish(
            np.ascontiguousarray(cosines.T), nu, mu, lambda p, f, r: good_enough(f, p, r.T)
        )
        return phi, psi, plan.T, steps
    finite = cosines > 0
    with np.errstate(divide="ignore"):
        cost = np.where(finite, -2.0 * np.log(cosines), np.inf)
    phi, psi = np.full(len(mu), -0.5), np.full(len(nu), -0.5)
    phi += 0.5 * cost.min(axis=1)
    psi = np.minimum(psi, (cost - phi[:, None]).min(axis=0) - 0.5)
    slack = np.where(finite, cost - phi[:, None] - psi, 1.0)
    pairs = np.count_nonzero(finite)
    tau = 1.0 / pairs
    plan = np.where(finite, tau / slack, 0.0)
    steps = 0
    while steps < MOST_STEPS:
        steps += 1
        step = _newton(plan, slack, mu * np.exp(-phi), nu * np.exp(-psi), finite)
        if step is None:
            break
        dphi, dpsi, dplan = step
        phi, psi, plan = phi + dphi, psi + dpsi, plan + dplan
        slack = np.where(finite, slack - dphi[:, None] - dpsi, 1.0)
        if good_enough(phi, psi, plan):
            break
        if float(np.sum(plan * slack)) < 1e-18:
            break
    return phi, psi, plan, steps


def _newton(
    plan: Array, slack: Array, row_mass: Array, col_mass: Array, finite: NDArray[np.bool_]
) -> tuple[Array, Array, Array] | None:
    """One predictor-corrector step, cut so that plan and slack stay positive; None if it fails."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    with np.errstate(all="ignore"):
        w = plan / slack
        row_diag, col_diag = row_mass + w.sum(axis=1), col_mass + w.sum(axis=0)
        schur = -(w / col_diag) @ w.T
        schur[np.diag_indices_from(schur)] += row_diag
        try:
            factor = cho_factor(schur, lower=True, overwrite_a=True, check_finite=True)
        except (LinAlgError, ValueError):
            return None

        def solve(target: Array, extra_row: Array, extra_col: Array) -> tuple[Array, ...]:
            left = row_mass - target.sum(axis=1) + extra_row
            right = col_mass - target.sum(axis=0) + extra_col
            dphi = cho_solve(factor, left - w @ (right / col_diag), check_finite=False)
            dpsi = (right - w.T @ dphi) / col_diag
            dplan = np.where(finite, target - plan + w * (dphi[:, None] + dpsi), 0.0)
            return dphi, dpsi, dplan

        def longest(dphi: Array, dpsi: Array, dplan: Array) -> float:
            drop = np.where(finite, dphi[:, None] + dpsi, 0.0)
            toward = max(float((drop / slack).max()), float((-dplan[finite] / plan[finite]).max()))
            jump = max(float(abs(dphi).max()), float(abs(dpsi).max())) / LONGEST_JUMP
            return min(1.0, TO_THE_WALL / toward if toward > 0 else 1.0, 1 / max(jump, 1.0))

        gap = float(np.sum(plan * slack)) / np.count_nonzero(finite)
        nothing = np.zeros_like(plan)
        dphi, dpsi, dplan = solve(nothing, np.zeros_like(row_mass), np.zeros_like(col_mass))
        alpha = longest(dphi, dpsi, dplan)
        fall = alpha * (dphi[:, None] + dpsi)
        ahead = np.where(finite, (slack - fall) * (plan + alpha * dplan), 0.0)
        tau = gap * max((float(ahead.sum()) / np.count_nonzero(finite) / gap) ** 3, 1e-8)
        # Second order: what the product of the predicted changes adds to R s, and e^-phi's curve.
        target = np.where(finite, (tau + (dphi[:, None] + dpsi) * dplan) / slack, 0.0)
        corrected = solve(target, row_mass * dphi**2 / 2, col_mass * dpsi**2 / 2)
        alpha_corrected = longest(*corrected)
        if alpha_corrected < 0.1 * alpha or not np.isfinite(alpha_corrected):
            corrected = solve(np.where(finite, tau / slack, 0.0), 0 * row_mass, 0 * col_mass)
            alpha_corrected = longest(*corrected)
        if not all(np.isfinite(part).all() for part in corrected):
            return None
    dphi, dpsi, dplan = (alpha_corrected * part for part in corrected)
    return dphi, dpsi, dplan

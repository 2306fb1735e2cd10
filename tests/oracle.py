"""What the tests compare with: the problem written down again, in plain float64 NumPy.

Nothing here is shared with the package. Costs come from differences of points, not from inner products;
an infinite cost stays infinite; bounds are recomputed from a plan and from potentials by their formulas.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

# What float64 may lose in a sum of order one; bounds on J hold up to this share of |mu| + |nu|.
ROUNDING = 1e-14


def cost(x: np.ndarray, y: np.ndarray, eta: float) -> np.ndarray:
    """`-2 log cos(|x - y| / 2 eta)`, infinite from pi eta on."""
    if len(x) == 0 or len(y) == 0:
        return np.zeros((len(x), len(y)))
    angle = cdist(np.asarray(x, np.float64), np.asarray(y, np.float64)) / (2 * eta)
    out = np.full(angle.shape, np.inf)
    near, middle = angle < 0.5, (angle >= 0.5) & (angle < np.pi / 2)
    out[near] = -np.log1p(-(np.sin(angle[near]) ** 2))
    out[middle] = -2 * np.log(np.cos(angle[middle]))
    return out


def primal(plan: np.ndarray, mu: np.ndarray, nu: np.ndarray, c: np.ndarray) -> float:
    """`<C, R> + KL(R 1 | mu) + KL(R' 1 | nu)`."""
    on = plan > 0
    if np.any(np.isinf(c[on])):
        return np.inf
    return float(np.sum(c[on] * plan[on])) + _kl(plan.sum(1), mu) + _kl(plan.sum(0), nu)


def _kl(r: np.ndarray, w: np.ndarray) -> float:
    on = r > 0
    if np.any(w[on] == 0):
        return np.inf
    return float(np.sum(r[on] * np.log(r[on] / w[on])) - r.sum() + w.sum())


def dual(phi: np.ndarray, psi: np.ndarray, mu: np.ndarray, nu: np.ndarray) -> float:
    """`<1 - e^-phi, mu> + <1 - e^-psi, nu>`; an infinite potential gives the whole mass."""
    return float(-np.expm1(-phi) @ mu - np.expm1(-psi) @ nu)


def excess(phi: np.ndarray, psi: np.ndarray, c: np.ndarray) -> float:
    """By how much `phi_i + psi_j <= C_ij` is violated anywhere, relative where potentials are large."""
    on = np.isfinite(c)
    if not on.any():
        return 0.0
    total = np.add.outer(phi, psi)[on]
    size = np.maximum(1.0, np.add.outer(abs(phi), abs(psi))[on])
    return float(np.max((total - c[on]) / size))


def bounds_of_plan(
    plan: np.ndarray, mu: np.ndarray, nu: np.ndarray, c: np.ndarray
) -> tuple[float, float]:
    """Bounds on J that a plan gives: its own value, and the dual value of `phi = -log(r / mu)`.

    The potentials are made feasible by two C-transforms over the points that have a partner, and
    moved by their best constant; the rest is destroyed.
    """
    upper = primal(plan, mu, nu, c)
    rows, cols = np.isfinite(c).any(1) & (mu > 0), np.isfinite(c).any(0) & (nu > 0)
    phi, psi = np.full(len(mu), np.inf), np.full(len(nu), np.inf)
    if rows.any() and cols.any():
        part = c[np.ix_(rows, cols)]
        r = plan[np.ix_(rows, cols)].sum(1)
        f = -np.log(np.maximum(r, 1e-300) / mu[rows])
        g = (part - f[:, None]).min(0)
        f = (part - g).min(1)
        shift = 0.5 * np.log((np.exp(-f) @ mu[rows]) / (np.exp(-g) @ nu[cols]))
        phi[rows], psi[cols] = f + shift, g - shift
    return dual(phi, psi, mu, nu), upper


def majorised(
    mu: np.ndarray, nu: np.ndarray, c: np.ndarray, sweeps: int = 1500
) -> tuple[float, float]:
    """Bounds on J from POT's majorisation-minimisation, run long, at mass one and scaled back.

    POT adds 1e-16 to a denominator, hence mass one; `exp(-inf)` is 0 there, so forbidden arcs hold
    nothing, which is checked.
    """
    from ot.unbalanced import mm_unbalanced

    mass_mu, mass_nu = mu.sum(), nu.sum()
    if not (mass_mu and mass_nu and np.isfinite(c).any()):
        return mass_mu + mass_nu, mass_mu + mass_nu
    rows, cols = np.flatnonzero(mu), np.flatnonzero(nu)
    p, q, part = mu[rows] / mass_mu, nu[cols] / mass_nu, c[np.ix_(rows, cols)]
    plan = mm_unbalanced(p, q, part, 1.0, div="kl", numItermax=sweeps, stopThr=1e-14)
    assert not np.any(plan[np.isinf(part)])
    lower, upper = bounds_of_plan(plan, p, q, part)
    scale = np.sqrt(mass_mu) * np.sqrt(mass_nu)
    base = mass_mu + mass_nu - 2 * scale
    return base + scale * lower, base + scale * upper

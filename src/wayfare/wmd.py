"""Balanced transport and its bounds: exact WMD, WMD under the WFR cost, RWMD, and centroids.

    wmd            min <d, R>,  R 1 = mu, R' 1 = nu,  d_ij = |x_i - y_j|      (Kusner et al. 2015)
    wmd-wfr-cost   the same with C_ij = -2 log h_ij, infinite beyond pi eta    (the paper's ablation)
    rwmd           the larger of the two problems that drop one of the constraints
    wcd            | sum_i mu_i x_i - sum_j nu_j y_j |
    hellinger      only equal points meet: the limit eta -> 0 of WFR

All of them but `hellinger` compare measures of equal mass.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import InputError
from wayfare.ground import check_eta, cosines, costs, distances
from wayfare.measure import Measure, check_same_space
from wayfare.solution import Certificate, Plan, Solution, Status, Work

__all__ = ["hellinger", "network_simplex", "rwmd", "wcd", "wmd", "wmd_value", "wmd_wfr_cost"]

Array = NDArray[np.float64]

MOST_PIVOTS = 10_000_000
EQUAL_MASS = 1e-6  # relative; beyond it the measures are not each other's transport


def wmd(first: Measure, second: Measure) -> Solution:
    """The exact Word Mover's Distance, by POT's network simplex, proven by its dual.

    Raises `InputError` where the masses differ; infinite, with the status saying so, where one of the
    measures is the zero measure and the other is not.

    >>> wmd(Measure([[0.0]], [1.0]), Measure([[3.0]], [1.0])).value
    3.0
    """
    return _transport("wmd", first, second, distances, None)


def wmd_wfr_cost(first: Measure, second: Measure, *, eta: float = 0.5) -> Solution:
    """Balanced transport under the WFR cost; infinite where no plan of finite cost exists.

    >>> wmd_wfr_cost(Measure([[0.0]], [1.0]), Measure([[3.0]], [1.0]), eta=0.5).status
    <Status.INFEASIBLE: 'infeasible'>
    """
    eta = check_eta(eta)
    return _transport("wmd-wfr-cost", first, second, lambda x, y: costs(cosines(x, y, eta)), eta)


def rwmd(first: Measure, second: Measure) -> Solution:
    """The relaxed WMD: each word goes to its nearest; a lower bound of `wmd`.

    >>> rwmd(Measure([[0.0], [2.0]], [0.5, 0.5]), Measure([[0.0]], [1.0])).value
    1.0
    """
    mass = _balanced("rwmd", first, second)
    if mass is None:
        return _closed("rwmd", _no_plan(first, second), first, second)
    far = distances(first.points, second.points)
    out = float(first.weights @ far.min(axis=1))
    back = float(second.weights @ far.min(axis=0))
    return _closed("rwmd", max(out, back), first, second)


def wcd(first: Measure, second: Measure) -> Solution:
    """The distance of the centres of mass, times the mass; a lower bound of `wmd`.

    >>> wcd(Measure([[0.0], [2.0]], [0.5, 0.5]), Measure([[4.0]], [1.0])).value
    3.0
    """
    mass = _balanced("wcd", first, second)
    if mass is None:
        return _closed("wcd", _no_plan(first, second), first, second)
    apart = first.weights @ first.points - second.weights @ second.points
    return _closed("wcd", float(np.linalg.norm(apart)), first, second)


def hellinger(first: Measure, second: Measure) -> Solution:
    """The Hellinger distance of the weights over equal points: `sqrt(J / 2)`, in [0, 1] at mass one.

    `objective` is `J = sum_w (sqrt mu_w - sqrt nu_w)^2`, what WFR's J tends to as eta -> 0.

    >>> round(hellinger(Measure([[0.0], [1.0]], [0.5, 0.5]), Measure([[1.0]], [1.0])).objective, 6)
    0.585786
    """
    check_same_space(first, second)
    places: dict[bytes, int] = {}
    rows = [places.setdefault(p.tobytes(), len(places)) for p in first.points.astype(np.float64)]
    cols = [places.setdefault(p.tobytes(), len(places)) for p in second.points.astype(np.float64)]
    mu = np.bincount(np.array(rows, np.int64), first.weights, len(places))
    nu = np.bincount(np.array(cols, np.int64), second.weights, len(places))
    objective = min(float(np.sum((np.sqrt(mu) - np.sqrt(nu)) ** 2)), first.mass + second.mass)
    return _closed("hellinger", float(np.sqrt(objective / 2)), first, second, objective)


def _closed(
    metric: str, value: float, first: Measure, second: Measure, objective: float | None = None
) -> Solution:
    objective = value if objective is None else objective
    return Solution(
        metric=metric,
        value=value,
        objective=objective,
        certificate=Certificate(objective, objective),
        status=Status.INFEASIBLE if np.isinf(value) else Status.EXACT,
        first=first,
        second=second,
        eta=None,
        tol=0.0,
        work=Work(),
    )


def _balanced(metric: str, first: Measure, second: Measure) -> float | None:
    """The common mass; None where nothing can be carried; an error where the masses differ."""
    check_same_space(first, second)
    if first.mass == 0.0 or second.mass == 0.0:
        return None
    if abs(first.mass - second.mass) > EQUAL_MASS * max(first.mass, second.mass):
        raise InputError(
            f"metric={metric!r} moves mass without changing it, and masses {first.mass:g} and "
            f'{second.mass:g} came; call .normalized() on both, or use metric="wfr"'
        )
    return first.mass


def _no_plan(first: Measure, second: Measure) -> float:
    return 0.0 if first.mass == second.mass else float("inf")


def _transport(
    metric: str,
    first: Measure,
    second: Measure,
    cost_of: Callable[[Array, Array], Array],
    eta: float | None,
) -> Solution:
    mass = _balanced(metric, first, second)
    if mass is None:
        return _closed(metric, _no_plan(first, second), first, second)
    rows, cols = np.flatnonzero(first.weights), np.flatnonzero(second.weights)
    mu, nu = first.weights[rows] / first.mass, second.weights[cols] / second.mass
    cost = cost_of(first.points[rows], second.points[cols])
    plan, phi, psi = network_simplex(mu, nu, cost)
    upper = mass * _price(plan, cost)
    lower = mass * float(phi @ mu + psi @ nu) if np.isfinite(upper) else float("inf")
    full_phi, full_psi = np.zeros(len(first)), np.zeros(len(second))
    full_phi[rows], full_psi[cols] = phi, psi
    return Solution(
        metric=metric,
        value=upper,
        objective=upper,
        certificate=Certificate(min(lower, upper), upper),
        status=Status.EXACT if np.isfinite(upper) else Status.INFEASIBLE,
        first=first,
        second=second,
        eta=eta,
        tol=0.0,
        work=Work(),
        potentials=(full_phi, full_psi),
        _plan=partial(_plan, first, second, rows, cols, plan * mass, cost)
        if np.isfinite(upper)
        else None,
    )


def network_simplex(mu: Array, nu: Array, cost: Array) -> tuple[Array, Array, Array]:
    """An optimal plan and feasible potentials at mass one; a plan on infinite costs if it must be.

    The simplex wants a number on every arc. A forbidden arc gets one that no optimal plan pays while
    it can be avoided: mass on it could otherwise be led round a cycle of at most 2 min(m, n) allowed
    arcs. Whether the plan still uses one decides feasibility; the number enters no result.
    """
    finite = np.isfinite(cost)
    if finite.all():
        plan, phi = _simplex(mu, nu, cost)
    else:
        highest = float(cost[finite].max(initial=0.0))
        price = (2 * min(cost.shape) + 1) * max(highest, 1.0)
        plan, phi = _simplex(mu, nu, np.where(finite, cost, price))
        # Arcs that hold nothing but what rounding left there are empty.
        plan[~finite & (plan < 1e-12)] = 0.0
    with np.errstate(invalid="ignore"):
        psi = (cost - phi[:, None]).min(axis=0)
        phi = (cost - psi).min(axis=1)
    return plan, phi, psi


def _simplex(mu: Array, nu: Array, cost: Array) -> tuple[Array, Array]:
    """POT's solver without the checks and the copies around it, which take longer than small problems."""
    from ot.lp.emd_wrap import check_result, emd_c

    nu = nu * (mu.sum() / nu.sum())
    plan, _, phi, _, code = emd_c(mu, nu, np.ascontiguousarray(cost), MOST_PIVOTS, 1)
    if (warning := check_result(code)) is not None:
        raise RuntimeError(f"POT's network simplex did not finish: {warning}")
    return plan, np.asarray(phi)


def _price(plan: Array, cost: Array) -> float:
    """`<cost, plan>`, where nothing at infinite cost costs nothing."""
    used = plan > 0
    return float(np.sum(cost[used] * plan[used]))


def wmd_value(first: Measure, second: Measure) -> float:
    """The value of `wmd`, to the last bit, of measures with mass where that is all that is wanted.

    >>> wmd_value(Measure([[0.0]], [1.0]), Measure([[3.0]], [1.0]))
    3.0
    """
    rows, cols = np.flatnonzero(first.weights), np.flatnonzero(second.weights)
    mu, nu = first.weights[rows] / first.mass, second.weights[cols] / second.mass
    cost = distances(first.points[rows], second.points[cols])
    return first.mass * _price(_simplex(mu, nu, cost)[0], cost)


def _plan(
    first: Measure,
    second: Measure,
    rows: NDArray[np.intp],
    cols: NDArray[np.intp],
    plan: Array,
    cost: Array,
) -> Plan:
    carried, price = np.zeros((len(first), len(second))), np.zeros((len(first), len(second)))
    carried[np.ix_(rows, cols)] = plan
    price[np.ix_(rows, cols)] = np.where(plan > 0, np.where(plan > 0, cost, 0.0) * plan, 0.0)
    none_here, none_there = np.zeros(len(first)), np.zeros(len(second))
    return Plan(carried, carried, None, price, none_here, none_there)

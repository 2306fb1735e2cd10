"""The Wasserstein-Fisher-Rao distance: anneal, certify, stop; or the paper's algorithm as it stands.

    primal  J = min_{R >= 0} <C, R> + KL(R 1 | mu) + KL(R' 1 | nu)
    dual    J = max <1 - e^-phi, mu> + <1 - e^-psi, nu>   subject to phi_i + psi_j <= C_ij
    metric  WFR_eta = eta sqrt(2 J)

Both are solved for the affinity S of the measures at mass one, `J = |mu| + |nu| - 2 sqrt(|mu||nu|) S`,
as kernels/__init__.py states it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import InputError
from wayfare.ground import check_eta, check_tol, cosines
from wayfare.measure import Measure, check_same_space
from wayfare.solution import Certificate, Plan, Solution, Status, Work
from wayfare.threads import one_blas_thread

__all__ = ["MOST_PAIRS", "solve", "wfr_value"]

Array = NDArray[np.float64]
Method = Literal["auto", "paper"]

# A dense problem this large fills the memory of a laptop; the error is kinder than the swap.
MOST_PAIRS = 200_000_000

# Sinkhorn in float64 meets tolerances down to this; the interior-point finish goes on from there.
SINKHORN_TOL = 1e-5

# Below this tolerance the rounding of float32 eats it on documents of some hundred words.
SINGLE_TOL = 2e-4


def wfr_value(objective: float, eta: float) -> float:
    """`eta sqrt(2 J)`: the distance that belongs to a value of the objective."""
    return float(eta * np.sqrt(2 * objective))


@dataclass(frozen=True)
class _Problem:
    """Two measures at mass one, without what cannot travel; `rows` and `cols` are what is left."""

    cosines: Array
    mu: Array
    nu: Array
    rows: NDArray[np.intp]
    cols: NDArray[np.intp]
    first_mass: float
    second_mass: float

    @property
    def total(self) -> float:
        return self.first_mass + self.second_mass

    @property
    def scale(self) -> float:
        # One root each: the product of two masses may leave the range of float64.
        return 2.0 * float(np.sqrt(self.first_mass) * np.sqrt(self.second_mass))


@dataclass(frozen=True)
class _State:
    """Feasible multiplicative potentials `a_i b_j >= h_ij^2` and any plan, of a problem."""

    a: Array
    b: Array
    plan: Array

    def affinity_above(self, problem: _Problem) -> float:
        return float(np.sqrt((self.a @ problem.mu) * (self.b @ problem.nu)))


def solve(
    first: Measure,
    second: Measure,
    *,
    eta: float = 0.5,
    tol: float = 1e-3,
    atol: float = 1e-12,
    method: Method = "auto",
) -> Solution:
    """The certified WFR distance of two measures.

    Stops when `(upper - lower) <= tol * max(upper, atol * (|mu| + |nu|))`, both bounds on J, in
    float64. `method="paper"` runs the paper's fixed schedule instead and bounds what it found.
    Raises `InputError` for settings out of range and for problems of over 2e8 pairs of points.

    >>> here, there = Measure([[0.0]], [1.0]), Measure([[1.0]], [1.0])
    >>> answer = solve(here, there, eta=0.5)
    >>> round(answer.objective, 6), round(float(2 - 2 * np.cos(1.0)), 6)
    (0.919395, 0.919395)
    """
    eta, tol, atol = check_eta(eta), check_tol(tol), check_tol(atol, "atol")
    if method not in ("auto", "paper"):
        raise InputError(f'method: {method!r} came; give "auto" or "paper"')
    if len(first) * len(second) > MOST_PAIRS:
        raise InputError(
            f"a problem of {len(first)} x {len(second)} points came; at most {MOST_PAIRS:,} pairs fit: "
            "merge equal points, or split the documents"
        )
    problem = _prepare(first, second, eta)
    floor = atol * problem.total
    if method == "paper":
        state, work = _run_paper(problem, first, second)
    else:
        state, work = _run(problem, tol, floor)
    lower, upper = _bounds(problem, state)
    certificate = Certificate(lower, upper, floor)
    if method == "paper":
        status = Status.UNCERTIFIED
    else:
        status = Status.CERTIFIED if certificate.gap <= tol else Status.STALLED
    return Solution(
        metric="wfr",
        value=wfr_value(upper, eta),
        objective=upper,
        certificate=certificate,
        status=status,
        first=first,
        second=second,
        eta=eta,
        tol=tol,
        work=work,
        potentials=_potentials(problem, state, len(first), len(second)),
        _plan=partial(_plan, problem, state, first, second),
    )


def _prepare(first: Measure, second: Measure, eta: float) -> _Problem:
    """Drop weightless points and points without a partner, and bring both measures to mass one."""
    check_same_space(first, second)
    first_mass, second_mass = first.mass, second.mass
    if len(first) == 0 or len(second) == 0 or first_mass == 0.0 or second_mass == 0.0:
        none = np.zeros(0, np.intp)
        return _Problem(
            np.zeros((0, 0)), np.zeros(0), np.zeros(0), none, none, first_mass, second_mass
        )
    rows, cols = np.flatnonzero(first.weights), np.flatnonzero(second.weights)
    h = cosines(first.points[rows], second.points[cols], eta)
    some_row, some_col = h.any(axis=1), h.any(axis=0)
    if not (some_row.all() and some_col.all()):
        h, rows, cols = h[np.ix_(some_row, some_col)], rows[some_row], cols[some_col]
    return _Problem(
        np.ascontiguousarray(h),
        first.weights[rows] / first_mass,
        second.weights[cols] / second_mass,
        rows,
        cols,
        first_mass,
        second_mass,
    )


def _run(problem: _Problem, tol: float, floor: float) -> tuple[_State, Work]:
    """Sinkhorn as far as it is the fastest way, then the interior-point finish."""
    if problem.cosines.size == 0:
        return _State(np.zeros(0), np.zeros(0), np.zeros((0, 0))), Work()
    identity = _coincidence(problem)
    if identity is not None:
        return identity, Work()
    state, work, gap = None, Work(), np.inf
    if tol >= SINKHORN_TOL:
        state, work = _sinkhorn(problem, tol, floor)
        lower, upper = _bounds(problem, state)
        gap = (upper - lower) / max(upper, floor)
        if gap <= tol:
            return state, work
    finished, steps = _finish(problem, tol, floor)
    work = Work(work.sweeps, work.stages, steps)
    if state is not None:
        lower, upper = _bounds(problem, finished)
        if gap < (upper - lower) / max(upper, floor):
            return state, work
    return finished, work


def _coincidence(problem: _Problem) -> _State | None:
    """The state of two measures that are one, up to their order and their mass."""
    m, n = problem.cosines.shape
    if m != n:
        return None
    here = np.arange(m)
    # As they stand first: where points come twice, the first of the nearest is not always the one.
    aligned = bool(np.all(problem.cosines.diagonal() == 1.0))
    match = here if aligned else problem.cosines.argmax(axis=1)
    if not np.all(problem.cosines[here, match] == 1.0) or len(np.unique(match)) != m:
        return None
    if not np.allclose(problem.mu, problem.nu[match], rtol=4e-16, atol=0.0):
        return None
    plan = np.zeros((m, n))
    plan[here, match] = problem.mu
    return _State(np.ones(m), np.ones(n), plan)


def _sinkhorn(problem: _Problem, tol: float, floor: float) -> tuple[_State, Work]:
    """The kernel's potentials and plan: in float32 where that is enough to reach `tol` with them."""
    from wayfare.kernels.cpu import anneal, batch, components, jit
    from wayfare.kernels.cpu import problem as room

    m, n = problem.cosines.shape
    kept = batch.Kept(np.zeros(m), np.zeros(n), np.zeros((m, n)))
    goal = anneal.Goal(problem.total, problem.scale, 0.0, 0.0, tol, floor, np.inf)
    dtype = np.dtype(np.float32 if tol >= SINGLE_TOL else np.float64)
    jit.announce_compilation(batch.solve_one)
    _, _, _, sweeps, stages = batch.solve_one(
        np.ascontiguousarray(problem.cosines.T, dtype),
        problem.mu,
        problem.nu,
        goal,
        anneal.DEPTH,
        room.workspace(m, n, dtype),
        room.workspace(m, n, dtype),
        components.parts(m, n),
        kept,
    )
    return _feasible(problem, kept.a, kept.plan), Work(int(sweeps), int(stages))


def _finish(problem: _Problem, tol: float, floor: float) -> tuple[_State, int]:
    from wayfare.kernels.finish import finish

    best: list[tuple[float, _State]] = []

    def good_enough(phi: Array, psi: Array, plan: Array) -> bool:
        state = _feasible(problem, np.exp(-phi), plan)
        lower, upper = _bounds(problem, state)
        gap = (upper - lower) / max(upper, floor)
        if not best or gap < best[0][0]:
            best[:] = [(gap, state)]
        return gap <= tol

    with one_blas_thread():
        *reached, steps = finish(problem.cosines, problem.mu, problem.nu, good_enough)
        if not best:  # not one step could be taken: where it starts is feasible too
            good_enough(*reached)
    return best[0][1], steps


def _run_paper(problem: _Problem, first: Measure, second: Measure) -> tuple[_State, Work]:
    """Algorithm 2 on the measures as they are; its plan and its C-transformed potentials."""
    from wayfare.kernels.reference import PAPER_SCHEDULE, wfr_doc_dist

    mu, nu = first.weights[problem.rows], second.weights[problem.cols]
    plan, phi, _ = wfr_doc_dist(mu, nu, problem.cosines)
    work = Work(sum(sweeps for _, sweeps in PAPER_SCHEDULE), len(PAPER_SCHEDULE))
    return _feasible(problem, np.exp(-phi), plan), work


def _feasible(problem: _Problem, a: Array, plan: Array) -> _State:
    """C-transform twice: `b_j = max_i h_ij^2 / a_i`, then `a_i = max_j h_ij^2 / b_j`."""
    if problem.cosines.size == 0:
        return _State(np.zeros(len(problem.mu)), np.zeros(len(problem.nu)), plan)
    kernel = problem.cosines**2
    b = np.asarray((kernel / a[:, None]).max(axis=0))
    return _State(np.asarray((kernel / b).max(axis=1)), b, plan)


def _split(problem: _Problem, plan: Array) -> tuple[Array, Array]:
    """The best semi-coupling whose rows are the plan's: `A_ij = mu_i R_ij / r_i`, then the best B."""
    h = problem.cosines
    sums = plan.sum(axis=1)
    share = np.divide(problem.mu, sums, out=np.zeros_like(sums), where=sums > 0)
    sent = plan * share[:, None]
    reach = h**2 * sent
    arriving = reach.sum(axis=0)
    share = np.divide(problem.nu, arriving, out=np.zeros_like(arriving), where=arriving > 0)
    return sent, reach * share


def _bounds(problem: _Problem, state: _State) -> tuple[float, float]:
    """Proven bounds of J, from the potentials and from the plan.

    Near J = 0 the upper one is formed from `(sqrt A - sqrt B)^2 + 2 (1 - h) sqrt(A B)`, which does
    not cancel.
    """
    total, scale = problem.total, problem.scale
    if problem.cosines.size == 0:
        return total, total
    lower = total - scale * state.affinity_above(problem)
    sent, received = _split(problem, state.plan)
    affinity = float(np.sum(problem.cosines * np.sqrt(sent * received)))
    upper = total - scale * affinity
    if upper < 1e-4 * total:
        upper = _small_objective(problem, sent, received)
    return min(max(lower, 0.0), upper), upper


def _small_objective(problem: _Problem, sent: Array, received: Array) -> float:
    sent, received = sent * problem.first_mass, received * problem.second_mass
    pairs = _prices(sent, received, problem.cosines)
    # What no pair holds is destroyed or created at its mass.
    left = max(problem.first_mass - sent.sum(), 0.0) + max(
        problem.second_mass - received.sum(), 0.0
    )
    eps = 4 * np.finfo(np.float64).eps * problem.total
    return float(pairs.sum()) + (left if left > eps else 0.0)


def _prices(sent: Array, received: Array, h: Array) -> Array:
    """`sent + received - 2 h sqrt(sent received)`, without cancelling near 0."""
    out, back = np.sqrt(sent), np.sqrt(received)
    return np.asarray((out - back) ** 2 + 2 * (1 - h) * out * back)


def _potentials(problem: _Problem, state: _State, m: int, n: int) -> tuple[Array, Array]:
    """`phi` and `psi` of the measures as they came, at their best constant; infinite: destroyed."""
    phi, psi = np.full(m, np.inf), np.full(n, np.inf)
    if problem.cosines.size:
        mass_a = float(state.a @ problem.mu) * problem.first_mass
        mass_b = float(state.b @ problem.nu) * problem.second_mass
        shift = 0.5 * np.log(mass_a / mass_b)
        with np.errstate(divide="ignore"):
            phi[problem.rows] = shift - np.log(state.a)
            psi[problem.cols] = -shift - np.log(state.b)
    return phi, psi


def _plan(problem: _Problem, state: _State, first: Measure, second: Measure) -> Plan:
    shape = (len(first), len(second))
    sent, received, h, costs = (np.zeros(shape) for _ in range(4))
    if problem.cosines.size:
        block = np.ix_(problem.rows, problem.cols)
        part_sent, part_received = _split(problem, state.plan)
        h[block] = problem.cosines
        sent[block] = part_sent * problem.first_mass
        received[block] = part_received * problem.second_mass
        costs = _prices(sent, received, h)
    destroyed = np.maximum(first.weights - sent.sum(axis=1), 0.0)
    created = np.maximum(second.weights - received.sum(axis=0), 0.0)
    destroyed[destroyed < 1e-15 * first.mass] = 0.0
    created[created < 1e-15 * second.mass] = 0.0
    return Plan(sent, received, h, costs, destroyed, created)

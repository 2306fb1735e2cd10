"""One dense problem: anneal, certify, stop.

The entropic dual at eps = 1/p has the plan R_ij = (h_ij^2 / (a_i b_j))^p, so halving eps squares the
plan, and the whole path needs one power of the cosines and no exponential of a matrix. One sweep is

    a_i <- a_i t_i^(omega/(p+1)),   t_i = (R 1)_i / (mu_i a_i)          (1)  rows
    b_j <- b_j t_j^(omega/(p+1)),   t_j = (R' 1)_j / (nu_j b_j)         (2)  columns
    (a, b) <- (a / l, b l),         l = sqrt(<a, mu> / <b, nu>)         (3)  translation

with over-relaxation omega: at small eps it needs a half to a third of the sweeps. Between absorptions
R is kept as u_i P_ij v_j, and everything else in base-2 logarithms. Potentials are nearly linear in
eps, so each stage starts from where the two before it lead. The bounds are (4) and (5) of
certificate.py, which need no exponential either.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import numpy as np

from wayfare.kernels.cpu.certificate import feasible_pair, lower_bound
from wayfare.kernels.cpu.jit import jit_bare, jit_within
from wayfare.kernels.cpu.lanes import LANES, largest, smallest, spread, total, where_larger
from wayfare.kernels.cpu.memory import put, take
from wayfare.kernels.cpu.passes import add_rows, first_plan, max_rows, sharpen
from wayfare.kernels.cpu.powers import exp2, log2
from wayfare.kernels.cpu.problem import (
    BASE,
    BEFORE,
    FLOOR,
    LOG_A,
    LOG_U,
    LOG_W,
    SCALE,
    SUMS,
    TINY,
    WEIGHT,
)

__all__ = ["CERTIFIED", "CUT", "DEPTH", "STAGES", "STALLED", "Goal", "anneal"]

CERTIFIED, STALLED, CUT = 0, 1, 2

# Sweeps a stage, from eps = 1/8 down to 1/2048. Short early stages only have to bring the potentials
# near; the long ones at the end run until the certificate is good enough.
STAGES = np.array([2, 2, 2, 3, 3, 4, 6, 14, 128])
DEPTH = len(STAGES)
FIRST_POWER = 8.0
OVER_RELAXATION = 1.65
SWEEPS_BETWEEN_TRANSLATIONS = 7

# A look at the certificate costs as much as four sweeps. The gap falls by `DROP` a stage, give or take;
# where that does not bring it near the goal within a stage, nobody looks. `NEAR` is how far above the
# goal it may be foreseen for one look at the stage's end.
FIRST_LOOK, DROP, NEAR = 2, 2.7, 1.5
EARLIEST, SWEEPS_BETWEEN_LOOKS = 4, 5

# A scaling is taken into the plan beyond 2^40, and never goes beyond 2^60: a product of two is finite.
ABSORBED, LONGEST = 40, 60

# Of J = total - scale * (elsewhere + S): a solve may stop when its gap is within tol * max(J, atol),
# or when J is proven to be at least `cut`. `elsewhere` is an upper bound on the affinity of the
# parts that are solved on their own, `margin` what rounding will add to the gap in S afterwards.
Goal = namedtuple("Goal", "total scale elsewhere margin tol atol cut")


@jit_within
def _start_side(side: Any, tiny: Any) -> None:
    """The largest cosines in SUMS as a first potential, and its inverse root as scaling."""
    one, two = side.dtype.type(1), side.dtype.type(2)
    for j in range(0, side.shape[1], LANES):
        root = largest(take(side, (SUMS, j)), tiny)
        weight = take(side, (WEIGHT, j))
        put(side, (SCALE, j), one / root)
        log_a = where_larger(weight, 0, two * log2(root), 0)
        put(side, (BASE, j), log_a)
        put(side, (BEFORE, j), log_a)
        put(side, (LOG_W, j), log2(largest(weight, tiny)))
        put(side, (LOG_U, j), 0)


@jit_within
def _first_potentials(work: Any, tiny: Any) -> None:
    """Start from `a_i = max_j h_ij^2`, `b_j = max_i h_ij^2 / a_i`: feasible, tight in every row.

    Leaves the inverse roots of both as scalings: `h / sqrt(a b)` has 1 for the largest in each row.
    """
    rows, cols = work.rows, work.cols
    cols[SCALE] = 1
    max_rows(work.cosines_t, cols[SCALE], rows[SUMS])
    _start_side(rows, tiny)
    max_rows(work.cosines, rows[SCALE], cols[SUMS])
    _start_side(cols, tiny)


@jit_within
def _absorbed(side: Any, per_power: Any) -> None:
    """Begin anew after the scaling was taken into the plan."""
    for j in range(0, side.shape[1], LANES):
        put(side, (BASE, j), take(side, (BASE, j)) - take(side, (LOG_U, j)) * per_power)
        put(side, (LOG_U, j), 0)
        put(side, (SCALE, j), 1)


@jit_within
def _lead(side: Any, power: Any, gain: Any) -> None:
    """Move the potential on by `gain` of its last step, by way of the scaling.

    It is nearly linear in eps: when eps is halved, it goes half as far again as it came.
    """
    real = side.dtype.type
    most, per_power = real(LONGEST), real(1) / power
    for j in range(0, side.shape[1], LANES):
        u = take(side, (LOG_U, j))
        now = take(side, (BASE, j)) - u * per_power
        u = u - (now - take(side, (BEFORE, j))) * (gain * power)
        u = smallest(largest(u, -most), most)
        put(side, (BEFORE, j), now)
        put(side, (LOG_U, j), u)
        put(side, (SCALE, j), exp2(u))


@jit_within
def _update(side: Any, power: Any, relax: Any, tiny: Any) -> Any:
    """Equations (1) and (2) for one side; returns by how much scalings went beyond `ABSORBED` in all."""
    real = side.dtype.type
    most, beyond = real(LONGEST), spread(side, 0)
    step = relax * power / (power + real(1))
    keep = real(1) - step * (real(1) + real(1) / power)
    for j in range(0, side.shape[1], LANES):
        wanted = take(side, (BASE, j)) + take(side, (LOG_W, j))
        wanted = wanted - log2(largest(take(side, (SUMS, j)), tiny))
        u = take(side, (LOG_U, j)) * keep + wanted * step
        u = smallest(largest(u, -most), most)
        put(side, (LOG_U, j), u)
        put(side, (SCALE, j), exp2(u))
        beyond = beyond + largest(largest(u, u * real(-1)) - real(ABSORBED), 0)
    return total(beyond)


@jit_within
def _mass(side: Any, per_power: Any) -> float:
    """Bring the potential up to date; returns `<a, weights>`."""
    mass = spread(side, 0)
    for j in range(0, side.shape[1], LANES):
        log_a = take(side, (BASE, j)) - take(side, (LOG_U, j)) * per_power
        put(side, (LOG_A, j), log_a)
        mass = mass + exp2(log_a) * take(side, (WEIGHT, j))
    return float(total(mass))


@jit_within
def _translate(work: Any, per_power: Any) -> None:
    """Bring the potentials up to date, and equation (3): the best constant to move between them."""
    rows, cols = work.rows, work.cols
    shift = 0.5 * math.log2(_mass(rows, per_power) / _mass(cols, per_power))
    for side, part in ((rows, shift), (cols, -shift)):
        for j in range(0, side.shape[1], LANES):
            put(side, (LOG_A, j), take(side, (LOG_A, j)) - part)
            put(side, (BASE, j), take(side, (BASE, j)) - part)


@jit_within
def _into_plan(work: Any, per_power: Any, square: bool) -> None:
    """Take the scalings into the plan and its transpose."""
    rows, cols, floor = work.rows, work.cols, work.rows.dtype.type(FLOOR)
    sharpen(work.plan, rows[SCALE], cols[SCALE], square, floor)
    sharpen(work.plan_t, cols[SCALE], rows[SCALE], square, floor)
    _absorbed(rows, per_power)
    _absorbed(cols, per_power)


@jit_within
def _sweep(work: Any, power: Any, relax: Any) -> None:
    """Equations (1) and (2)."""
    rows, cols, tiny = work.rows, work.cols, work.rows.dtype.type(TINY)
    add_rows(work.plan_t, cols[SCALE], rows[SUMS])
    beyond = _update(rows, power, relax, tiny)
    add_rows(work.plan, rows[SCALE], cols[SUMS])
    beyond += _update(cols, power, relax, tiny)
    if beyond > 0:
        _into_plan(work, work.rows.dtype.type(1) / power, False)


@jit_within
def _first_look(stage: int, depth: int, foreseen: float) -> int:
    """The sweep of a stage after which to look at the certificate; 0 for none."""
    sweeps = int(STAGES[stage])
    if foreseen <= 1:
        return min(EARLIEST, sweeps)
    near = stage >= FIRST_LOOK and (foreseen <= NEAR or foreseen == np.inf)
    return sweeps if near or stage == depth - 1 else 0


@jit_bare
def anneal(work: Any, goal: Any, depth: int) -> tuple[int, float, float, int, int]:
    """Solve the problem in `work`: status, lower and upper bound of S, sweeps, stages.

    At most `depth` of the stages are run: two already give bounds worth having.

    Wants the cosines with their transpose and the weights, all positive but for the padding; every row
    and column of the cosines must have a positive entry, unless it has no weight. Leaves the plan (up to
    the scalings) and the potentials.
    """
    rows, cols = work.rows, work.cols
    real = rows.dtype.type
    _first_potentials(work, real(TINY))
    first_plan(work.cosines, rows[SCALE], cols[SCALE], work.plan)
    first_plan(work.cosines_t, cols[SCALE], rows[SCALE], work.plan_t)
    _absorbed(rows, real(1) / real(FIRST_POWER))
    _absorbed(cols, real(1) / real(FIRST_POWER))
    power, lower, upper, sweeps = real(FIRST_POWER), 0.0, np.inf, 0
    foreseen = np.inf  # the gap over the gap that is wanted, at the end of the stage
    for stage in range(depth):
        if stage:
            gain = real(0.5 if stage > 1 else 0)
            _lead(rows, power, gain)
            _lead(cols, power, gain)
            _into_plan(work, real(1) / power, True)
            power *= real(2)
            foreseen /= DROP
        look = _first_look(stage, depth, foreseen)
        for sweep in range(1, STAGES[stage] + 1):
            # The first sweep after a squaring takes the jump; relaxing it would overshoot.
            _sweep(work, power, real(OVER_RELAXATION) if sweep > 1 else real(1))
            sweeps += 1
            last = sweep == STAGES[stage]
            if sweep == look or last or sweep % SWEEPS_BETWEEN_TRANSLATIONS == 0:
                _translate(work, real(1) / power)
            if sweep == look or (last and stage > 0 and goal.cut < np.inf):
                upper = feasible_pair(work)
                reach = goal.elsewhere + goal.margin + upper
                if goal.total - goal.scale * reach > goal.cut:
                    return CUT, lower, upper, sweeps, stage + 1
            if sweep == look:
                look = min(look + SWEEPS_BETWEEN_LOOKS, STAGES[stage])
                lower = lower_bound(work)
                value = goal.total - goal.scale * (goal.elsewhere + lower)
                wanted = goal.tol * max(value, goal.atol) - goal.scale * goal.margin
                gap = goal.scale * (upper - lower)
                if gap <= wanted:
                    return CERTIFIED, lower, upper, sweeps, stage + 1
                if wanted <= 0:
                    return STALLED, lower, upper, sweeps, stage + 1
                foreseen = gap / wanted
    return STALLED, lower, upper, sweeps, depth

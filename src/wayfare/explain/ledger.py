"""From a solution to its explanation: every pair, every word, and the proof that they add up."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import InputError
from wayfare.explain.explanation import Explanation, Side, Transfer, Word

if TYPE_CHECKING:
    from wayfare.measure import Measure
    from wayfare.solution import Plan, Solution

__all__ = ["explain"]

# Relative to the masses and the objective: the lines are sums of up to 2e8 rounded numbers.
ROUNDING = 1e-11


def explain(solution: Solution) -> Explanation:
    """The explanation of a solution; `Solution.explain` calls this.

    Raises `InputError` where there is no plan to explain: `rwmd`, `wcd` and `hellinger` have none, and
    a balanced metric that found no plan of finite cost.
    """
    plan, metric = solution.plan, solution.metric
    nothing = solution.first.mass == 0.0 and solution.second.mass == 0.0
    if plan is None and not nothing:
        raise InputError(_no_plan(solution))
    pairs = [] if plan is None else _pairs(plan)
    names: dict[tuple[Side, int], str] = {}
    sides = []
    for side, measure in (("first", solution.first), ("second", solution.second)):
        alone = None if plan is None else plan.destroyed if side == "first" else plan.created
        sides.append(_words(side, measure, pairs, alone, names))  # type: ignore[arg-type]
    lower, upper = solution.bounds
    found = Explanation(
        metric=metric,
        eta=solution.eta,
        value=solution.value,
        lower=lower,
        upper=upper,
        objective=solution.objective,
        objective_lower=solution.certificate.lower,
        objective_upper=solution.certificate.upper,
        status=solution.status.value,
        first=sides[0],
        second=sides[1],
        first_mass=solution.first.mass,
        second_mass=solution.second.mass,
        names=names,
    )
    _assert_that_it_adds_up(found)
    return found


def _no_plan(solution: Solution) -> str:
    if solution.value == math.inf:
        return f"explain: there is no plan: {solution.status.remedy}"
    return (
        f"explain: metric={solution.metric!r} has no transport plan to explain; "
        'use metric="wfr", "wmd" or "wmd-wfr-cost"'
    )


def _pairs(plan: Plan) -> list[Transfer]:
    rows, cols = np.nonzero((plan.sent > 0) | (plan.received > 0))
    columns: list[Any] = [rows.tolist(), cols.tolist()]
    columns += [array[rows, cols].tolist() for array in (plan.sent, plan.received, plan.costs)]
    near = [None] * len(rows) if plan.cosines is None else plan.cosines[rows, cols].tolist()
    return [Transfer(*values) for values in zip(*columns, near, strict=True)]


def _words(
    side: Side,
    measure: Measure,
    pairs: list[Transfer],
    alone: NDArray[np.float64] | None,
    names: dict[tuple[Side, int], str],
) -> tuple[Word, ...]:
    own: dict[int, list[Transfer]] = {at: [] for at in np.flatnonzero(measure.weights).tolist()}
    for pair in pairs:
        own[pair.source if side == "first" else pair.target].append(pair)
    words = []
    for at, mine in own.items():
        name = f"point {at}" if measure.words is None else measure.words[at]
        names[side, at] = name
        mine.sort(key=lambda p: (-p.sent if side == "first" else -p.received, p.target, p.source))
        left = 0.0 if alone is None else float(alone[at])
        price = math.fsum([left, *(pair.cost for pair in mine)])
        words.append(Word(side, at, name, float(measure.weights[at]), tuple(mine), left, price))
    return tuple(sorted(words, key=lambda word: (-word.price, -word.mass, word.at)))


def _assert_that_it_adds_up(found: Explanation) -> None:
    """An explanation that does not add up is worse than none: it would explain another number."""
    scale = ROUNDING * (found.first_mass + found.second_mass + found.objective)
    out = math.fsum(word.price for word in found.first) + found.created
    back = math.fsum(word.price for word in found.second) + found.destroyed
    if not (abs(out - found.objective) <= scale and abs(back - found.objective) <= scale):
        raise RuntimeError(
            f"the lines sum to {out!r} and {back!r}, the objective is {found.objective!r}"
        )
    for word in (*found.first, *found.second):
        moved = math.fsum(p.sent if word.side == "first" else p.received for p in word.transfers)
        if abs(moved + word.alone - word.mass) > scale:
            raise RuntimeError(f"{word.name!r} has mass {word.mass!r}, but {moved!r} moved")

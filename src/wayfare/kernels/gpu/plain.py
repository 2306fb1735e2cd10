"""Many dense problems at once in plain PyTorch: padded, masked, on any device, in either precision.

The algorithm of `kernels/cpu/anneal.py`, equation by equation, over a batch: this is what runs where
Triton is missing, and what the kernels are compared with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wayfare.kernels.gpu.problem import (
    FLOOR,
    LARGEST_EXPONENT,
    OVER_RELAXATION,
    SCALE_LIMIT,
    TINY,
    Pass,
)
from wayfare.kernels.gpu.torches import torch

__all__ = ["Potentials", "pass_padded"]

Tensor = Any
Potentials = tuple[Tensor, Tensor]


@dataclass
class _State:
    """A batch under way; `rows` and `cols` are logarithms of the potentials a and b."""

    h: Tensor
    mu: Tensor
    nu: Tensor
    plan: Tensor
    rows: Tensor
    cols: Tensor
    row_scale: Tensor
    col_scale: Tensor


def pass_padded(
    h: Tensor, mu: Tensor, nu: Tensor, now: Pass, before: Potentials | None = None
) -> tuple[Tensor, Tensor, Potentials]:
    """One pass over a batch: bounds on each affinity, as computed, and the potentials.

    `h` (B, M, N) holds cosines, `mu` (B, M) and `nu` (B, N) weights at mass one; padding is zero weight
    and zero cosine. `before` are the potentials of the pass before; a fresh pass needs none.
    """
    state = _start(h, mu, nu, now.power, None if now.fresh else before)
    power = now.power
    for stage, length in enumerate(now.stages):
        if stage:
            _sharpen(state)
            power *= 2.0
        for sweep in range(length):
            # The first sweep after a squaring takes the jump; relaxing it would overshoot.
            _sweep(state, power, OVER_RELAXATION if sweep else 1.0)
        _translate(state)
    return _below(state), _above(state), (state.rows, state.cols)


def _start(h: Tensor, mu: Tensor, nu: Tensor, power: float, before: Potentials | None) -> _State:
    """From `a_i = max_j h_ij^2`, `b_j = max_i h_ij^2 / a_i`, or from where the last pass ended."""
    t = torch()
    if before is None:
        reach = h.amax(2)
        across = (h * _inverse(reach)[:, :, None]).amax(1)
        rows, cols = 2.0 * _log2(reach), 2.0 * _log2(across)
    else:
        rows, cols = before[0].clone(), before[1].clone()
    exponent = power * (2.0 * _log2(h) - rows[:, :, None] - cols[:, None, :])
    plan = t.where(h > 0, exponent.clamp_(max=SCALE_LIMIT).exp2_(), 0.0)
    nothing = t.zeros_like(mu), t.zeros_like(nu)
    return _State(h, mu, nu, plan, rows, cols, *nothing)


def _inverse(values: Tensor) -> Tensor:
    return torch().where(values > 0, 1.0 / values, 0.0)


def _log2(values: Tensor) -> Tensor:
    """`log2`, and 0 where there is nothing."""
    return torch().where(values > 0, values, 1.0).log2()


def _sweep(state: _State, power: float, relax: float) -> None:
    """Equations (1) and (2): rows from the columns' scaling, then columns from the rows'."""
    sums = (state.plan @ state.col_scale.exp2()[:, :, None])[:, :, 0]
    _move(state.rows, state.row_scale, sums, state.mu, power, relax)
    sums = (state.row_scale.exp2()[:, None, :] @ state.plan)[:, 0, :]
    _move(state.cols, state.col_scale, sums, state.nu, power, relax)


def _move(
    potential: Tensor, scale: Tensor, sums: Tensor, weight: Tensor, power: float, relax: float
) -> None:
    """A step of one side; a scaling stays in range, and the potential with it."""
    step = relax / (power + 1.0)
    move = step * (scale + sums.clamp(min=TINY).log2() - _log2(weight) - potential)
    # What carries nothing stays where it is.
    move = torch().where((weight > 0) & (sums > 0), move, 0.0)
    after = (scale - power * move).clamp_(-SCALE_LIMIT, SCALE_LIMIT)
    potential += (scale - after) / power
    scale.copy_(after)


def _sharpen(state: _State) -> None:
    """Take the scalings into the plan, and square it: half the entropy."""
    state.plan *= state.row_scale.exp2()[:, :, None]
    state.plan *= state.col_scale.exp2()[:, None, :]
    state.plan = torch().where(state.plan > FLOOR, state.plan, 0.0).square_()
    state.row_scale.zero_()
    state.col_scale.zero_()


def _translate(state: _State) -> None:
    """Equation (3)."""
    a, b = _mass(_root(state.rows), state.mu), _mass(_root(state.cols), state.nu)
    live = (a > 0) & (b > 0)
    shift = torch().where(live, 0.5 * (_log2(a) - _log2(b)), 0.0)[:, None]
    state.rows -= shift
    state.cols += shift


def _mass(roots: Tensor, weights: Tensor) -> Tensor:
    """The mass `<a, mu>`, from the roots of a."""
    return (roots.square() * weights).sum(1)


def _root(logarithm: Tensor) -> Tensor:
    return (0.5 * logarithm).clamp(-LARGEST_EXPONENT, LARGEST_EXPONENT).exp2()


def _above(state: _State) -> Tensor:
    """Equation (4): `b_j = max_i h_ij^2 / a_i`, then `a_i = max_j h_ij^2 / b_j`, in roots."""
    across = (state.h * _root(-state.rows)[:, :, None]).amax(1)
    back = (state.h * _inverse(across)[:, None, :]).amax(2)
    return (_mass(back, state.mu) * _mass(across, state.nu)).sqrt()


def _below(state: _State) -> Tensor:
    """Equation (5): the rows of the plan brought to mu, and the best columns for them."""
    col_scale = state.col_scale.exp2()
    sums = (state.plan @ col_scale[:, :, None])[:, :, 0]
    share = torch().where(sums > TINY, state.mu / sums.clamp(min=TINY), 0.0)
    arriving = (share[:, None, :] @ (state.plan * state.h * state.h))[:, 0, :]
    return (state.nu * col_scale * arriving).sqrt().sum(1)

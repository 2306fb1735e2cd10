"""What a pass is, and what its numbers mean: the same for every path.

All paths bound the affinity S of measures at mass one, from which `J = |mu| + |nu| - 2 sqrt(|mu||nu|) S`
is formed in float64. A pass sweeps through some stages and then certifies once, with no branch on what
it finds; the potentials it leaves are where the next pass starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wayfare.kernels.gpu.torches import torch

__all__ = [
    "FLOOR",
    "LARGEST_EXPONENT",
    "OVER_RELAXATION",
    "PASSES",
    "SCALE_LIMIT",
    "SHALLOW",
    "SMALLEST_COSINE",
    "TINY",
    "Pass",
    "rounding_of",
]

Tensor = Any

OVER_RELAXATION = 1.8
TINY = 1e-30
FLOOR = 1e-18  # entries of the plan below this become 0 before they become subnormal
SCALE_LIMIT = 100.0  # scalings stay between 2^-100 and 2^100 until they go into the plan

# Roots of potentials enter a certificate between 2^-30 and 2^30. Any potential bounds, and with cosines
# of at least 2^-20 no square of a certificate then leaves the range of float32 for nothing.
LARGEST_EXPONENT = 30.0
SMALLEST_COSINE = 2.0**-20

# Each term of a bound is a handful of products, quotients and roots, some of them hardware
# approximations good to two units: this many units cover them beside the sums.
UNITS_A_TERM = 80


@dataclass(frozen=True)
class Pass:
    """Sweeps at `power` = 1 / eps, then at twice the power, and on: one number of sweeps a stage."""

    power: float
    stages: tuple[int, ...]
    fresh: bool = False


# The stages of the CPU, cut where problems get done: on R8 at eta = 1/3 nearly all in the first pass, at
# 1/2 in the first three, at 1 in the fourth and fifth. A certificate costs about as much as five sweeps.
PASSES = (
    Pass(8.0, (2, 2, 4, 4), fresh=True),
    Pass(128.0, (6,)),
    Pass(256.0, (10,)),
    Pass(512.0, (16,)),
    Pass(1024.0, (24,)),
    Pass(1024.0, (40,)),
    Pass(2048.0, (64,)),
    Pass(2048.0, (64,)),
)
# Where most problems only have to be shown to be far.
SHALLOW = (Pass(8.0, (2, 2), fresh=True),)


def rounding_of(sizes: Tensor, slack: float, dtype: Any) -> Tensor:
    """How far a bound on S may be off: the table's slack, and a unit for each term of a sum.

    `sizes` are the numbers of points of both sides together.
    """
    unit = torch().finfo(dtype).eps / 2
    return slack + (sizes.double() + UNITS_A_TERM) * unit

"""Logarithms and powers to base 2 that vectorise.

llvmlite carries no vector math library, so `math.log2` and `2.0**x` in a loop would run one by one. These
are polynomials on the mantissa and shifts of the exponent, which become vectors on every CPU. They are
good to single precision, in float64 too: an error here perturbs a potential, never a certificate.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic, overload

from wayfare.kernels.cpu.jit import FAST_MATH

__all__ = ["exp2", "log2"]

MOST = 126  # the largest exponent of a result, either way


class Layout(NamedTuple):
    """How a type of floats is laid out in bits."""

    real: Any
    whole: Any
    mantissa: int
    root_half: int  # the bits of sqrt(1/2)


SINGLE = Layout(types.float32, types.int32, 23, 0x3F3504F3)
DOUBLE = Layout(types.float64, types.int64, 52, 0x3FE6A09E667F3BCD)


def _layout(x: Any) -> Layout:
    return SINGLE if x == types.float32 else DOUBLE


_intrinsic: Any = intrinsic  # its stubs know nothing of the first argument

# Written in LLVM's own terms, since Numba would do the arithmetic of 32-bit integers in 64 bits.


@_intrinsic
def _exponent(typing: Any, x: Any) -> Any:
    """The whole number e for which `x / 2^e` lies between the roots of 1/2 and 2."""
    layout = _layout(x)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.get_value_type(layout.whole)
        bits = builder.bitcast(arguments[0], kind)
        return builder.ashr(builder.sub(bits, kind(layout.root_half)), kind(layout.mantissa))

    return layout.whole(x), codegen


@_intrinsic
def _times_power(typing: Any, x: Any, exponent: Any) -> Any:
    """`x 2^exponent`, where that is a normal number."""
    layout = _layout(x)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.get_value_type(layout.whole)
        bits = builder.bitcast(arguments[0], kind)
        moved = builder.add(bits, builder.shl(arguments[1], kind(layout.mantissa)))
        return builder.bitcast(moved, context.get_value_type(layout.real))

    return layout.real(x, layout.whole), codegen


@_intrinsic
def _over_power(typing: Any, x: Any, exponent: Any) -> Any:
    """`x / 2^exponent`, where that is a normal number."""
    layout = _layout(x)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.get_value_type(layout.whole)
        bits = builder.bitcast(arguments[0], kind)
        moved = builder.sub(bits, builder.shl(arguments[1], kind(layout.mantissa)))
        return builder.bitcast(moved, context.get_value_type(layout.real))

    return layout.real(x, layout.whole), codegen


def log2(x: Any) -> Any:
    """`log2(x)` of a positive, normal number."""


def exp2(x: Any) -> Any:
    """`2^x`, the exponent cut to [-126, 126]."""


@overload(log2, jit_options={"fastmath": FAST_MATH})
def _log2(x: Any) -> Any:
    real = np.float32 if x == types.float32 else np.float64

    def log2(x: Any) -> Any:
        exponent = _exponent(x)
        f = _over_power(x, exponent) - real(1)
        y = real(0.070376836)
        y = y * f - real(0.115146103)
        y = y * f + real(0.116769987)
        y = y * f - real(0.124201408)
        y = y * f + real(0.142493228)
        y = y * f - real(0.166680577)
        y = y * f + real(0.200007148)
        y = y * f - real(0.249999940)
        y = y * f + real(0.333333312)
        return real(exponent) + (y * f * f * f - real(0.5) * f * f + f) * real(1.442695041)

    return log2


@overload(exp2, jit_options={"fastmath": FAST_MATH})
def _exp2(x: Any) -> Any:
    real = np.float32 if x == types.float32 else np.float64
    whole = np.int32 if x == types.float32 else np.int64

    def exp2(x: Any) -> Any:
        x = min(max(x, real(-MOST)), real(MOST))
        floor = whole(whole(x + real(128.5)) - whole(128))
        t = x - real(floor)
        y = real(0.0013264726)
        y = y * t + real(0.0096715131)
        y = y * t + real(0.0555073375)
        y = y * t + real(0.2402224208)
        y = y * t + real(0.6931469776)
        return _times_power(y * t + real(1), floor)

    return exp2

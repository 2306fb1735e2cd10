"""Logarithms and powers to base 2 that vectorise.

llvmlite carries no vector math library, so `math.log2` and `2.0**x` in a loop would run one by one. These
are polynomials on the mantissa and shifts of the exponent, which become vectors on every CPU. They are
good to single precision, in float64 too: an error here perturbs a potential, never a certificate.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from wayfare.kernels.cpu.jit import FAST_MATH
from wayfare.kernels.cpu.lanes import Lanes, function, largest, smallest

__all__ = ["exp2", "log2"]

MOST = 126  # the largest exponent of a result, either way


class Layout(NamedTuple):
    """How a type of floats is laid out in bits."""

    whole: Any
    mantissa: int
    root_half: int  # the bits of sqrt(1/2)


SINGLE = Layout(ir.IntType(32), 23, 0x3F3504F3)
DOUBLE = Layout(ir.IntType(64), 52, 0x3FE6A09E667F3BCD)


_intrinsic: Any = intrinsic  # its stubs know nothing of the first argument

# Written in LLVM's own terms, since Numba would do the arithmetic of 32-bit integers in 64 bits; a
# number and lanes of numbers are one to it.


def _in_bits(builder: Any, x: Any) -> Any:
    """The bits of `x`, how they are laid out, and what makes a constant of that many lanes."""
    vector = isinstance(x.type, ir.VectorType)
    layout = SINGLE if (x.type.element if vector else x.type) == ir.FloatType() else DOUBLE
    kind = ir.VectorType(layout.whole, x.type.count) if vector else layout.whole

    def constant(value: int) -> Any:
        return ir.Constant(kind, [layout.whole(value)] * x.type.count if vector else value)

    return builder.bitcast(x, kind), layout, constant


@_intrinsic
def _exponent(typing: Any, x: Any) -> Any:
    """The whole number e for which `x / 2^e` lies between the roots of 1/2 and 2."""

    def codegen(context: Any, builder: Any, made: Any, args: Any) -> Any:
        bits, layout, constant = _in_bits(builder, args[0])
        above = builder.sub(bits, constant(layout.root_half))
        return builder.sitofp(builder.ashr(above, constant(layout.mantissa)), args[0].type)

    return x(x), codegen


@_intrinsic
def _fraction(typing: Any, x: Any) -> Any:
    """`x / 2^e` with that e."""

    def codegen(context: Any, builder: Any, made: Any, args: Any) -> Any:
        bits, layout, constant = _in_bits(builder, args[0])
        above = builder.sub(bits, constant(layout.root_half))
        exponent = builder.and_(above, constant(-(1 << layout.mantissa)))
        return builder.bitcast(builder.sub(bits, exponent), args[0].type)

    return x(x), codegen


@_intrinsic
def _nearest(typing: Any, x: Any) -> Any:
    """The nearest whole number."""

    def codegen(context: Any, builder: Any, made: Any, args: Any) -> Any:
        return builder.call(function(builder, "llvm.rint", args[0].type), args)

    return x(x), codegen


@_intrinsic
def _times_power(typing: Any, x: Any, exponent: Any) -> Any:
    """`x 2^exponent` of a whole number, where that is a normal number."""

    def codegen(context: Any, builder: Any, made: Any, args: Any) -> Any:
        bits, layout, constant = _in_bits(builder, args[0])
        whole = builder.fptosi(args[1], bits.type)
        moved = builder.add(bits, builder.shl(whole, constant(layout.mantissa)))
        return builder.bitcast(moved, args[0].type)

    return x(x, x), codegen


def log2(x: Any) -> Any:
    """`log2(x)` of a positive, normal number."""


def exp2(x: Any) -> Any:
    """`2^x`, the exponent cut to [-126, 126]."""


def _real(x: Any) -> Any:
    kind = x.dtype if isinstance(x, Lanes) else x
    return np.float32 if kind == types.float32 else np.float64


@overload(log2, jit_options={"fastmath": FAST_MATH})
def _log2(x: Any) -> Any:
    real = _real(x)

    def log2(x: Any) -> Any:
        f = _fraction(x) - real(1)
        y = f * real(0.070376836) - real(0.115146103)
        y = y * f + real(0.116769987)
        y = y * f - real(0.124201408)
        y = y * f + real(0.142493228)
        y = y * f - real(0.166680577)
        y = y * f + real(0.200007148)
        y = y * f - real(0.249999940)
        y = y * f + real(0.333333312)
        return _exponent(x) + (y * f * f * f - real(0.5) * f * f + f) * real(1.442695041)

    return log2


@overload(exp2, jit_options={"fastmath": FAST_MATH})
def _exp2(x: Any) -> Any:
    real = _real(x)

    def exp2(x: Any) -> Any:
        x = smallest(largest(x, real(-MOST)), real(MOST))
        whole = _nearest(x)
        t = x - whole
        y = t * real(0.0013264726) + real(0.0096715131)
        y = y * t + real(0.0555073375)
        y = y * t + real(0.2402224208)
        y = y * t + real(0.6931469776)
        return _times_power(y * t + real(1), whole)

    return exp2

"""Sixteen numbers at once: the type that the passes over a matrix are written in.

Numba makes vectors of a loop only if it can, and where rows are as short as a document it spends
longer on finding out whether it may than on the sums. `Lanes` says it outright: a value of it is a
vector of 16 numbers, which the compiler keeps in one register or in as many as a machine needs.

    + - * / with numbers    lane by lane; so are
    largest, smallest       of two
    where_larger            one or the other, by a comparison
    root                    the square root
    spread                  a number in every lane
    total, peak             the sum and the largest of the lanes

memory.py has what goes between them and arrays.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils as core_cgutils
from numba.core.typing import templates as core_templates
from numba.extending import intrinsic, models, register_model
from numba.extending import lower_builtin as core_lower_builtin

__all__ = [
    "LANES",
    "Lanes",
    "as_lanes",
    "function",
    "in_every_lane",
    "largest",
    "peak",
    "root",
    "smallest",
    "spread",
    "total",
    "where_larger",
]

LANES = 16

# Numba's own parts carry no types.
cgutils: Any = core_cgutils
templates: Any = core_templates
lower_builtin: Any = core_lower_builtin
_intrinsic: Any = intrinsic
INDEX = ir.IntType(32)


class Lanes(types.Type):
    """A vector of 16 numbers of one type."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Lanes({dtype})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        element = manager.lookup(kind.dtype).get_value_type()
        super().__init__(manager, kind, ir.VectorType(element, LANES))  # type: ignore[no-untyped-call]


def in_every_lane(builder: Any, value: Any) -> Any:
    """One number in every lane."""
    vector = ir.VectorType(value.type, LANES)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), value, INDEX(0))
    lanes = ir.Constant(ir.VectorType(INDEX, LANES), [INDEX(0)] * LANES)
    return builder.shuffle_vector(one, one, lanes)


def as_lanes(result: Any, context: Any, builder: Any, value: Any, kind: Any) -> Any:
    """An argument of an operation as what the operation gives."""
    if isinstance(kind, Lanes):
        return value
    if not isinstance(result, Lanes):
        return context.cast(builder, value, kind, result)
    return in_every_lane(builder, context.cast(builder, value, kind, result.dtype))


def _kind(*kinds: Any) -> Any:
    """What an operation gives: the lanes among its arguments, or else what the first one is."""
    return next((kind for kind in kinds if isinstance(kind, Lanes)), kinds[0])


def function(builder: Any, name: str, kind: Any, *more: Any) -> Any:
    """A function of LLVM's own from a kind of lanes, or of number, to the same."""
    vector = isinstance(kind, ir.VectorType)
    width = 32 if (kind.element if vector else kind) == ir.FloatType() else 64
    name += f".v{LANES}f{width}" if vector else f".f{width}"
    made = ir.FunctionType(kind, [kind, *more])
    return cgutils.get_or_insert_function(builder.module, made, name)


def _defines(operation: Any, instruction: str) -> None:
    """Let `operation` work on lanes and numbers."""

    class Template(templates.AbstractTemplate):  # type: ignore[misc]
        def generic(self, args: Any, kws: Any) -> Any:
            lanes = _kind(*args)
            known = all(isinstance(kind, Lanes | types.Number) for kind in args)
            return templates.signature(lanes, *args) if isinstance(lanes, Lanes) and known else None

    templates.infer_global(operation)(Template)

    def lower(context: Any, builder: Any, made: Any, args: Any) -> Any:
        values = (
            as_lanes(made.return_type, context, builder, value, kind)
            for value, kind in zip(args, made.args, strict=True)
        )
        return getattr(builder, instruction)(*values)

    for kinds in ((Lanes, Lanes), (Lanes, types.Number), (types.Number, Lanes)):
        lower_builtin(operation, *kinds)(lower)


for _operation, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _defines(_operation, _instruction)


# ---- lane by lane -------------------------------------------------------------------------------------


@_intrinsic
def spread(typing: Any, array: Any, number: Any) -> Any:
    """`number` in every lane, of the type of the array."""

    def codegen(context: Any, builder: Any, made: Any, args: Any) -> Any:
        return as_lanes(made.return_type, context, builder, args[1], made.args[1])

    return Lanes(array.dtype)(array, number), codegen


def _choice(comparison: str) -> Any:
    def typed(typing: Any, one: Any, other: Any) -> Any:
        lanes = _kind(one, other)

        def codegen(context: Any, builder: Any, made: Any, args: Any) -> Any:
            a, b = (as_lanes(lanes, context, builder, args[n], made.args[n]) for n in (0, 1))
            return builder.select(builder.fcmp_ordered(comparison, a, b), a, b)

        return lanes(one, other), codegen

    return typed


@_intrinsic
def largest(typing: Any, one: Any, other: Any) -> Any:
    """The larger of two, lane by lane."""
    return _choice(">")(typing, one, other)


@_intrinsic
def smallest(typing: Any, one: Any, other: Any) -> Any:
    """The smaller of two, lane by lane."""
    return _choice("<")(typing, one, other)


@_intrinsic
def where_larger(typing: Any, one: Any, other: Any, so: Any, otherwise: Any) -> Any:
    """`so` in the lanes in which `one > other`, `otherwise` in the rest."""
    lanes = _kind(one, other, so, otherwise)

    def codegen(context: Any, builder: Any, made: Any, args: Any) -> Any:
        a, b, c, d = (
            as_lanes(lanes, context, builder, value, kind)
            for value, kind in zip(args, made.args, strict=True)
        )
        return builder.select(builder.fcmp_ordered(">", a, b), c, d)

    return lanes(one, other, so, otherwise), codegen


@_intrinsic
def root(typing: Any, lanes: Any) -> Any:
    """The square roots."""

    def codegen(context: Any, builder: Any, made: Any, args: Any) -> Any:
        return builder.call(function(builder, "llvm.sqrt", args[0].type), args)

    return lanes(lanes), codegen


def _folded(builder: Any, value: Any, pair: Any) -> Any:
    """One number of all lanes, by halves."""
    width = LANES
    while width > 1:
        width //= 2
        masks = ([INDEX(k) for k in part] for part in (range(width), range(width, 2 * width)))
        low, high = (
            builder.shuffle_vector(value, value, ir.Constant(ir.VectorType(INDEX, width), mask))
            for mask in masks
        )
        value = pair(low, high)
    return builder.extract_element(value, INDEX(0))


@_intrinsic
def total(typing: Any, lanes: Any) -> Any:
    """The sum of the lanes."""

    def codegen(context: Any, builder: Any, made: Any, args: Any) -> Any:
        return _folded(builder, args[0], builder.fadd)

    return lanes.dtype(lanes), codegen


@_intrinsic
def peak(typing: Any, lanes: Any) -> Any:
    """The largest of the lanes."""

    def codegen(context: Any, builder: Any, made: Any, args: Any) -> Any:
        def larger(a: Any, b: Any) -> Any:
            return builder.select(builder.fcmp_ordered(">", a, b), a, b)

        return _folded(builder, args[0], larger)

    return lanes.dtype(lanes), codegen

"""Between arrays and lanes: 16 neighbours at a time, and squares of 16 x 16, turned over."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils as core_cgutils
from numba.core import errors
from numba.extending import intrinsic

from wayfare.kernels.cpu.lanes import LANES, Lanes, as_lanes, in_every_lane

__all__ = ["alike", "put", "some", "take", "turn"]

cgutils: Any = core_cgutils  # Numba's own parts carry no types
_intrinsic: Any = intrinsic
INDEX = ir.IntType(32)


def _pointer(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
    """A pointer to a place in an array, an index or a tuple of them."""
    array = context.make_array(kinds[0])(context, builder, value=values[0])
    if kinds[0].layout != "C":
        raise errors.TypingError(
            f"lanes are neighbours in memory: {kinds[0]} has gaps between them"
        )
    places, indices = [kinds[1]], [values[1]]
    if isinstance(values[1].type, ir.ArrayType | ir.LiteralStructType):
        places, indices = list(kinds[1].types), cgutils.unpack_tuple(builder, values[1])
    at = [
        context.cast(builder, index, kind, types.intp)
        for index, kind in zip(indices, places, strict=True)
    ]
    return cgutils.get_item_pointer(context, builder, kinds[0], array, at)


def _place(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
    """A pointer to the lanes that begin there."""
    pointer = _pointer(context, builder, kinds, values)
    vector = ir.VectorType(context.get_value_type(kinds[0].dtype), LANES)
    return builder.bitcast(pointer, vector.as_pointer())


@_intrinsic
def take(typing: Any, array: Any, at: Any) -> Any:
    """The 16 numbers of `array` from `at` on, which are next to each other."""

    def codegen(context: Any, builder: Any, made: Any, args: Any) -> Any:
        pointer = _place(context, builder, made.args, args)
        return builder.load(pointer, align=array.dtype.bitwidth // 8)

    return Lanes(array.dtype)(array, at), codegen


@_intrinsic
def alike(typing: Any, array: Any, at: Any) -> Any:
    """The number of `array` at a place, which is not negative, in every lane."""

    def codegen(context: Any, builder: Any, made: Any, args: Any) -> Any:
        return in_every_lane(builder, builder.load(_pointer(context, builder, made.args, args)))

    return Lanes(array.dtype)(array, at), codegen


@_intrinsic
def some(typing: Any, array: Any, at: Any, count: Any) -> Any:
    """The `count` numbers of `array` from `at` on, then zeros: nothing beyond is touched."""

    def codegen(context: Any, builder: Any, made: Any, args: Any) -> Any:
        pointer = _place(context, builder, made.args, args)
        vector = context.get_value_type(made.return_type)
        wide = ir.VectorType(INDEX, LANES)
        here = ir.Constant(wide, [INDEX(lane) for lane in range(LANES)])
        count = builder.trunc(context.cast(builder, args[2], made.args[2], types.intp), INDEX)
        mask = builder.icmp_signed("<", here, in_every_lane(builder, count))
        width = made.args[0].dtype.bitwidth
        kind = ir.FunctionType(vector, [pointer.type, INDEX, mask.type, vector])
        name = f"llvm.masked.load.v{LANES}f{width}.p0"
        load = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(load, [pointer, INDEX(width // 8), mask, ir.Constant(vector, None)])

    return Lanes(array.dtype)(array, at, count), codegen


@_intrinsic
def put(typing: Any, array: Any, at: Any, lanes: Any) -> Any:
    """Write 16 numbers to `array` from `at` on."""

    def codegen(context: Any, builder: Any, made: Any, args: Any) -> Any:
        pointer = _place(context, builder, made.args, args)
        value = as_lanes(Lanes(array.dtype), context, builder, args[2], made.args[2])
        builder.store(value, pointer, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.none(array, at, lanes), codegen


@_intrinsic
def turn(typing: Any, source: Any, at: Any, target: Any, to: Any) -> Any:
    """`target[to + (r, c)] = source[at + (c, r)]` for 16 rows and columns.

    Four rounds, in each of which pairs of rows that are 1, 2, 4, 8 apart swap lanes that are as far.
    """

    def codegen(context: Any, builder: Any, made: Any, args: Any) -> Any:
        def rows(kinds: Any, values: Any) -> Any:
            first = _place(context, builder, kinds, values)
            array = context.make_array(kinds[0])(context, builder, value=values[0])
            stride = cgutils.unpack_tuple(builder, array.strides)[0]
            start = builder.ptrtoint(first, stride.type)
            for row in range(LANES):
                step = builder.mul(stride, stride.type(row))
                yield builder.inttoptr(builder.add(start, step), first.type)

        align = source.dtype.bitwidth // 8
        lines = [builder.load(p, align=align) for p in rows(made.args[:2], args[:2])]
        for apart in (1, 2, 4, 8):
            low = [k if not k & apart else LANES + k - apart for k in range(LANES)]
            high = [k + apart if not k & apart else LANES + k for k in range(LANES)]
            for row in range(LANES):
                if not row & apart:
                    pair = lines[row], lines[row + apart]
                    for which, mask in ((row, low), (row + apart, high)):
                        picked = ir.Constant(ir.VectorType(INDEX, LANES), [INDEX(k) for k in mask])
                        lines[which] = builder.shuffle_vector(*pair, picked)
        for line, pointer in zip(lines, rows(made.args[2:], args[2:]), strict=True):
            builder.store(line, pointer, align=align)
        return context.get_dummy_value()

    return types.none(source, at, target, to), codegen

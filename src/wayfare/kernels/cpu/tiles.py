"""Small tiles of inner products, with their sums in registers.

Numba makes no vectors of sums over two fixed inner loops, so these are written in LLVM's own terms, as
vectors of 16 whose width every CPU cuts to its own. Whole numbers of 16 bits are multiplied in pairs,
which CPUs do several times faster than floats.

A tile is of `GROUP` rows against up to `PANELS` panels of `LANES` points each: 24 sums, of the 32
registers of AVX-512. Contiguous arrays: `panels[panel, term, lane]`, `rows[row, term]` and
`tile[row, panel, lane]`, where a term is a float, or two whole numbers beside each other.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["GROUP", "LANES", "PANELS", "multiply_floats", "multiply_shorts"]

GROUP, PANELS, LANES = 6, 4, 16

_intrinsic: Any = intrinsic  # its stubs know nothing of the first argument
_tools: Any = cgutils
_WHOLE, _LONG, _FLOAT = ir.IntType(32), ir.IntType(64), ir.FloatType()
_WHOLES, _FLOATS = ir.VectorType(_WHOLE, LANES), ir.VectorType(_FLOAT, LANES)
_PAIRS, _WIDE = ir.VectorType(ir.IntType(16), 2 * LANES), ir.VectorType(_WHOLE, 2 * LANES)
_FIRST = ir.Constant(_WHOLES, None)


def _every_other(first: int) -> Any:
    return ir.Constant(_WHOLES, [_WHOLE(2 * lane + first) for lane in range(LANES)])


def _add_pairs(builder: Any, sums: Any, x: Any, y: Any) -> Any:
    """`sums + x_2k y_2k + x_2k+1 y_2k+1`: one instruction where the CPU has it."""
    x, y = (builder.sext(builder.bitcast(vector, _PAIRS), _WIDE) for vector in (x, y))
    product = builder.mul(x, y)
    even = builder.shuffle_vector(product, product, _every_other(0))
    odd = builder.shuffle_vector(product, product, _every_other(1))
    return builder.add(sums, builder.add(even, odd))


def _add_floats(builder: Any, sums: Any, x: Any, y: Any) -> Any:
    kind = ir.FunctionType(_FLOATS, [_FLOATS] * 3)
    fma = _tools.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f32")
    return builder.call(fma, [x, y, sums])


def _pointer(context: Any, builder: Any, kind: Any, array: Any, to: Any) -> Any:
    return builder.bitcast(context.make_array(kind)(context, builder, array).data, to.as_pointer())


def _multiply(panels: int, add: Any, vector: Any) -> Any:
    """The loop over the terms, for so many panels."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds, count = signature.args, arguments[3]
        x = _pointer(context, builder, kinds[0], arguments[0], vector)
        y = _pointer(context, builder, kinds[1], arguments[1], vector.element)
        out = _pointer(context, builder, kinds[2], arguments[2], vector)
        nothing, unset = ir.Constant(vector, None), ir.Constant(vector, ir.Undefined)
        before, loop = builder.block, builder.append_basic_block("terms")
        after = builder.append_basic_block("after")
        builder.branch(loop)
        builder.position_at_end(loop)
        term = builder.phi(_LONG)
        term.add_incoming(_LONG(0), before)
        sums = [builder.phi(vector) for _ in range(GROUP * panels)]
        near = []
        for panel in range(panels):
            at = builder.add(builder.mul(count, _LONG(panel)), term)
            near.append(builder.load(builder.gep(x, [at]), align=2))
        found = []
        for row in range(GROUP):
            at = builder.add(builder.mul(count, _LONG(row)), term)
            one = builder.load(builder.gep(y, [at]), align=2)
            spread = builder.insert_element(unset, one, _WHOLE(0))
            spread = builder.shuffle_vector(spread, unset, _FIRST)
            for panel in range(panels):
                found.append(add(builder, sums[panels * row + panel], near[panel], spread))
        following = builder.add(term, _LONG(1))
        term.add_incoming(following, loop)
        for old, new in zip(sums, found, strict=True):
            old.add_incoming(nothing, before)
            old.add_incoming(new, loop)
        builder.cbranch(builder.icmp_signed("<", following, count), loop, after)
        builder.position_at_end(after)
        for place, new in enumerate(found):
            builder.store(new, builder.gep(out, [_LONG(place)]), align=4)
        return context.get_dummy_value()

    return codegen


@_intrinsic
def multiply_shorts(typing: Any, panels: Any, rows: Any, tile: Any, terms: Any) -> Any:
    """Inner products of int16 with `PANELS` panels; no sum may leave int32. There is a term or more."""
    return types.void(panels, rows, tile, types.intp), _multiply(PANELS, _add_pairs, _WHOLES)


def _floats(count: int) -> Any:
    @_intrinsic
    def multiply(typing: Any, panels: Any, rows: Any, tile: Any, terms: Any) -> Any:
        """Inner products of float32 with so many panels; there is a term or more."""
        return types.void(panels, rows, tile, types.intp), _multiply(count, _add_floats, _FLOATS)

    return multiply


# By the number of panels.
multiply_floats = [_floats(count) for count in range(1, PANELS + 1)]

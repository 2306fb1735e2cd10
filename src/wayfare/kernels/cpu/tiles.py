"""Small tiles of inner products, with their sums in registers.

Numba makes no vectors of sums over two fixed inner loops, so these are written in LLVM's own terms, as
vectors of 16 whose width every CPU cuts to its own. Whole numbers of 16 bits are multiplied in pairs,
which CPUs do several times faster than floats.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

__all__ = ["GROUP", "LANES", "PANELS", "add_products"]

# A tile: 6 query points against 4 panels of 16 words keeps 24 sums, of the 32 registers of AVX-512.
GROUP, PANELS, LANES = 6, 4, 16

_intrinsic: Any = intrinsic  # its stubs know nothing of the first argument
_WHOLE, _LONG = ir.IntType(32), ir.IntType(64)
_VECTOR = ir.VectorType(_WHOLE, LANES)
_PAIRS, _WIDE = ir.VectorType(ir.IntType(16), 2 * LANES), ir.VectorType(_WHOLE, 2 * LANES)


def _every_other(first: int) -> Any:
    return ir.Constant(_VECTOR, [_WHOLE(2 * lane + first) for lane in range(LANES)])


def _wide(builder: Any, vector: Any) -> Any:
    return builder.sext(builder.bitcast(vector, _PAIRS), _WIDE)


def _dot(builder: Any, sums: Any, x: Any, y: Any) -> Any:
    """`sums + x_2k y_2k + x_2k+1 y_2k+1`: one instruction where the CPU has it."""
    product = builder.mul(x, y)
    even = builder.shuffle_vector(product, product, _every_other(0))
    odd = builder.shuffle_vector(product, product, _every_other(1))
    return builder.add(sums, builder.add(even, odd))


def _pointer(context: Any, builder: Any, kind: Any, array: Any, to: Any) -> Any:
    return builder.bitcast(context.make_array(kind)(context, builder, array).data, to.as_pointer())


@_intrinsic
def add_products(typing: Any, words: Any, query: Any, tile: Any, pairs: Any) -> Any:
    """`tile[r, w] = <query_r, word_w>` for `GROUP` query points and `PANELS * LANES` words.

    Contiguous arrays of int16: `words[panel, pair, lane, 2]` and `query[r, pair, 2]`; `tile` is of
    int32, which the sums must not leave. There is at least one pair.
    """
    signature = types.void(words, query, tile, types.intp)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds, count = signature.args, arguments[3]
        x = _pointer(context, builder, kinds[0], arguments[0], _VECTOR)
        y = _pointer(context, builder, kinds[1], arguments[1], _WHOLE)
        out = _pointer(context, builder, kinds[2], arguments[2], _VECTOR)
        nothing, unset = ir.Constant(_VECTOR, None), ir.Constant(_VECTOR, ir.Undefined)
        before, loop = builder.block, builder.append_basic_block("pairs")
        after = builder.append_basic_block("after")
        builder.branch(loop)
        builder.position_at_end(loop)
        pair = builder.phi(_LONG)
        pair.add_incoming(_LONG(0), before)
        sums = [builder.phi(_VECTOR) for _ in range(GROUP * PANELS)]
        near = []
        for panel in range(PANELS):
            at = builder.add(builder.mul(count, _LONG(panel)), pair)
            near.append(_wide(builder, builder.load(builder.gep(x, [at]), align=2)))
        found = []
        for row in range(GROUP):
            at = builder.add(builder.mul(count, _LONG(row)), pair)
            one = builder.load(builder.gep(y, [at]), align=2)
            spread = builder.insert_element(unset, one, _WHOLE(0))
            spread = _wide(builder, builder.shuffle_vector(spread, unset, nothing))
            for panel in range(PANELS):
                found.append(_dot(builder, sums[PANELS * row + panel], near[panel], spread))
        following = builder.add(pair, _LONG(1))
        pair.add_incoming(following, loop)
        for old, new in zip(sums, found, strict=True):
            old.add_incoming(nothing, before)
            old.add_incoming(new, loop)
        builder.cbranch(builder.icmp_signed("<", following, count), loop, after)
        builder.position_at_end(after)
        for place, new in enumerate(found):
            builder.store(new, builder.gep(out, [_LONG(place)]), align=4)
        return context.get_dummy_value()

    return signature, codegen

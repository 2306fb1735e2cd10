"""Largest products of bytes with 16-bit whole numbers, over the rows of some words of a table.

Rows are as short as a query: the compiler's own vectors would spend longer on finding out whether they
fit than on the products. These are written in LLVM's own terms, in vectors of `STEP` numbers, which a
row's length is a multiple of. A product of 8 and 16 bits keeps its upper 16.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["STEP", "largest_bytes", "largest_of_columns", "largest_of_words"]

STEP = 32

_intrinsic: Any = intrinsic  # its stubs know nothing of the first argument
_tools: Any = cgutils
_BYTE, _SHORT, _WHOLE, _LONG = (ir.IntType(bits) for bits in (8, 16, 32, 64))
_BYTES, _SHORTS, _WIDE = (ir.VectorType(kind, STEP) for kind in (_BYTE, _SHORT, _WHOLE))
_NOTHING = ir.Constant(ir.VectorType(_WHOLE, STEP), None)


def _all(vector: Any, value: int) -> Any:
    return ir.Constant(vector, [vector.element(value)] * STEP)


def _spread(builder: Any, value: Any) -> Any:
    unset = ir.Constant(_SHORTS, ir.Undefined)
    one = builder.insert_element(unset, value, _WHOLE(0))
    return builder.shuffle_vector(one, unset, _NOTHING)


def _larger(builder: Any, x: Any, y: Any) -> Any:
    return builder.select(builder.icmp_unsigned(">", x, y), x, y)


def _product(builder: Any, row: Any, whole: Any) -> Any:
    """`row whole / 256`, rounded down: the upper half of `256 row` times `whole`."""
    shifted = builder.shl(builder.zext(row, _SHORTS), _all(_SHORTS, 8))
    product = builder.mul(builder.zext(shifted, _WIDE), builder.zext(whole, _WIDE))
    return builder.trunc(builder.lshr(product, _all(_WIDE, 16)), _SHORTS)


class _Table:
    """The arguments that all of these share: the rows of a table, and which of them."""

    def __init__(self, context: Any, builder: Any, kinds: Any, arguments: Any) -> None:
        near, words = (
            context.make_array(kind)(context, builder, array)
            for kind, array in zip(kinds[:2], arguments[:2], strict=True)
        )
        self.builder, self._data, self._words = builder, near.data, words.data
        self.width = _tools.unpack_tuple(builder, near.shape)[1]
        self.count = _tools.unpack_tuple(builder, words.shape)[0]
        self.chunks = builder.udiv(self.width, _LONG(STEP))

    def row(self, place: Any) -> Any:
        """Where the row of a word begins."""
        word = self.builder.load(self.builder.gep(self._words, [place]))
        start = self.builder.mul(self.builder.sext(word, _LONG), self.width)
        return self.builder.gep(self._data, [start])

    def chunk(self, row: Any, number: Any) -> Any:
        """Some bytes of a row."""
        vectors = self.builder.bitcast(row, _BYTES.as_pointer())
        return self.builder.load(self.builder.gep(vectors, [number]), align=1)


def _vectors(context: Any, builder: Any, kind: Any, array: Any, vector: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(data, vector.as_pointer())


@_intrinsic
def largest_bytes(typing: Any, near: Any, words: Any, out: Any) -> Any:
    """`out_i = max_j near[words_j, i]`."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        table = _Table(context, builder, signature.args, arguments)
        into = _vectors(context, builder, signature.args[2], arguments[2], _BYTES)
        best = _tools.alloca_once(builder, _BYTES)
        with _tools.for_range(builder, table.chunks) as chunk:
            builder.store(ir.Constant(_BYTES, None), best)
            with _tools.for_range(builder, table.count) as word:
                row = table.chunk(table.row(word.index), chunk.index)
                builder.store(_larger(builder, builder.load(best), row), best)
            builder.store(builder.load(best), builder.gep(into, [chunk.index]), align=1)
        return context.get_dummy_value()

    return types.void(near, words, out), codegen


@_intrinsic
def largest_of_words(typing: Any, near: Any, words: Any, whole: Any, out: Any) -> Any:
    """`out_j = max_i near[words_j, i] whole_i / 256`."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        table = _Table(context, builder, signature.args, arguments)
        scale = _vectors(context, builder, signature.args[2], arguments[2], _SHORTS)
        into = context.make_array(signature.args[3])(context, builder, arguments[3]).data
        name = f"llvm.vector.reduce.umax.v{STEP}i16"
        peak = _tools.get_or_insert_function(
            builder.module, ir.FunctionType(_SHORT, [_SHORTS]), name
        )
        best = _tools.alloca_once(builder, _SHORTS)
        with _tools.for_range(builder, table.count) as word:
            row = table.row(word.index)
            builder.store(ir.Constant(_SHORTS, None), best)
            with _tools.for_range(builder, table.chunks) as chunk:
                some = builder.load(builder.gep(scale, [chunk.index]), align=2)
                product = _product(builder, table.chunk(row, chunk.index), some)
                builder.store(_larger(builder, builder.load(best), product), best)
            top = builder.call(peak, [builder.load(best)])
            builder.store(top, builder.gep(into, [word.index]))
        return context.get_dummy_value()

    return types.void(near, words, whole, out), codegen


@_intrinsic
def largest_of_columns(typing: Any, near: Any, words: Any, whole: Any, out: Any) -> Any:
    """`out_i = max_j near[words_j, i] whole_j / 256`."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        table = _Table(context, builder, signature.args, arguments)
        scale = context.make_array(signature.args[2])(context, builder, arguments[2]).data
        into = _vectors(context, builder, signature.args[3], arguments[3], _SHORTS)
        best = _tools.alloca_once(builder, _SHORTS)
        with _tools.for_range(builder, table.chunks) as chunk:
            builder.store(ir.Constant(_SHORTS, None), best)
            with _tools.for_range(builder, table.count) as word:
                one = builder.load(builder.gep(scale, [word.index]))
                row = table.chunk(table.row(word.index), chunk.index)
                product = _product(builder, row, _spread(builder, one))
                builder.store(_larger(builder, builder.load(best), product), best)
            builder.store(builder.load(best), builder.gep(into, [chunk.index]), align=2)
        return context.get_dummy_value()

    return types.void(near, words, whole, out), codegen

"""How the kernels are compiled: once a machine, cached on disk, announced when it takes a while."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

__all__ = [
    "FAST_MATH",
    "announce_compilation",
    "is_compiled",
    "jit",
    "jit_bare",
    "jit_in_order",
    "jit_views",
    "jit_within",
]

Function = TypeVar("Function", bound=Callable[..., Any])

# Sums may be reordered and fused; infinities and signs keep their meaning ("ninf" is not here). "nnan"
# lets a maximum be a vector instruction, and holds because every input was checked to be finite.
FAST_MATH = {"reassoc", "contract", "nsz", "arcp", "nnan"}


def _source_stamp() -> str:
    """A hash of every kernel's source: a change in one file must not leave another's cache stale."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


_STAMP = _source_stamp()


def jit(function: Function) -> Function:
    """Compile `function` to machine code without the interpreter's lock; cached on disk."""
    return _compiled(function, FAST_MATH)


def jit_bare(function: Function) -> Function:
    """The same for what makes no arrays: nothing counts who refers to those that it is handed."""
    return _compiled(function, FAST_MATH, _nrt=False)


def jit_within(function: Function) -> Function:
    """The same for a part of such a kernel, put where it is called: Python cannot call it."""
    return _compiled(function, FAST_MATH, _nrt=False, forceinline=True, no_cpython_wrapper=True)


def jit_views(function: Function) -> Function:
    """The same for what hands out views of an array, which its caller counts or does not count itself."""
    return _compiled(function, FAST_MATH, inline="always")


def jit_in_order(function: Function) -> Function:
    """As `jit`, with every operation rounded as it is written."""
    return _compiled(function, set())


def _compiled(function: Function, fast_math: set[str], **options: Any) -> Function:
    decorate: Any = numba.njit  # its stubs know nothing of the last options
    if "inline" not in options:  # said outright, or it would be as its first caller has it
        options = {"_nrt": True} | options
    compiled: Any = decorate(
        cache=True,
        nogil=True,
        boundscheck=False,
        error_model="numpy",
        fastmath=fast_math,
        no_cfunc_wrapper=True,
        **options,
    )(function)
    cache_file: Any = getattr(compiled._cache, "_cache_file", None)
    if hasattr(cache_file, "_source_stamp"):
        cache_file._source_stamp = (cache_file._source_stamp, _STAMP)
        cache_file._load_index = _forgiving(cache_file._load_index)
    return cast(Function, compiled)


def _forgiving(load: Callable[[], Any]) -> Callable[[], Any]:
    """Read an index of the cache as empty if it speaks of a class that an older release had.

    Numba reads the whole of it before it looks at the stamp that would have told it apart.
    """

    def load_index() -> Any:
        try:
            return load()
        except (AttributeError, ImportError):
            return {}

    return load_index


_announced = False


def announce_compilation(kernel: Any) -> None:
    """Say on the terminal, once, that `kernel` is about to be compiled, if it is not cached yet."""
    global _announced
    if _announced or is_compiled(kernel) or not sys.stderr.isatty():
        return
    _announced = True
    print("wayfare: compiling kernels for this machine, once (about 20 s) ...", file=sys.stderr)


def is_compiled(kernel: Any) -> bool:
    """Whether `kernel` is ready, in this process or on disk."""
    return bool(kernel.signatures) or _has_cache(kernel)


def _has_cache(kernel: Any) -> bool:
    try:
        return bool(kernel._cache._cache_file._load_index())
    except (AttributeError, OSError):
        return False

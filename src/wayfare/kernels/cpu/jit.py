"""How the kernels are compiled: once a machine, cached on disk, announced when it takes a while."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

__all__ = ["FAST_MATH", "announce_compilation", "is_compiled", "jit", "jit_in_order"]

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


def jit_in_order(function: Function) -> Function:
    """The same with every operation rounded as it is written."""
    return _compiled(function, set())


def _compiled(function: Function, fast_math: set[str]) -> Function:
    compiled: Any = numba.njit(
        cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=fast_math
    )(function)
    cache_file: Any = getattr(compiled._cache, "_cache_file", None)
    if hasattr(cache_file, "_source_stamp"):
        cache_file._source_stamp = (cache_file._source_stamp, _STAMP)
    return cast(Function, compiled)


_announced = False


def announce_compilation(kernel: Any) -> None:
    """Say on the terminal, once, that `kernel` is about to be compiled, if it is not cached yet."""
    global _announced
    if _announced or is_compiled(kernel) or not sys.stderr.isatty():
        return
    _announced = True
    print("wayfare: compiling kernels for this machine, once (about 15 s) ...", file=sys.stderr)


def is_compiled(kernel: Any) -> bool:
    """Whether `kernel` is ready, in this process or on disk."""
    return bool(kernel.signatures) or _has_cache(kernel)


def _has_cache(kernel: Any) -> bool:
    try:
        return bool(kernel._cache._cache_file._load_index())
    except (AttributeError, OSError):
        return False

"""Threads: how many to use, and one thread for BLAS while ours are at work.

Kernels run on one thread each and release the interpreter's lock, so a pool of Python threads over
queries or documents is all the parallelism there is. BLAS would start threads of its own under each
of them; on small matrices those cost more than they bring.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import InputError

__all__ = ["count_jobs", "in_threads", "one_blas_thread", "scratch"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_lock = threading.Lock()
_holders = 0
_controller: Any = None
_limiter: Any = None
_local = threading.local()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread until the last of all concurrent holders has left."""
    global _holders, _controller, _limiter
    with _lock:
        _holders += 1
        if _holders == 1:
            if _controller is None:
                # SciPy brings a BLAS of its own, which must be there to be held.
                import scipy.linalg  # noqa: F401
                from threadpoolctl import ThreadpoolController

                _controller = ThreadpoolController()
            _limiter = _controller.limit(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if _holders == 0:
                _limiter.restore_original_limits()


def count_jobs(n_jobs: int | None) -> int:
    """How many threads `n_jobs` asks for: None or -1 is one for each core.

    >>> count_jobs(3)
    3
    >>> count_jobs(0)
    Traceback (most recent call last):
        ...
    wayfare.errors.InputError: n_jobs: 0 came; give a number of threads, or -1 for all cores
    """
    if n_jobs is None or n_jobs == -1:
        available = getattr(os, "sched_getaffinity", None)
        return len(available(0)) if available else (os.cpu_count() or 1)
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs < 1:
        raise InputError(f"n_jobs: {n_jobs!r} came; give a number of threads, or -1 for all cores")
    return n_jobs


def in_threads(
    work: Callable[[Item], Result], items: Iterable[Item], n_jobs: int
) -> Iterator[Result]:
    """`map(work, items)`, in order, over `n_jobs` threads; one thread needs no pool.

    >>> list(in_threads(abs, [-1, 2], 2))
    [1, 2]
    """
    if n_jobs == 1:
        yield from map(work, items)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(n_jobs) as pool:
        yield from pool.map(work, items)


def scratch(name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """An array of this thread by name, used again: fresh pages at each call cost more than most calls.

    >>> scratch("example", (2,), np.int8) is not None, scratch("example", (3, 4), np.float64).shape
    (True, (3, 4))
    """
    store: dict[str, NDArray[Any]] = _local.__dict__.setdefault("arrays", {})
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if name not in store or store[name].size < size:
        store[name] = np.empty(max(size, 1), np.uint8)
    found: NDArray[Any] = store[name][:size].view(dtype)
    return found.reshape(shape)

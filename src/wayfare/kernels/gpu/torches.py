"""PyTorch at its door: found, asked for a device, and kept to full float32."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import InputError, MissingExtraError
from wayfare.extras import require

__all__ = [
    "RELIEFS",
    "exact_products",
    "fetch",
    "free_bytes",
    "is_out_of_memory",
    "open_device",
    "relieve",
    "send",
    "torch",
]

Tensor = Any

_lock = threading.Lock()
_holders = 0
_before = "highest"

CPU_BYTES = 256 * 2**20

INSTALL = "pip install 'wayfare[gpu]'"
ONLY = {"metric": "wfr", "mode": "exact"}  # what runs on a GPU, of what a caller may choose

ALIGNED = 16  # bytes at a multiple of which each array of a transfer begins

# What gives memory of the device back when it is short; each tells whether it had any.
RELIEFS: list[Callable[[], bool]] = []


@cache
def torch() -> Any:
    """PyTorch, or the command that installs it."""
    return require("torch", extra="gpu")


def open_device(name: str, **asked: str) -> Any:
    """The CUDA device called "cuda" or "cuda:1", or what is missing for it; the same at every door.

    `asked` is what is wanted of it, `metric` and `mode`. Raises `InputError` for another name, for what
    no GPU does and where PyTorch sees no such device, and `MissingExtraError` without PyTorch.

    >>> open_device("tpu")
    Traceback (most recent call last):
        ...
    wayfare.errors.InputError: device: 'tpu' came; give "cpu", "cuda", or "cuda:0" and on
    """
    kind, _, number = name.partition(":") if isinstance(name, str) else ("", "", "")
    if kind != "cuda" or (":" in name and not number.isdecimal()):
        raise InputError(f'device: {name!r} came; give "cpu", "cuda", or "cuda:0" and on')
    for what, given in asked.items():
        if given != ONLY[what]:
            raise InputError(
                f'device: {name!r} came with {what}={given!r}; only "{ONLY[what]}" runs on a GPU'
            )
    return _found(name, number)


def _found(name: str, number: str) -> Any:
    """The device of a name that is one."""
    try:
        t = torch()
    except MissingExtraError as error:
        raise MissingExtraError(f"device={name!r}: {error}") from None
    seen = t.cuda.device_count() if t.cuda.is_available() else 0
    if seen == 0:
        raise InputError(
            f"device: {name!r} came, but PyTorch {t.__version__} sees no CUDA device; on a machine "
            f'with an NVIDIA GPU run: {INSTALL}; anywhere else use device="cpu"'
        )
    if number and int(number) >= seen:
        raise InputError(f"device: {name!r} came; PyTorch sees {seen} CUDA devices, from cuda:0")
    return t.device(name)


@contextmanager
def exact_products() -> Iterator[None]:
    """Hold float32 products to float32 until the last of all concurrent holders has left.

    TF32 rounds factors to ten bits, and a bound formed from them would prove nothing. The setting is
    PyTorch's own and the process's; it is put back as it was found.
    """
    global _holders, _before
    t = torch()
    with _lock:
        _holders += 1
        if _holders == 1:
            _before = t.get_float32_matmul_precision()
            t.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if _holders == 0:
                t.set_float32_matmul_precision(_before)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that the device has no memory left."""
    return isinstance(error, torch().OutOfMemoryError)


def free_bytes(device: Any) -> int:
    """The memory that is free on a device; for the CPU, what one block may well take."""
    if device.type != "cuda":
        return CPU_BYTES
    free, _ = torch().cuda.mem_get_info(device)
    reserved, allocated = (
        torch().cuda.memory_reserved(device),
        torch().cuda.memory_allocated(device),
    )
    return int(free + reserved - allocated)


def relieve() -> bool:
    """Give back what is only kept for later; tells whether that was anything."""
    freed = [relief() for relief in RELIEFS]
    if torch().cuda.is_available():
        torch().cuda.empty_cache()
    return any(freed)


def send(arrays: Sequence[NDArray[Any]], device: Any) -> list[Tensor]:
    """Arrays on a device, in one transfer."""
    t = torch()
    sizes = [-(-one.nbytes // ALIGNED) * ALIGNED for one in arrays]
    starts = np.cumsum([0, *sizes])
    packed = np.empty(starts[-1], np.uint8)
    spans = [slice(at, at + one.nbytes) for at, one in zip(starts, arrays, strict=False)]
    for one, span in zip(arrays, spans, strict=True):
        packed[span] = np.ascontiguousarray(one).reshape(-1).view(np.uint8)
    there = t.from_numpy(packed).to(device)
    return [
        there[span].view(t.from_numpy(np.empty(0, one.dtype)).dtype).reshape(one.shape)
        for one, span in zip(arrays, spans, strict=True)
    ]


def fetch(tensors: Sequence[Tensor]) -> list[NDArray[Any]]:
    """Tensors as arrays on the host, in one transfer; the widest numbers come first."""
    t = torch()
    flat = [one.contiguous().reshape(-1).view(t.uint8) for one in tensors]
    packed = t.cat(flat).cpu().numpy()
    out, start = [], 0
    for one, bytes_ in zip(tensors, flat, strict=True):
        kind = t.empty(0, dtype=one.dtype).numpy().dtype
        out.append(packed[start : start + len(bytes_)].view(kind).reshape(tuple(one.shape)))
        start += len(bytes_)
    return out

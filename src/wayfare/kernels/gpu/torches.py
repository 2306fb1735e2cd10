"""PyTorch at its door: found, asked for a device, and kept to full float32."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from wayfare.errors import InputError, MissingExtraError
from wayfare.extras import require

__all__ = ["exact_products", "free_bytes", "is_out_of_memory", "open_device", "torch"]

_lock = threading.Lock()
_holders = 0
_before = "highest"

CPU_BYTES = 256 * 2**20

INSTALL = "pip install 'wayfare[gpu]'"


@cache
def torch() -> Any:
    """PyTorch, or the command that installs it."""
    return require("torch", extra="gpu")


def open_device(name: str) -> Any:
    """The CUDA device called "cuda" or "cuda:1", or what is missing for it.

    Raises `MissingExtraError` without PyTorch, and `InputError` for another name or where PyTorch
    sees no such device.

    >>> open_device("tpu")
    Traceback (most recent call last):
        ...
    wayfare.errors.InputError: device: 'tpu' came; give "cpu", "cuda", or "cuda:0" and on
    """
    kind, _, number = name.partition(":") if isinstance(name, str) else ("", "", "")
    if kind != "cuda" or (":" in name and not number.isdecimal()):
        raise InputError(f'device: {name!r} came; give "cpu", "cuda", or "cuda:0" and on')
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

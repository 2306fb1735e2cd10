"""Triton where it is installed. Where it is not, kernels are functions that nobody calls."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

__all__ = ["HAS_TRITON", "tl", "triton"]

HAS_TRITON = find_spec("triton") is not None

triton: Any = SimpleNamespace(jit=lambda function: function)
tl: Any = SimpleNamespace(constexpr=lambda value: value)
if HAS_TRITON:
    triton, tl = import_module("triton"), import_module("triton.language")

"""Optional dependencies, imported at the door that needs them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from wayfare.errors import MissingExtraError

__all__ = ["require"]


def require(module: str, *, extra: str | None = None, package: str | None = None) -> Any:
    """Import and return `module`, or say which command installs it.

    >>> require("json").dumps([1])
    '[1]'
    >>> require("no_such_module", package="no-such")
    Traceback (most recent call last):
        ...
    wayfare.errors.MissingExtraError: 'no_such_module' is not installed; run: pip install 'no-such'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        target = f"wayfare[{extra}]" if extra else (package or module)
        raise MissingExtraError(
            f"{module!r} is not installed; run: pip install {target!r}"
        ) from None

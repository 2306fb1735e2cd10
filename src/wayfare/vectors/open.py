"""From a request to a store: find the file, tell its format, ask the cache, read."""

from __future__ import annotations

from dataclasses import replace

from wayfare.errors import FormatError, InputError
from wayfare.vectors import cache as tables
from wayfare.vectors.formats import FORMATS, detect
from wayfare.vectors.formats.request import Request
from wayfare.vectors.hub import fetch, is_hub_name
from wayfare.vectors.store import Store
from wayfare.vectors.table import Table

__all__ = ["open_store"]


def open_store(request: Request, *, cache: bool) -> Store:
    """The store that `request` asks for; from the cache where it can be."""
    request = _located(request)
    try:
        return _open(request, cache=cache)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"{error.filename or request.path}: {reason}; give a file that can be read"
        ) from error


def _open(request: Request, *, cache: bool) -> Store:
    name = detect(request.path)
    way = FORMATS[name]
    files = way.files(request)
    before = [tables.looks(path) for path in files]
    large = sum(look[1] for look in before) >= tables.SMALLEST
    keep = cache and way.parsed and large
    if keep:
        told = {"format": name, "limit": request.limit, "on_error": request.on_error}
        key = tables.key(files, told, progress=request.progress)
        if (found := tables.load(key)) is not None:
            return found
    store = way.read(request)
    if [tables.looks(path) for path in files] != before:
        raise FormatError("the file changed while it was read; load it again", path=request.path)
    if keep and isinstance(store, Table):
        return tables.save(key, store, request.path)
    return store


def _located(request: Request) -> Request:
    if request.path.is_file() or request.path.is_dir():
        return request
    if request.path.exists():
        raise InputError(f"path_or_name: {request.path} is a pipe or device; give a file")
    name = request.path.as_posix()
    if is_hub_name(name):
        return replace(request, path=fetch(name))
    raise InputError(
        f"path_or_name: no file or folder {str(request.path)!r}; give one that is there, or the "
        "name of a model on the Hugging Face hub, as in 'minishlab/potion-base-8M'"
    )

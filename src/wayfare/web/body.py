"""A request body: bounded before it is read, JSON before it is parsed, checked before it is used."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from wayfare.web.limits import Limits
from wayfare.web.refusals import Refusal

__all__ = ["described", "reader"]

Model = TypeVar("Model", bound=BaseModel)

PATIENCE = 30.0  # seconds for a body to arrive
TOLD = 5  # faults of one body that are told


def reader(model: type[Model], limits: Limits) -> Callable[[Request], Awaitable[Model]]:
    """What reads a body of that model from a request."""

    async def read(request: Request) -> Model:
        _check_type(request.headers.get("content-type", ""))
        try:
            async with asyncio.timeout(PATIENCE):
                raw = await _bytes(request, limits.request_bytes)
        except TimeoutError:
            raise Refusal(
                408, "slow_request", f"the body did not arrive within {PATIENCE:g} seconds"
            ) from None
        try:
            return model.model_validate_json(raw)
        except ValidationError as error:
            raise Refusal(422, "invalid", _told(error)) from None

    return read


def described(model: type[BaseModel]) -> dict[str, Any]:
    """The body as OpenAPI describes it."""
    return {
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": model.model_json_schema()}},
        }
    }


def _check_type(given: str) -> None:
    # Other types could come from a form on any web page, without the browser asking first.
    if given.partition(";")[0].strip().lower() != "application/json":
        raise Refusal(
            415, "content_type", f"Content-Type: {given!r:.80} came; send application/json"
        )


async def _bytes(request: Request, most: int) -> bytes:
    said = request.headers.get("content-length", "")
    if said.isdecimal() and int(said[:20]) > most:
        raise _too_large(most)
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise _too_large(most)
        parts.append(part)
    return b"".join(parts)


def _too_large(most: int) -> Refusal:
    message = f"the body is over {most:,} bytes; send a shorter text, or raise --max-bytes"
    # Who goes on sending what nobody reads should not keep the connection.
    return Refusal(413, "too_large", message, limit=most, headers={"Connection": "close"})


def _told(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    parts = []
    for fault in faults[:TOLD]:
        where = ".".join(str(part)[:40] for part in fault["loc"])
        parts.append(f"{where}: {fault['msg']}" if where else str(fault["msg"]))
    if len(faults) > TOLD:
        parts.append(f"and {len(faults) - TOLD} more")
    return "; ".join(parts)

"""The one shape of every error, and the answers that carry it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse

__all__ = ["Answer", "Refusal", "failure"]


class Refusal(Exception):
    """A request that is not answered, and why; `limit` is the limit that it met."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        limit: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
        self.limit, self.headers = limit, dict(headers or {})

    def answer(self) -> Answer:
        """The refusal as a response."""
        return Answer(failure(self.code, self.message, self.limit), self.status, self.headers)


def failure(code: str, message: str, limit: int | None = None) -> dict[str, Any]:
    """The body of an error: a code for programs, a sentence for people, the limit that was met."""
    return {"error": {"code": code, "message": message, "limit": limit}}


class Answer(JSONResponse):
    """JSON that any reader takes: no NaN, no infinity, no half of a surrogate pair."""

    def render(self, content: Any) -> bytes:
        """The content in UTF-8."""
        text = json.dumps(_plain(content), ensure_ascii=False, allow_nan=False)
        return text.encode("utf-8")


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else _whole(value)
    if isinstance(value, Mapping):
        return {_plain(str(key)): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float):
        return value
    return _plain(value.tolist()) if hasattr(value, "tolist") else _whole(str(value))


def _whole(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

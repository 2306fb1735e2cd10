"""Who may ask: the Host that was meant, the token; and the headers that every answer carries.

A page on the internet can have its own name resolve to 127.0.0.1 and then read what a local server
answers (DNS rebinding). The browser sends that name as Host, so a name that is not expected is
refused. An address cannot be rebound, and is let through.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import logging
import re
import time
from collections.abc import Collection

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wayfare.web.metrics import Metrics
from wayfare.web.refusals import Refusal

__all__ = ["HEADERS", "Guard", "is_loopback"]

log = logging.getLogger("wayfare")

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
# The page itself holds nothing of the index; it asks for the token and sends it along.
GUARDED = ("/api/", "/metrics")
_HOST = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(?::[0-9]{1,5})?")


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine reaches that address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class Guard:
    """Stands before the app: refuses, counts, adds headers, and answers for what goes wrong."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        metrics: Metrics,
        paths: Collection[str],
        hosts: Collection[str] = (),
        token: str | None = None,
    ) -> None:
        self._app, self._metrics, self._paths = app, metrics, frozenset(paths)
        self._hosts = frozenset(host.lower() for host in ("localhost", *hosts))
        self._token = None if token is None else _digest(token.encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            self._check(scope)
            await self._app(scope, receive, sending)
        except Refusal as refusal:
            self._metrics.count("wayfare_refusals_total", code=refusal.code)
            await refusal.answer()(scope, receive, sending)
        except Exception:
            log.exception("a request to %s failed", scope["path"])
            if status:  # half of another answer is out already
                raise
            answer = Refusal(500, "fault", "a fault of wayfare; its log says more").answer()
            await answer(scope, receive, sending)
        finally:
            # Only paths that exist: a stranger must not be able to fill the memory with others.
            path = scope["path"] if scope["path"] in self._paths else "other"
            method = scope["method"] if scope["method"] in ("GET", "HEAD", "POST") else "other"
            self._metrics.observe(path, time.perf_counter() - started)
            self._metrics.count(
                "wayfare_requests_total", path=path, method=method, status=str(status)
            )

    def _check(self, scope: Scope) -> None:
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1")
        if not self._expects(host):
            raise Refusal(
                400,
                "host",
                f"Host: {host[:80]!r} came; use the address itself, or name it by --allow-host",
            )
        if self._token is None or not scope["path"].startswith(GUARDED):
            return
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        # Digests are of one length, so the comparison tells nothing about that of the token.
        right = hmac.compare_digest(_digest(given.strip()), self._token)
        if not (right and scheme.lower() == b"bearer"):
            raise Refusal(
                401,
                "token",
                "this server wants its token: send the header Authorization: Bearer TOKEN",
                headers={"WWW-Authenticate": 'Bearer realm="wayfare"'},
            )

    def _expects(self, host: str) -> bool:
        parts = _HOST.fullmatch(host)
        if parts is None:
            return False
        name = parts["six"] or parts["name"].lower()
        if name in self._hosts:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()

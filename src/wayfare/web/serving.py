"""A socket, a server, and a quiet end."""

from __future__ import annotations

import signal
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import uvicorn

from wayfare.errors import InputError
from wayfare.web.guard import is_loopback

if TYPE_CHECKING:
    from fastapi import FastAPI

__all__ = ["Address", "serve"]

SHORTEST_TOKEN = 16
SWITCH = 5e-4  # seconds
# Seconds that requests under way have to end.
LAST = 15


@dataclass(frozen=True)
class Address:
    """Where to listen. Beyond this machine only if `public` says so, and never without a token.

    >>> Address("0.0.0.0", 8765, public=False).check(token=None)
    Traceback (most recent call last):
        ...
    wayfare.errors.InputError: --host: '0.0.0.0' can be reached by others; pass --public if that is meant
    """

    host: str = "127.0.0.1"
    port: int = 8765
    public: bool = False

    def check(self, token: str | None) -> None:
        """Raise `InputError` for what would let strangers in."""
        if token is not None and len(token) < SHORTEST_TOKEN:
            raise InputError(
                f"token: one of {len(token)} characters came; give at least {SHORTEST_TOKEN}"
            )
        if is_loopback(self.host):
            return
        if not self.public:
            raise InputError(
                f"--host: {self.host!r} can be reached by others; pass --public if that is meant"
            )
        if token is None:
            raise InputError(
                "--public: no token came; write one into a file and pass --token-file, or set "
                "WAYFARE_TOKEN"
            )

    def listen(self) -> socket.socket:
        """A socket that listens; port 0 takes any that is free."""
        if not 0 <= self.port < 1 << 16:
            raise InputError(f"--port: {self.port} came; give 0 to 65535")
        try:
            family, *_, where = socket.getaddrinfo(
                self.host, self.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            return socket.create_server(where[:2], family=family, backlog=512)
        except OSError as error:
            raise InputError(
                f"--host, --port: {self.host}:{self.port} cannot be listened on "
                f"({error.strerror or error}); choose another"
            ) from None


def url_of(listening: socket.socket) -> str:
    """The address of a socket, as a browser takes it."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def serve(app: FastAPI, listening: socket.socket, ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; then let no more in, and finish what is under way.

    `ready` is called with the address once requests are answered.
    """
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=LAST,
        h11_max_incomplete_event_size=64 * 1024,
    )
    # Solves hold the interpreter between their kernels; at its usual 5 ms a turn, the few small steps
    # of each request would wait behind them.
    sys.setswitchinterval(SWITCH)
    server = _Server(config, lambda: ready(url_of(listening)))
    # uvicorn raises the signal that ended it once more when all is done: that is no error here.
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
    server.run(sockets=[listening])


class _Server(uvicorn.Server):
    """Says when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        if self.started:
            self._ready()

"""All of it put together: paths, and what stands behind each."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response

from wayfare import __version__
from wayfare.errors import IndexFailure, InputError
from wayfare.index import Index
from wayfare.web import schema
from wayfare.web.answers import Served
from wayfare.web.body import described, reader
from wayfare.web.gate import Gate, Turn
from wayfare.web.guard import Guard
from wayfare.web.limits import Limits
from wayfare.web.metrics import Metrics
from wayfare.web.refusals import Answer, Refusal

__all__ = ["create_app"]

log = logging.getLogger("wayfare")

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
PAGES = {"/": "index.html", "/docs": "docs.html"}
REFRESH = 2.0  # seconds between two looks at what others wrote

Path = Callable[[Request], Awaitable[Response]]


def create_app(
    index: Index,
    *,
    limits: Limits | None = None,
    token: str | None = None,
    hosts: Collection[str] = (),
) -> FastAPI:
    """The ASGI application that serves an index: the page, the API, `/healthz` and `/metrics`.

    `token` is asked for on `/api/` and `/metrics` where it is not None; `hosts` are the names, beside
    `localhost` and addresses, by which the server may be called. The index stays the caller's to close.
    Raises `InputError` where the index cannot read texts, such as one built from points.
    """
    served = Served(index, limits or Limits())
    served.warm_up()
    gate, metrics = Gate(served.limits), Metrics()

    @asynccontextmanager
    async def lifetime(_: FastAPI) -> AsyncIterator[None]:
        watching = asyncio.create_task(_watch(served))
        async with gate:
            yield
        watching.cancel()

    app = FastAPI(
        title="Wayfare",
        version=__version__,
        description="Exact search and certified distances between documents.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifetime,
        default_response_class=Answer,
    )
    _add_api(app, served, gate, metrics)
    _add_health(app, served, gate, metrics)
    _add_page(app)
    _add_errors(app)
    paths = [getattr(route, "path", "") for route in app.routes]
    app.add_middleware(Guard, metrics=metrics, paths=paths, hosts=hosts, token=token)
    return app


async def _watch(served: Served) -> None:
    """Take in what other processes write to the index, until the server ends."""
    while True:
        await asyncio.sleep(REFRESH)
        try:
            if await asyncio.to_thread(served.refresh):
                log.info("the index changed: %d documents", served.info.documents)
        except (IndexFailure, OSError) as error:
            log.warning("the index could not be read again, the old state stays: %s", error)


def _add_api(app: FastAPI, served: Served, gate: Gate, metrics: Metrics) -> None:
    def path(
        name: str,
        work: Callable[[Any, Turn[dict[str, Any]]], dict[str, Any]],
        request: type[schema.Request],
        response: type[Any],
    ) -> None:
        read = reader(request, served.limits)

        async def answer(request: Request) -> Response:
            asked = await read(request)
            found = await gate.run(lambda turn: work(asked, turn), request.is_disconnected)
            metrics.count("wayfare_answers_total", exact=str(found["exact"]).lower())
            for step in ("documents", "by_rows", "started", "solved"):
                if name == "search":
                    touched = found["work"][step]
                    metrics.count("wayfare_search_documents_total", touched, step=step)
            # Encoding many texts takes a while too.
            return await asyncio.to_thread(Answer, found)

        app.add_api_route(
            f"/api/{name}",
            answer,
            methods=["POST"],
            name=name,
            summary=(work.__doc__ or "").strip().splitlines()[0],
            response_model=response,
            responses=_refusals(400, 401, 404, 408, 413, 415, 422, 429, 500, 503),
            openapi_extra=described(request),
        )

    path("search", served.search, schema.SearchRequest, schema.SearchAnswer)
    path("distance", served.distance, schema.DistanceRequest, schema.DistanceAnswer)
    path("explain", served.explain, schema.ExplainRequest, schema.ExplainAnswer)

    @app.get(
        "/api/index",
        name="index",
        response_model=schema.IndexAnswer,
        responses=_refusals(400, 401, 500),
    )
    async def describe() -> Response:
        """What is searched, and under which limits."""
        return Answer(served.describe())


def _refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": schema.Failure} for status in statuses}


def _add_health(app: FastAPI, served: Served, gate: Gate, metrics: Metrics) -> None:
    @app.get("/healthz", responses=_refusals(400, 500))
    async def healthz() -> dict[str, str]:
        """Whether the server is up."""
        return {"status": "ok"}

    @app.get("/metrics", response_class=PlainTextResponse, responses=_refusals(400, 401, 500))
    async def numbers() -> Response:
        """Counters in the text format of Prometheus."""
        gauges = {
            "wayfare_running": gate.running,
            "wayfare_waiting": gate.waiting,
            "wayfare_index_documents": served.info.documents,
            "wayfare_index_generation": served.info.generation,
        }
        kind = "text/plain; version=0.0.4; charset=utf-8"
        return Response(metrics.text(gauges), headers={"Content-Type": kind})


def _add_page(app: FastAPI) -> None:
    """The files of the page, read once: no path of a request ever becomes a path of a file."""
    found = {
        one.name: one.read_bytes()
        for one in files("wayfare.web").joinpath("static").iterdir()
        if one.name.rpartition(".")[2] in TYPES
    }
    routes = {f"/static/{name}": name for name in found} | PAGES
    for route, name in routes.items():
        if name in found:
            app.add_api_route(
                route,
                _file(found[name], TYPES[name.rpartition(".")[2]]),
                methods=["GET", "HEAD"],
                include_in_schema=False,
            )


def _file(content: bytes, kind: str) -> Path:
    tag = f'"{hashlib.blake2b(content, digest_size=12).hexdigest()}"'
    headers = {"Content-Type": kind, "ETag": tag, "Cache-Control": "no-cache"}

    async def send(request: Request) -> Response:
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers)

    return send


def _add_errors(app: FastAPI) -> None:
    """Every error leaves as a `Refusal`, which the guard counts and answers."""

    async def of_http(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        code = {404: "not_found", 405: "method"}.get(error.status_code, "http")
        raise Refusal(error.status_code, code, str(error.detail), headers=error.headers)

    async def of_input(_: Request, error: Exception) -> Response:
        raise Refusal(422, "invalid", str(error)) from None

    async def of_index(_: Request, error: Exception) -> Response:
        log.error("the index failed: %s", error)
        raise Refusal(503, "index", "the index cannot be read; the log says why") from None

    app.add_exception_handler(HTTPException, of_http)
    app.add_exception_handler(InputError, of_input)
    app.add_exception_handler(IndexFailure, of_index)

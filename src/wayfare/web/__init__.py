"""An index over HTTP: one page for people, a JSON API for programs.

    request ──> guard ──> app ──> body ──> gate ──> answers ──> Index
                host,     routes  bounded, places   in threads
                token,            checked  and time
                headers

limits.py      what one request may ask for, and how many may ask at once
refusals.py    the one shape of every error
schema.py      what comes in and what goes out, as OpenAPI tells it
body.py        a request body: bounded, JSON, checked
gate.py        admission: so many solves run, so many wait, each for so long
answers.py     the work: search, distance, explain
shading.py     which words of a text carry mass, and the passage that carries the most
guard.py       who may ask: Host, token; security headers on every answer
metrics.py     counters in the text format of Prometheus
static/        the page: HTML, CSS and JavaScript as they are served
app.py         all of it put together
serving.py     a socket, a server, and a quiet end
"""

from __future__ import annotations

from wayfare.extras import require

require("fastapi", extra="web")
require("uvicorn", extra="web")

from wayfare.web.app import create_app  # noqa: E402
from wayfare.web.limits import Limits  # noqa: E402
from wayfare.web.serving import Address, serve  # noqa: E402

__all__ = ["Address", "Limits", "create_app", "serve"]

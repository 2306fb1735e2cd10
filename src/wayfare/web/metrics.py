"""Counters in the text format of Prometheus, without its library: a lock and two dicts."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Mapping

__all__ = ["Metrics"]

SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)

_HELP = {
    "wayfare_requests_total": ("counter", "Requests by path, method and status."),
    "wayfare_refusals_total": ("counter", "Requests that were refused, by the code of the error."),
    "wayfare_answers_total": ("counter", "Answers of the API, by whether they are exact."),
    "wayfare_search_documents_total": ("counter", "Documents that each step of searches touched."),
    "wayfare_request_seconds": ("histogram", "Time from a request to its answer."),
    "wayfare_running": ("gauge", "Solves that run now."),
    "wayfare_waiting": ("gauge", "Requests that wait for a place now."),
    "wayfare_index_documents": ("gauge", "Documents of the index."),
    "wayfare_index_generation": ("gauge", "Commits to the index so far."),
}

Labels = tuple[tuple[str, str], ...]


class Metrics:
    """What happened since the start; safe to share between threads.

    >>> metrics = Metrics()
    >>> metrics.count("wayfare_refusals_total", code="busy")
    >>> [line for line in metrics.text({}).splitlines() if "busy" in line]
    ['wayfare_refusals_total{code="busy"} 1']
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[tuple[str, Labels], int] = {}
        self._times: dict[str, tuple[list[int], float]] = {}

    def count(self, name: str, amount: int = 1, **labels: str) -> None:
        """Add to a counter."""
        key = name, tuple(labels.items())
        with self._lock:
            self._counts[key] = self._counts.get(key, 0) + amount

    def observe(self, path: str, seconds: float) -> None:
        """Count one request of that path in the histogram of times."""
        with self._lock:
            buckets, total = self._times.get(path, ([0] * (len(SECONDS) + 1), 0.0))
            buckets[bisect_left(SECONDS, seconds)] += 1
            self._times[path] = buckets, total + seconds

    def text(self, gauges: Mapping[str, float]) -> str:
        """Everything, as Prometheus reads it."""
        with self._lock:
            counts = sorted(self._counts.items())
            times = {path: (list(b), total) for path, (b, total) in sorted(self._times.items())}
        out = []
        for name, (kind, says) in _HELP.items():
            out += [f"# HELP {name} {says}", f"# TYPE {name} {kind}"]
            if kind == "histogram":
                for path, (buckets, total) in times.items():
                    out += _histogram(name, path, buckets, total)
            elif kind == "gauge":
                out.append(f"{name} {gauges.get(name, 0):g}")
            else:
                out += [f"{name}{_told(k)} {n}" for (one, k), n in counts if one == name]
        return "\n".join(out) + "\n"


def _histogram(name: str, path: str, buckets: list[int], total: float) -> list[str]:
    out, so_far = [], 0
    for limit, number in zip((*SECONDS, float("inf")), buckets, strict=True):
        so_far += number
        until = "+Inf" if limit == float("inf") else f"{limit:g}"
        out.append(f"{name}_bucket{_told((('path', path), ('le', until)))} {so_far}")
    where = _told((("path", path),))
    return [*out, f"{name}_sum{where} {total:.6f}", f"{name}_count{where} {so_far}"]


def _told(labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels) + "}" if labels else ""

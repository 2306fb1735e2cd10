"""Cells made by the workers of a Dask cluster, a task each.

What several cells are given, such as a dataset, travels once; a worker that dies has its cells made by
others. Workers answer with results: only this process writes the cells that are kept.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from wayfare.errors import WayfareError
from wayfare.oncluster import check_client

__all__ = ["on_workers"]

Work = Callable[[], dict[str, Any]]


def on_workers(client: Any, works: Sequence[Work]) -> Iterator[tuple[int, dict[str, Any], float]]:
    """What each work gives and the seconds it took, with its number, as they come.

    The first failure calls the others off, and is raised here.
    """
    distributed: Any = import_module("distributed")
    check_client(client)
    uses = Counter(id(one) for work in works for one in _arguments(work))
    sent: dict[int, Any] = {}
    for work in works:
        for one in _arguments(work):
            if uses[id(one)] > 1 and id(one) not in sent:
                sent[id(one)] = client.submit(_same, one, pure=False)
    tasks = {}
    for number, work in enumerate(works):
        given = [sent.get(id(one), one) for one in _arguments(work)]
        function = work.func if given and isinstance(work, partial) else work
        tasks[client.submit(_timed, function, *given, pure=False)] = number
    try:
        for task in distributed.as_completed(list(tasks)):
            result, seconds = task.result()
            yield tasks[task], result, seconds
    except distributed.KilledWorker as error:
        raise WayfareError(
            f"client: the workers that made a cell died one after another ({error}); look at their "
            "memory, and run it again: what is finished is kept"
        ) from error
    finally:
        client.cancel([*tasks, *sent.values()])


def _arguments(work: Work) -> tuple[Any, ...]:
    return work.args if isinstance(work, partial) and not work.keywords else ()


def _same(argument: Any) -> Any:
    return argument


def _timed(function: Callable[..., dict[str, Any]], *given: Any) -> tuple[dict[str, Any], float]:
    started = time.perf_counter()
    result = function(*given)
    return result, time.perf_counter() - started

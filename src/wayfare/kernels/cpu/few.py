"""Exact balanced transport where one side has few points: successive shortest paths over the few.

A source i goes to its cheapest path of sinks: it enters at sink j at cost c_ij, and from a full sink
j some source s that is there already may move on to k at cost c_sk - c_sj. Only the cheapest mover from
j to k matters, so the residual graph has as many nodes as there are sinks, whatever the number of
sources. Each augmentation keeps the plan optimal for what has been sent so far (no negative cycles).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wayfare.kernels.cpu.jit import jit

__all__ = ["transport_to_each"]

FAR = 1e300
# A path that is shorter by less than this share of the longest cost is not shorter.
NOISE = 1e-13
NOTHING = 1e-15  # mass


@jit
def _movers(costs: Any, flow: Any, j: int, move: Any, mover: Any) -> None:
    """The cheapest source to move from sink j to each other sink."""
    m, n = flow.shape
    for k in range(n):
        move[j, k] = FAR
    for s in range(m):
        if flow[s, j] > 0:
            for k in range(n):
                step = costs[s, k] - costs[s, j]
                if step < move[j, k]:
                    move[j, k], mover[j, k] = step, s


@jit
def _arrived(costs: Any, s: int, j: int, n: int, move: Any, mover: Any) -> None:
    """Source s has mass at sink j now."""
    for k in range(n):
        step = costs[s, k] - costs[s, j]
        if step < move[j, k]:
            move[j, k], mover[j, k] = step, s


@jit
def _cheapest_path(entry: Any, move: Any, room: Any, noise: float, far: Any, before: Any) -> int:
    """The nearest sink with room, by way of `before`; -1 where none is left (Bellman and Ford)."""
    n = len(room)
    for k in range(n):
        far[k], before[k] = entry[k], -1
    for _ in range(n):
        better = False
        for j in range(n):
            for k in range(n):
                if far[j] + move[j, k] < far[k] - noise:
                    far[k], before[k] = far[j] + move[j, k], j
                    better = True
        if not better:
            break
    best = -1
    for k in range(n):
        if room[k] > NOTHING and (best < 0 or far[k] < far[best]):
            best = k
    return best


@jit
def _send(
    costs: Any,
    i: int,
    sink: int,
    left: float,
    flow: Any,
    room: Any,
    move: Any,
    mover: Any,
    before: Any,
) -> Any:
    """Send what fits from source i along the path to `sink`; returns how much that was."""
    n = len(room)
    amount, k = min(left, room[sink]), sink
    while before[k] >= 0:
        j = before[k]
        amount = min(amount, flow[mover[j, k], j])
        k = j
    flow[i, k] += amount
    room[sink] -= amount
    first, k = k, sink
    while before[k] >= 0:
        j = before[k]
        s = mover[j, k]
        flow[s, j] -= amount
        flow[s, k] += amount
        if flow[s, j] <= NOTHING:
            flow[s, j] = 0
        k = j
    # What can move has changed along the whole path: sinks were left, and reached.
    k = sink
    while k >= 0:
        _movers(costs, flow, k, move, mover)
        k = before[k]
    _arrived(costs, i, first, n, move, mover)
    return amount


@jit
def _transport(costs: Any, mu: Any, nu: Any, flow: Any) -> float:
    """The least cost of moving `mu` to `nu`, both of mass one."""
    m, n = costs.shape
    move, mover = np.full((n, n), FAR), np.zeros((n, n), np.int64)
    far, before, room = np.empty(n), np.empty(n, np.int64), nu.copy()
    longest = 0.0
    for i in range(m):
        for j in range(n):
            flow[i, j] = 0
            longest = max(longest, costs[i, j])
    noise = NOISE * longest
    for i in range(m):
        left = mu[i]
        while left > NOTHING:
            sink = _cheapest_path(costs[i], move, room, noise, far, before)
            if sink < 0:
                break
            if before[sink] < 0:
                amount = min(left, room[sink])
                flow[i, sink] += amount
                room[sink] -= amount
                _arrived(costs, i, sink, n, move, mover)
            else:
                amount = _send(costs, i, sink, left, flow, room, move, mover, before)
            left -= amount
    value = 0.0
    for i in range(m):
        for j in range(n):
            value += flow[i, j] * costs[i, j]
    return value


@jit
def transport_to_each(costs: Any, mu: Any, indptr: Any, weights: Any, out: Any) -> None:
    """`out[r]`: the exact transport cost from `mu` to document r, all of mass one.

    `costs[i, c]` is the cost from source i to entry c of the documents' `weights`, which `indptr` cuts
    into documents.
    """
    m, widest = len(mu), 1
    for r in range(len(out)):
        widest = max(widest, indptr[r + 1] - indptr[r])
    flow, block = np.empty(m * widest), np.empty(m * widest)
    for r in range(len(out)):
        start, stop = indptr[r], indptr[r + 1]
        n = stop - start
        part, sent = block[: m * n].reshape(m, n), flow[: m * n].reshape(m, n)
        for i in range(m):
            for j in range(n):
                part[i, j] = costs[i, start + j]
        out[r] = _transport(part, mu, weights[start:stop], sent)

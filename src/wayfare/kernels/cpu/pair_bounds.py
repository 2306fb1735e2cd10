"""Upper bounds on the affinity of a query and one document after the other, from the words of each.

The bytes are those of word_bounds.py. Potentials are made feasible in whole numbers, and what these lose
goes up: a bound may only ever be too loose.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wayfare.kernels.cpu.byte_rows import largest_bytes, largest_of_columns, largest_of_words
from wayfare.kernels.cpu.jit import jit
from wayfare.kernels.cpu.word_bounds import UNIT

__all__ = ["pair_bounds"]


@jit
def _whole(values: Any, out: Any, count: int) -> float:
    """`values` as 16-bit whole numbers, rounded up; returns the unit they are counted in."""
    top = np.float32(0)
    for i in range(count):
        top = max(top, values[i])
    scale = np.float32(65534) / top if top > 0 else np.float32(0)
    for i in range(count):
        out[i] = np.uint16(values[i] * scale + np.float32(1)) if values[i] > 0 else np.uint16(0)
    return float(top) / 65534.0


@jit
def _transform(
    near: Any,
    reach: Any,
    words: Any,
    nu: Any,
    inverse: Any,
    whole: Any,
    tops: Any,
    beta: Any,
    width: int,
) -> float:
    """`beta_j = max_i near_ji inverse_i / UNIT`, rounded up; returns `<beta^2, nu>`.

    In whole numbers: 8 bits times 16 bits, the upper 16 kept. That is several times faster than floats,
    and what it loses goes up.
    """
    unit, mass = _whole(inverse, whole, width) * (256.001 / UNIT), 0.0
    largest_of_words(near, words, whole, tops)
    for j in range(len(words)):
        beta[j] = (tops[j] + 1) * unit if reach[words[j]] > 0 else 0.0
        mass += nu[j] * beta[j] * beta[j]
    return mass


@jit
def _transform_back(
    near: Any,
    top: Any,
    words: Any,
    scale: Any,
    mu: Any,
    whole: Any,
    sums: Any,
    alpha: Any,
    width: int,
) -> float:
    """`alpha_i = max_j near_ji scale_j / UNIT`, rounded up; returns `<alpha^2, mu>`."""
    unit, mass = _whole(scale, whole, len(words)) * (256.001 / UNIT), 0.0
    largest_of_columns(near, words, whole, sums)
    for i in range(width):
        alpha[i] = (sums[i] + 1) * unit if top[i] > 0 else 0.0
    for i in range(len(mu)):
        mass += mu[i] * alpha[i] * alpha[i]
    return mass


@jit
def _invert(values: Any, inverse: Any, count: int) -> None:
    zero, up = np.float32(0), np.float32(1.0000005)
    for i in range(count):
        inverse[i] = up / values[i] if values[i] > 0 else zero


@jit
def _sweep(
    near: Any,
    words: Any,
    nu: Any,
    mu: Any,
    alpha: Any,
    inverse: Any,
    scale: Any,
    rest: Any,
    width: int,
) -> None:
    """Move `alpha` by one damped sweep at eps = 1/8: up where more mass arrives than there is.

    `inverse` holds `1 / alpha`, `scale` holds `1 / beta`, of a feasible pair.
    """
    row, arrived = rest
    zero = np.float32(0)
    for i in range(width):
        arrived[i] = zero
    for j in range(len(words)):
        if scale[j] == 0:
            continue
        word, s, total = words[j], scale[j] * np.float32(1 / UNIT), zero
        for i in range(width):
            # The floor keeps its power from becoming a subnormal number, which is slow.
            share = max(np.float32(near[word, i]) * inverse[i] * s, np.float32(0.02))
            share *= share
            share *= share
            share *= share
            share *= share
            row[i] = share
            total += share
        part = np.float32(nu[j]) / (scale[j] * scale[j] * total)
        for i in range(width):
            arrived[i] += part * row[i]
    own, all_arrived = 0.0, 0.0
    for i in range(len(mu)):
        own += mu[i] * alpha[i] * alpha[i]
        all_arrived += arrived[i]
    for i in range(len(mu)):
        here = mu[i] * alpha[i] * alpha[i]
        if here > 0:
            ratio = math.sqrt(arrived[i] * own / (all_arrived * here))
            alpha[i] *= math.sqrt(min(max(ratio, 0.5), 2.0))


@jit
def pair_bounds(
    near: Any,
    reach: Any,
    mu: Any,
    indptr: Any,
    indices: Any,
    weights: Any,
    picks: Any,
    limits: Any,
    out: Any,
    tiers: Any,
) -> None:
    """Bounds on the affinity of each of `picks`, dearer and dearer until one is below its limit.

        1  rows     b = 1 where anything is reached, a_i = max_j k_ij; in bytes
        2  middle   a' = sqrt(a), between that pair and a = 1; b from a', then a from b
        3  sweep    a moved by one sweep at eps = 1/8; b from a, then a from b

    Pairs of potentials are feasible in the logarithm, where the dual is concave, so the middle of two is
    a far better point than either. Masses that nothing reaches are left out of every product. `tiers`
    counts the documents that each step looked at.
    """
    width, longest = near.shape[1], 0
    for document in picks:
        longest = max(longest, indptr[document + 1] - indptr[document])
    unit = np.float32(1.0000005 / UNIT)
    top, alpha = np.empty(width, np.uint8), np.empty(width, np.float32)
    inverse, beta = np.empty(width, np.float32), np.empty(longest, np.float32)
    scale, sums = np.empty(longest, np.float32), np.empty(width, np.uint16)
    whole, tops = np.empty(max(width, longest), np.uint16), np.empty(longest, np.uint16)
    rest = np.empty(width, np.float32), np.empty(width, np.float32)
    for place in range(len(picks)):
        start, stop = indptr[picks[place]], indptr[picks[place] + 1]
        words, nu = indices[start:stop], weights[start:stop]
        limit = max(limits[place], 0.0) ** 2
        tiers[0] += 1
        largest_bytes(near, words, top)
        mass, by_rows, middle = 0.0, 0.0, 0.0
        for j in range(len(words)):
            mass += nu[j] if reach[words[j]] > 0 else 0.0
        for i in range(width):
            h = np.float32(top[i]) * unit
            alpha[i] = math.sqrt(h)
            if i < len(mu):
                by_rows += mu[i] * h * h
                middle += mu[i] * h
        best = mass * by_rows
        if best >= limit and best > 0:
            tiers[1] += 1
            _invert(alpha, inverse, width)
            mass_b = _transform(near, reach, words, nu, inverse, whole, tops, beta, width)
            best = min(best, middle * mass_b)
            if best >= limit:
                _invert(beta, scale, len(words))
                own = _transform_back(near, top, words, scale, mu, whole, sums, alpha, width)
                best = min(best, own * mass_b)
        if best >= limit and best > 0:
            tiers[2] += 1
            _invert(alpha, inverse, width)
            _sweep(near, words, nu, mu, alpha, inverse, scale, rest, width)
            _invert(alpha, inverse, width)
            mass_b = _transform(near, reach, words, nu, inverse, whole, tops, beta, width)
            _invert(beta, scale, len(words))
            own = _transform_back(near, top, words, scale, mu, whole, sums, alpha, width)
            best = min(best, own * mass_b)
        out[place] = math.sqrt(best)

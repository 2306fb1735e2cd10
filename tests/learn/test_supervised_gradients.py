"""The gradients of the supervised losses, against central differences in float64."""

import numpy as np
import pytest

from wayfare.learn.supervised.objective import Anchor, TransportLoss
from wayfare.learn.supervised.parameters import Parameters, Rows
from wayfare.learn.supervised.transport import Entropic, Exact, Unbalanced

TRANSPORTS = {
    "entropic": Entropic(0.3, tol=1e-12, sweeps=20_000, dtype=np.float64),
    "entropic-euclidean": Entropic(0.3, euclidean=True, tol=1e-12, sweeps=20_000, dtype=np.float64),
    "exact": Exact(),
    "exact-euclidean": Exact(euclidean=True),
    "wfr": Unbalanced(0.7, tol=1e-11),
    "wfr-far": Unbalanced(0.25, tol=1e-11),
}


def problem(seed, *, documents=7, words=12, dim=3, keep_mass=True, equal_mass=True):
    """Documents that share words, of two classes, with parameters away from where they start."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 6, documents)
    indices = [np.sort(rng.choice(words, size, replace=False)) for size in sizes]
    weights = [rng.uniform(0.2, 1.0, size) for size in sizes]
    if equal_mass:
        weights = [w / w.sum() for w in weights]
    rows = Rows(
        rng.normal(size=(words, dim)) * 0.7,
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate(indices).astype(np.int32),
        np.concatenate(weights),
        keep_mass,
    )
    classes = np.arange(documents) % 2
    at = Parameters(rng.normal(size=(2, dim)) * 0.6, rng.uniform(-1, 1, words))
    anchors = [Anchor(a, np.array([b for b in range(documents) if b != a])) for a in (0, 3)]
    return rows, classes, at, anchors


def differences(loss, at, step=1e-5):
    """Central differences of the mean loss by each parameter."""

    def of(map_, weights):
        return loss(Parameters(map_, weights))

    by = []
    for which in (0, 1):
        base = [at.map.copy(), at.log_weights.copy()]
        out = np.zeros_like(base[which])
        for place in np.ndindex(out.shape):
            ends = []
            for sign in (1, -1):
                moved = [part.copy() for part in base]
                moved[which][place] += sign * step
                ends.append(of(*moved))
            out[place] = (ends[0] - ends[1]) / (2 * step)
        by.append(out)
    return by


CASES = [(name, True) for name in TRANSPORTS] + [("wfr", False), ("wfr-far", False)]


@pytest.mark.parametrize(("name", "keep_mass"), CASES)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_gradient_is_the_slope_of_the_loss(name, keep_mass, seed):
    rows, classes, at, anchors = problem(seed, keep_mass=keep_mass, equal_mass=keep_mass)
    loss = TransportLoss(rows, classes, TRANSPORTS[name], 0.4)
    value, gradient = loss.gradient(at, anchors)
    assert value == pytest.approx(loss.verdict(at, anchors).mean, rel=1e-12)
    by_map, by_weight = differences(lambda p: loss.verdict(p, anchors).mean, at)
    assert np.abs(by_map).max() > 1e-2
    assert np.abs(by_weight).max() > 1e-3
    np.testing.assert_allclose(gradient.map, by_map, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(gradient.log_weights, by_weight, rtol=1e-5, atol=1e-6)

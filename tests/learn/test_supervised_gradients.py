"""The gradients of the supervised losses, against central differences in float64."""

import numpy as np
import pytest

from wayfare.learn.supervised.centroid_loss import CentroidLoss
from wayfare.learn.supervised.nca import calibrated, loss_of
from wayfare.learn.supervised.objective import Anchor, TransportLoss
from wayfare.learn.supervised.parameters import Parameters, Rows, reweigh
from wayfare.learn.supervised.transport import Entropic, Exact, Unbalanced, squared_distances
from wayfare.many import Documents, Query, Scratch
from wayfare.points import Points

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


def test_the_gradient_of_the_centroids_is_the_slope_of_their_loss():
    rows, classes, at, anchors = problem(2)
    loss = CentroidLoss(rows, classes, 0.4)
    value, gradient = loss.gradient(at, anchors)
    assert value == pytest.approx(loss.verdict(at, anchors).mean, rel=1e-12)
    by_map, by_weight = differences(lambda p: loss.verdict(p, anchors).mean, at)
    np.testing.assert_allclose(gradient.map, by_map, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(gradient.log_weights, by_weight, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("keep_mass", [True, False])
def test_a_document_keeps_its_mass_or_does_not(keep_mass):
    rows, _, at, _ = problem(3, keep_mass=keep_mass, equal_mass=False)
    masses = np.add.reduceat(reweigh(rows, at.word_weights), rows.indptr[:-1])
    before = np.add.reduceat(rows.weights, rows.indptr[:-1])
    assert np.allclose(masses, before) == keep_mass


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_entropic_kernel_is_what_its_equations_say(dtype):
    """Marginals, and a value that is both the dual's and the primal's."""
    rng = np.random.default_rng(4)
    documents, query = documents_of(rng, dtype)
    eps = 0.05
    found = Entropic(eps, tol=1e-6, sweeps=10_000, dtype=dtype).slopes(
        documents, query, Scratch(8, documents.longest)
    )
    cost = squared_distances(documents, query, np.float64)[documents.indices]
    for n in range(len(documents)):
        span = slice(documents.indptr[n], documents.indptr[n + 1])
        plan, nu = found.by_squared[span].astype(np.float64), documents.weights[span]
        np.testing.assert_allclose(plan.sum(axis=0), query.shares, atol=1e-5)
        np.testing.assert_allclose(plan.sum(axis=1), nu, atol=1e-5)
        some = plan > 0
        divergence = plan[some] * np.log(plan[some] / np.outer(nu, query.shares)[some])
        primal = np.sum(plan * cost[span]) + eps * divergence.sum()
        dual = found.by_query[n] @ query.shares + found.by_entry[span] @ nu
        assert found.values[n] == pytest.approx(primal, rel=1e-4)
        assert found.values[n] == pytest.approx(dual, rel=1e-5)
    assert found.short == 0


def test_less_smoothing_comes_to_the_exact_transport():
    documents, query = documents_of(np.random.default_rng(5), np.float64)
    scratch = Scratch(8, documents.longest)
    exact = Exact().slopes(documents, query, scratch)
    near = Entropic(1e-3, tol=1e-8, sweeps=200_000, dtype=np.float64).slopes(
        documents, query, scratch
    )
    assert (near.values >= exact.values - 1e-9).all()
    np.testing.assert_allclose(near.values, exact.values, rtol=5e-3)


def test_scalings_beyond_single_precision_are_absorbed():
    documents, query = documents_of(np.random.default_rng(6), np.float32, spread=30.0)
    single, double = (
        Entropic(0.5, tol=1e-4, sweeps=20_000, dtype=dtype).slopes(
            documents, query, Scratch(8, documents.longest)
        )
        for dtype in (np.float32, np.float64)
    )
    np.testing.assert_allclose(single.values, double.values, rtol=1e-4)


@pytest.mark.parametrize("eta", [0.7, 0.25])
@pytest.mark.parametrize("tol", [1e-3, 1e-5])
def test_the_kernel_of_wfr_has_the_slopes_of_single_solves(eta, tol):
    """Where the value is off by tol, potentials are off by its root, and by no more.

    With a = e^-phi, `F(phi, psi) = <a, mu> + <b, nu>` is convex and its least value F* lies at phi*, so
    that a pair within g of it has

        g >= F - F* >= sum_i mu_i a*_i (e^-d_i - 1 + d_i) >= sum_i mu_i (sqrt a_i - sqrt a*_i)^2,

    d = phi - phi*, the same for psi: the first step leaves out a slope that is not negative at the least
    value, the second is `x - 1 - log x >= (sqrt x - 1)^2`. Plans have no such bound: plans of one price
    may differ. These few do not, and are held to the root all the same.
    """
    documents, query = documents_of(np.random.default_rng(7), np.float64)
    scratch = Scratch(8, documents.longest)
    many = Unbalanced(eta, tol).slopes(documents, query, scratch)
    single = Unbalanced(eta, 1e-10).slopes(documents, query, scratch)
    np.testing.assert_allclose(many.values, single.values, rtol=2 * tol)
    assert (many.values >= single.values * (1 - 1e-9)).all()
    for n in range(len(documents)):
        span = slice(documents.indptr[n], documents.indptr[n + 1])
        gap, finer = tol * many.values[n], 1e-10 * many.values[n]
        off = query.weights @ _apart(many.by_query[n], single.by_query[n])
        off += documents.weights[span] @ _apart(many.by_entry[span], single.by_entry[span])
        # The other solve is not quite at the least value either.
        assert np.sqrt(off) <= np.sqrt(gap) + np.sqrt(finer)
    off = 4 * eta**2 * np.abs(many.by_squared - single.by_squared)
    assert off.max() <= 2 * np.sqrt(tol)


def _apart(by_mass, other):
    """`(sqrt a - sqrt a*)^2` from the derivatives by the masses, `1 - a`."""
    return (np.sqrt(np.maximum(1 - by_mass, 0)) - np.sqrt(np.maximum(1 - other, 0))) ** 2


@pytest.mark.parametrize("tol", [1e-3, 1e-4, 1e-8])
def test_equal_far_and_nearly_far_points_have_finite_slopes(tol):
    """Distance 0, a hair within pi eta, at it, and beyond; and a document that is the query."""
    eta = 0.5
    edge = np.pi * eta
    points = np.array([[0.0], [edge * (1 - 1e-7)], [edge], [2 * edge]])
    ones = [np.array([n], np.int32) for n in range(4)]
    documents = Documents(
        Points(points), np.arange(5), np.concatenate(ones), np.array([1.0, 1.0, 1.0, 1.0])
    )
    query = Query(points[:1], np.array([1.0]), 1.0, np.array([0], np.int32))
    found = Unbalanced(eta, tol).slopes(documents, query, Scratch(1, 1))
    assert np.isfinite(found.by_squared).all()
    np.testing.assert_allclose(found.values, [0, 2, 2, 2], atol=1e-6)
    np.testing.assert_allclose(found.by_query[0], 0, atol=1e-9)
    np.testing.assert_allclose(found.by_query[2:, 0], 1)
    np.testing.assert_allclose(found.by_squared[2:], 0)
    # At the edge h vanishes and the tangent does not: 2 sinc(pi / 2) / (8 eta^2) is left.
    assert found.by_squared[1, 0] <= 2 * (2 / np.pi) / (8 * eta**2) * (1 + 1e-3)


def test_equal_words_at_distance_zero_do_not_move_under_the_euclidean_cost():
    rows, classes, at, anchors = problem(8)
    same = Rows(np.zeros_like(rows.points), rows.indptr, rows.indices, rows.weights)
    for transport in (Exact(euclidean=True), Entropic(0.3, euclidean=True)):
        _, gradient = TransportLoss(same, classes, transport, 0.4).gradient(at, anchors)
        assert np.isfinite(gradient.map).all()
        np.testing.assert_allclose(gradient.map, 0, atol=1e-12)


def test_the_gradient_does_not_depend_on_threads():
    rows, classes, at, _ = problem(9)
    anchors = [Anchor(a, np.array([b for b in range(7) if b != a])) for a in range(7)]
    for transport in (Unbalanced(0.7), Entropic(0.3)):
        one, three = (TransportLoss(rows, classes, transport, 0.4, jobs) for jobs in (1, 3))
        first, second = one.gradient(at, anchors)[1], three.gradient(at, anchors)[1]
        assert np.array_equal(first.map, second.map)
        assert np.array_equal(first.log_weights, second.log_weights)


def test_the_temperature_gives_the_perplexity_that_was_asked():
    rng = np.random.default_rng(10)
    rows = [rng.uniform(0, 1, 50) for _ in range(5)]
    temperature = calibrated(rows, 12.0)
    shares = [np.exp(-row / temperature) for row in rows]
    shares = [share / share.sum() for share in shares]
    entropy = np.mean([-np.sum(share * np.log(share)) for share in shares])
    assert np.exp(entropy) == pytest.approx(12.0, rel=1e-6)


def test_an_anchor_without_its_own_class_teaches_nothing():
    value, slope = loss_of(np.array([0.1, 0.2]), np.array([False, False]), 1.0)
    assert value == 0
    assert not slope.any()


def documents_of(rng, dtype, *, spread=1.0, count=5):
    """Some documents over common points, and a query that shares two of them."""
    points = (spread * rng.normal(size=(20, 3)) * 0.5).astype(dtype)
    sizes = rng.integers(3, 9, count)
    indices = [np.sort(rng.choice(20, size, replace=False)) for size in sizes]
    weights = [rng.dirichlet(np.ones(size)) for size in sizes]
    documents = Documents(
        Points(points),
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate(indices).astype(np.int32),
        np.concatenate(weights),
    )
    others = (spread * rng.normal(size=(4, 3)) * 0.5).astype(dtype)
    mine = np.concatenate([others, points[[3, 11]]])
    query = Query(mine, rng.dirichlet(np.ones(6)), 1.0, np.array([-1] * 4 + [3, 11], np.int32))
    return documents, query

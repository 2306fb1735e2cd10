"""What an answer is: its plan made late and stored sparsely, its work counted, its status explained."""

import numpy as np
import pytest
from scipy.sparse import issparse

import wayfare as wf
from strategies import cloud
from wayfare import wfr
from wayfare.metrics import METRICS
from wayfare.solution import Certificate, Status


def pair(size: int, spread: float) -> tuple[wf.Measure, wf.Measure]:
    rng = np.random.default_rng(size)
    x, y = spread * cloud(rng, "gauss", size, 3), spread * cloud(rng, "gauss", size, 3)
    return wf.Measure(x, rng.dirichlet(np.ones(size))), wf.Measure(y, rng.dirichlet(np.ones(size)))


def test_the_plan_is_made_when_it_is_asked_for_and_once(monkeypatch):
    made = []
    monkeypatch.setattr(wfr, "_plan", lambda *parts: made.append(parts) or "a plan")
    answer = wf.distance(*pair(10, 1.0))
    assert made == []
    assert answer.plan is answer.plan
    assert len(made) == 1


def test_the_plan_is_sparse_where_the_kernel_is():
    far = wf.distance(*pair(40, 4.0), eta=0.5).plan
    assert issparse(far.matrix)
    assert far.matrix.nnz == np.count_nonzero(far.carried) < far.carried.size / 4
    np.testing.assert_array_equal(far.matrix.toarray(), far.carried)
    near = wf.distance(*pair(3, 0.1), eta=5.0, tol=1e-2).plan
    assert not issparse(near.matrix)


def test_work_counts_what_was_done():
    a, b = pair(20, 1.0)
    quick, exact = wf.distance(a, b, tol=1e-2).work, wf.distance(a, b, tol=1e-8).work
    assert quick.sweeps > 0
    assert quick.stages > 0
    assert quick.newton_steps == 0
    assert exact.newton_steps > 0
    assert wf.distance(a, a).work == wfr.Work()
    paper = wf.distance(a, b, method="paper").work
    assert (paper.sweeps, paper.stages) == (480, 5)


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_answers_in_the_same_way(metric):
    a, b = pair(8, 0.1)
    answer = wf.distance(a, b, metric=metric, eta=1.0)
    assert answer.metric == metric
    assert float(answer) == answer.value
    assert answer.certificate.lower <= answer.objective <= answer.certificate.upper
    assert answer.certificate.gap <= max(answer.tol, 1e-7)
    assert repr(answer).startswith(f"Solution({metric}")
    assert (answer.plan is None) == (metric in ("rwmd", "wcd", "hellinger"))


@pytest.mark.parametrize("status", Status)
def test_every_status_has_a_remedy(status):
    assert len(status.remedy) > 20


def test_gaps_of_bounds_that_are_equal():
    assert Certificate(np.inf, np.inf).gap == 0.0
    assert Certificate(0.0, 0.0).gap == 0.0
    assert Certificate(0.0, 1e-15, atol=1e-12).gap == pytest.approx(1e-3)


@pytest.mark.parametrize("eta", [0.3, 1.0])
def test_what_double_precision_cannot_reach_says_so(eta):
    a, b = pair(30, 0.5)
    answer = wf.distance(a, b, eta=eta, tol=1e-300)
    assert answer.status is Status.STALLED
    assert "larger tol" in answer.status.remedy
    assert answer.certificate.gap < 1e-11

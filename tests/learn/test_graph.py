"""The k-nearest graph, and what takes it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, SpectralClustering
from sklearn.manifold import TSNE
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_texts import LABELS, TEXTS, all_pairs

from wayfare import Corpus
from wayfare.errors import InputError
from wayfare.learn import WFRNeighborsTransformer


@pytest.mark.parametrize("mode", ["distance", "connectivity"])
@pytest.mark.parametrize("new", [False, True])
def test_it_means_what_the_transformer_of_scikit_learn_means(mode, new):
    corpus = Corpus.from_texts(TEXTS)
    known, asked = corpus.select(slice(40)), corpus.select(slice(40, None) if new else slice(40))
    graph = WFRNeighborsTransformer(k=4, mode=mode, tol=1e-5).fit(known).transform(asked)
    theirs = KNeighborsTransformer(n_neighbors=4, mode=mode, metric="precomputed")
    theirs.fit(all_pairs()[:40, :40])
    expected = theirs.transform(all_pairs()[40:, :40] if new else all_pairs()[:40, :40])
    assert graph.shape == expected.shape
    assert graph.format == "csr"
    assert graph.nnz == expected.nnz
    assert np.allclose(graph.toarray(), expected.toarray(), rtol=1e-5)


def test_the_diagonal_is_there():
    graph = WFRNeighborsTransformer(k=3).fit_transform(TEXTS)
    assert (np.diff(graph.indptr) == 4).all()
    assert (graph.indices.reshape(-1, 4)[:, 0] == np.arange(len(TEXTS))).all()
    assert (graph.data.reshape(-1, 4)[:, 0] == 0).all()


def test_it_goes_before_what_takes_neighbours():
    clusters = make_pipeline(
        WFRNeighborsTransformer(k=10),
        SpectralClustering(
            4, affinity="precomputed_nearest_neighbors", n_neighbors=8, random_state=0
        ),
    ).fit_predict(TEXTS)
    named = [np.array(LABELS)[clusters == c] for c in range(4)]
    pure = sum(max((one == name).sum() for name in set(LABELS)) for one in named if len(one))
    assert pure >= 0.8 * len(TEXTS)
    dense = make_pipeline(WFRNeighborsTransformer(k=6), DBSCAN(eps=0.86, metric="precomputed"))
    assert len(dense.fit_predict(TEXTS)) == len(TEXTS)
    plane = make_pipeline(
        WFRNeighborsTransformer(k=20),
        TSNE(metric="precomputed", init="random", perplexity=5, max_iter=250, random_state=0),
    ).fit_transform(TEXTS)
    assert plane.shape == (len(TEXTS), 2)


def test_it_names_its_columns():
    fitted = WFRNeighborsTransformer(k=1).fit(TEXTS[:3])
    names = fitted.get_feature_names_out().tolist()
    assert names == [f"wfrneighborstransformer{n}" for n in range(3)]


def test_what_cannot_be_reached_is_said():
    texts = [*TEXTS[:5], ""]
    assert WFRNeighborsTransformer(k=2).fit_transform(texts).shape == (6, 6)
    with pytest.raises(InputError, match="document 5 has fewer than 3 documents at"):
        WFRNeighborsTransformer(k=2, metric="wmd").fit_transform(texts)
    with pytest.raises(InputError, match="mode: 'graph' came"):
        WFRNeighborsTransformer(mode="graph").fit(TEXTS)


@parametrize_with_checks([WFRNeighborsTransformer(metric="precomputed")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)

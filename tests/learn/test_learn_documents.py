"""What becomes of X: every form that documents come in, and what is said of the others."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from small_texts import LABELS, TEXTS

from wayfare import Corpus, Measure, WordVectors, tokenize
from wayfare.errors import InputError
from wayfare.learn.documents import check_labels, encode, eta_of, gather, reweigh
from wayfare.text import DEFAULT_TOKENIZER

WORDS = [DEFAULT_TOKENIZER(text) for text in TEXTS]


def equal(one: Corpus, other: Corpus) -> bool:
    """Whether two corpora hold the same measures, whatever the order of their points."""
    if len(one) != len(other):
        return False
    for a, b in zip(one, other, strict=True):
        mine = {p.tobytes(): w for p, w in zip(a.points, a.weights, strict=True)}
        theirs = {p.tobytes(): w for p, w in zip(b.points, b.weights, strict=True)}
        if mine.keys() != theirs.keys():
            return False
        if not all(np.isclose(mine[p], theirs[p], rtol=1e-12) for p in mine):
            return False
    return True


def test_every_form_gives_the_same_documents():
    corpus = gather(TEXTS)
    assert equal(corpus, gather(np.array(TEXTS, dtype=object)))
    assert equal(corpus, gather(tuple(TEXTS)))
    assert equal(corpus, gather(WORDS))
    assert equal(corpus, gather(Corpus.from_texts(TEXTS)))
    assert equal(corpus, gather(list(corpus)))


def test_new_documents_are_read_like_those_of_the_fit():
    home = gather(TEXTS[:20], weighting="tfidf")
    new = encode(home, TEXTS[20:])
    assert equal(new, encode(home, list(home.encode(TEXTS[20:]))))
    assert equal(new, encode(home, home.encode(TEXTS[20:])))
    assert len(encode(home, ["", "rain"])[0]) == 0


def test_equal_points_of_a_measure_become_one():
    twice = gather([Measure([[0.0, 1.0], [0.0, 1.0]], [0.25, 0.5]), Measure([], [])])
    assert twice[0].weights.tolist() == [0.75]
    assert len(twice[1]) == 0


@pytest.mark.parametrize("weighting", ["nbow", "tfidf", "sif", "counts"])
def test_counts_weighed_later_are_the_corpus_weighed_at_once(weighting):
    counts = gather(TEXTS, weighting="counts")
    assert equal(reweigh(counts, weighting), gather(TEXTS, weighting=weighting))


@pytest.mark.parametrize("weighting", ["nbow", "tfidf", "sif"])
def test_a_weighting_fitted_on_some_rows_knows_nothing_of_the_others(weighting):
    rows = np.arange(0, len(TEXTS), 2)
    home = gather([TEXTS[n] for n in rows], weighting=weighting)
    found = reweigh(gather(TEXTS, weighting="counts"), weighting, rows)
    assert equal(found.select(rows), home)
    others = np.arange(1, len(TEXTS), 2)
    assert equal(found.select(others), encode(home, [TEXTS[n] for n in others]))


def test_eta_is_what_was_asked_or_what_suits_the_vectors():
    raw = WordVectors.from_arrays(["a", "b"], [[8.0, 0.0], [0.0, 8.0]], unit=False)
    assert eta_of(0.3, gather(TEXTS)) == 0.3
    assert eta_of(None, gather(TEXTS)) == 0.5
    assert eta_of(None, gather([["a"]], vectors=raw)) == 4.0
    assert eta_of(None, gather([Measure([[1.0]], [1.0])])) == 0.5


def test_labels_become_numbers():
    classes, codes = check_labels(LABELS, len(TEXTS))
    assert classes[codes].tolist() == LABELS
    assert check_labels([3, 1, 3], 3)[1].tolist() == [1, 0, 1]


def test_copies_of_vectors_are_the_vectors():
    vectors = WordVectors.from_arrays(["a"], [[1.0]])
    assert copy.deepcopy({"vectors": vectors})["vectors"] is vectors
    assert copy.copy(vectors) is vectors


@pytest.mark.parametrize(
    ("X", "said"),
    [
        ("one text", r"X: a single string came"),
        (3, r"X: int came; give a list"),
        ([], r"X: no documents came"),
        (np.zeros((2, 2)), r"X: ndarray of shape \(2, 2\) came; .*precomputed"),
        (["a", 3], r"X: item 1 is 3, a int; give all texts"),
        (["a", ["b"]], r"X: item 1 is \['b'\], a list; give all texts"),
        ([["a"], None], r"X: item 1 is None, a NoneType"),
        ([Measure([[1.0]], [1.0]), Measure([[1.0, 2.0]], [1.0])], r"measures of \[1, 2\] dim"),
        (Corpus.from_ragged([]), r"X: a Corpus without documents"),
    ],
)
def test_what_is_no_document_is_named(X, said):
    with pytest.raises(InputError, match=said):
        gather(X)


def test_documents_of_another_space_are_refused():
    home = gather(TEXTS)
    with pytest.raises(InputError, match="points of 2 dimensions came, the fit had 256"):
        encode(home, [Measure([[1.0, 0.0]], [1.0])])
    with pytest.raises(InputError, match="lists of words"):
        encode(gather(WORDS), TEXTS)
    other = WordVectors.from_arrays(["rain"], [[1.0]])
    with pytest.raises(InputError, match="made with other vectors"):
        gather(Corpus.from_tokens([["rain"]], vectors=other), vectors=WordVectors.default())


def test_weights_without_counts_cannot_be_changed():
    with pytest.raises(InputError, match='weighting="counts"'):
        reweigh(Corpus.from_texts(["rain"]), "tfidf")


def test_labels_that_do_not_fit_are_named():
    with pytest.raises(InputError, match="y: 1 labels for 2 documents"):
        check_labels(["a"], 2)
    with pytest.raises(InputError, match="target y is None"):
        check_labels(None, 2)
    with pytest.raises(ValueError, match="continuous"):
        check_labels([0.5, 1.5], 2)


def test_a_tokenizer_is_used():
    assert gather(["Rain RAIN"], tokenizer=lambda t: tokenize(t)[:1])[0].words == ("rain",)

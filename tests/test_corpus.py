import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfTransformer

from wayfare import Corpus
from wayfare.corpus import counting
from wayfare.corpus.counting import TermCounter
from wayfare.errors import DuplicateIdError, InputError, UnknownWordError
from wayfare.text import Tokenizer
from wayfare.vectors import WordVectors


@pytest.fixture(autouse=True)
def every_word_counts(monkeypatch):
    """The words of these tests are letters, "a" among them, which the default list would drop."""
    monkeypatch.setattr("wayfare.corpus.build.DEFAULT_TOKENIZER", Tokenizer())


WORDS = list("abcdefgh")
VECTORS = WordVectors.from_arrays(WORDS, np.eye(8, dtype=np.float32) + 0.1, unit=False)
documents = st.lists(st.lists(st.sampled_from([*WORDS, "x", "y"]), max_size=9), max_size=12)


def check_invariants(corpus: Corpus) -> None:
    assert corpus.points.dtype == np.float32
    assert corpus.points.flags.c_contiguous
    assert corpus.indptr.dtype == np.int64
    assert corpus.indices.dtype == np.int32
    assert corpus.weights.dtype == np.float64
    assert (corpus.weights > 0).all()
    for a, b in zip(corpus.indptr[:-1], corpus.indptr[1:], strict=True):
        assert (np.diff(corpus.indices[a:b]) > 0).all()
    assert len(corpus.ids) == len(corpus.unknown_counts) == len(corpus)
    if len(corpus.indices):
        assert corpus.indices.min() >= 0
        assert corpus.indices.max() < len(corpus.points)


def bags(corpus: Corpus) -> list[dict[str, float]]:
    return [dict(zip(m.words or (), m.weights.tolist(), strict=True)) for m in corpus]


@given(documents)
def test_counts_are_the_counts_of_a_counter(tokens):
    corpus = Corpus.from_tokens(tokens, vectors=VECTORS, weighting="counts")
    check_invariants(corpus)
    assert bags(corpus) == [
        {w: n for w, n in Counter(words).items() if w in WORDS} for words in tokens
    ]
    assert corpus.unknown_counts.tolist() == [sum(w in "xy" for w in d) for d in tokens]


@given(documents)
def test_nbow_is_shares_of_known_words(tokens):
    corpus = Corpus.from_tokens(tokens, vectors=VECTORS)
    filled = [any(w in WORDS for w in d) for d in tokens]
    np.testing.assert_allclose(corpus.masses, np.array(filled, float))


@given(documents, st.integers(1, 20))
def test_nothing_depends_on_the_size_of_a_block(tokens, block):
    whole, pieces = TermCounter(), TermCounter(block=block)
    for words in tokens:
        whole.add(words)
        pieces.add(words)
    one, other = whole.finish(), pieces.finish()
    assert one.new == other.new
    assert one.indptr.tolist() == other.indptr.tolist()
    for a, b in [(one.indices, other.indices), (one.counts, other.counts)]:
        assert [x for c in a for x in c.tolist()] == [x for c in b for x in c.tolist()]


def test_blocks_of_many_documents_join(monkeypatch):
    rng = np.random.default_rng(0)
    tokens = [rng.choice([*WORDS, "x"], size=rng.integers(0, 9)).tolist() for _ in range(300)]
    whole = Corpus.from_tokens(tokens, vectors=VECTORS, weighting="tfidf")
    monkeypatch.setattr(counting.TermCounter.__init__, "__kwdefaults__", {"block": 7})
    pieces = Corpus.from_tokens(tokens, vectors=VECTORS, weighting="tfidf")
    for name in ("points", "indptr", "indices", "weights", "unknown_counts"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(pieces, name))


@given(documents, st.randoms())
def test_permuting_documents_permutes_the_corpus(tokens, random):
    order = list(range(len(tokens)))
    random.shuffle(order)
    corpus = Corpus.from_tokens(tokens, vectors=VECTORS, weighting="tfidf")
    moved = Corpus.from_tokens([tokens[n] for n in order], vectors=VECTORS, weighting="tfidf")
    for ours, theirs in zip(bags(corpus.select(order)), bags(moved), strict=True):
        assert ours == pytest.approx(theirs)


@given(documents, st.data())
def test_select_takes_what_is_asked_for(tokens, data):
    labels = [str(n) for n in range(len(tokens))]
    corpus = Corpus.from_tokens(tokens, vectors=VECTORS, labels=labels, metadata={"n": labels})
    keep = data.draw(st.lists(st.booleans(), min_size=len(tokens), max_size=len(tokens)))
    part = corpus.select(np.array(keep, bool))
    check_invariants(part)
    chosen = [n for n, k in enumerate(keep) if k]
    assert part.ids.tolist() == chosen
    assert part.labels == part.metadata["n"] == [labels[n] for n in chosen]
    assert bags(part) == [bags(corpus)[n] for n in chosen]
    assert part.unknown_counts.tolist() == corpus.unknown_counts[chosen].tolist()
    assert part.points is corpus.points


def test_select_understands_slices_and_positions_from_the_end():
    corpus = Corpus.from_texts(["a", "b", "c"], vectors=VECTORS)
    assert corpus.select(slice(1, None)).texts == ["b", "c"]
    assert corpus.select([-1, 0]).texts == ["c", "a"]
    assert len(corpus.select([])) == 0


@pytest.mark.parametrize(
    ("documents", "said"),
    [
        ([3], "position 3 in a corpus of 3"),
        ([-4], "position -4 in a corpus of 3"),
        ([True], "a mask of shape"),
        (["a"], "give a list of positions"),
        ([[0]], "give a list of positions"),
    ],
)
def test_select_refuses_positions_that_are_not_there(documents, said):
    with pytest.raises(InputError, match=said):
        Corpus.from_texts(["a", "b", "c"], vectors=VECTORS).select(documents)


def test_a_document_twice_is_refused():
    with pytest.raises(DuplicateIdError, match="ids: 1 came more than once"):
        Corpus.from_texts(["a", "b"], vectors=VECTORS).select([1, 1])


def test_documents_without_known_words_are_the_zero_measure():
    corpus = Corpus.from_texts(["", "x y x", "a"], vectors=VECTORS, weighting="sif")
    assert corpus.masses.tolist() == [0, 0, 1]
    assert corpus.unknown_counts.tolist() == [0, 3, 0]
    for zero in (corpus[0], corpus[1]):
        assert (len(zero), zero.dim, zero.mass, zero.words) == (0, 8, 0.0, ())


def test_a_corpus_of_nothing():
    corpus = Corpus.from_texts([], vectors=VECTORS)
    assert len(corpus) == 0
    assert corpus.points.shape == (0, 8)
    assert corpus.matrix.shape == (0, 0)
    assert corpus.encode(["a"])[0].words == ("a",)


def test_documents_are_measures():
    corpus = Corpus.from_texts(["b a b"], vectors=VECTORS)
    measure = corpus[-1]
    assert measure.words == ("b", "a")
    np.testing.assert_allclose(measure.weights, [2 / 3, 1 / 3])
    np.testing.assert_array_equal(measure.points, VECTORS.embed(["b", "a"])[0])
    assert [m.words for m in corpus] == [("b", "a")]


def test_a_position_that_is_not_there():
    corpus = Corpus.from_texts(["a"], vectors=VECTORS)
    with pytest.raises(IndexError, match="document 1 of a corpus of 1"):
        corpus[1]
    with pytest.raises(InputError, match="use select"):
        corpus[0:1]


def test_the_matrix_is_the_weights():
    corpus = Corpus.from_texts(["b a b", "", "c"], vectors=VECTORS)
    np.testing.assert_allclose(corpus.matrix.toarray(), [[2 / 3, 1 / 3, 0], [0, 0, 0], [0, 0, 1]])
    np.testing.assert_allclose(corpus.matrix.sum(axis=1), corpus.masses)
    assert np.shares_memory(corpus.matrix.data, corpus.weights)


def test_unknown_words_are_counted_for_each_document_and_logged(caplog):
    caplog.set_level("INFO", "wayfare")
    corpus = Corpus.from_tokens([["a", "x", "x", "y"], ["b"], ["x"]], vectors=VECTORS)
    assert corpus.unknown_counts.tolist() == [3, 0, 1]
    assert caplog.messages == [
        "4 words, in 2 of 3 documents, are unknown to the vectors and left out"
    ]
    Corpus.from_tokens([["a"]], vectors=VECTORS)
    assert len(caplog.messages) == 1


def test_unknown_words_are_made_of_their_parts_where_the_vectors_can():
    models = pytest.importorskip("gensim.models")
    model = models.FastText([["rain", "sun"]], vector_size=4, min_count=1, bucket=50, workers=1)
    vectors = WordVectors.from_gensim(model, unit=False)
    texts = ["rain rains", "sunny"]
    skipped = Corpus.from_texts(texts, vectors=vectors)
    assert skipped.unknown_counts.tolist() == [1, 1]
    assert skipped.masses.tolist() == [1, 0]
    whole = Corpus.from_texts(texts, vectors=vectors, unknown="subword")
    assert whole.unknown_counts.tolist() == [0, 0]
    assert whole.vocabulary == ("rain", "rains", "sunny")
    np.testing.assert_allclose(whole[1].points[0], model.wv["sunny"], atol=1e-7)
    assert whole.encode(["rainy"]).masses.tolist() == [1]


def test_unknown_words_can_be_an_error():
    with pytest.raises(UnknownWordError, match="x"):
        Corpus.from_texts(["a x"], vectors=VECTORS, unknown="error")


# -- encode ---------------------------------------------------------------------------------


@given(documents, documents)
def test_encoding_shares_rows_and_adds_new_words_after(old, new):
    corpus = Corpus.from_tokens(old, vectors=VECTORS, weighting="tfidf")
    other = corpus.encode(new)
    check_invariants(other)
    rows = len(corpus.points)
    assert other.vocabulary[:rows] == corpus.vocabulary
    np.testing.assert_array_equal(other.points[:rows], corpus.points)
    assert (other.points is corpus.points) == (len(other.points) == rows)
    assert other.weighting is corpus.weighting


@given(documents, documents)
def test_encoding_apart_gives_the_same_measures_over_fewer_rows(old, new):
    corpus = Corpus.from_tokens(old, vectors=VECTORS, weighting="tfidf")
    shared, apart = corpus.encode(new), corpus.encode(new, share=False)
    check_invariants(apart)
    assert bags(apart) == bags(shared)
    assert sorted(apart.vocabulary) == sorted({w for d in new for w in d if w in WORDS})
    for ours, theirs in zip(apart, shared, strict=True):
        np.testing.assert_array_equal(ours.points, theirs.points)
    # And what was encoded apart still knows the numbering that the weighting was fitted to.
    assert bags(apart.encode(old)) == bags(corpus)


@given(documents)
def test_encoding_a_corpus_again_changes_nothing(tokens):
    for weighting in ("nbow", "tfidf", "sif", "counts"):
        corpus = Corpus.from_tokens(tokens, vectors=VECTORS, weighting=weighting)
        again = corpus.encode(tokens)
        assert bags(again) == bags(corpus)
        assert again.unknown_counts.tolist() == corpus.unknown_counts.tolist()
        assert again.points is corpus.points


def test_encoding_weighs_with_the_fit_of_the_first_corpus():
    train, test = ["a a b", "b c", "c d d"], ["a d d", "b"]
    corpus = Corpus.from_texts(train, vectors=VECTORS, weighting="tfidf")
    counts = Corpus.from_texts(train, vectors=VECTORS, weighting="counts")
    theirs = TfidfTransformer(norm="l1").fit(counts.matrix).transform(counts.encode(test).matrix)
    np.testing.assert_allclose(corpus.encode(test).matrix.toarray(), theirs.toarray())


def test_encoding_takes_words_of_a_corpus_from_texts():
    corpus = Corpus.from_texts(["a b"], vectors=VECTORS)
    assert bags(corpus.encode([["A", "a"]])) == [{"a": 1.0}]
    assert bags(corpus.encode(["A a"], ids=["q"])) == [{"a": 1.0}]


def test_encoding_needs_a_corpus_of_words():
    with pytest.raises(InputError, match="keeps no vectors or no weighting"):
        Corpus.from_ragged([[[1.0]]]).encode(["a"])
    with pytest.raises(InputError, match="give lists of words"):
        Corpus.from_tokens([["a"]], vectors=VECTORS).encode(["a"])


# -- what stands beside the text ------------------------------------------------------------


def test_ids_default_to_numbers():
    assert Corpus.from_texts(["a", "b"], vectors=VECTORS).ids.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("ids", "dtype"),
    [(["p", "q"], object), ([5, 3], np.int64), (np.array([5, 3], np.int32), np.int64)],
)
def test_ids_are_integers_or_strings(ids, dtype):
    corpus = Corpus.from_texts(["a", "b"], vectors=VECTORS, ids=ids)
    assert corpus.ids.dtype == dtype
    assert corpus.ids.tolist() == list(ids)


@pytest.mark.parametrize(
    ("ids", "error", "said"),
    [
        (["p", "p"], DuplicateIdError, "'p' came more than once"),
        ([2, 2], DuplicateIdError, "ids: 2 came more than once"),
        (["p", 1], InputError, "give all integers or all strings"),
        ([True, False], InputError, "give all integers or all strings"),
        ([1.0, 2.0], InputError, "float came; give all integers"),
        ([1], InputError, "1 values for 2 documents"),
        ("pq", InputError, "a single str came"),
        ([1, 1 << 70], InputError, "beyond 64 bits"),
        (5, InputError, "int came; give one value a document"),
    ],
)
def test_other_ids_are_refused(ids, error, said):
    with pytest.raises(error, match=said):
        Corpus.from_texts(["a", "b"], vectors=VECTORS, ids=ids)


def test_many_duplicate_ids_are_named_in_part():
    with pytest.raises(DuplicateIdError, match="0, 1, 2, 3, 4 and 5 more came more than once"):
        Corpus.from_texts(["a"] * 20, vectors=VECTORS, ids=[n % 10 for n in range(20)])


def test_labels_and_metadata_are_columns():
    corpus = Corpus.from_texts(
        ["a", "b"], vectors=VECTORS, labels=np.array([1, 0]), metadata={"year": (1990, 1991)}
    )
    assert corpus.labels == [1, 0]
    assert corpus.metadata == {"year": [1990, 1991]}


@pytest.mark.parametrize(
    ("beside", "said"),
    [
        ({"labels": [1]}, "labels: 1 values for 2 documents"),
        ({"metadata": {"year": [1]}}, r"metadata\['year'\]: 1 values"),
        ({"metadata": [1, 2]}, "metadata: list came; give a mapping"),
        ({"weighting": "none"}, "weighting: 'none' came"),
        ({"tokenizer": 3}, "tokenizer: 3 came; give a function"),
        ({"vectors": "glove.txt"}, "vectors: str came; give WordVectors"),
        ({"unknown": "ignore"}, "unknown: 'ignore' came"),
        ({"unknown": "subword"}, "holds whole words only"),
    ],
)
def test_other_columns_are_refused(beside, said):
    with pytest.raises(InputError, match=said):
        Corpus.from_texts(["a", "b"], **{"vectors": VECTORS, **beside})


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ("a b", "texts: a single string came"),
        (["a", None], "item 1 is None, a NoneType; give strings, '' for no text"),
        ([b"a"], "a bytes"),
        (7, "texts: int came; give a list"),
    ],
)
def test_what_is_no_text_is_refused(texts, said):
    with pytest.raises(InputError, match=said):
        Corpus.from_texts(texts, vectors=VECTORS)


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        ([["a", ["b"]]], "no string"),
        ([["a", 3]], "3 is of type int"),
        (["a"], "tokens: 'a' came; give a list of words for each document"),
        ([{"a", "b"}], "give a list of words"),
    ],
)
def test_what_are_no_words_is_refused(tokens, said):
    with pytest.raises(InputError, match=said):
        Corpus.from_tokens(tokens, vectors=VECTORS)


def test_words_may_come_in_any_sequence():
    words = [np.array(["a", "b"]), ("c",), ["d"], iter("ef")]
    corpus = Corpus.from_tokens(words, vectors=VECTORS)
    assert corpus.vocabulary == ("a", "b", "c", "d", "e", "f")
    tokenizer = lambda text: (word for word in text.split())  # noqa: E731
    corpus = Corpus.from_texts(["a b", "b"], vectors=VECTORS, tokenizer=tokenizer)
    assert corpus.vocabulary == ("a", "b")


def test_a_tokenizer_that_returns_text_is_refused():
    with pytest.raises(InputError, match="give a list of words"):
        Corpus.from_texts(["a"], vectors=VECTORS, tokenizer=str.upper)


@given(documents)
def test_a_corpus_can_be_built_of_its_arrays_again(tokens):
    corpus = Corpus.from_tokens(tokens, vectors=VECTORS)
    again = Corpus(corpus.points, corpus.indptr, corpus.indices, corpus.weights)
    assert again.matrix.toarray().tolist() == corpus.matrix.toarray().tolist()
    assert all(m.words is None for m in again)


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        (([1.0], [0, 0], [], []), "points: shape"),
        (([[1.0]], [], [], []), "indptr: give documents"),
        (([[1.0]], [0, 2], [0], [1.0]), "but indptr ends at 2"),
        (([[1.0]], [0, 2, 1], [0], [1.0]), "it falls"),
        (([[1.0]], [0, 1], [1], [1.0]), "indices: 1 to 1, of 1 points"),
        (([[1.0]], [0, 1], [-1], [1.0]), "indices: -1 to -1, of 1 points"),
        (([[1.0]], [0, 1], [0], [0.0]), "not finite and above 0"),
        (([[1.0], [2.0]], [0, 0, 2], [1, 0], [1.0, 1.0]), "do not rise"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arrays, said):
    with pytest.raises(InputError, match=said):
        Corpus(*map(np.array, arrays))


def test_a_corpus_can_be_pickled():
    corpus = Corpus.from_texts(["a b", "c"], vectors=VECTORS, weighting="tfidf", ids=["p", "q"])
    again = pickle.loads(pickle.dumps(corpus))
    assert bags(again) == bags(corpus)
    assert bags(again.encode(["a d"])) == bags(corpus.encode(["a d"]))
    query = corpus.encode(["a d"], share=False)
    alone = pickle.loads(pickle.dumps(query))
    assert bags(alone) == bags(query)
    assert alone.origin is None
    with pytest.raises(InputError, match=r"a pickle of encode\(share=False\)"):
        alone.encode(["a"])


@pytest.mark.parametrize("times", [255, 256, 70_000, 10_000_000])
def test_a_word_may_come_as_often_as_it_likes(times):
    corpus = Corpus.from_texts(["a " * times + "b b", "b"], vectors=VECTORS, weighting="counts")
    assert bags(corpus) == [{"a": times, "b": 2}, {"b": 1}]

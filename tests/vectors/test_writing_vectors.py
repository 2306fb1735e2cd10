"""What is written is read back, by us and by the libraries that own the formats."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayfare import WordVectors
from wayfare.errors import InputError, UnknownWordError
from wayfare.vectors.formats import writing

WORDS = ["river", "bank", "Ελλάδα", "naïve", "x-y", "3", "日本", "</s>"]
ROWS = np.random.default_rng(5).normal(size=(len(WORDS), 7)).astype(np.float32)
NAMES = ["v.txt", "v.vec", "v.bin", "v.npy", "v.vectors.npy"]
PACKED = [*NAMES, *(f"{name}.gz" for name in NAMES)]


@pytest.fixture
def vectors():
    return WordVectors.from_arrays(WORDS, ROWS)


@pytest.mark.parametrize("name", PACKED)
def test_what_was_saved_is_loaded(vectors, tmp_path, name, monkeypatch):
    monkeypatch.setattr(writing, "BLOCK", 3)
    written = vectors.save(tmp_path / name)
    assert written[0] == tmp_path / name
    assert sorted(written) == sorted(tmp_path.iterdir())
    again = WordVectors.load(written[0])
    assert again.words == vectors.words
    assert again.fingerprint == vectors.fingerprint
    before = [path.read_bytes() for path in written]
    again.save(tmp_path / name)
    assert [path.read_bytes() for path in written] == before


# gensim itself leaves a file open that it reads without a header.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", PACKED)
def test_gensim_and_numpy_read_it(vectors, tmp_path, name):
    path, *listed = vectors.save(tmp_path / name)
    if listed:
        assert listed[0].read_text(encoding="utf-8").splitlines() == WORDS
        if path.suffix == ".npy":
            assert (np.load(path) == ROWS).all()
        return
    gensim = pytest.importorskip("gensim.models")
    binary, header = ".bin" in name, ".txt" not in name
    theirs = gensim.KeyedVectors.load_word2vec_format(
        str(path), binary=binary, no_header=not header
    )
    assert theirs.index_to_key == WORDS
    assert (theirs.vectors == ROWS).all()


word = st.text(min_size=0, max_size=6)
number = st.floats(width=32, allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize("name", NAMES[:4])
@given(data=st.data())
def test_whatever_can_be_saved_comes_back_as_it_was(tmp_path_factory, name, data):
    words = data.draw(st.lists(word, min_size=1, max_size=6, unique=True))
    row = st.lists(number, min_size=(dim := data.draw(st.integers(1, 4))), max_size=dim)
    rows = data.draw(st.lists(row, min_size=len(words), max_size=len(words)))
    vectors = WordVectors.from_arrays(words, rows, unit=False)
    path = tmp_path_factory.mktemp("any") / name
    try:
        vectors.save(path)
    except InputError as error:
        assert "words: " in str(error) or "give .vec" in str(error)  # noqa: PT017
        assert not list(path.parent.iterdir())
        return
    assert WordVectors.load(path, unit=False).fingerprint == vectors.fingerprint


def test_some_words_of_many(vectors, tmp_path):
    path, _ = vectors.save(tmp_path / "few.npy", words=["bank", "3", "bank"])
    few = WordVectors.load(path, unit=False)
    assert few.words == ("bank", "3")
    np.testing.assert_array_equal(few.embed(["bank", "3"])[0], ROWS[[1, 5]])


def test_words_made_of_tokens_are_saved_when_they_are_named(tmp_path):
    vectors = WordVectors.default()
    with pytest.raises(InputError, match=r"words: .* makes words of tokens without end; name"):
        vectors.save(tmp_path / "x.npy")
    path, _ = vectors.save(tmp_path / "x.npy", words=["river", "rivière"])
    np.testing.assert_array_equal(WordVectors.load(path)["rivière"], vectors["rivière"])


def test_fasttexts_words_carry_their_ngrams_into_a_table(tmp_path):
    models = pytest.importorskip("gensim.models")
    model = models.FastText([["river", "bank"]], vector_size=4, min_count=1, bucket=50, workers=1)
    vectors = WordVectors.from_gensim(model, unit=False)
    (path,) = vectors.save(tmp_path / "v.vec")
    again = WordVectors.load(path, unit=False)
    assert again.words == vectors.words
    np.testing.assert_array_equal(again["river"], vectors["river"])
    (path,) = vectors.save(tmp_path / "w.vec", words=["rivers"])
    unseen = vectors.embed(["rivers"], unknown="subword")[0][0]
    np.testing.assert_array_equal(WordVectors.load(path, unit=False)["rivers"], unseen)


@pytest.mark.parametrize(
    ("name", "word", "said"),
    [
        ("x.npy", "a\nb", "cannot be a line of UTF-8"),
        ("x.npy", "a\r", "cannot be a line of UTF-8"),
        ("x.npy", "\ud800", "cannot be a line of UTF-8"),
        ("x.txt", "New York", r"'New York' cannot be a field of text; .*or write \.npy"),
        ("x.vec", "", "'' cannot be a field of text"),
        ("x.bin.gz", "a b", r"'a b' cannot stand before a space; .*or write \.npy"),
    ],
)
def test_words_that_a_format_cannot_hold_are_not_saved(tmp_path, name, word, said):
    with pytest.raises(InputError, match=said):
        WordVectors.default().save(tmp_path / name, words=["rain", word])
    assert not any(tmp_path.iterdir())


def test_what_cannot_be_saved_leaves_what_stood_there(vectors, tmp_path):
    (path,) = vectors.save(tmp_path / "v.vec")
    before = path.read_bytes()
    with pytest.raises(UnknownWordError, match="'brook' is unknown"):
        vectors.save(path, words=["river", "brook"])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_places_and_names_that_vectors_cannot_be_saved_to(vectors, tmp_path):
    with pytest.raises(InputError, match=r"path: 'x\.doc' came; give a name that ends in \.txt"):
        vectors.save("x.doc")
    with pytest.raises(InputError, match=r"x\.npy cannot be written \(No such file or directory"):
        vectors.save(tmp_path / "nowhere" / "x.npy")
    with pytest.raises(InputError, match="words: none came"):
        vectors.save(tmp_path / "x.npy", words=[])
    with pytest.raises(InputError, match="words: the str 'river' came"):
        vectors.save(tmp_path / "x.npy", words="river")
    flat = WordVectors.from_arrays(["5"], [[3.0]])
    with pytest.raises(InputError, match=r"one number a word .* give \.vec"):
        flat.save(tmp_path / "x.txt")

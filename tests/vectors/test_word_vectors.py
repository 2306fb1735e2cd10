"""What every kind of word vectors promises, whatever file it came from."""

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from wayfare import WordVectors, distance
from wayfare.errors import FormatError, InputError, MissingExtraError, UnknownWordError
from wayfare.vectors import builtin

WORDS = ["river", "bank", "nought", "tide", "bank"]
ROWS = np.array([[3, 4, 0], [0, 2, 0], [0, 0, 0], [0, 2, 0], [9, 9, 9]], dtype=np.float32)


@pytest.fixture
def unit():
    return WordVectors.from_arrays(WORDS, ROWS)


@pytest.fixture
def raw():
    return WordVectors.from_arrays(WORDS, ROWS, unit=False)


def test_points_come_in_order_and_repeat(unit):
    points, known = unit.embed(["bank", "x", "river", "bank"])
    assert points.dtype == np.float32
    assert known.tolist() == [True, False, True, True]
    np.testing.assert_allclose(points, [[0, 1, 0], [0.6, 0.8, 0], [0, 1, 0]], rtol=1e-7)


def test_no_words_no_points(unit):
    points, known = unit.embed([])
    assert points.shape == (0, 3)
    assert known.shape == (0,)
    points, known = unit.embed(["x", ""])
    assert points.shape == (0, 3)
    assert known.tolist() == [False, False]


def test_the_first_of_repeated_words_counts(raw):
    assert raw["bank"].tolist() == [0, 2, 0]
    assert raw.report.repeated == 1
    assert raw.words == ("river", "bank", "nought", "tide")
    assert len(raw) == 4


def test_words_with_equal_vectors_are_both_there(raw):
    points, _ = raw.embed(["bank", "tide"])
    assert points[0].tolist() == points[1].tolist()
    assert distance(["bank"], ["tide"], vectors=raw, eta=1.0).value == 0.0


def test_a_zero_row_has_no_direction(unit, raw):
    assert raw["nought"].tolist() == [0, 0, 0]
    assert "nought" in raw
    assert "nought" not in unit
    assert unit.embed(["nought", "tide"])[1].tolist() == [False, True]
    with pytest.raises(UnknownWordError, match="'nought' is unknown"):
        unit["nought"]


def test_no_norm_overflows_or_vanishes():
    vectors = WordVectors.from_arrays(["big", "tiny"], [[3e38, 3e38], [1e-42, 0]])
    np.testing.assert_allclose(np.linalg.norm(vectors.embed(["big", "tiny"])[0], axis=1), 1, 1e-6)


def test_what_is_given_out_is_the_callers_own(unit, raw):
    for vectors in (unit, raw):
        before = vectors["river"].copy()
        points, _ = vectors.embed(["river"])
        points[:] = 0
        assert (vectors["river"] == before).all()


def test_unknown_words_as_an_error_name_themselves(unit):
    assert unit.embed(["bank"], unknown="error")[1].all()
    with pytest.raises(UnknownWordError, match="'a', 'b' are unknown to 'arrays'"):
        unit.embed(["a", "bank", "b", "a"], unknown="error")
    with pytest.raises(UnknownWordError, match=r"'4', \.\.\. are unknown"):
        unit.embed([str(i) for i in range(9)], unknown="error")


def test_subwords_where_there_are_none(unit):
    with pytest.raises(InputError, match=r"whole words only.*WordVectors\.default\(\)"):
        unit.embed(["bank"], unknown="subword")
    assert WordVectors.default().embed(["bank"], unknown="subword")[1].all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda v: v.embed("bank"), "words: the str 'bank' came"),
        (lambda v: v.embed(["bank", 3]), "words: 3 is of type int"),
        (lambda v: v.embed(["bank"], unknown="ignore"), "unknown: 'ignore' came"),
        (
            lambda v: WordVectors.from_arrays(["a"], [[1], [2]]),
            r"array: shape \(2, 1\) for 1 words",
        ),
        (lambda v: WordVectors.from_arrays(["a"], [["x"]]), "array: give real numbers"),
        (lambda v: WordVectors.from_arrays([3], [[1]]), "words: 3 is of type int"),
        (lambda v: WordVectors.from_arrays(["a"], [[1]], unit="yes"), "unit: 'yes' came"),
        (lambda v: WordVectors.default(unit=1), "unit: 1 came"),
        (lambda v: WordVectors.from_gensim([1]), "vectors: list came"),
    ],
)
def test_arguments_that_cannot_be_used(unit, call, message):
    with pytest.raises(InputError, match=message):
        call(unit)


def test_rows_that_are_not_numbers():
    with pytest.raises(FormatError, match="row 2: the vector of 'b' holds NaN or infinity"):
        WordVectors.from_arrays(["a", "b"], [[1, 2], [np.nan, 0]])
    with pytest.raises(FormatError, match="row 1: the vector of 'a' holds NaN or infinity"):
        WordVectors.from_arrays(["a"], np.array([[1e300]]))
    with pytest.raises(FormatError, match="no word vectors"):
        WordVectors.from_arrays([], np.zeros((0, 3)))


def test_default_eta_follows_the_lengths(unit, raw):
    assert unit.default_eta == 0.5
    assert raw.default_eta == 0.5 * np.median([5, 2, 0, 2])
    assert WordVectors.default(unit=False).default_eta > 1


def test_the_fingerprint_follows_the_points(unit, raw):
    again = WordVectors.from_arrays(WORDS, ROWS, name="another name")
    assert unit.fingerprint == again.fingerprint
    other = ROWS.copy()
    other[0, 0] += 1
    prints = [
        unit,
        raw,
        WordVectors.from_arrays(WORDS, other),
        WordVectors.from_arrays(["rivers", *WORDS[1:]], ROWS),
        WordVectors.default(),
        WordVectors.default(unit=False),
    ]
    assert len({v.fingerprint for v in prints}) == len(prints)


def test_it_pickles(unit, raw):
    for vectors in (unit, raw, WordVectors.default(), WordVectors.default(unit=False)):
        sent = pickle.dumps(vectors)
        again = pickle.loads(sent)
        assert again.fingerprint == vectors.fingerprint
        assert (again["bank"] == vectors["bank"]).all()
        assert repr(again) == repr(vectors)
    assert pickle.loads(pickle.dumps(WordVectors.default())) is WordVectors.default()
    assert len(sent) < 1000


@pytest.mark.parametrize("vectors", [WordVectors.default(), WordVectors.from_arrays(WORDS, ROWS)])
def test_points_do_not_depend_on_batches_or_threads(vectors):
    words = [w for i in range(1500) for w in ("river", f"word{i}", "bank", "naïve", "nought")]
    points, known = vectors.embed(words)
    parts = [vectors.embed(words[i : i + 700]) for i in range(0, len(words), 700)]
    assert (np.concatenate([p for p, _ in parts]) == points).all()
    assert (np.concatenate([k for _, k in parts]) == known).all()
    with ThreadPoolExecutor(8) as pool:
        for theirs, mask in pool.map(vectors.embed, [words] * 8):
            assert (theirs == points).all()
            assert (mask == known).all()
    assert (vectors["river"] == points[0]).all()


def test_the_default_makes_sense():
    vectors = WordVectors.default()
    assert repr(vectors) == (
        "WordVectors('wordllama-l2-supercat-256', 32000 tokens in 256 dimensions, unit length)"
    )
    assert vectors is WordVectors.default()
    words = ["president", "presidential", "leader", "press", "presses", "river", "water", "tax"]
    points, known = vectors.embed(words)
    assert known.all()
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, rtol=1e-6)
    near = points @ points.T
    assert near[0, 1] > near[0, 2] > max(near[0, 5:])
    assert near[5, 6] > max(near[5, [0, 3, 7]])


def test_the_default_knows_every_word_but_the_empty_one():
    vectors = WordVectors.default()
    words = ["<s>", "</s>", "<unk>", "日本", "👍", "\x00", "\ud800", " ", "x" * 5000, "a b", "\n"]
    points, known = vectors.embed(words)
    assert known.all()
    assert np.isfinite(points).all()
    assert "" not in vectors
    assert "<s>" in vectors
    # "<s>" is spelt out, not the token that opens every text.
    assert not np.allclose(vectors["<s>"], _unit(WordVectors.default(unit=False)._store._rows[1]))


def test_a_pickled_tokenizer_keeps_its_settings():
    store = WordVectors.default()._store
    again = pickle.loads(pickle.dumps(store))
    words = ["<s>", "</s>", "river"]
    assert (again.gather(words, subwords=False)[0] == store.gather(words, subwords=False)[0]).all()


def _unit(row):
    return row / np.linalg.norm(row)


def test_raw_and_unit_differ_by_length_only():
    words = ["river", "president", "unputdownable"]
    unit, raw = WordVectors.default(), WordVectors.default(unit=False)
    lengths = np.linalg.norm(raw.embed(words)[0], axis=1)
    np.testing.assert_allclose(raw.embed(words)[0] / lengths[:, None], unit.embed(words)[0], 1e-5)
    assert (lengths > 2).all()


def test_a_word_is_the_mean_of_its_tokens():
    raw = WordVectors.default(unit=False)
    tokens = dict(zip(raw.words, raw._store._rows, strict=True))
    np.testing.assert_allclose(raw["river"], tokens["▁river"], rtol=1e-6)
    two = (tokens["▁Ob"] + tokens["ama"]) / 2
    np.testing.assert_allclose(raw["Obama"], two, rtol=1e-5)


def test_the_default_imports_no_more_than_it_needs():
    code = (
        "import sys, wayfare; wayfare.WordVectors.default().embed(['a']);"
        "print([m for m in ('wordllama', 'torch', 'requests', 'pydantic', 'scipy', 'pyarrow',"
        " 'gensim', 'huggingface_hub', 'numba') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert done.stderr == ""


def test_no_warning_after_a_fork():
    code = (
        "import os, wayfare; v = wayfare.WordVectors.default(); v.embed(['a', 'b']);"
        "p = os.fork();\n"
        "if p == 0: v.embed(['a', 'b']); os._exit(0)\n"
        "os.waitpid(p, 0)"
    )
    if not hasattr(sys, "getwindowsversion"):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        assert b"TOKENIZERS_PARALLELISM" not in done.stderr


def test_the_default_taken_away(monkeypatch):
    monkeypatch.setattr(builtin, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'wordllama==0\.2\.2\.post0'"):
        builtin.builtin()

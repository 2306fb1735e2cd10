"""The lookup structure against a dictionary."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayfare.vectors import vocabulary
from wayfare.vectors.vocabulary import Vocabulary

WORD = st.text(st.characters(), max_size=6)


def reference(words):
    rows = {}
    for word in words:
        rows.setdefault(word, len(rows))
    return rows


def build(words):
    return Vocabulary.build([word.encode("utf-8", "surrogatepass") for word in words])


@given(words=st.lists(WORD, max_size=30), asked=st.lists(WORD, max_size=30))
def test_it_is_a_dictionary(words, asked):
    rows = reference(words)
    made, kept = build(words)
    assert made.words == tuple(rows)
    assert len(made) == len(rows)
    assert kept.tolist() == [words.index(word) for word in rows]
    wanted = [rows.get(word, -1) for word in asked + words]
    assert made.find(asked + words).tolist() == wanted


@settings(max_examples=50)
@given(words=st.lists(WORD, max_size=12, unique=True))
def test_hashes_that_collide_are_hashed_anew(words):
    real = vocabulary._hash

    def weak(blob, offsets, seed):
        return real(blob, offsets, seed) % np.uint64(1 + 64 * seed)  # all equal at seed 0

    vocabulary._hash = weak
    try:
        made, _ = build(words)
        assert made.find(words).tolist() == list(range(len(words)))
        # A stranger has the hash of some word nearly always: only the bytes tell them apart.
        assert made.find([f"stranger {i}" for i in range(300)]).tolist() == [-1] * 300
    finally:
        vocabulary._hash = real


def test_words_longer_than_the_coefficients():
    words = ["x" * n for n in (255, 256, 257, 100_000)] + ["x" * 255 + "y", "y" + "x" * 255]
    made, _ = build(words)
    assert made.find(words).tolist() == list(range(6))
    assert made.find(["x" * 254, "x" * 99_999 + "y"]).tolist() == [-1, -1]

"""Tokens: the decided cases, and what holds for every text."""

import pickle
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayfare.errors import InputError
from wayfare.text import ENGLISH, Tokenizer, tokenize

ANY_TEXT = st.text(st.characters(), max_size=80)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \t\n\x00\x1f", []),
        ("\ud800", []),
        ("a\ud800b", ["a", "b"]),
        ("Rates RISE again.", ["rates", "rise", "again"]),
        ("don't panic", ["don't", "panic"]),
        ("don’t panic", ["don't", "panic"]),
        ("rock'n'roll", ["rock'n'roll"]),
        ("the week's news", ["the", "week", "news"]),
        ("O’Neill’s", ["o'neill"]),
        ("the weeks' news", ["the", "weeks", "news"]),
        ("'quoted'", ["quoted"]),
        ("it's so", ["it", "so"]),
        ("a'sb", ["a'sb"]),
        ("oil-price snake_case", ["oil", "price", "snake", "case"]),
        ("3.5% of H2O", ["3", "5", "of", "h2o"]),
        ("Η Αθήνα, ΣΑΣ", ["η", "αθήνα", "σας"]),
        ("Президент встретил прессу", ["президент", "встретил", "прессу"]),
        ("l'École", ["l'école"]),
        ("cafe\u0301", ["café"]),
        ("नमस्ते हिन्दी", ["नमस्ते", "हिन्दी"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("İstanbul", ["i̇stanbul"]),
        ("\u0301", []),
        ("👍 👎", []),
        ("東京に行く", ["東京に行く"]),  # no spaces: the user's own tokenizer is needed
    ],
)
def test_decided_cases(text, words):
    assert tokenize(text) == words


def test_case_is_kept_when_asked():
    assert tokenize("Oil's Oil", lowercase=False) == ["Oil", "Oil"]
    assert tokenize("OIL'S", lowercase=False) == ["OIL"]


@given(ANY_TEXT)
def test_what_comes_out_goes_in_again_unchanged(text):
    words = tokenize(text)
    assert tokenize(" ".join(words)) == words


@given(ANY_TEXT)
def test_words_are_not_empty_lowered_and_composed(text):
    for word in tokenize(text):
        assert word
        assert word == word.lower() == unicodedata.normalize("NFC", word)
        assert word[0].isalnum()
        assert not any(c.isspace() for c in word)


@given(ANY_TEXT)
def test_one_spelling_has_one_form(text):
    assert tokenize(unicodedata.normalize("NFD", text)) == tokenize(text)


@given(
    st.text(st.characters(max_codepoint=127), max_size=60) | st.text("aS's9-_.\v\n\0", max_size=20)
)
def test_ascii_and_unicode_agree(text):
    assert tokenize(text + " é") == [*tokenize(text), "é"]


def test_no_text_makes_it_slow():
    for text in ("a'" * 200_000, "'s" * 200_000, "a" * 400_000, "é\u0301" * 100_000):
        tokenize(text)


def test_stop_words_by_name_and_by_hand():
    assert tokenize("The press of the town", stop_words="english") == ["press", "town"]
    assert tokenize("The press, the town", stop_words=["The", "Town"]) == ["press"]
    assert tokenize("The the", stop_words=["The"], lowercase=False) == ["the"]
    assert tokenize("ne don’t", stop_words=(w for w in ["don’t"])) == ["ne"]
    assert tokenize("cafe\u0301 x", stop_words={"café"}) == ["x"]


def test_every_english_stop_word_is_a_word_that_comes_out():
    for word in ENGLISH:
        assert tokenize(word) == [word]
        assert tokenize(word, stop_words="english") == []


@pytest.mark.parametrize("text", [None, b"bytes", 3, float("nan"), ["a"]])
def test_text_that_is_no_text(text):
    with pytest.raises(InputError, match=f"text: {type(text).__name__} came; give a str"):
        tokenize(text)


@pytest.mark.parametrize("stop_words", ["french", "", b"the", 3])
def test_stop_words_that_are_none(stop_words):
    with pytest.raises(InputError, match=r'stop_words: .* came; give None, "english"'):
        tokenize("a", stop_words=stop_words)
    with pytest.raises(InputError, match="stop_words: 3 is not a str"):
        tokenize("a", stop_words=["a", 3])
    with pytest.raises(InputError, match="lowercase: 'yes' came"):
        tokenize("a", lowercase="yes")


@pytest.mark.parametrize("stop_words", [None, "english", {"x"}])
def test_it_pickles_and_compares(stop_words):
    tokenizer = Tokenizer(stop_words=stop_words)
    again = pickle.loads(pickle.dumps(tokenizer))
    assert again == tokenizer
    assert hash(again) == hash(tokenizer)
    assert again.fingerprint == tokenizer.fingerprint
    assert again("The x press") == tokenizer("The x press")


def test_the_fingerprint_follows_what_counts():
    prints = [
        Tokenizer(),
        Tokenizer(lowercase=False),
        Tokenizer(stop_words="english"),
        Tokenizer(stop_words="english", lowercase=False),
        Tokenizer(stop_words=["a"]),
    ]
    assert len({t.fingerprint for t in prints}) == len(prints)
    assert Tokenizer(stop_words=ENGLISH).fingerprint == Tokenizer(stop_words="english").fingerprint
    assert Tokenizer(stop_words=[]).fingerprint == Tokenizer().fingerprint
    assert Tokenizer(stop_words=["A"]).fingerprint == Tokenizer(stop_words=["a"]).fingerprint

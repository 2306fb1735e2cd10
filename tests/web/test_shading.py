"""Shades stand where their words stand, whatever the text."""

from hypothesis import example, given
from hypothesis import strategies as st

import wayfare as wf
from wayfare.text import Tokenizer
from wayfare.web.shading import PASSAGE, Carried, carried, passage, spans

split = Tokenizer(stop_words="english")
texts = st.text(st.characters(), max_size=300) | st.lists(
    st.sampled_from(
        ["Rain", "oil-price", "don't", "Athens’", "हिन्दी", "\u202e", "<b>", "e\u0301t"]
    ),
    max_size=80,
).map(" ".join)


@given(texts)
@example("İstanbul ﬁsh")
def test_spans_are_in_order_and_hold_their_word(text):
    words = set(split(text))
    found = {word: Carried(word, "x", 0.1, 0.1) for word in words}
    done = 0
    for span in spans(text, split, found):
        assert done <= span["start"] < span["end"] <= len(text)
        assert span["word"] in split(text[span["start"] : span["end"]])
        done = span["end"]


@given(texts.map(lambda text: text * 4))
def test_a_passage_is_part_of_the_text_and_short(text):
    found = spans(text, split, {word: Carried(word, "x", 0.1, 0.1) for word in set(split(text))})
    start, end = passage(text, found)
    assert 0 <= start <= end <= len(text)
    assert end - start <= PASSAGE
    if found:
        assert any(start <= span["start"] < end for span in found)


def test_every_known_word_of_an_ordinary_text_is_found():
    text = "The oil-price rises; “crude” (Brent) gets dearer — again?"
    found = {word: Carried(word, "x", 0.1, 0.1) for word in split(text)}
    marked = [text[s["start"] : s["end"]] for s in spans(text, split, found)]
    assert marked == ["oil", "price", "rises", "crude", "Brent", "gets", "dearer"]


def test_a_passage_has_the_heaviest_stretch():
    text = " ".join(["rain"] + ["word"] * 200 + ["rain rain rain"] + ["word"] * 200)
    found = spans(text, str.split, {"rain": Carried("rain", "rain", 0.1, 0.1)})
    start, end = passage(text, found)
    assert text[start:end].count("rain") == 3


def test_what_is_carried_is_the_plan():
    solution = wf.distance("oil prices rise", "crude gets dearer, oil too", eta=0.5)
    found = carried(solution)
    total = sum(one.carried for one in found.values())
    assert abs(total - solution.plan.carried.sum()) < 1e-12
    assert found["oil"].source == "oil"
    assert carried(wf.distance("", "rain")) == {}
    assert carried(wf.distance("snow", "rain", metric="hellinger")) == {}

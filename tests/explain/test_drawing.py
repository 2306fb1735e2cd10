"""The drawing: geometry that holds in every medium, and markup that no word can break."""

import io
import itertools
import math
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wayfare as wf
from strategies import pairs

A = "Obama speaks to the media in Illinois"
B = "The president greets the press in Chicago after a night of rain"
NASTY = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a\x00b\x1b[31m", "$x^2$"]


def explained(first, second):
    rng = np.random.default_rng(0)

    def measure(words):
        return wf.Measure(rng.normal(size=(len(words), 3)) / 3, np.ones(len(words)), words)

    return wf.distance(measure(first), measure(second), eta=0.5).explain()


@settings(max_examples=100)
@given(pairs(most=40, dims=(2, 8)), st.integers(2, 40))
def test_ribbons_fill_their_bars_and_bars_do_not_overlap(pair, most):
    drawing = wf.distance(pair.first, pair.second, eta=pair.eta).explain().drawing(most=most)
    tiny = 1e-6 * max(drawing.height, 1.0)
    for bars in (drawing.left, drawing.right):
        for one, next_ in itertools.pairwise(bars):
            assert next_.middle - one.middle >= 18.9, "room for a line of text"
            assert one.top + one.height < next_.top
        for bar in bars:
            assert bar.top >= 0
            assert bar.top + bar.height <= drawing.height + tiny
    masses = {bar.height / bar.mass for bar in (*drawing.left, *drawing.right) if bar.mass > 0}
    assert not masses or max(masses) - min(masses) <= 1e-9 * max(masses), "one scale for both"
    for side, bars in (("left", drawing.left), ("right", drawing.right)):
        for at, bar in enumerate(bars):
            mine = [r for r in drawing.ribbons if (r.source if side == "left" else r.target) == at]
            spans = sorted((getattr(r, f"{side}_top"), getattr(r, f"{side}_height")) for r in mine)
            at_y = bar.top
            for top, height in spans:
                assert abs(top - at_y) <= tiny
                at_y = top + height
            assert abs(at_y - (bar.top + bar.height - bar.alone_height)) <= tiny


def test_200_words_stay_readable():
    words = [f"word{n}" for n in range(200)]
    drawing = explained(words, words[::-1]).drawing()
    assert len(drawing.left) == len(drawing.right) == 30
    assert drawing.left[-1].name == "171 more words" == drawing.right[-1].name
    assert drawing.height < 1300
    five = explained(words[:5], words[:5]).drawing()
    assert 150 < five.height < 400


def test_the_grouped_tail_leaves_both_what_agrees_and_what_does_not():
    shared = [f"shared{n}" for n in range(30)]
    mine, yours = [f"mine{n}" for n in range(30)], [f"yours{n}" for n in range(30)]
    places = {word: [n * 10.0] for n, word in enumerate([*shared, *mine, *yours])}

    def measure(words):
        return wf.Measure([places[w] for w in words], np.ones(len(words)), words)

    drawing = (
        wf.distance(measure(shared + mine), measure(shared + yours)).explain().drawing(most=11)
    )
    names = [bar.name for bar in drawing.left]
    assert sum(name.startswith("shared") for name in names) == 5
    assert sum(name.startswith("mine") for name in names) == 5


def test_good_matches_stand_level():
    words = [f"w{n}" for n in range(12)]
    places = [[10.0 * n] for n in range(12)]
    shuffled = np.random.default_rng(3).permutation(12)
    one = wf.Measure(places, np.ones(12), words)
    two = wf.Measure([places[n] for n in shuffled], np.ones(12), [words[n] for n in shuffled])
    drawing = wf.distance(one, two).explain().drawing()
    assert [b.name for b in drawing.left] == [b.name for b in drawing.right]
    assert all(math.isclose(r.left_top, r.right_top) for r in drawing.ribbons)


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs


def test_words_come_out_as_text():
    why = explained(NASTY, ["rain", *NASTY])
    svg, page = why.to_svg(), why.to_html()
    assert ET.fromstring(svg).tag.endswith("svg"), "well-formed, control characters and all"
    told = Tags()
    told.feed(page)
    assert not {"script", "img", "iframe", "object", "link"} & set(told.tags)
    assert not [name for name, _ in told.attributes if name.startswith("on")]
    assert "&lt;script&gt;" in svg
    assert "&lt;script&gt;" in page
    for text in (svg, page, str(why)):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text)


@settings(max_examples=100)
@given(st.lists(st.text(max_size=40), min_size=1, max_size=4))
def test_any_word_can_be_drawn(words):
    why = explained(words, words)
    assert ET.fromstring(why.to_svg(width=320)) is not None
    Tags().feed(why.to_html())
    assert str(why)
    assert why.to_json().isascii()


def test_nothing_is_fetched():
    page = wf.distance(A, B).explain().to_html()
    links = re.findall(r"(?:src|href)\s*=|url\((?!#)|@import|https?://[^\s\"<]+", page)
    assert set(links) <= {"http://www.w3.org/2000/svg"}


def test_two_drawings_on_one_page_keep_their_ids_apart():
    one, two = wf.distance(A, B).explain().to_svg(), wf.distance(B, A).explain().to_svg()
    ids = [set(re.findall(r'id="([^"]+)"', svg)) for svg in (one, two)]
    assert ids[0]
    assert not ids[0] & ids[1]
    for svg, mine in zip((one, two), ids, strict=True):
        assert set(re.findall(r"url\(#([^)]+)\)", svg)) <= mine


def test_themes():
    why = wf.distance(A, B).explain()
    assert "prefers-color-scheme" in why.to_svg()
    light, dark = why.to_svg(theme="light"), why.to_svg(theme="dark")
    assert "prefers-color-scheme" not in light + dark
    assert "#ffffff" in light
    assert "#ffffff" not in dark


def test_the_interval_stands_under_the_title():
    why = wf.distance(A, B).explain()
    for text in (str(why), why.to_svg(), why.to_html()):
        low, high = re.search(r"proven to lie in \[([\d.]+), ([\d.]+)\]", text).groups()
        assert float(low) <= why.lower <= why.upper <= float(high)


def test_a_narrow_drawing_keeps_its_words_inside():
    why = explained(["incomprehensibilities"] * 3, ["電気自動車充電設備事業者連盟"])
    svg = why.to_svg(width=340)
    shown = re.findall(r"[\w電-龠]+…", svg)
    assert shown
    assert all(len(name) < 15 for name in shown)


def test_the_notebook_sees_the_same_without_a_page():
    why = wf.distance(A, B).explain()
    assert why._repr_html_() == why.to_html(page=False)
    assert "<!doctype" not in why._repr_html_()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_figure_is_drawn(theme, tmp_path):
    pytest.importorskip("matplotlib")
    figure = explained(NASTY, ["rain", *NASTY]).figure(theme=theme)
    figure.savefig(tmp_path / "plan.png")
    assert (tmp_path / "plan.png").stat().st_size > 5000
    words = [text.get_text() for text in figure.axes[0].texts]
    assert any("<script>" in word for word in words)
    with pytest.raises(wf.WayfareError, match="theme: 'auto' came"):
        explained(["a"], ["b"]).figure(theme="auto")


def test_rich_draws_it_without_markup_of_words():
    from rich.console import Console

    console = Console(width=120, record=True, file=io.StringIO())
    console.print(explained(["[red]", "rain"], ["[/red]"]))
    assert "[red]" in console.export_text()

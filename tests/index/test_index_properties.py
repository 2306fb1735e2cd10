"""Any sequence of writes against a dictionary, and any search against all distances."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

import wayfare as wf
from wayfare.errors import DuplicateIdError, InputError

WORDS = ["rain", "snow", "river", "hill", "bank", "rates", "oil", "goal", "quiet", "evening"]
texts = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
names = st.sampled_from([f"d{n}" for n in range(8)])
labels = st.sampled_from(["a", "b", None])
documents = st.dictionaries(names, st.tuples(texts, labels), max_size=5)


class Writes(RuleBasedStateMachine):
    """`model` is what should be there, in order: id to text and label."""

    weighting = "nbow"

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(
            dir="/dev/shm" if Path("/dev/shm").is_dir() else None
        )
        self.path = Path(self.folder.name, "index")
        self.model = {}
        self.asked = 0

    @initialize(start=documents)
    def build(self, start):
        self.model = dict(start)
        self.home = wf.Corpus.from_texts([t for t, _ in start.values()], weighting=self.weighting)
        self.index = wf.Index.build(
            self.path,
            [text for text, _ in start.values()],
            ids=list(start),
            labels=[label for _, label in start.values()],
            weighting=self.weighting,
        )

    def _add(self, new, replace):
        self.index.add(
            [text for text, _ in new.values()],
            ids=list(new),
            labels=[label for _, label in new.values()],
            replace=replace,
        )

    @rule(new=documents)
    def add(self, new):
        if set(new) & set(self.model):
            with pytest.raises(DuplicateIdError):
                self._add(new, False)
        else:
            self._add(new, False)
            self.model |= new

    @rule(new=documents)
    def replace(self, new):
        self._add(new, True)
        self.model = {id: it for id, it in self.model.items() if id not in new} | new

    @rule(gone=st.lists(names, max_size=4, unique=True))
    def delete(self, gone):
        if set(gone) <= set(self.model):
            self.index.delete(gone)
        else:
            with pytest.raises(InputError):
                self.index.delete(gone)
            self.index.delete(gone, missing_ok=True)
        self.model = {id: it for id, it in self.model.items() if id not in gone}

    @rule()
    def compact(self):
        self.index.compact()
        info = self.index.info()
        assert info.segments <= 1
        assert info.deleted == 0

    @rule()
    def open_again(self):
        self.index.close()
        self.index = wf.Index.open(self.path)

    @rule(query=texts, k=st.integers(1, 9), eta=st.sampled_from([0.3, 0.5, 1.0]))
    def search(self, query, k, eta):
        self._same(self.index.search(query, k, eta=eta), query, dict(self.model), k, eta)

    @precondition(lambda self: any(label == "a" for _, label in self.model.values()))
    @rule(query=texts, k=st.integers(1, 3))
    def search_some(self, query, k):
        some = {id: it for id, it in self.model.items() if it[1] == "a"}
        self._same(self.index.search(query, k, where={"label": "a"}), query, some, k, 0.5)

    def _same(self, hits, query, model, k, eta):
        assert hits.exact or hits.tied
        if not model:
            assert hits.ids == []
            return
        there = self.home.encode([text for text, _ in model.values()])
        bounds = wf.pairwise_bounds(self.home.encode([query]), there, eta=eta, tol=1e-6)
        upper, lower = (
            dict(zip(model, side[0], strict=True)) for side in (bounds.upper, bounds.lower)
        )
        expected = sorted(model, key=lambda id: (upper[id], id))[:k]
        assert len(hits.ids) == len(expected)
        # Distances agree within the tolerances; where two are closer than these, either may come first.
        for id, distance, want in zip(hits.ids, hits.distances, expected, strict=True):
            assert lower[id] <= distance * (1 + 1e-12) + 1e-12
            assert distance <= upper[id] * (1 + 1e-3) + 1e-6
            assert abs(upper[id] - upper[want]) <= 2e-3 * upper[want] + 1e-6

    @invariant()
    def it_holds_what_it_should(self):
        assert self.index.ids.tolist() == list(self.model)
        assert len(self.index) == len(self.model)
        assert {one.id: (one.text, one.label) for one in self.index} == self.model

    def teardown(self):
        if hasattr(self, "index"):
            self.index.verify()
            self.index.close()
        self.folder.cleanup()


class TfidfWrites(Writes):
    """The same under a weighting that was fitted at the build."""

    weighting = "tfidf"


TestWrites = Writes.TestCase
TestWrites.settings = settings(max_examples=20, stateful_step_count=14, deadline=None)
TestTfidfWrites = TfidfWrites.TestCase
TestTfidfWrites.settings = settings(max_examples=8, stateful_step_count=10, deadline=None)


@pytest.mark.parametrize("weighting", ["nbow", "tfidf", "sif", "counts"])
def test_segments_and_weightings_give_what_one_corpus_gives(tmp_path, weighting):
    rng = np.random.default_rng(3)
    many = [" ".join(rng.choice(WORDS, 6)) for _ in range(60)]
    home = wf.Corpus.from_texts(many[:30], weighting=weighting)
    with wf.Index.build(tmp_path / "i", many[:30], weighting=weighting) as index:
        for start in range(30, 60, 6):
            index.add(many[start : start + 6])
        assert index.info().segments > 1
    with wf.Index.open(tmp_path / "i") as index:
        queries = [" ".join(rng.choice(WORDS, 4)) for _ in range(12)]
        for metric in ("wfr", "hellinger"):
            wanted = wf.pairwise(home.encode(queries), home.encode(many), metric=metric, tol=1e-6)
            answers = index.search(queries, 5, metric=metric, tol=1e-6)
            for hits, row in zip(answers, wanted, strict=True):
                np.testing.assert_allclose(hits.distances, np.sort(row)[:5], rtol=1e-5, atol=1e-7)
                np.testing.assert_allclose(row[hits.ids], hits.distances, rtol=1e-5, atol=1e-7)

"""A GPU behind every door: the same answers, the same errors, and what stays there between searches.

Where there is no GPU its part is played by the tensors of the CPU.
"""

from __future__ import annotations

import gc
import pickle
import sys
import threading

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import wayfare as wf  # noqa: E402
from wayfare.errors import InputError, MissingExtraError, WayfareError  # noqa: E402
from wayfare.kernels.gpu import placed, torches  # noqa: E402
from wayfare.learn import (  # noqa: E402
    WFRNeighborsClassifier,
    WFRNeighborsClassifierCV,
    WFRNeighborsTransformer,
    WordMoversEmbedding,
    WordMoversEmbeddingCV,
)
from wayfare.many import Documents  # noqa: E402
from wayfare.measure import Measure  # noqa: E402
from wayfare.ondevice import kept  # noqa: E402
from wayfare.search import search_many  # noqa: E402

HAS_GPU = torch.cuda.is_available()
WORDS = ["rain", "wind", "snow", "storm", "hail", "fog", "rates", "bonds", "bank", "tax", "money"]
WORDS += ["gold", "goal", "match", "cup", "coach"]
KINDS = ["weather"] * 6 + ["money"] * 6 + ["sport"] * 4


def texts(seed: int, count: int) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(seed)
    found, labels = [], []
    for _ in range(count):
        kind = str(rng.choice(KINDS))
        own = [word for word, mine in zip(WORDS, KINDS, strict=True) if mine == kind]
        words = [*rng.choice(own, 3), *rng.choice(WORDS, int(rng.integers(0, 4)))]
        found.append(" ".join(words))
        labels.append(kind)
    return found, labels


def measures(seed: int, count: int, most: int = 14) -> list[Measure]:
    rng = np.random.default_rng(seed)
    found = []
    for size in rng.integers(1, most, count):
        points = rng.normal(size=(size, 8))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        found.append(Measure(points, rng.dirichlet(np.ones(size))))
    return found


@pytest.fixture
def on_cpu(monkeypatch):
    """`device="cuda"` on the tensors of the CPU, where there is no GPU."""
    kept.KEPT.clear()
    if not HAS_GPU:
        monkeypatch.setattr(torches, "_found", lambda *_: torch.device("cpu"))
    yield
    kept.KEPT.clear()


@pytest.fixture
def transfers(monkeypatch):
    """How many bytes went to the device and came back, transfer by transfer."""
    seen = {"in": [], "out": []}
    send, fetch = torches.send, torches.fetch

    def sent(arrays, device):
        seen["in"].append(sum(one.nbytes for one in arrays))
        return send(arrays, device)

    def fetched(tensors):
        found = fetch(tensors)
        seen["out"].append(sum(one.nbytes for one in found))
        return found

    monkeypatch.setattr(torches, "send", sent)
    monkeypatch.setattr(torches, "fetch", fetched)
    return seen


# ---- the same answers -------------------------------------------------------------------------------


@pytest.mark.usefixtures("on_cpu")
def test_classifiers_vote_the_same_on_a_gpu():
    (train, labels), (new, _) = texts(1, 24), texts(2, 6)
    new[2] = train[5]
    new[3] = "xyzzy"  # no known word
    cpu = WFRNeighborsClassifier(k=3).fit(train, labels)
    gpu = WFRNeighborsClassifier(k=3, device="cuda").fit(train, labels)
    assert gpu.get_params()["device"] == "cuda"
    for one in (gpu, pickle.loads(pickle.dumps(gpu))):
        np.testing.assert_array_equal(one.kneighbors(new)[1], cpu.kneighbors(new)[1])
        np.testing.assert_allclose(one.kneighbors(new)[0], cpu.kneighbors(new)[0], rtol=1e-3)
        np.testing.assert_array_equal(one.predict_proba(new), cpu.predict_proba(new))


@pytest.mark.usefixtures("on_cpu")
def test_choosing_and_graphs_are_the_same_on_a_gpu():
    train, labels = texts(3, 18)
    some = {"ks": [1, 3], "etas": [0.5], "cv": 2}
    cpu = WFRNeighborsClassifierCV(**some).fit(train, labels)
    gpu = WFRNeighborsClassifierCV(**some, device="cuda").fit(train, labels)
    assert gpu.best_params_ == cpu.best_params_
    for name in ("mean_test_score", "split0_test_score"):
        np.testing.assert_array_equal(gpu.cv_results_[name], cpu.cv_results_[name])
    here, there = (
        WFRNeighborsTransformer(k=2, device=device).fit_transform(train)
        for device in ("cpu", "cuda")
    )
    np.testing.assert_array_equal(here.indices, there.indices)
    np.testing.assert_allclose(here.data, there.data, rtol=1e-3)


@pytest.mark.usefixtures("on_cpu")
@pytest.mark.parametrize("words", ["data", "box"])
def test_embeddings_are_the_same_on_a_gpu(words):
    (train, labels), (new, _) = texts(4, 10), texts(5, 4)
    new[1] = "xyzzy"
    settings = {"words": words, "eta": 0.9, "tol": 1e-4}
    cpu = WordMoversEmbedding(6, **settings).fit(train)
    gpu = WordMoversEmbedding(6, **settings, device="cuda").fit(train)
    far = gpu.distances(new)
    np.testing.assert_allclose(far, cpu.distances(new), rtol=1e-4)
    assert np.isfinite(far).all()
    again = pickle.loads(pickle.dumps(gpu))
    np.testing.assert_array_equal(again.transform(new), gpu.transform(new))
    if words == "data":
        chosen = WordMoversEmbeddingCV(4, d_maxs=[2], gammas=[1.0], cv=2, device="cuda")
        assert chosen.fit(train + train, labels + labels).embedding_.device == "cuda"


@pytest.mark.usefixtures("on_cpu")
def test_ranking_is_the_same_on_a_gpu():
    found, _ = texts(6, 12)
    here, there = (wf.rank("rain and snow", found, k=4, device=one) for one in ("cpu", "cuda"))
    assert here.ids == there.ids
    assert here.texts == there.texts
    assert there.exact


@pytest.mark.usefixtures("on_cpu")
def test_each_query_may_have_its_own_radius():
    queries = measures(7, 3)
    collection = [Documents.of_measures(measures(8, 20))]
    radii = [0.4, None, 0.55]
    how = {"k": 5, "within": radii}
    here = search_many(collection, queries, **how)
    there = search_many(collection, queries, device="cuda", **how)
    for a, b in zip(here, there, strict=True):
        assert sorted(a.ids) == sorted(b.ids)
        assert b.exact


@pytest.mark.usefixtures("on_cpu")
def test_everything_outside_is_as_far_as_is_said():
    queries, found = measures(9, 4), measures(10, 25)
    lower = wf.pairwise_bounds(queries, found, tol=1e-6).upper
    for query, hits in enumerate(
        search_many([Documents.of_measures(found)], queries, k=3, device="cuda")
    ):
        rest = np.setdiff1d(np.arange(25), hits.ids)
        assert 0 < hits.outside <= lower[query, rest].min() * (1 + 1e-9)


# ---- the same errors --------------------------------------------------------------------------------

DOORS = {
    "pairwise": lambda device, **how: wf.pairwise(["rain"], ["sun"], device=device, **how),
    "rank": lambda device, **how: wf.rank("rain", ["sun"], device=device, **how),
    "search": lambda device, **how: search_many(
        [Documents.of_measures(measures(1, 2))], measures(2, 1), device=device, **how
    ),
    "classifier": lambda device, **how: WFRNeighborsClassifier(device=device, **how).fit(
        ["rain"], ["a"]
    ),
    "classifier cv": lambda device, **how: WFRNeighborsClassifierCV(device=device, **how).fit(
        ["rain", "sun"], ["a", "b"]
    ),
    "transformer": lambda device, **how: WFRNeighborsTransformer(device=device, **how).fit(
        ["rain"]
    ),
    "embedding": lambda device, **how: WordMoversEmbedding(2, device=device, **how).fit(["rain"]),
}
every_door = pytest.mark.parametrize("door", DOORS)


@every_door
@pytest.mark.skipif(HAS_GPU, reason="there is a CUDA device")
def test_without_a_gpu_every_door_says_what_to_run(door):
    said = (
        r"device: 'cuda' came, but PyTorch .* sees no CUDA device; .* "
        r"run: pip install 'wayfare\[gpu\]'; anywhere else use device=\"cpu\""
    )
    with pytest.raises(InputError, match=said):
        DOORS[door]("cuda")


@every_door
def test_without_pytorch_every_door_says_what_to_install(door, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    torches.torch.cache_clear()
    try:
        with pytest.raises(
            MissingExtraError, match=r"device='cuda': .*pip install 'wayfare\[gpu\]'"
        ):
            DOORS[door]("cuda")
    finally:
        torches.torch.cache_clear()


@every_door
def test_every_door_refuses_other_names(door):
    with pytest.raises(InputError, match='device: \'tpu\' came; give "cpu", "cuda", or "cuda:0"'):
        DOORS[door]("tpu")


@every_door
def test_every_door_refuses_what_no_gpu_does(door):
    said = "device: 'cuda' came with metric='wmd'; only \"wfr\" runs on a GPU"
    with pytest.raises(InputError, match=said):
        DOORS[door]("cuda", metric="wmd")


def test_given_distances_need_no_gpu():
    model = WFRNeighborsClassifier(metric="precomputed", device="cuda")
    with pytest.raises(InputError, match="came with metric='precomputed'; only"):
        model.fit(np.zeros((2, 2)), ["a", "b"])


@pytest.mark.usefixtures("on_cpu")
def test_a_gpu_search_checks_what_a_cpu_search_checks():
    collection, queries = [Documents.of_measures(measures(1, 4))], measures(2, 1)
    with pytest.raises(InputError, match='a budget is for mode="fast"'):
        search_many(collection, queries, solves=3, device="cuda")
    with pytest.raises(InputError, match="3 dimensions came for documents of 8"):
        search_many(collection, [Measure([[0.0, 0.0, 1.0]], [1.0])], device="cuda")
    with pytest.raises(InputError, match="allowed: a mask of shape"):
        search_many(collection, queries, allowed=[np.ones(3, bool)], device="cuda")


# ---- what stays on the device -----------------------------------------------------------------------


@pytest.mark.usefixtures("on_cpu")
def test_a_batch_takes_one_transfer_in_and_one_out(transfers):
    collection = [Documents.of_measures(measures(11, 30)), Documents.of_measures(measures(12, 9))]
    corpus = sum(one.points.nbytes for one in collection)
    search_many(collection, measures(13, 4), k=3, device="cuda")
    assert len(transfers["in"]) == 2  # the corpus, and the queries
    assert max(transfers["in"]) > corpus > min(transfers["in"])
    for side in transfers.values():
        side.clear()
    search_many(collection, measures(14, 5), k=3, device="cuda", allowed=[None, np.arange(9) > 2])
    assert (len(transfers["in"]), len(transfers["out"])) == (1, 1)


def test_nothing_crosses_but_by_those_two_doors():
    from pathlib import Path

    rooms = Path(wf.__file__).parent
    files = [
        *(rooms / "kernels/gpu").glob("*.py"),
        *(rooms / "ondevice").glob("*.py"),
        rooms / "search/on_device.py",
    ]
    for path in files:
        text = path.read_text(encoding="utf-8")
        if path.name != "torches.py":
            assert ".cpu()" not in text, path.name
            assert ".numpy()" not in text, path.name


@pytest.mark.usefixtures("on_cpu")
def test_an_index_keeps_its_corpus_on_the_device_while_it_is_open(tmp_path, transfers):
    found, _ = texts(15, 12)
    index = wf.Index.build(tmp_path / "some.index", wf.Corpus.from_texts(found))
    for _ in range(2):
        index.search(["rain", "gold and tax"], k=2, device="cuda")
    assert len(kept.KEPT) == 1
    assert len(transfers["in"]) == 3
    index.delete([3])  # a write shows another state, and what was kept of the old one goes
    gc.collect()
    assert len(kept.KEPT) == 0
    hits = index.search(["rain", "gold and tax"], k=12, device="cuda")
    assert all(len(one) == 11 and 3 not in one.ids for one in hits)
    assert len(kept.KEPT) == 1
    index.close()
    gc.collect()
    assert len(kept.KEPT) == 0


@pytest.mark.usefixtures("on_cpu")
def test_threads_share_one_transfer(transfers):
    collection = [Documents.of_measures(measures(16, 20))]
    queries = measures(17, 2)
    start, found = threading.Barrier(4), []

    def ask():
        start.wait()
        found.append([one.ids for one in search_many(collection, queries, k=3, device="cuda")])

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(found) == 4
    assert all(one == found[0] for one in found)
    assert len(transfers["in"]) == 1 + 4


def test_the_oldest_goes_when_all_would_be_too_much(monkeypatch):
    store = kept.Kept()
    monkeypatch.setattr(torches, "RELIEFS", [])
    some = [[Documents.of_measures(measures(seed, 10))] for seed in range(4)]
    size = kept.bytes_of(some[0])
    monkeypatch.setattr(kept, "bytes_of", lambda _: size)

    def place(collections):
        return object()

    def free(_):
        return 5 * size - len(store) * size  # so that half of all is two and a half of them

    monkeypatch.setattr(torches, "free_bytes", free)
    device = torch.device("cpu")
    first = store.of(some[0], device, place)
    second = store.of(some[1], device, place)
    assert store.of(some[0], device, place) is first
    store.of(some[2], device, place)  # the second is the oldest now
    assert store.of(some[0], device, place) is first
    assert len(store) == 2
    assert store.of(some[1], device, place) is not second
    monkeypatch.setattr(kept, "bytes_of", lambda _: 9 * size)
    assert store.of(some[3], device, place) is None


@pytest.mark.usefixtures("on_cpu")
def test_what_is_kept_gives_way_when_memory_is_short(monkeypatch):
    collection = [Documents.of_measures(measures(18, 10))]
    queries = measures(19, 2)
    whole = search_many(collection, queries, k=3, device="cuda")
    make, seen = placed.table_of, []

    def tight(first, second, eta, dtype):
        seen.append((len(first), len(kept.KEPT)))
        if len(seen) == 1:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return make(first, second, eta, dtype)

    monkeypatch.setattr(placed, "table_of", tight)
    assert len(kept.KEPT) == 1
    wf.pairwise(measures(20, 4), measures(21, 4), device="cuda")
    assert seen == [(4, 1), (4, 0)]  # the block was not halved: what was kept made the room
    monkeypatch.undo()
    assert whole[0].ids


# ---- larger than the card ---------------------------------------------------------------------------


class Card:
    """A card that refuses what would not fit on it, all things that it holds together."""

    def __init__(self, monkeypatch, size):
        self.size, self.refused, self.placed = size, 0, []
        send = torches.send

        def place(arrays, device):
            wanted = sum(one.nbytes for one in arrays)
            if wanted > self.size:
                self.refused += 1
                raise torch.OutOfMemoryError("CUDA out of memory.")
            self.placed.append(wanted)
            return send(arrays, device)

        monkeypatch.setattr(torches, "send", place)


@pytest.mark.usefixtures("on_cpu")
@pytest.mark.parametrize("told", [True, False])
def test_a_corpus_larger_than_the_card_passes_by_in_parts(monkeypatch, told):
    some = [Documents.of_measures(measures(22, 30)), Documents.of_measures(measures(23, 11))]
    queries = [*measures(24, 3), some[0].measure(4)]
    mask = [None, np.arange(11) != 5]
    for asked in ({"k": 4}, {"k": None, "within": 0.5}, {"k": 60}):
        whole = search_many(some, queries, device="cuda", allowed=mask, **asked)
        kept.KEPT.clear()
        with monkeypatch.context() as patch:
            card = Card(patch, 6000)
            if told:
                patch.setattr(torches, "CPU_BYTES", 6000 * kept.SHARE_PLACED)
            else:  # the card says that there is room, and then has none
                patch.setattr(kept, "SHARE_KEPT", 1)
            parts = search_many(some, queries, device="cuda", allowed=mask, **asked)
        assert len(card.placed) > 4
        assert bool(card.refused) != told
        for a, b in zip(whole, parts, strict=True):
            assert a.ids == b.ids
            assert a.exact == b.exact
            assert a.work.documents == b.work.documents
            np.testing.assert_allclose(a.distances, b.distances, rtol=1e-3)


@pytest.mark.usefixtures("on_cpu")
def test_all_pairs_of_corpora_larger_than_the_card(monkeypatch):
    first, second = measures(25, 9), measures(26, 12)
    for other in (second, None):
        whole = wf.pairwise_bounds(first, other, device="cuda")
        with monkeypatch.context() as patch:
            card = Card(patch, 2000)
            patch.setattr(torches, "CPU_BYTES", 16_000)
            parts = wf.pairwise_bounds(first, other, device="cuda")
        assert len(card.placed) > 4
        np.testing.assert_allclose(parts.lower, whole.lower, rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(parts.upper, whole.upper, rtol=1e-6, atol=1e-12)


@pytest.mark.usefixtures("on_cpu")
def test_a_document_larger_than_the_card_says_what_to_do(monkeypatch):
    Card(monkeypatch, 100)
    monkeypatch.setattr(torches, "CPU_BYTES", 400)
    with pytest.raises(WayfareError, match=r"free memory on it.*or use device=\"cpu\""):
        wf.pairwise(measures(27, 2), measures(28, 2), device="cuda")

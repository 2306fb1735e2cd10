"""A sharded index answers as one index over all documents does."""

import numpy as np
import pytest

import wayfare as wf
from wayfare import scale
from wayfare.errors import (
    DuplicateIdError,
    FormatError,
    IndexFailure,
    IndexVersionError,
    InputError,
    ShardError,
)

from .conftest import write_lines

QUERIES = ["bank rates rise", "the team wins the match", "snow and rain on the river", "a song"]


@pytest.fixture(
    scope="module",
    params=[("nbow", False), ("nbow", True), ("tfidf", False), ("sif", False)],
    ids=str,
)
def pair(request, client, files, documents, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pair")
    weighting, per_machine = request.param
    scale.build(
        files,
        folder / "shards",
        client=client,
        shards=5,
        id="id",
        label="label",
        weighting=weighting,
    )
    shards = scale.open(folder / "shards", client=client, per_machine=per_machine)
    one = wf.Index.build(
        folder / "one",
        [d["text"] for d in documents],
        ids=[d["id"] for d in documents],
        labels=[d["label"] for d in documents],
        weighting=weighting,
    )
    return shards, one


def assert_same(found: wf.Hits, wanted: wf.Hits) -> None:
    assert found.exact or not wanted.exact
    if wanted.ordered or found.ordered:
        assert found.ids == wanted.ids
        assert found.texts == wanted.texts
    elif (
        wanted.exact
    ):  # documents at one distance may stand in any order, but no other may be there
        assert sorted(found.ids) == sorted(wanted.ids)
    # Place by place, whoever stands there.
    assert (found.lower <= wanted.upper + 1e-9).all()
    assert (wanted.lower <= found.upper + 1e-9).all()


def test_the_same_answers(pair, documents):
    shards, one = pair
    queries = [*QUERIES, documents[11]["text"]]
    for found, wanted in zip(shards.search(queries, k=7), one.search(queries, k=7), strict=True):
        assert found.work.documents == wanted.work.documents
        assert_same(found, wanted)
    assert_same(shards.search(QUERIES[0]), one.search(QUERIES[0]))


def test_restrictions_radii_and_settings(pair):
    shards, one = pair
    ids = [f"d{n:03d}" for n in range(0, 240, 7)]
    for settings in (
        {"where": {"label": "a"}},
        {"ids": ids},
        {"k": None, "within": 0.6},
        {"eta": 1 / 3, "tol": 1e-4},
        {"metric": "hellinger", "k": 3},
        {"metric": "wmd", "k": 3},
    ):
        settings = {"k": 5} | settings
        for found, wanted in zip(
            shards.search(QUERIES, **settings), one.search(QUERIES, **settings), strict=True
        ):
            assert_same(found, wanted)
    with pytest.raises(InputError, match=r"ids: 'nobody': not in the index \(1 of 2\)"):
        shards.search(QUERIES, ids=["nobody", "d001"])


def test_a_bound_that_travels_changes_no_answer_and_saves_work(client, files, tmp_path):
    scale.build(files, tmp_path / "s", client=client, shards=5, id="id")
    shards = scale.open(tmp_path / "s", client=client, per_machine=False)
    with_it = shards.search(QUERIES, k=5)
    without = shards.search(QUERIES, k=5, share_bounds=False)
    assert [hits.ids for hits in with_it] == [hits.ids for hits in without]
    assert sum(h.work.solved for h in with_it) < sum(h.work.solved for h in without)


def test_a_budget_is_honest(pair):
    shards, one = pair
    found = shards.search(QUERIES[0], k=5, mode="fast", solves=1)
    assert not found.exact
    truth = one.search(QUERIES[0], k=240)
    best = dict(zip(truth.ids, zip(truth.lower, truth.upper, strict=True), strict=True))
    for hit in found:
        low, high = best[hit.id]
        assert hit.lower <= high
        assert low <= hit.upper


def test_the_graph_of_neighbours(pair):
    shards, one = pair
    found, wanted = shards.neighbors_graph(3), one.neighbors_graph(3)
    assert found.shape == wanted.shape
    # Copies are as near as each other, and either may be the third.
    near, wanted_near = (np.sort(g.data.reshape(240, 3), axis=1) for g in (found, wanted))
    np.testing.assert_allclose(near, wanted_near, rtol=2e-3, atol=1e-6)
    assert shards.ids.tolist() == one.ids.tolist()


def test_looking(pair, documents):
    shards, one = pair
    assert len(shards) == len(one) == 240
    info = shards.info()
    assert (info.documents, len(info.shards), info.texts) == (240, 5, True)
    document = shards.get("d200")
    assert (document.text, document.label) == (documents[200]["text"], "a")
    with pytest.raises(InputError, match="'nobody' is not in the index"):
        shards.get("nobody")
    shards.verify()
    assert "240 documents in 5 shards" in repr(shards)


def test_bags_and_frames(client, documents, tmp_path):
    import dask
    import dask.bag

    with dask.config.set({"dataframe.convert-string": False}):
        bag = dask.bag.from_sequence(documents, npartitions=3)
        frame = bag.to_dataframe(meta={"id": object, "text": object, "label": object})
        from_bag = scale.build(bag, tmp_path / "bag", client=client, id="id")
        from_frame = scale.build(frame, tmp_path / "frame", client=client, id="id", label="label")
        texts = bag.pluck("text")
        plain = scale.build(texts, tmp_path / "plain", client=client, shards=2)
    assert len(plain.info().shards) == 2
    assert plain.ids.tolist() == list(range(240))
    first, second, third = (s.search(QUERIES[0], k=4) for s in (from_bag, from_frame, plain))
    assert first.ids == second.ids == [f"d{n:03d}" for n in third.ids]


def test_ids_are_numbered_through_all_files(client, files, tmp_path):
    shards = scale.build(files, tmp_path / "s", client=client, shards=4)
    assert shards.ids.tolist() == list(range(240))


def test_an_id_in_two_shards_is_named(client, documents, tmp_path):
    write_lines(tmp_path / "a.jsonl", documents[:20])
    write_lines(tmp_path / "b.jsonl", documents[19:40])
    with pytest.raises(DuplicateIdError, match="'d019' in shard-00000 and shard-00001"):
        scale.build(str(tmp_path / "*.jsonl"), tmp_path / "s", client=client, id="id")
    with pytest.raises(IndexFailure, match="no sharded index"):
        scale.open(tmp_path / "s", client=client)


def test_a_piece_that_cannot_be_read_leaves_no_index(client, documents, tmp_path):
    write_lines(tmp_path / "a.jsonl", documents[:20])
    bad = write_lines(tmp_path / "b.jsonl", documents[20:40])
    bad.write_text(bad.read_text() + "not json\n")
    with pytest.raises(FormatError, match=r"b\.jsonl, line 21"):
        scale.build(str(tmp_path / "*.jsonl"), tmp_path / "s", client=client, id="id")
    with pytest.raises(IndexFailure, match="no sharded index"):
        scale.open(tmp_path / "s", client=client)


def test_a_build_goes_on_where_it_was_left(client, documents, tmp_path):
    write_lines(tmp_path / "a.jsonl", documents[:20])
    write_lines(tmp_path / "b.jsonl", documents[20:40])
    place = tmp_path / "s"
    first = scale.build(str(tmp_path / "*.jsonl"), place, client=client, id="id").info().shards
    # As if it had been cut before the second shard was finished: no marker, no manifest.
    (place / "shards.json").unlink()
    (place / "shard-00001.json").unlink()
    shards = scale.build(str(tmp_path / "*.jsonl"), place, client=client, id="id")
    again = shards.info().shards
    assert len(shards) == 40
    assert again[0].folder == first[0].folder, "what was finished is not made again"
    assert again[1].folder != first[1].folder, "what has no marker is not picked up"
    assert not (place / first[1].folder).exists()


def test_a_place_of_fsspec(documents):
    import dask.bag
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        bag = dask.bag.from_sequence(documents, npartitions=2)
        built = scale.build(bag, "memory://wayfare/shards", client=client, id="id")
        opened = scale.open("memory://wayfare/shards", client=client)
        found = opened.search(QUERIES, k=3)
        assert [h.ids for h in found] == [h.ids for h in built.search(QUERIES, k=3)]
        assert all(hits.exact for hits in found)


def test_a_shard_that_cannot_be_read(client, files, tmp_path):
    place = tmp_path / "s"
    shards = scale.build(files, place, client=client, shards=3, id="id")
    name = shards.info().shards[1]
    for path in (place / name.folder).iterdir():
        if path.name.startswith("documents-"):
            path.unlink()
    # Opened anew under another name, since workers keep what they opened.
    moved = place.rename(tmp_path / "moved")
    shards = scale.open(moved, client=client)
    with pytest.raises(ShardError, match="shard shard-00001 cannot be read: "):
        shards.search(QUERIES, k=3)
    hits = shards.search(QUERIES[0], k=3, allow_partial=True)
    assert hits.missing == ("shard-00001",)
    assert not hits.exact
    assert len(hits) == 3


def test_a_shard_that_was_altered_fails_to_verify(client, files, tmp_path):
    shards = scale.build(files, tmp_path / "s", client=client, shards=2, id="id")
    shards.verify()
    path = next((tmp_path / "s" / shards.info().shards[0].folder).glob("documents-*"))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    (tmp_path / "s").rename(tmp_path / "moved")
    with pytest.raises(ShardError, match="shard-00000"):
        scale.open(tmp_path / "moved", client=client).verify()


def test_what_cannot_be_used(client, files, tmp_path):
    (tmp_path / "mine.txt").write_text("hello")
    with pytest.raises(InputError, match=r"holds other things, such as 'mine\.txt'"):
        scale.build(files, tmp_path, client=client)
    with pytest.raises(InputError, match=r"client: str came; give a dask\.distributed\.Client"):
        scale.build(files, tmp_path / "s", client="localhost")
    with pytest.raises(InputError, match="source: int came; give a glob of files, a Dask bag"):
        scale.build(7, tmp_path / "s", client=client)
    with pytest.raises(InputError, match="shards: 0 came"):
        scale.build(files, tmp_path / "s", client=client, shards=0)
    with pytest.raises(InputError, match="which no one fits over shards"):
        scale.build(files, tmp_path / "s", client=client, weighting=Strange())
    scale.build(files, tmp_path / "s", client=client, shards=1)
    with pytest.raises(InputError, match="holds a sharded index already"):
        scale.build(files, tmp_path / "s", client=client)
    assert len(scale.build(files, tmp_path / "s", client=client, overwrite=True)) == 240
    manifest = tmp_path / "s" / "shards.json"
    manifest.write_text(manifest.read_text().replace('"format": 1', '"format": 99'))
    with pytest.raises(IndexVersionError, match="format 99"):
        scale.open(tmp_path / "s", client=client)


class Strange:
    fingerprint = "strange"

    def fit(self, counts):
        return self

    def apply(self, counts):
        return np.ones(len(counts.indices))

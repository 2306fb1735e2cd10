"""One Index in many threads: searches, writes and refreshes at once."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import wayfare as wf

WORDS = ["rain", "snow", "river", "hill", "bank", "rates", "oil", "goal", "quiet", "evening"]


def test_searches_and_writes_from_many_threads(tmp_path):
    rng = np.random.default_rng(0)
    texts = {f"d{n:02}": " ".join(rng.choice(WORDS, 5)) for n in range(40)}
    index = wf.Index.build(tmp_path / "i", list(texts.values()), ids=list(texts))
    queries = [" ".join(rng.choice(WORDS, 3)) for _ in range(8)]
    # What comes and goes is far from every query, so no answer may change.
    expected = [index.search(query, 5).distances.tolist() for query in queries]
    stop = threading.Event()

    def write(number):
        for step in range(6):
            index.add(["zebra xylophone"] * 2, ids=[f"w{number}-{step}-{n}" for n in range(2)])
            index.delete([f"w{number}-{step}-0"])
        index.compact()

    def search(number):
        count = 0
        while not stop.is_set() or count < 5:
            at = (number + count) % len(queries)
            hits = index.search(queries[at], 5)
            assert hits.distances.tolist() == expected[at]
            assert hits.texts == [texts[id] for id in hits.ids]
            count += 1
        return count

    with ThreadPoolExecutor(8) as pool:
        readers = [pool.submit(search, number) for number in range(5)]
        writers = [pool.submit(write, number) for number in range(2)]
        refresher = pool.submit(lambda: [index.refresh() for _ in range(20)])
        try:
            for one in (*writers, refresher):
                one.result()
        finally:
            stop.set()
        assert sum(reader.result() for reader in readers) >= 25
    assert len(index) == 40 + 2 * 6
    index.verify()


def test_an_index_closed_by_one_thread_ends_the_searches_of_another_well(tmp_path):
    index = wf.Index.build(tmp_path / "i", ["rain", "sun"])
    held = threading.Event()
    seen = []

    def walk():
        for one in index:
            seen.append(one.text)
            held.set()
            closed.wait(10)

    closed = threading.Event()
    thread = threading.Thread(target=walk)
    thread.start()
    held.wait(10)
    index.close()
    closed.set()
    thread.join(10)
    assert seen == ["rain", "sun"]

"""`Index`: a corpus on disk, searched exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import InputError
from wayfare.index import answering
from wayfare.index.catalog import Id
from wayfare.index.reading import Handed
from wayfare.index.snapshot import Snapshot
from wayfare.index.state import Document, IndexInfo, describe, document, verify
from wayfare.index.states import States
from wayfare.measure import Measure

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from wayfare.corpus import Corpus
    from wayfare.index.building import Defaults, Keep
    from wayfare.readers import OnError
    from wayfare.search import Hits, Mode, SearchMetric

__all__ = ["Index"]

Query = str | Measure
Queries = Sequence[str] | Sequence[Sequence[str]] | Sequence[Measure]
Tokenize = Callable[[str], Sequence[str]]


class SearchSettings(TypedDict, total=False):
    """The settings of `Index.search`, for type checkers."""

    within: float | Sequence[float | None] | None
    eta: float | None
    tol: float | None
    metric: SearchMetric | None
    mode: Mode
    milliseconds: float | None
    solves: int | None
    ids: Iterable[Id] | None
    where: Mapping[str, Any] | None
    n_jobs: int | None
    device: str


class Index:
    """Documents on disk, found again by their distance to a query, exactly.

    Made by `build`, `build_from_file` or `open`. What it shows is the state as of its opening or of its
    own last write; `refresh()` brings in what other processes wrote since. Any number of threads may
    use one, and any number of processes may have one open while one of them writes. It is a context
    manager, and pickled it opens again where it lands.

    >>> from tempfile import mkdtemp
    >>> from wayfare import Index
    >>> index = Index.build(mkdtemp(), ["Rates rise again", "A quiet evening"], ids=["r", "e"])
    >>> index.search("the bank lifts its rates", k=1).ids
    ['r']
    >>> index.add(["Snow on the hills"], ids=["s"])
    >>> len(index), index.get("s").text
    (3, 'Snow on the hills')
    """

    def __init__(self, folder: Path, snapshot: Snapshot, handed: Handed, read_only: bool) -> None:
        self._states = States(folder, snapshot, handed, read_only)

    # -- making and opening -------------------------------------------------------------------

    @classmethod
    def build(
        cls,
        path: str | PathLike[str],
        source: Corpus | Iterable[str] | Iterable[Sequence[str]],
        *,
        ids: Sequence[Any] | None = None,
        labels: Sequence[Any] | None = None,
        metadata: Mapping[str, Sequence[Any]] | None = None,
        vectors: Any = None,
        weighting: Any = "nbow",
        tokenizer: Tokenize | None = None,
        unknown: Any = "skip",
        eta: float | None = None,
        tol: float = 1e-3,
        metric: SearchMetric = "wfr",
        keep_texts: bool = True,
        keep_vectors: bool = True,
        overwrite: bool = False,
        progress: bool | None = None,
    ) -> Index:
        """Make an index in the folder `path` of a corpus, of texts, or of lists of words.

        An iterator of texts streams: they go to disk as they come. `ids` to `unknown` are those of
        `Corpus.from_texts`, and are not for a `Corpus`, which has its own. `eta` (None: what suits the
        vectors), `tol` and `metric` become the defaults of its searches. `keep_vectors` copies vectors
        that are one row a word, so that opening it needs nothing else; the built-in ones are found again
        by name, and others are wanted at `open`. An index that is there is an error unless
        `overwrite=True`; it then stays what it is until the new one is whole.

        Raises `InputError` for arguments and for a folder that holds other things, `DuplicateIdError`,
        `IndexLockedError` where another process writes, `IndexFailure` for a disk that is full.
        """
        beside = {"ids": ids, "labels": labels, "metadata": metadata}
        reading = {
            "vectors": vectors,
            "weighting": weighting,
            "tokenizer": tokenizer,
            "unknown": unknown,
        }
        read = answering.reader(source, beside, reading, progress)
        defaults = answering.defaults(eta, tol, metric, keep_texts, keep_vectors)
        return cls._built(path, read, defaults, overwrite)

    @classmethod
    def build_from_file(
        cls,
        path: str | PathLike[str],
        file: str | PathLike[str],
        *,
        text: str = "text",
        id: str | None = None,
        label: str | None = None,
        metadata: Sequence[str] = (),
        on_error: OnError = "raise",
        format: str | None = None,
        encoding: str = "utf-8",
        vectors: Any = None,
        weighting: Any = "nbow",
        tokenizer: Tokenize | None = None,
        unknown: Any = "skip",
        eta: float | None = None,
        tol: float = 1e-3,
        metric: SearchMetric = "wfr",
        keep_texts: bool = True,
        keep_vectors: bool = True,
        overwrite: bool = False,
        progress: bool | None = None,
    ) -> Index:
        """Make an index of a file, a folder of texts, or standard input, never holding its texts.

        `text`, `id`, `label` and `metadata` name its columns; these and the others up to `unknown` are
        those of `Corpus.from_file`, the rest those of `build`.
        """
        columns = {"text": text, "id": id, "label": label, "metadata": metadata}
        how = {"on_error": on_error, "format": format, "encoding": encoding}
        reading = {
            "vectors": vectors,
            "weighting": weighting,
            "tokenizer": tokenizer,
            "unknown": unknown,
        }
        read = answering.file_reader(file, columns | how, reading, progress)
        defaults = answering.defaults(eta, tol, metric, keep_texts, keep_vectors)
        return cls._built(path, read, defaults, overwrite)

    @classmethod
    def _built(
        cls,
        path: str | PathLike[str],
        read: Callable[[Keep], Corpus],
        defaults: Defaults,
        overwrite: bool,
    ) -> Index:
        from wayfare.index.building import build

        folder = _folder(path)
        corpus = build(folder, read, defaults, overwrite=overwrite)
        # What cannot be stored is at hand now.
        handed = Handed(corpus.vectors, corpus.tokenizer, corpus.weighting)
        return cls(folder, Snapshot.open(folder, handed), handed, False)

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        *,
        vectors: Any = None,
        tokenizer: Tokenize | None = None,
        weighting: Any = None,
        read_only: bool = False,
    ) -> Index:
        """Open an index; its arrays are mapped, and read where a search wants them.

        `vectors`, `tokenizer` and `weighting` are those of the build, where they cannot be stored;
        what is asked of them is said when it is missed. Under `read_only=True` it refuses to write.

        Raises `IndexFailure` for a folder that is no index, `IndexCorruptError` for one with a missing
        or truncated file, `IndexVersionError` for one of a newer format, `VectorsMismatchError` for
        other vectors than those of the build. Nothing in the folder is changed by it.
        """
        folder, handed = _folder(path), Handed(vectors, tokenizer, weighting)
        return cls(folder, Snapshot.open(folder, handed), handed, read_only)

    # -- searching ----------------------------------------------------------------------------

    @overload
    def search(  # type: ignore[overload-overlap]  # a str is a sequence of str too
        self, query: Query, k: int | None = None, **settings: Unpack[SearchSettings]
    ) -> Hits: ...
    @overload
    def search(
        self, query: Queries | Corpus, k: int | None = None, **settings: Unpack[SearchSettings]
    ) -> list[Hits]: ...

    def search(
        self,
        query: Query | Queries | Corpus,
        k: int | None = None,
        *,
        within: float | Sequence[float | None] | None = None,
        eta: float | None = None,
        tol: float | None = None,
        metric: SearchMetric | None = None,
        mode: Mode = "exact",
        milliseconds: float | None = None,
        solves: int | None = None,
        ids: Iterable[Id] | None = None,
        where: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
    ) -> Hits | list[Hits]:
        """The nearest documents: `k` of them, all `within` a distance, or the `k` nearest within it.

        A text or a `Measure` is one query and gives `Hits`. A list or a `Corpus` is several, each a
        text, a list of words or a measure, and gives a list of `Hits`; so a single list of words goes
        inside a list. Neither `k` nor `within` asks for the 10 nearest; `within` is one radius for all
        queries, or a list of one for each.

        `eta`, `tol` and `metric` are the defaults of the index unless they are given. `mode`,
        `milliseconds` and `solves` are those of `wayfare.search.search`. `ids` and `where` restrict the
        search to some documents: `where={"label": "earn", "year": [1987, 1988]}` asks for equality with
        a value, or with one of a list. `n_jobs` threads share several queries (None: one a core);
        `device="cuda"` takes them to a GPU, for exact search under `wfr`.

        Raises `InputError` for arguments, unknown ids and unknown names in `where`.
        """
        asked = answering.Asked(
            k, within, eta, tol, metric, mode, milliseconds, solves, ids, where, n_jobs, device
        )
        with self._states.using() as snapshot:
            return answering.answer(snapshot, query, asked)

    def neighbors_graph(
        self,
        k: int = 10,
        *,
        eta: float | None = None,
        tol: float | None = None,
        metric: SearchMetric | None = None,
        n_jobs: int | None = None,
        client: Any = None,
        progress: bool | None = None,
    ) -> csr_array[Any, Any]:
        """The `k` nearest other documents of each document: a CSR array of distances.

        Row and column n stand for the document `ids[n]`. No document is its own neighbour; the entry of
        one at distance 0 is there, as an explicit zero. Rows are sorted by column.

        `client` takes it to the workers of a Dask cluster, which must see the index under the same
        path; each has as many threads at work as Dask gives it, unless `n_jobs` says how many for each
        task. `IndexFailure` where the index is written to meanwhile.
        """
        from wayfare.index.graph import neighbors_graph

        asked = answering.Asked(k=k, eta=eta, tol=tol, metric=metric, n_jobs=n_jobs)
        with self._states.using() as snapshot:
            return neighbors_graph(snapshot, asked, client, progress)

    def encode(self, texts: Queries) -> list[Measure]:
        """Texts, or lists of words, as measures: read as the index reads what it searches for.

        Words without a vector are left out. Raises `InputError` where the index has no vectors, and
        where its vectors, tokeniser or weighting had to be handed to `open` and were not.

        >>> from tempfile import mkdtemp
        >>> index = Index.build(mkdtemp(), ["Rates rise again", "A quiet evening"])
        >>> index.encode(["The rates of the evening"])[0].words
        ('rates', 'evening')
        """
        with self._states.using() as snapshot:
            return answering.as_measures(snapshot, texts)

    @property
    def tokenizer(self) -> Tokenize | None:
        """What splits texts into words; None for an index of lists of words.

        Raises `InputError` where it is a function that had to be handed to `open` and was not.
        """
        with self._states.using() as snapshot:
            return snapshot.reading.tokenizer

    # -- writing ------------------------------------------------------------------------------

    def add(
        self,
        texts: Corpus | Iterable[str] | Iterable[Sequence[str]],
        *,
        ids: Sequence[Any] | None = None,
        labels: Sequence[Any] | None = None,
        metadata: Mapping[str, Sequence[Any]] | None = None,
        replace: bool = False,
    ) -> None:
        """Add documents: all of them, in one commit, or none.

        Texts and lists of words are read as at the build: its tokeniser, its vectors, and its weighting
        as it was fitted then; a `Corpus` keeps its own weights, ids, labels and metadata. Without `ids`
        the integers after those of the index are taken. An id that is there already is an error which
        names it, or with `replace=True` its document gives way to the new one.

        Raises `DuplicateIdError`, `InputError`, `VectorsMismatchError`, `IndexLockedError` at once where
        another process writes, `IndexFailure` for a disk that is full or read-only.
        """
        from wayfare.index import incoming
        from wayfare.index.writing import add

        beside = {"ids": ids, "labels": labels, "metadata": metadata}
        corpus = answering.as_corpus(texts, beside)
        with self._states.turn() as (there, catalog):
            if corpus is not None:
                new = incoming.of_corpus(there, corpus)
            else:
                new = incoming.of_texts(there, texts, ids, labels, metadata)
            add(there, catalog, new, again=replace)

    def delete(self, ids: Iterable[Id], *, missing_ok: bool = False) -> None:
        """Delete documents by id, in one commit.

        Their room on disk is given back by `compact()`, and by additions that take in their segment.
        Ids that are not there are named in an `InputError`, unless `missing_ok=True`.
        """
        from wayfare.index.writing import delete

        with self._states.turn() as (there, catalog):
            numbers = answering.numbers_of(there, ids, missing_ok=missing_ok)
            delete(there, catalog, np.array(numbers, np.int64))

    def compact(self) -> None:
        """Write all documents as one segment, without those that were deleted."""
        from wayfare.index.writing import compact

        with self._states.turn() as (there, catalog):
            compact(there, catalog)

    def refresh(self) -> None:
        """Take in what other processes have committed since."""
        self._states.refresh()

    # -- looking ------------------------------------------------------------------------------

    @property
    def path(self) -> Path:
        """The folder of the index."""
        return self._states.folder

    def __len__(self) -> int:
        with self._states.using() as snapshot:
            return len(snapshot)

    @property
    def ids(self) -> NDArray[Any]:
        """The ids of all documents, in the order in which they came: int64 or str."""
        with self._states.using() as snapshot:
            names = snapshot.catalog.ids_of(snapshot.numbers)
            array = np.empty(len(names), np.int64 if snapshot.settings.ids == "int" else object)
            array[:] = names
            return array

    def __contains__(self, id: object) -> bool:
        if isinstance(id, bool) or not isinstance(id, int | str | np.integer):
            return False
        with self._states.using() as snapshot:
            return snapshot.catalog.numbers_of([answering.as_id(id)])[0] is not None

    def get(self, id: Id) -> Document:
        """One document: its text where texts are kept, label, metadata and measure."""
        with self._states.using() as snapshot:
            (number,) = answering.numbers_of(snapshot, [id])
            return document(snapshot, answering.as_id(id), number)

    def __iter__(self) -> Iterator[Document]:
        with self._states.using() as snapshot:
            numbers = snapshot.numbers
            for start in range(0, len(numbers), 1000):
                some = numbers[start : start + 1000]
                for id, number in zip(snapshot.catalog.ids_of(some), some.tolist(), strict=True):
                    yield document(snapshot, id, number)

    def info(self) -> IndexInfo:
        """What the index holds, how it was built, and what it takes on disk."""
        with self._states.using() as snapshot:
            return describe(snapshot)

    def verify(self) -> None:
        """Read everything and compare it with the checksums of when it was written.

        Raises `IndexCorruptError` that names every file with a fault.
        """
        with self._states.using() as snapshot:
            verify(snapshot)

    def __repr__(self) -> str:
        if self._states.shown is None:
            return f"Index({str(self.path)!r}, closed)"
        s = self._states.shown.settings
        return f"Index({str(self.path)!r}, {s.metric}, eta {s.eta:g})"

    # -- ending, travelling -------------------------------------------------------------------

    def close(self) -> None:
        """Let go of the files; searches under way end first."""
        self._states.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        given, read_only = self._states.handed, self._states.read_only
        return _again, (self.path, given.vectors, given.tokenizer, given.weighting, read_only)


def _folder(path: str | PathLike[str]) -> Path:
    name = fspath(path)
    if not isinstance(name, str) or not name or "\0" in name:
        raise InputError(f"path: {name!r:.80} came; give the folder of an index")
    return Path(name)


def _again(folder: Path, vectors: Any, tokenizer: Any, weighting: Any, read_only: bool) -> Index:
    return Index.open(
        folder, vectors=vectors, tokenizer=tokenizer, weighting=weighting, read_only=read_only
    )

"""`WordVectors`: words to points, whatever file or model they come from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from wayfare.errors import InputError, UnknownWordError
from wayfare.vectors.arguments import as_limit, as_path, as_word, check_unit
from wayfare.vectors.builtin import NAME, builtin
from wayfare.vectors.formats import gensim_file
from wayfare.vectors.formats.builder import Builder
from wayfare.vectors.formats.request import OnError, Request
from wayfare.vectors.formats.writing import Content, write
from wayfare.vectors.open import open_store
from wayfare.vectors.store import Floats, LoadReport, Mask, Store, at_unit_length, digest
from wayfare.vectors.table import Table

__all__ = ["WordVectors"]

ETA = 0.5  # of unit vectors; of raw ones, times the norm of a typical row
RULES = "vectors-1"  # part of every fingerprint: changes whenever the same store gives other points

Unknown = Literal["skip", "error", "subword"]


class WordVectors:
    """A vector for each known word, at unit length or raw.

    Made by `default`, `load`, `from_arrays` or `from_gensim`. Nothing about one changes once it is
    made; any number of threads may use it, and it can be pickled.

    `unit`: whether every vector is divided by its Euclidean norm. A zero vector has no direction:
    with `unit` its word counts as unknown, raw it is a point like others, the origin.

    >>> vectors = WordVectors.from_arrays(["river", "bank"], [[3.0, 4.0], [0.0, 2.0]])
    >>> vectors["river"].tolist()
    [0.6000000238418579, 0.800000011920929]
    >>> points, known = vectors.embed(["the", "bank"])
    >>> points.tolist(), known.tolist()
    ([[0.0, 1.0]], [False, True])
    """

    _defaults: ClassVar[dict[bool, WordVectors]] = {}
    _defaults_lock: ClassVar[Lock] = Lock()

    def __init__(self, store: Store, *, unit: bool, name: str) -> None:
        check_unit(unit)
        self._store = store
        self.unit, self.name = unit, name

    @classmethod
    def default(cls, *, unit: bool = True) -> WordVectors:
        """The built-in vectors: 256 dimensions, no download, no unknown words.

        A word is the mean of the vectors of its tokens. Read once a process (about 0.2 s). Raises
        `MissingExtraError` with the command to run if their files were taken away.

        >>> vectors = WordVectors.default()
        >>> river, stream, tax = vectors.embed(["river", "stream", "tax"])[0]
        >>> bool(river @ stream > river @ tax)
        True
        """
        check_unit(unit)
        with cls._defaults_lock:
            if not cls._defaults:
                store = builtin()
                for flag in (True, False):
                    cls._defaults[flag] = cls(store, unit=flag, name=NAME)
            return cls._defaults[unit]

    @classmethod
    def load(
        cls,
        path_or_name: str | os.PathLike[str],
        *,
        unit: bool = True,
        limit: int | None = None,
        vocabulary: str | os.PathLike[str] | None = None,
        on_error: OnError = "raise",
        trust: bool = False,
        cache: bool = True,
        progress: bool | None = None,
    ) -> WordVectors:
        """Read word vectors from a file, a folder, or by their name on the Hugging Face hub.

        The format is told by content: GloVe text, word2vec text and binary, fastText `.vec` and
        `.bin`, gensim's own files, `.npy` with a list of words, safetensors with `tokenizer.json`;
        each plain or gzip. `limit` keeps the first so many words. `vocabulary` names the words of
        an `.npy` file, or the tokenizer of a safetensors file, if they lie elsewhere.
        `on_error="skip"` leaves out lines that cannot be used and counts them in `report`. `trust`
        allows gensim's own files, which are pickles. `cache` keeps what was parsed, memory-mapped,
        keyed by content. `progress` forces a bar on or off.

        Raises `FormatError` with path and line for content that cannot be read, `InputError` for
        arguments and missing files, `MissingExtraError` where an optional library is wanted.

        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "tiny.txt")
        ...     _ = path.write_text("river 3 4\\nbank 0 2\\n")
        ...     WordVectors.load(path, unit=False)
        WordVectors('tiny.txt', 2 words in 2 dimensions, raw)
        """
        request = Request(
            as_path("path_or_name", path_or_name),
            limit=as_limit(limit),
            vocabulary=None if vocabulary is None else as_path("vocabulary", vocabulary),
            on_error=on_error,
            trust=trust,
            progress=progress,
        )
        if on_error not in ("raise", "skip"):
            raise InputError(f'on_error: {on_error!r} came; give "raise" or "skip"')
        store = open_store(request, cache=cache)
        store.report.log(request.path)
        return cls(store, unit=unit, name=request.path.name)

    @classmethod
    def from_arrays(
        cls, words: Sequence[str], array: ArrayLike, *, unit: bool = True, name: str = "arrays"
    ) -> WordVectors:
        """Vectors of one's own: a word for each row of `array`, which is copied as float32.

        Raises `InputError` for shapes that do not fit, `FormatError` for NaN and infinity. Of a
        word that is there twice the first row counts; `report` says how many there were.
        """
        try:
            with np.errstate(over="ignore"):
                rows = np.array(array, dtype=np.float32)
        except (TypeError, ValueError):
            raise InputError("array: give real numbers, one row a word") from None
        if rows.ndim != 2 or rows.shape[1] == 0 or len(rows) != len(words):
            raise InputError(
                f"array: shape {rows.shape} for {len(words)} words; give (words, dimensions)"
            )
        raw = [as_word(word).encode("utf-8", "surrogatepass") for word in words]
        builder = Builder(Request(Path(name), on_error=None), rows.shape[1], unit="row")
        builder.add(raw, rows, range(1, len(raw) + 1))
        return cls(builder.table(), unit=unit, name=name)

    @classmethod
    def from_gensim(cls, vectors: Any, *, unit: bool = True) -> WordVectors:
        """The vectors of a live gensim `KeyedVectors`, or of a model with `.wv`; copied.

        fastText's keep their n-grams. Raises `InputError` for anything else.
        """
        name = f"gensim {type(vectors).__name__}"
        return cls(gensim_file.from_live(vectors), unit=unit, name=name)

    @property
    def table(self) -> Table | None:
        """The raw vectors where they are one row a word, as they would be kept; None otherwise."""
        return self._store if isinstance(self._store, Table) else None

    @property
    def dim(self) -> int:
        """How many coordinates a vector has."""
        return self._store.dim

    @property
    def report(self) -> LoadReport:
        """What reading the file met, and where: repeated words, rows of zeros, skipped lines."""
        return self._store.report

    @property
    def words(self) -> tuple[str, ...]:
        """What is stored, by row: the words; of vectors made from tokens, the tokens."""
        return self._store.entries()

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that decides the points, `unit` included; equal whatever the format."""
        return digest(
            RULES.encode(), b"unit" if self.unit else b"raw", self._store.content().encode()
        )

    @cached_property
    def default_eta(self) -> float:
        """0.5 for unit vectors; for raw ones 0.5 times the median norm of the stored rows.

        Words further apart than `pi eta` do not exchange mass.
        """
        return ETA if self.unit else ETA * self._store.median_norm()

    def embed(self, words: Sequence[str], *, unknown: Unknown = "skip") -> tuple[Floats, Mask]:
        """The points of the known words among `words`, in order, and which of them are known.

        `unknown`: "skip" leaves unknown words out; "error" raises `UnknownWordError` naming them;
        "subword" makes vectors from parts of words where these vectors can (the default ones,
        safetensors models, fastText `.bin`) and raises `InputError` where they cannot.

        >>> vectors = WordVectors.from_arrays(["bank"], [[1.0, 0.0]])
        >>> vectors.embed(["bank", "bonk"], unknown="error")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        wayfare.errors.UnknownWordError: words: 'bonk' is unknown to 'arrays'; ...
        """
        if isinstance(words, str):
            raise InputError(f"words: the str {words[:20]!r} came; give a list of words")
        if unknown not in ("skip", "error", "subword"):
            raise InputError(f'unknown: {unknown!r} came; give "skip", "error" or "subword"')
        if unknown == "subword" and not self._store.has_subwords():
            raise InputError(
                f'unknown: {self.name!r} holds whole words only, so "subword" cannot be; use '
                'WordVectors.default(), a safetensors model or a fastText .bin, or unknown="skip"'
            )
        words = [word if type(word) is str else as_word(word) for word in words]
        points, known = self._store.gather(words, subwords=unknown == "subword")
        if self.unit:
            points, known = at_unit_length(points, known)
        if unknown == "error" and not known.all():
            raise UnknownWordError(self._unknown(words, known))
        return points, known

    def _unknown(self, words: Sequence[str], known: Mask) -> str:
        lost = list(dict.fromkeys(words[i] for i in np.flatnonzero(~known).tolist()))
        shown = ", ".join(map(repr, lost[:5])) + (", ..." if len(lost) > 5 else "")
        verb = "is" if len(lost) == 1 else "are"
        return f'words: {shown} {verb} unknown to {self.name!r}; unknown="skip" leaves them out'

    def save(
        self, path: str | os.PathLike[str], *, words: Sequence[str] | None = None
    ) -> tuple[Path, ...]:
        """Write the raw vectors of `words`, or of all that are stored, in the format `path` names.

        `.txt` is GloVe text, `.vec` word2vec's and fastText's text, `.bin` word2vec binary, `.npy`
        an array with its words in `X.vocab.txt`; `.gz` after any of them packs it. Returns the
        paths written. `load` gives every number back: of a table of words, the same fingerprint.
        Parts of words are not written, so vectors made of tokens want `words`. Raises `InputError`
        for other names, places that cannot be written to, and words that the format cannot hold
        (spaces, except in `.npy`); `UnknownWordError` for unknown words.

        >>> import tempfile
        >>> vectors = WordVectors.from_arrays(["river", "bank"], [[3.0, 4.5], [0.0, 2.0]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     (path,) = vectors.save(Path(folder, "mine.vec"))
        ...     path.read_text().splitlines(), WordVectors.load(path).fingerprint == vectors.fingerprint
        (['2 2', 'river 3 4.5', 'bank 0 2'], True)
        """
        target = as_path("path", path)
        if words is None:
            if self._store.kind != "words":
                raise InputError(
                    f"words: {self.name!r} makes words of tokens without end; name those to write"
                )
            words = self.words
        if isinstance(words, str):
            raise InputError(f"words: the str {words[:20]!r} came; give a list of words")
        named = list(dict.fromkeys(as_word(word) for word in words))
        return write(target, Content(named, self.dim, self._raw))

    def _raw(self, words: Sequence[str]) -> Floats:
        points, known = self._store.gather(words, subwords=True)
        if not known.all():
            raise UnknownWordError(self._unknown(words, known))
        return points

    def __getitem__(self, word: str) -> Floats:
        points, known = self.embed([word])
        if not known[0]:
            raise UnknownWordError(self._unknown([word], known))
        return np.asarray(points[0])

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and bool(self.embed([word])[1][0])

    def __len__(self) -> int:
        return len(self._store)

    def __repr__(self) -> str:
        size = f"{len(self)} {self._store.kind} in {self.dim} dimensions"
        return f"WordVectors({self.name!r}, {size}, {'unit length' if self.unit else 'raw'})"

    def __copy__(self) -> WordVectors:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> WordVectors:
        # Nothing about one changes, and estimators that hold one are copied for every fit.
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # The built-in vectors are in every installation: their name travels, not their 32 MB.
        if self is WordVectors._defaults.get(self.unit):
            return _default, (self.unit,)
        return _rebuild, (self._store, self.unit, self.name)


def _default(unit: bool) -> WordVectors:
    return WordVectors.default(unit=unit)


def _rebuild(store: Store, unit: bool, name: str) -> WordVectors:
    return WordVectors(store, unit=unit, name=name)

"""`Corpus.from_*`: a corpus from each form in which people have documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Self, cast

from numpy.typing import ArrayLike

from wayfare.corpus import build, files, mat, tables
from wayfare.corpus.assemble import Unknown, Vectors
from wayfare.readers import OnError
from wayfare.weighting import Counts, Weighting

__all__ = ["Sources"]

Weigh = str | Weighting | Callable[[Counts], Any]
Tokenize = Callable[[str], Sequence[str]]


class Sources:
    """The makers of `Corpus`, apart from what a corpus is."""

    @classmethod
    def _made(
        cls, parts: Mapping[str, Any], ids: Any = None, labels: Any = None, metadata: Any = None
    ) -> Self:
        beside = {"ids": ids, "labels": labels, "metadata": metadata}
        return cast(Self, cast(Any, cls)(**parts, **beside, trusted=True))

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        *,
        ids: Sequence[Any] | None = None,
        labels: Sequence[Any] | None = None,
        metadata: Mapping[str, Sequence[Any]] | None = None,
        vectors: Vectors | None = None,
        weighting: Weigh = "nbow",
        tokenizer: Tokenize | None = None,
        unknown: Unknown = "skip",
        keep_texts: bool = True,
        progress: bool | None = None,
    ) -> Self:
        """Read texts, of which an iterator need not fit in memory under `keep_texts=False`.

        `vectors` and `tokenizer` default to the built-in ones. `unknown` says what becomes of
        words that the vectors lack: "skip" counts them in `unknown_counts`, "error" raises
        `UnknownWordError`, "subword" builds them from pieces where the vectors can. Raises
        `InputError` for anything that is not text, `DuplicateIdError` for repeated ids.

        >>> from wayfare import Corpus
        >>> corpus = Corpus.from_texts(["Rain, rain!", "sun"], ids=["a", "b"])
        >>> corpus.vocabulary, corpus.masses
        (('rain', 'sun'), array([1., 1.]))
        """
        parts = build.texts(texts, vectors, weighting, tokenizer, unknown, keep_texts, progress)
        return cls._made(parts, ids, labels, metadata)

    @classmethod
    def from_tokens(
        cls,
        tokens: Iterable[Sequence[str]],
        *,
        ids: Sequence[Any] | None = None,
        labels: Sequence[Any] | None = None,
        metadata: Mapping[str, Sequence[Any]] | None = None,
        vectors: Vectors | None = None,
        weighting: Weigh = "nbow",
        unknown: Unknown = "skip",
        progress: bool | None = None,
    ) -> Self:
        """Read lists of words as they are: no tokeniser, no change of case.

        Raises as `from_texts` does.

        >>> from wayfare import Corpus
        >>> Corpus.from_tokens([["sun", "rain", "sun"]])[0].words
        ('sun', 'rain')
        """
        parts = build.tokens(tokens, vectors, weighting, unknown, progress)
        return cls._made(parts, ids, labels, metadata)

    @classmethod
    def from_matrix(
        cls,
        matrix: Any,
        vocabulary: Sequence[str] | Mapping[str, int],
        *,
        ids: Sequence[Any] | None = None,
        labels: Sequence[Any] | None = None,
        metadata: Mapping[str, Sequence[Any]] | None = None,
        vectors: Vectors | None = None,
        weighting: Weigh = "nbow",
        unknown: Unknown = "skip",
    ) -> Self:
        """Read a document-term matrix, dense or scipy sparse, with the words of its columns.

        `vocabulary` is what scikit-learn's `get_feature_names_out()` or `vocabulary_` gives. Pass
        `weighting="counts"` for a matrix that holds weights already. Raises `InputError` for
        negative entries, NaN, repeated words and shapes that do not fit.

        >>> from wayfare import Corpus
        >>> corpus = Corpus.from_matrix([[3, 1], [0, 0]], ["rain", "sun"])
        >>> corpus[0].weights, corpus.masses
        (array([0.75, 0.25]), array([1., 0.]))
        """
        parts = build.matrix(matrix, vocabulary, vectors, weighting, unknown)
        return cls._made(parts, ids, labels, metadata)

    @classmethod
    def from_ragged(
        cls,
        arrays: Iterable[ArrayLike],
        weights: Iterable[ArrayLike] | None = None,
        *,
        ids: Sequence[Any] | None = None,
        labels: Sequence[Any] | None = None,
        metadata: Mapping[str, Sequence[Any]] | None = None,
    ) -> Self:
        """Read one array of points a document: contextual token vectors, images, any point sets.

        `arrays[n]` is (points, d), of one d throughout; equal points stay apart. `weights[n]` has
        one weight a point; without it each document spreads mass 1 evenly. Raises `InputError`
        for NaN, negative weights and shapes that do not fit.

        >>> from wayfare import Corpus
        >>> corpus = Corpus.from_ragged([[[0.0, 1.0], [1.0, 0.0]], []])
        >>> corpus[0].weights, len(corpus[1])
        (array([0.5, 0.5]), 0)
        """
        parts = build.ragged(arrays, weights)
        return cls._made(parts, ids, labels, metadata)

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        text: str = "text",
        id: str | None = None,
        label: str | None = None,
        metadata: Sequence[str] = (),
        vectors: Vectors | None = None,
        weighting: Weigh = "nbow",
        tokenizer: Tokenize | None = None,
        unknown: Unknown = "skip",
        keep_texts: bool = True,
        progress: bool | None = None,
    ) -> Self:
        """Read the named columns of a pandas, polars, Arrow or `datasets` table, or of a dict.

        Raises `InputError` for a column that is not there, naming those that are, and for a text
        that is missing; otherwise as `from_texts` does.

        >>> from wayfare import Corpus
        >>> corpus = Corpus.from_table({"body": ["rain", "sun"], "key": ["a", "b"]},
        ...                            text="body", id="key")
        >>> corpus.ids
        array(['a', 'b'], dtype=object)
        """
        columns = tables.Columns(table, text, id, label, metadata)
        parts = build.texts(
            columns.texts, vectors, weighting, tokenizer, unknown, keep_texts, progress
        )
        return cls._made(parts, columns.ids, columns.labels, columns.metadata)

    @classmethod
    def from_file(
        cls,
        path: str | PathLike[str],
        *,
        text: str = "text",
        id: str | None = None,
        label: str | None = None,
        metadata: Sequence[str] = (),
        on_error: OnError = "raise",
        format: str | None = None,
        encoding: str = "utf-8",
        vectors: Vectors | None = None,
        weighting: Weigh = "nbow",
        tokenizer: Tokenize | None = None,
        unknown: Unknown = "skip",
        keep_texts: bool = False,
        progress: bool | None = None,
    ) -> Self:
        """Stream a file, a folder of text files, or standard input (`"-"`), never holding it all.

        JSON lines, CSV, TSV, Parquet, text with one document a line; each also packed
        (`.gz`, `.zst`); see `wayfare.readers.read` for `format`, `encoding` and the errors. `text`,
        `id`, `label` and `metadata` name columns. Texts are let go unless `keep_texts=True`. What
        `on_error="skip"` left out stands in `skipped` and in a warning of the log.

        >>> from wayfare import Corpus
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "news.jsonl")
        ...     _ = path.write_text('{"text": "rates rise", "key": 7}')
        ...     corpus = Corpus.from_file(path, id="key")
        >>> corpus.ids, corpus[0].words
        (array([7]), ('rates', 'rise'))
        """
        columns = files.Columns(path, text, id, label, metadata, on_error, format, encoding)
        parts = build.texts(
            columns.texts(), vectors, weighting, tokenizer, unknown, keep_texts, progress
        )
        parts["skipped"] = columns.skipped()
        return cls._made(parts, columns.ids, columns.labels, columns.metadata)

    @classmethod
    def from_mat(cls, path: str | PathLike[str], *, weighting: Weigh = "nbow") -> Self:
        """Read a `.mat` of Kusner et al. (2015): words, their vectors, counts, labels and splits.

        Both layouts: `X`, `BOW_X`, `Y`, `words` with `TR` and `TE`, whose rows become the metadata
        columns "split_0", "split_1", ... of "train", "test" or None; and the one with `xtr`, `xte`
        and so on, whose documents come train first, under one column "split". Equal vectors of one
        name are one point. The corpus has no `vectors`: it cannot encode new texts. Raises
        `FormatError` for a file of another kind or layout.
        """
        parts = mat.parts(path, weighting)
        return cls._made(parts, None, parts.pop("labels"), parts.pop("metadata"))

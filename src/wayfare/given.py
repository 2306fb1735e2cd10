"""What a caller gives, in any of its forms, as measures and prepared documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from wayfare.corpus import Corpus
from wayfare.errors import InputError
from wayfare.ground import check_eta
from wayfare.many import Documents
from wayfare.measure import Measure
from wayfare.text import DEFAULT_TOKENIZER

__all__ = [
    "DEFAULT_ETA",
    "Document",
    "Many",
    "as_measures",
    "eta_of",
    "two_corpora",
    "two_measures",
]

Document = str | Sequence[str] | Measure
Many = Corpus | Sequence[str] | Sequence[Sequence[str]] | Sequence[Measure]

DEFAULT_ETA = 0.5  # for points that come without word vectors


def eta_of(eta: float | None, vectors: Any) -> float:
    """The `eta` that was asked for, or what suits the vectors; None for points without any.

    >>> eta_of(None, None), eta_of(0.25, None)
    (0.5, 0.25)
    """
    if eta is not None:
        return check_eta(eta)
    return float(getattr(vectors, "default_eta", DEFAULT_ETA))


def two_measures(
    a: Document, b: Document, vectors: Any, weighting: Any, tokenizer: Any, unknown: Any
) -> tuple[Measure, Measure, Any]:
    """Both documents as measures, and the vectors that words were looked up in, if any were."""
    measures: dict[int, Measure] = {}
    texts: dict[int, str | Sequence[str]] = {}
    for at, document in enumerate((a, b)):
        if isinstance(document, Measure):
            measures[at] = document
        else:
            texts[at] = _checked_document("ab"[at], document)
    if texts:
        words = _words(texts.values(), tokenizer)
        corpus = Corpus.from_tokens(words, vectors=vectors, weighting=weighting, unknown=unknown)
        measures |= {at: corpus[place] for place, at in enumerate(texts)}
        vectors = corpus.vectors
    return measures[0], measures[1], vectors


def as_measures(
    query: Document, texts: Any, vectors: Any, ids: Sequence[Any] | None
) -> tuple[Documents, Measure, Any, Sequence[Any], Sequence[str | None] | None]:
    """A query and the documents it is compared with: prepared, with their vectors, ids and texts."""
    if isinstance(texts, Corpus):
        names: Sequence[Any] = list(texts.ids.tolist()) if ids is None else ids
        kept: Sequence[str | None] | None = texts.texts
        documents, used = _documents("texts", texts, vectors)
        measure = query if isinstance(query, Measure) else texts.encode([query], share=False)[0]
    else:
        documents, used = _documents("texts", texts, vectors)
        names = list(range(len(documents))) if ids is None else ids
        kept = [text if isinstance(text, str) else None for text in texts]
        kept = None if all(text is None for text in kept) else kept
        if isinstance(query, Measure):
            measure = query
        else:
            words = _words([_checked_document("query", query)], None)
            measure = Corpus.from_tokens(words, vectors=vectors or used, progress=False)[0]
    if len(names) != len(documents):
        raise InputError(f"ids: {len(names)} came for {len(documents)} texts; give one each")
    return documents, measure, used, names, kept


def _checked_document(name: str, document: Any) -> str | Sequence[str]:
    if isinstance(document, str):
        return document
    if isinstance(document, Sequence) and not isinstance(document, bytes | bytearray):
        return document
    raise InputError(
        f"{name}: {type(document).__name__} came; give a text (str), a list of words, or a Measure"
    )


def _words(
    documents: Iterable[str | Sequence[str]], tokenizer: Callable[[str], Sequence[str]] | None
) -> list[Sequence[str]]:
    """The words of texts; a list of words stays as it is."""
    split = DEFAULT_TOKENIZER if tokenizer is None else tokenizer
    if not callable(split):
        raise InputError(f"tokenizer: {split!r} came; give a function from str to a list of str")
    return [split(one) if isinstance(one, str) else one for one in documents]


def two_corpora(a: Many, b: Many | None, vectors: Any) -> tuple[Documents, Documents | None, Any]:
    """Both collections, prepared, and the vectors that words were looked up in, if any were."""
    if isinstance(a, Corpus) and isinstance(b, Sequence) and b and not isinstance(b[0], Measure):
        # Texts beside a corpus are read the way the corpus was.
        b = a.encode(cast(Any, b), share=False)
    first, used = _documents("a", a, vectors)
    if b is None:
        return first, None, used
    second, used_too = _documents("b", b, vectors or used)
    return first, second, used or used_too


def _documents(name: str, source: Any, vectors: Any) -> tuple[Documents, Any]:
    if isinstance(source, Corpus):
        return Documents.of(source), source.vectors
    if isinstance(source, str | Measure) or not isinstance(source, Sequence):
        raise InputError(
            f"{name}: {type(source).__name__} came; give a Corpus, or a list of texts, word lists "
            "or measures"
        )
    if source and all(isinstance(one, Measure) for one in source):
        return Documents.of_measures(source), vectors
    documents = [_checked_document(f"{name}[{at}]", one) for at, one in enumerate(source)]
    corpus = Corpus.from_tokens(_words(documents, None), vectors=vectors, progress=False)
    return Documents.of(corpus), corpus.vectors

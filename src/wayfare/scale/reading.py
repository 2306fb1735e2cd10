"""From a piece to the documents of a shard: read, count, weigh."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from wayfare.corpus import Corpus
from wayfare.corpus.files import Columns
from wayfare.errors import InputError
from wayfare.readers import OnError
from wayfare.scale.fitting import Census, reweighted, unfitted
from wayfare.scale.pieces import Piece, Span, opened

__all__ = ["Fields", "Names", "Recipe", "corpus_of", "read_piece"]


@dataclass(frozen=True)
class Names:
    """Where the fields of a document stand in its record, and how files are read."""

    text: str = "text"
    id: str | None = None
    label: str | None = None
    metadata: tuple[str, ...] = ()
    on_error: OnError = "raise"
    format: str | None = None
    encoding: str = "utf-8"


@dataclass(frozen=True)
class Recipe:
    """How texts become documents, and what the indexes of the shards hold; the same for all."""

    names: Names
    vectors: Any
    weighting: Any
    tokenizer: Callable[[str], Sequence[str]] | None
    unknown: Any
    eta: float | None
    tol: float
    metric: Any
    keep_texts: bool

    def digest(self, *more: Any) -> str:
        """Equal where a shard made of the same would be the same."""
        code = getattr(self.tokenizer, "fingerprint", None) or _name(self.tokenizer)
        weighing = self.weighting if isinstance(self.weighting, str) else _name(self.weighting)
        told = {
            "names": asdict(self.names),
            "vectors": getattr(self.vectors, "fingerprint", "default"),
            "weighting": weighing,
            "tokenizer": code,
            "rest": [self.unknown, self.eta, self.tol, self.metric, self.keep_texts],
            "more": more,
        }
        text = json.dumps(told, sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _name(something: Any) -> str:
    if something is None:
        return "default"
    return getattr(something, "__qualname__", None) or repr(something)


@dataclass
class Fields:
    """The documents of a piece, a value each in every list; `texts` holds texts or lists of words."""

    texts: list[Any] = field(default_factory=list)
    ids: list[Any] | None = None
    labels: list[Any] | None = None
    metadata: dict[str, list[Any]] = field(default_factory=dict)
    skipped: int = 0

    @classmethod
    def empty(cls, names: Names) -> Fields:
        """No documents yet, with a list for each field that is wanted."""
        return cls(
            [],
            None if names.id is None else [],
            None if names.label is None else [],
            {name: [] for name in names.metadata},
        )


def read_piece(piece: Any, names: Names) -> Fields:
    """Read spans of files, a list of records, or a data frame.

    >>> read_piece([{"text": "rain", "n": 7}], Names(id="n")).ids
    [7]
    """
    fields = Fields.empty(names)
    if isinstance(piece, tuple) and all(isinstance(span, Span) for span in piece):
        _read_spans(piece, names, fields)
    elif hasattr(piece, "columns"):
        _read_frame(piece, names, fields)
    else:
        _read_records(piece, names, fields)
    return fields


def _read_spans(piece: Piece, names: Names, fields: Fields) -> None:
    for span in piece:
        with opened(span) as path:
            columns = Columns(path, **(asdict(names) | {"metadata": names.metadata}))
            fields.texts.extend(columns.texts())
            fields.skipped += columns.skipped().count
        if fields.ids is not None:
            fields.ids += columns.ids or []
        if fields.labels is not None:
            fields.labels += columns.labels or []
        for name, column in fields.metadata.items():
            column += columns.metadata[name]


def _read_frame(frame: Any, names: Names, fields: Fields) -> None:
    there = [str(name) for name in frame.columns]

    def column(name: str) -> list[Any]:
        if name not in there:
            raise InputError(
                f"source: no column {name!r}; the columns there are: {', '.join(there)}"
            )
        return list(frame[name].tolist())

    fields.texts = column(names.text)
    if fields.ids is not None:
        fields.ids = column(str(names.id))
    if fields.labels is not None:
        fields.labels = column(str(names.label))
    fields.metadata = {name: column(name) for name in names.metadata}


def _read_records(records: Any, names: Names, fields: Fields) -> None:
    for record in records:
        if not isinstance(record, Mapping):
            if names.id or names.label or names.metadata:
                raise InputError(
                    f"source: {type(record).__name__} came where id, label or metadata are named; "
                    "give records (dict) with these fields"
                )
            fields.texts.append(record)
            continue
        wanted = [n for n in (names.text, names.id, names.label, *names.metadata) if n is not None]
        missing = [name for name in wanted if name not in record]
        if missing:
            there = ", ".join(map(repr, record))
            raise InputError(
                f"source: no field {missing[0]!r} in a record; the fields there are: {there}"
            )
        fields.texts.append(record[names.text])
        if fields.ids is not None:
            fields.ids.append(record[str(names.id)])
        if fields.labels is not None:
            fields.labels.append(record[str(names.label)])
        for name, column in fields.metadata.items():
            column.append(record[name])


def corpus_of(
    fields: Fields, recipe: Recipe, *, first: int = 0, census: Census | None = None
) -> Corpus:
    """The documents of a shard. Without ids they are numbered from `first`.

    `census` is that of all shards, where the weighting is fitted; without it such documents keep
    their counts.
    """
    ids: Any = fields.ids
    if ids is None:
        ids = range(first, first + len(fields.texts))
    fitting = unfitted(recipe.weighting)
    settings: dict[str, Any] = {
        "ids": ids,
        "labels": fields.labels,
        "metadata": fields.metadata,
        "vectors": recipe.vectors,
        "weighting": recipe.weighting if fitting is None else "counts",
        "unknown": recipe.unknown,
        "progress": False,
    }
    if fields.texts and not isinstance(fields.texts[0], str):
        corpus = Corpus.from_tokens(fields.texts, **settings)
    else:
        corpus = Corpus.from_texts(
            fields.texts, tokenizer=recipe.tokenizer, keep_texts=recipe.keep_texts, **settings
        )
    if fitting is None or census is None:
        return corpus
    return reweighted(corpus, fitting, census)

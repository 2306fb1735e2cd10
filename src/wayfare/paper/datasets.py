"""The datasets of Task 2, from each form in which people have them.

    DIR/NAME.jsonl[.gz]     lines of text, label and split
    DIR/NAME*.mat           the authors' files, of both layouts, with vectors of their own
    scikit-learn            20 newsgroups, when no file is there and the network allows

Each becomes counts over one array of points, so that weights can be fitted on training documents.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.corpus import Corpus
from wayfare.errors import InputError
from wayfare.paper.cards import CARDS, Card
from wayfare.readers import read
from wayfare.text import Tokenizer

__all__ = ["Dataset", "find", "load"]

SUFFIXES = (".jsonl", ".jsonl.gz", ".mat")
Column = list[str | None]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Documents as counts, their labels, and the splits that came with them (none: draw some)."""

    card: Card
    corpus: Corpus
    labels: list[Any]
    given: tuple[Column, ...]
    removed: int = 0  # duplicates, where they were left out

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def fingerprint(self) -> str:
        """Equal for two datasets whose results must be equal."""
        digest = hashlib.blake2b(digest_size=8)
        for array in (self.corpus.points, self.corpus.indptr, self.corpus.indices):
            digest.update(np.ascontiguousarray(array).tobytes())
        digest.update(self.corpus.weights.tobytes())
        digest.update(repr((self.labels, self.given)).encode())
        return digest.hexdigest()

    @property
    def distinct_words(self) -> tuple[float, float]:
        """Distinct words a document that have a vector: their mean and deviation."""
        counts = np.diff(self.corpus.indptr)
        return float(counts.mean()), float(counts.std())

    def select(self, rows: NDArray[np.int64]) -> Dataset:
        """Some of the documents."""
        return replace(
            self,
            corpus=self.corpus.select(rows),
            labels=[self.labels[row] for row in rows],
            given=tuple([column[row] for row in rows] for column in self.given),
        )

    def without_duplicates(self) -> Dataset:
        """Of documents with the same counts of the same words the first, training documents first.

        >>> corpus = Corpus.from_tokens([["rain"], ["sun"], ["rain"]], weighting="counts")
        >>> data = Dataset(CARDS["twitter"], corpus, [0, 1, 0], (["test", "train", "train"],))
        >>> clean = data.without_duplicates()
        >>> clean.given, clean.removed
        ((['train', 'train'],), 1)
        """
        order = list(range(len(self)))
        if len(self.given) == 1:
            order.sort(key=lambda row: self.given[0][row] != "train")
        corpus = self.corpus
        kept: dict[tuple[bytes, bytes], int] = {}
        for row in order:
            mine = slice(corpus.indptr[row], corpus.indptr[row + 1])
            kept.setdefault((corpus.indices[mine].tobytes(), corpus.weights[mine].tobytes()), row)
        rows = np.sort(np.array(list(kept.values()), np.int64))
        return replace(self.select(rows), removed=len(self) - len(rows))


def find(folder: Path, card: Card) -> Path | None:
    """The file of a dataset in a folder or its subfolder `data`; JSON Lines before `.mat`."""
    for place in (folder, folder / "data"):
        names = sorted(place.iterdir()) if place.is_dir() else []
        for suffix in SUFFIXES:
            for path in names:
                if path.name.endswith(suffix) and path.name.lower().startswith(card.files):
                    return path
    return None


def load(name: str, folder: str | Path, *, vectors: Any = None, clean: bool = False) -> Dataset:
    """One dataset. `vectors` are for words; a `.mat` brings its own. `clean` leaves out duplicates.

    Raises `InputError` for a name that is not known and for files that are not there, `FormatError`
    for a file that cannot be read.

    >>> load("bbc", ".")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    wayfare.errors.InputError: datasets: 'bbc' came; give some of bbcsport, twitter, recipe, ohsumed, ...
    """
    if name not in CARDS or name == "concept_project":
        known = ", ".join(one for one in CARDS if one != "concept_project")
        raise InputError(f"datasets: {name!r} came; give some of {known}")
    card = CARDS[name]
    path = find(Path(folder), card)
    if path is not None and path.suffix == ".mat":
        found = _from_mat(card, path)
    elif path is not None:
        found = _from_lines(card, path, vectors)
    elif name == "20news":
        found = _from_sklearn(card, vectors)
    else:
        raise InputError(
            f"data: {folder} holds no {card.files[0]}*.jsonl, .jsonl.gz or .mat; put it there"
        )
    return found.without_duplicates() if clean else found


def _from_lines(card: Card, path: Path, vectors: Any) -> Dataset:
    texts, labels, split = [], [], []
    for record in read(path, columns=("text", "label")):
        texts.append(str(record.fields["text"]))
        labels.append(record.fields["label"])
        split.append(record.fields.get("split"))
    return _of_texts(card, texts, labels, split, vectors)


def _from_sklearn(card: Card, vectors: Any) -> Dataset:
    from sklearn.datasets import fetch_20newsgroups

    texts, labels, split = [], [], []
    for side in ("train", "test"):
        try:
            part = fetch_20newsgroups(subset=side)
        except OSError as error:
            raise InputError(
                f"20news: no file in the folder, and scikit-learn could not fetch it ({error}); "
                "put 20news.jsonl.gz or the authors' .mat into the folder"
            ) from None
        texts += list(part.data)
        labels += [part.target_names[label] for label in part.target]
        split += [side] * len(part.data)
    return _of_texts(card, texts, labels, split, vectors)


def _of_texts(
    card: Card, texts: list[str], labels: list[Any], split: list[Any], vectors: Any
) -> Dataset:
    tokenize = Tokenizer(stop_words=None if card.keep_stop_words else "english")
    tokens = _filtered(card, [tokenize(text) for text in texts])
    corpus = Corpus.from_tokens(tokens, vectors=vectors, weighting="counts", progress=False)
    given = (split,) if any(split) else ()
    return Dataset(card, corpus, labels, given)


def _filtered(card: Card, tokens: list[list[str]]) -> list[list[str]]:
    """Kusner's filter, where the dataset has it."""
    if card.rare:
        seen = Counter(word for words in tokens for word in words)
        tokens = [[word for word in words if seen[word] >= card.rare] for words in tokens]
    if card.most is not None:
        kept = [{word for word, _ in Counter(words).most_common(card.most)} for words in tokens]
        tokens = [[w for w in words if w in some] for words, some in zip(tokens, kept, strict=True)]
    return tokens


def _from_mat(card: Card, path: Path) -> Dataset:
    corpus = Corpus.from_mat(path, weighting="counts")
    columns = corpus.metadata or {}
    names = sorted(name for name in columns if name == "split" or name.startswith("split_"))
    given = tuple(list(columns[name]) for name in names)
    return Dataset(card, corpus, list(corpus.labels or []), given)

"""One row a token: a word is the mean of the vectors of its tokens.

Words go to the tokenizer one by one, each as if it stood at the start of a text, without the
special tokens that open and close one. Tokens that mean "unknown" do not count; a word that has no
other is unknown. The built-in tokenizer falls back to bytes, so there every word but the empty one
is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from wayfare.vectors.store import (
    Floats,
    Ints,
    LoadReport,
    Mask,
    digest,
    mean_of_runs,
    refuse_infinite,
    row_norms,
)

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["TokenModel"]

BATCH = 2048  # words that go to the tokenizer in one call


class TokenModel:
    """A tokenizer of the `tokenizers` library and one row a token id."""

    kind = "tokens"

    def __init__(
        self, tokenizer: Tokenizer, rows: Floats, *, unknown_id: int | None, content: str
    ) -> None:
        tokenizer.no_padding()
        tokenizer.no_truncation()
        # "<s>" in a text is a word like others, not the start of the text.
        tokenizer.encode_special_tokens = True
        self._tokenizer, self._rows, self._unknown_id = tokenizer, rows, unknown_id
        self._content = content
        self.dim = int(rows.shape[1])
        self.report = LoadReport()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._tokenizer.encode_special_tokens = True  # pickled tokenizers forget it

    def __len__(self) -> int:
        return len(self._rows)

    def entries(self) -> tuple[str, ...]:
        """The tokens, by row; a row that no token has is the empty string."""
        return tuple(self._tokenizer.id_to_token(i) or "" for i in range(len(self)))

    def gather(self, words: Sequence[str], *, subwords: bool) -> tuple[Floats, Mask]:
        """The means; whether or not subwords are asked for, there is nothing else here."""
        ids, owners = self._encode(words)
        counts = np.bincount(owners, minlength=len(words))
        known = counts > 0
        points = mean_of_runs(self._rows, ids, counts[known])
        refuse_infinite(points, words, known)
        return points, known

    def _encode(self, words: Sequence[str]) -> tuple[Ints, Ints]:
        """All token ids, word after word, and the number of the word that each belongs to."""
        words = [word.encode("utf-8", "replace").decode() for word in words]  # lone surrogates
        ids: list[Ints] = []
        owners: list[Ints] = []
        for start in range(0, len(words), BATCH):
            # One call on a list of words: as fast as encode_batch on one core, and it starts no
            # threads, which would print a warning in every process forked afterwards.
            encoded = self._tokenizer.encode(
                words[start : start + BATCH], is_pretokenized=True, add_special_tokens=False
            )
            ids.append(np.array(encoded.ids, dtype=np.int64))
            owners.append(np.array(encoded.word_ids, dtype=np.int64) + start)
        flat = np.concatenate(ids) if ids else np.zeros(0, np.int64)
        owner = np.concatenate(owners) if owners else np.zeros(0, np.int64)
        meant = flat != (-1 if self._unknown_id is None else self._unknown_id)
        return flat[meant], owner[meant]

    def has_subwords(self) -> bool:
        """Always."""
        return True

    def median_norm(self) -> float:
        """The median norm of a token's row."""
        return float(np.median(row_norms(self._rows))) if len(self) else 1.0

    def content(self) -> str:
        """A hash of the rows and of the tokenizer's file."""
        return digest(self._content.encode(), self._rows)

"""What an index was built with, as the catalogue keeps it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

__all__ = ["IdKind", "Settings"]

IdKind = Literal["int", "str"]


@dataclass(frozen=True)
class Settings:
    """All that is not a document: defaults of a search, how texts are read, how far the files count.

    `vectors`, `tokenizer` and `weighting` describe what they were (see reading.py). `words` rows of
    the word files of `token` count. `next_number` is the number of the next document; `generation`
    grows by one with each write.
    """

    eta: float
    tol: float
    metric: str
    dim: int
    words: int
    token: str
    ids: IdKind | None
    next_number: int
    keep_texts: bool
    unknown: str
    vocabulary: bool
    vectors: dict[str, Any] | None
    tokenizer: dict[str, Any] | None
    weighting: dict[str, Any] | None
    generation: int

    def kept(self) -> dict[str, Any]:
        """By name, as JSON can hold them."""
        return asdict(self)

    @classmethod
    def of(cls, kept: dict[str, Any]) -> Settings:
        """What was kept, back; KeyError for one that is missing."""
        return cls(**{field.name: kept[field.name] for field in fields(cls)})

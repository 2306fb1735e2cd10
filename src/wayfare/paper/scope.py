"""How much is run: all of it, or a seeded sample that says so wherever it is printed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Scope"]


@dataclass(frozen=True)
class Scope:
    """What bounds a run. `documents` is the most of one split, None: all of them.

    `splits` are as many of the given splits, or so many drawn ones; `components` are those of Word
    Mover's Embedding; `steps` those of the supervised distances; `queries` and `pairs` are for pruning
    and timing; `resamples` for intervals; `asked` is how many training documents cross-validation asks
    at most, each fold still learning from all of its own.

    >>> Scope.small(seed=3).said
    'QUICK: a seeded sample (seed 3, at most 120 documents a split, 2 splits)'
    """

    seed: int = 0
    documents: int | None = None
    splits: int = 5
    components: int = 512
    steps: int = 200
    queries: int = 10
    timed: int = 3
    pairs: int = 1000
    longest: int = 1000
    resamples: int = 2000
    asked: int | None = 2500

    @classmethod
    def small(cls, seed: int = 0) -> Scope:
        """`--quick`: minutes instead of hours; its numbers compare with nothing."""
        return cls(seed, 120, 2, 32, 20, 2, 1, 20, 100, 200)

    @property
    def quick(self) -> bool:
        """Whether this is a sample."""
        return self.documents is not None

    @property
    def said(self) -> str:
        """The mark of a sample, or nothing."""
        if not self.quick:
            return ""
        return (
            f"QUICK: a seeded sample (seed {self.seed}, at most {self.documents} documents a split, "
            f"{self.splits} splits)"
        )

    def deciding(self, *names: str) -> dict[str, Any]:
        """What of it decides a result, for the key of a cell."""
        mine = asdict(self)
        return {name: mine[name] for name in ("seed", "documents", *names)}

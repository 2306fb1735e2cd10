"""The manifest: which folders are the shards, and what holds for all of them.

shards.json            this file; without it there is no sharded index
shard-00003.json       the marker of a finished shard, for a build that goes on
shard-00003-1f2e3d4c/  an ordinary index
reading-5a6b7c8d/      an ordinary index of no documents: how queries are read and weighed
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from wayfare.errors import IndexCorruptError, IndexFailure, IndexVersionError
from wayfare.scale.storage import Place, Shard

__all__ = ["MANIFEST", "Manifest", "is_ours"]

MANIFEST = "shards.json"
KIND, FORMAT = "wayfare shards", 1


@dataclass(frozen=True)
class Manifest:
    """What a sharded index is."""

    shards: tuple[Shard, ...]
    reading: str
    ids: str
    eta: float
    tol: float
    metric: str
    keep_texts: bool

    @property
    def documents(self) -> int:
        """How many documents all shards hold."""
        return sum(shard.documents for shard in self.shards)

    def write(self, place: Place) -> None:
        """Make it what counts, at once."""
        place.write_json(MANIFEST, {"kind": KIND, "format": FORMAT} | asdict(self))

    @classmethod
    def read(cls, place: Place) -> Manifest:
        """The manifest of a place, or what keeps it from being a sharded index."""
        kept = place.read_json(MANIFEST)
        if kept is None:
            raise IndexFailure(
                f"{place.url}: no sharded index, or one whose build never ended: no {MANIFEST}; "
                "wayfare.scale.build makes one, and goes on where it was left"
            )
        if kept.get("kind") != KIND:
            raise IndexCorruptError(f"{place.at(MANIFEST)}: not a manifest of shards; restore it")
        if not isinstance(kept.get("format"), int) or kept["format"] > FORMAT:
            raise IndexVersionError(
                f"{place.url}: format {kept.get('format')!r} came, and this version of wayfare reads "
                f"up to {FORMAT}; update wayfare"
            )
        try:
            shards = tuple(Shard(**shard) for shard in kept["shards"])
            names = ("reading", "ids", "eta", "tol", "metric", "keep_texts")
            values: dict[str, Any] = {name: kept[name] for name in names}
        except (KeyError, TypeError) as error:
            raise IndexCorruptError(
                f"{place.at(MANIFEST)}: damaged ({error!r}); restore it from a copy"
            ) from None
        return cls(shards, **values)


def is_ours(name: str) -> bool:
    """Whether something in the folder belongs to a sharded index."""
    return name == MANIFEST or name.startswith(("shard-", "reading-", MANIFEST))

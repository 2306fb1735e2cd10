"""An explanation for machines: JSON and a pandas frame."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from wayfare.errors import InputError
from wayfare.extras import require

if TYPE_CHECKING:
    from wayfare.explain.explanation import Explanation, Transfer, Word

__all__ = ["COLUMNS", "as_dict", "as_frame", "as_json", "as_rows"]

COLUMNS = ["kind", "word", "to", "sent", "received", "closeness", "price"]


def as_dict(found: Explanation, most: int | None) -> dict[str, Any]:
    """The ledger in plain lists, dicts, strings and numbers."""
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 0):
        raise InputError(f"most: {most!r} came; give a whole number from 0, or None for all pairs")
    return {
        "metric": found.metric,
        "eta": found.eta,
        "status": found.status,
        "value": found.value,
        "lower": found.lower,
        "upper": found.upper,
        "objective": found.objective,
        "objective_lower": found.objective_lower,
        "objective_upper": found.objective_upper,
        "similarity": found.similarity,
        "first": {
            "mass": found.first_mass,
            "destroyed": found.destroyed,
            "words": [_word(found, word, most) for word in found.first],
        },
        "second": {
            "mass": found.second_mass,
            "created": found.created,
            "words": [_word(found, word, most) for word in found.second],
        },
    }


def _word(found: Explanation, word: Word, most: int | None) -> dict[str, Any]:
    kept = word.transfers if most is None else word.transfers[:most]
    rest = word.transfers[len(kept) :]
    first = word.side == "first"
    out: dict[str, Any] = {
        "word": word.name,
        "point": word.at,
        "mass": word.mass,
        "price": word.price,
        "destroyed" if first else "created": word.alone,
        "to" if first else "from": [_pair(found, pair, first) for pair in kept],
    }
    if rest:
        out["others"] = {"pairs": len(rest)} | {
            key: math.fsum(getattr(pair, key) for pair in rest)
            for key in ("sent", "received", "cost")
        }
    return out


def _pair(found: Explanation, pair: Transfer, to: bool) -> dict[str, Any]:
    return {
        "word": found.name("second", pair.target) if to else found.name("first", pair.source),
        "point": pair.target if to else pair.source,
        "sent": pair.sent,
        "received": pair.received,
        "cost": pair.cost,
        "closeness": pair.closeness,
    }


def as_json(found: Explanation, most: int | None, indent: int | None) -> str:
    """The same as a string; what is not ASCII is escaped, so any channel can carry it."""
    return json.dumps(as_dict(found, most), indent=indent, allow_nan=False)


def as_rows(found: Explanation) -> list[dict[str, Any]]:
    """A row a pair and a row a word that is alone, dearest first."""
    rows: list[dict[str, Any]] = [
        {
            "kind": "carried",
            "word": found.name("first", pair.source),
            "to": found.name("second", pair.target),
            "sent": pair.sent,
            "received": pair.received,
            "closeness": pair.closeness,
            "price": pair.cost,
        }
        for pair in found.transfers
    ]
    for word in (*found.first, *found.second):
        if word.alone > 0:
            first = word.side == "first"
            rows.append(
                {
                    "kind": "destroyed" if first else "created",
                    "word": word.name if first else None,
                    "to": None if first else word.name,
                    "sent": word.alone if first else 0.0,
                    "received": 0.0 if first else word.alone,
                    "closeness": None,
                    "price": word.alone,
                }
            )
    return sorted(rows, key=lambda row: -row["price"])


def as_frame(found: Explanation) -> Any:
    """The rows as a pandas frame."""
    pandas = require("pandas")
    frame = pandas.DataFrame(as_rows(found), columns=COLUMNS)
    return frame.astype(dict.fromkeys(COLUMNS[3:], "float64"))

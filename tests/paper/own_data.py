"""A small dataset of our own, in the forms in which the loaders meet them."""

import gzip
import json
from pathlib import Path

import numpy as np

from wayfare.cli.sample import sample


def rows():
    """Texts of our own with their labels, two of them copies of others."""
    texts = [{"text": one["text"], "label": one["label"]} for one in sample()]
    return texts + texts[:2]


def write_data(folder: Path) -> Path:
    """A dataset without a split, and pairs of concept and project."""
    lines = (json.dumps(row | {"id": n, "split": None}) for n, row in enumerate(rows()))
    with gzip.open(folder / "bbcsport.jsonl.gz", "wt") as file:
        file.write("\n".join(lines))
    pairs = []
    for number, row in enumerate(rows()[:40]):
        other = rows()[(number * 7 + 3) % 60]
        right = number % 2
        project = f"{row['text'] if right else other['text']} {other['text']}"
        pairs.append(
            {"concept": row["text"], "project": project, "label": right, "project_id": number // 4}
        )
    (folder / "concept_project.jsonl").write_text("\n".join(map(json.dumps, pairs)))
    return folder


def cells(values):
    """A cell array of MATLAB."""
    out = np.empty(len(values), dtype=object)
    for at, value in enumerate(values):
        out[at] = value
    return out


def mat_documents():
    """Points, counts and words of six documents over three words, the first and the last alike."""
    points = {"rain": [1.0, 0.0], "sun": [0.0, 1.0], "wind": [0.6, 0.8]}
    texts = [["rain"], ["sun"], ["rain", "wind"], ["sun", "wind"], ["wind"], ["rain"]]
    return (
        cells([np.array([points[word] for word in words]).T for words in texts]),
        cells([np.full((1, len(words)), 2.0) for words in texts]),
        cells([cells(words) for words in texts]),
    )

"""What others printed, each number once: the paper, its published version, and Sato et al. (2022).

Errors are in percent: (mean, deviation over splits), the deviation None where there is one split.
"""

from __future__ import annotations

__all__ = [
    "BAR",
    "DATASETS",
    "DUALITY_GAP",
    "PREPRINT",
    "PRUNING",
    "PUBLISHED",
    "SATO",
    "SINKHORN_SECONDS",
    "STATISTICS",
    "TASK1",
    "Figure",
]

Figure = tuple[float, float | None]

DATASETS = ("bbcsport", "twitter", "recipe", "ohsumed", "classic", "reuters", "amazon", "20news")


def _row(*figures: float | Figure) -> dict[str, Figure]:
    pairs = (one if isinstance(one, tuple) else (one, None) for one in figures)
    return dict(zip(DATASETS, pairs, strict=True))


# Table 2 of the preprint.
PREPRINT: dict[str, dict[str, Figure]] = {
    "wmd": _row((4.6, 0.7), (28.7, 0.6), (42.6, 0.3), 44.5, (2.8, 0.1), 3.5, (7.4, 0.3), 28.3),
    "s-wmd": _row((2.1, 0.5), (27.5, 0.5), (39.2, 0.3), 34.3, (3.2, 0.2), 3.2, (5.8, 0.1), 26.8),
    "wfr": _row((0.8, 0.3), (26.4, 0.2), (38.9, 0.1), 41.82, (2.6, 0.2), 3.2, (4.8, 0.2), 22.3),
    "wme-wmd": _row((3.5, 0.7), (26.8, 2.3), (48.0, 0.6), 42.1, (4.8, 0.3), 4.0, (7.4, 0.4), 30.7),
    "wme-wfr": _row((2.7, 1.0), (26.0, 1.9), (43.3, 1.2), 37.2, (3.7, 0.4), 3.7, (7.5, 0.3), 29.8),
}

# The published version (ACML 2020).
PUBLISHED: dict[str, dict[str, Figure]] = {"wfr": _row(1.1, 26.4, 38.9, 41.82, 2.6, 3.2, 4.8, 24.3)}

# Sato, Yamada, Kashima: Re-evaluating Word Mover's Distance (ICML 2022).
SATO: dict[str, dict[str, Figure]] = {
    "l1-tfidf": _row(2.8, 28.9, 40.1, 37.8, 3.3, 5.5, 8.0, 25.9),
    "wmd-tfidf": _row(3.3, 28.3, 39.9, 39.7, 2.7, 4.0, 6.6, 24.1),
}

# Training and test documents, distinct words in the mean and their deviation.
STATISTICS: dict[str, tuple[int, int, float, float]] = {
    "bbcsport": (517, 220, 117.0, 55.0),
    "twitter": (2175, 933, 9.9, 5.1),
    "recipe": (3059, 1311, 48.4, 29.8),
    "ohsumed": (3999, 5153, 59.2, 22.3),
    "classic": (4965, 2128, 38.8, 27.7),
    "reuters": (5485, 2189, 37.1, 36.6),
    "amazon": (5600, 2400, 45.1, 45.8),
    "20news": (11293, 7528, 69.7, 70.1),
}

# Percent of the training documents left after rounds 1, 2 and 3, K = 20.
PRUNING: dict[str, tuple[float, float, float]] = {
    "bbcsport": (89.6, 6.2, 4.1),
    "twitter": (2.1, 1.0, 0.9),
    "recipe": (46.3, 1.9, 0.8),
    "ohsumed": (31.1, 0.8, 0.5),
    "classic": (33.8, 1.2, 0.5),
    "reuters": (3.2, 0.6, 0.4),
    "amazon": (1.7, 0.5, 0.4),
    "20news": (40.0, 0.6, 0.2),
}

# 1,000 pairs of 10 to 1,000 words by the same iteration, in MATLAB.
SINKHORN_SECONDS = {"wfr": 42.3, "wmd": 39.7}
DUALITY_GAP = 1e-3  # the mean relative gap of the paper's schedule is at most this

# Concept-project, by the authors' code: ranges over eta, and what "all are matches" reaches.
TASK1 = {"best_f1": (0.728, 0.749), "area": (0.66, 0.73), "all_positive_f1": 0.70}

# No higher than this, in percent: the paper's row of WFR.
BAR = {name: PREPRINT["wfr"][name][0] for name in DATASETS if name not in ("recipe", "ohsumed")}

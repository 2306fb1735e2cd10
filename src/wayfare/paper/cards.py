"""What is known of each dataset: where it comes from, what may be done with it, and what to beware of."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CARDS", "Card"]

NOT_STATED = "none stated by its makers"


@dataclass(frozen=True)
class Card:
    """One dataset. `files` are how names of its files begin; `keep_stop_words` is the protocol's.

    `rare` drops words seen fewer times in the collection, `most` keeps so many of the commonest words
    of a document: Kusner's filter, which only one of them has.
    """

    name: str
    title: str
    source: str
    licence: str
    documents: int
    classes: int
    caveats: str
    files: tuple[str, ...]
    keep_stop_words: bool = False
    rare: int = 0
    most: int | None = None


CARDS: dict[str, Card] = {
    card.name: card
    for card in (
        Card(
            "bbcsport",
            "BBCSPORT",
            "Greene and Cunningham (2006), articles of 2004-2005",
            "the BBC's copyright; offered for research",
            737,
            5,
            "13 duplicate texts; no split of its own",
            ("bbcsport",),
        ),
        Card(
            "twitter",
            "TWITTER",
            "Sanders (2011), tweets with their sentiment",
            "offered for research; the texts are their authors'",
            3115,
            3,
            "264 duplicates, 13 groups of them with conflicting labels; the paper has 3,108 "
            "documents; stop words are kept, as in the protocol",
            ("twitter",),
            keep_stop_words=True,
        ),
        Card(
            "recipe",
            "RECIPE",
            "Kusner et al. (2015), recipes by region",
            NOT_STATED,
            4370,
            15,
            "exists only as a .mat file with its own vectors",
            ("recipe",),
        ),
        Card(
            "ohsumed",
            "OHSUMED",
            "Hersh et al. (1994), medical abstracts of MEDLINE",
            "offered for research",
            7400,
            23,
            "as JSON Lines the edition of 23 classes and 3,357 / 4,043 documents, not the paper's of "
            "10 classes and 3,999 / 5,153: comparable in kind, not in number",
            ("ohsumed",),
        ),
        Card(
            "classic",
            "CLASSIC",
            "the SMART collections CACM, CISI, CRAN and MED",
            NOT_STATED,
            7095,
            4,
            "274 duplicates; one document without words; no split of its own",
            ("classic",),
        ),
        Card(
            "reuters",
            "REUTERS",
            "Reuters-21578, its eight largest classes (R8)",
            "the copyright of Reuters; offered for research",
            7674,
            8,
            "the split of the paper",
            ("reuters", "r8"),
        ),
        Card(
            "amazon",
            "AMAZON",
            "Blitzer et al. (2007), reviews by kind of product",
            NOT_STATED,
            8000,
            4,
            "147 duplicates; no split of its own",
            ("amazon",),
        ),
        Card(
            "20news",
            "20NEWS",
            "Lang (1995), posts of twenty newsgroups",
            NOT_STATED,
            18821,
            20,
            "the split of the paper; words seen fewer than five times are left out, and each "
            "document keeps its 500 commonest words. From scikit-learn: 18,846 documents",
            ("20news", "20ng"),
            rare=5,
            most=500,
        ),
        Card(
            "concept_project",
            "CONCEPT-PROJECT",
            "Bhat et al. (2018), concepts of science and projects for schools",
            NOT_STATED,
            537,
            2,
            "291 of 537 pairs match; projects and concepts repeat; rebuilt from token ids, with some "
            "words glued",
            ("concept_project",),
        ),
    )
}

"""The sections of the report, a function a task: what was found as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wayfare.paper.cards import CARDS
from wayfare.paper.markdown import number, plus_minus, table
from wayfare.paper.published import DUALITY_GAP, SINKHORN_SECONDS, STATISTICS

__all__ = ["datasets", "missing", "pruning", "table1", "table2", "task1", "timing"]

Lines = Sequence[dict[str, Any]]


def datasets(lines: Lines) -> str:
    """A card for each dataset, and its statistics beside the paper's."""
    rows = []
    for line in lines:
        printed = STATISTICS.get(line["dataset"])
        rows.append(
            [
                CARDS[line["dataset"]].title,
                f"{line['documents']:,}",
                "" if printed is None else f"{printed[0] + printed[1]:,}",
                f"{line['train']:,} / {line['test']:,}",
                "" if printed is None else f"{printed[0]:,} / {printed[1]:,}",
                f"{line['mean']:.1f} ± {line['std']:.1f}",
                "" if printed is None else f"{printed[2]:.1f} ± {printed[3]:.1f}",
                str(line["classes"]),
                str(line["removed"]),
            ]
        )
    names = ["dataset", "documents", "paper's", "train / test", "paper's"]
    names += ["distinct words", "paper's", "classes", "duplicates left out"]
    cards = "\n".join(
        f"- **{card.title}**: {card.source}. Licence: {card.licence}. Beware: {card.caveats}."
        for card in (CARDS[line["dataset"]] for line in lines)
    )
    note = "Distinct words are those with a vector, after stop words are left out."
    return f"## The datasets\n\n{table(names, rows)}\n\n{note}\n\n{cards}\n"


def missing(keys: Lines) -> str:
    """What was asked for and is not finished, by task, dataset and vectors."""
    groups: dict[tuple[str, str], dict[str, int]] = {}
    for key in keys:
        where = " ".join(str(key[name]) for name in ("dataset", "vectors") if name in key)
        row = str(key.get("row", ""))
        counts = groups.setdefault((key["task"], where), {})
        counts[row] = counts.get(row, 0) + 1
    rows = [
        [
            task,
            where,
            ", ".join(f"{row} ({count})" if row else str(count) for row, count in of.items()),
        ]
        for (task, where), of in groups.items()
    ]
    said = "This report is of a run that goes on. Not finished, with the number of splits or cells:"
    return f"## What is missing\n\n{said}\n\n{table(['task', 'where', 'rows'], rows)}\n"


def table2(lines: Lines, chosen: Lines) -> str:
    """Errors beside the printed ones; then what validation prefers beside the bar."""
    parts = [
        "## Table 2: errors of k-NN, %\n",
        "k (1 to 19), eta and the other settings are chosen by 5-fold cross-validation on the training "
        "documents, in shuffled, stratified folds; tf-idf is fitted on the training documents of the "
        "split, all folds of them, without their labels. Where a split has more training documents "
        "than the column asked says, a seeded sample is asked; each fold learns from all of "
        "its own. "
        '"LEAKING: best k on test" is the least error over k, chosen with the test labels, '
        "as the authors' code reports it: it is not a result. Rows of WFR are run under all vectors, the "
        "others under those that WFR prefers in cross-validation. Two rows would take hours a split: the "
        "supervised ones are run on the first. Theirs and WME's eta is that of the row of WFR. CPU hours "
        "are those of the searches, which rows of one weighting share between splits.\n",
    ]
    for vectors in dict.fromkeys(line["vectors"] for line in lines):
        parts.append(f"### Vectors: {vectors}\n")
        parts.append(_errors([line for line in lines if line["vectors"] == vectors]))
    if chosen:
        parts.append("### What validation prefers, beside the bar\n")
        parts.append(_choices(chosen))
    return "\n".join(parts)


def _errors(lines: Lines) -> str:
    names = ["dataset", "row", "ours", "in cross-validation", "LEAKING: best k on test"]
    names += ["preprint", "published (ACML)", "Sato et al.", "k", "eta", "splits", "asked"]
    names.append("CPU hours")
    rows = [
        [
            CARDS[line["dataset"]].title,
            line["title"],
            plus_minus((line["error"], line["deviation"]), 2),
            number(line["cv_error"], 2),
            number(line["leaking"], 2),
            plus_minus(line["preprint"]),
            "" if line["published"] == line["preprint"] else plus_minus(line["published"]),
            plus_minus(line["sato"]),
            _several(line["k"], "d"),
            _several(line["eta"], ".3g"),
            str(len(line["splits"])),
            "" if line["asked"] is None else f"{line['asked']:,}",
            number(line["cpu_seconds"] / 3600, 2),
        ]
        for line in lines
    ]
    return table(names, rows) + "\n"


def _several(values: Sequence[Any], form: str) -> str:
    return ", ".join(format(value, form) for value in values if value is not None)


def _choices(chosen: Lines) -> str:
    names = ["dataset", "ours", "the bar", "passes", "our WMD", "below it", "chosen", "tried"]
    rows = [
        [
            CARDS[line["dataset"]].title,
            number(line["error"], 2),
            number(line["bar"]),
            _yes(line["passes_bar"]),
            number(line["wmd"], 2),
            _yes(line["below_wmd"]),
            "; ".join(dict.fromkeys(line["chosen"])),
            "; ".join(line["tried"]),
        ]
        for line in chosen
    ]
    return table(names, rows) + "\n"


def _yes(answer: bool | None) -> str:
    return "" if answer is None else "yes" if answer else "**no**"


def task1(lines: Lines) -> str:
    """Numbers of the curves with intervals over projects."""
    printed = lines[0]["printed"]
    rows = [
        [
            line["metric"],
            number(line["eta"], 2),
            *(_interval(line[name]) for name in ("average_precision", "best_f1", "area")),
            f"{line['beyond_wmd']['low']:+.3f} to {line['beyond_wmd']['high']:+.3f}",
        ]
        for line in lines
    ]
    names = ["distance", "eta", "average precision", "best F1", "area"]
    names.append("average precision beyond WMD's")
    low, high = printed["best_f1"]
    said = (
        f"Calling every pair a match has F1 {lines[0]['all_positive_f1']:.3f}. The authors' code: "
        f"best F1 {low} to {high}, area {printed['area'][0]} to {printed['area'][1]}, every pair a match "
        f"{printed['all_positive_f1']:.2f}. In brackets 95% intervals from drawing whole projects. The "
        "best F1 is over thresholds chosen on the same pairs, as in the paper: it flatters all alike."
    )
    figure = "![Precision by recall](task1.png)"
    return f"## Task 1: concept and project\n\n{table(names, rows)}\n\n{said}\n\n{figure}\n"


def _interval(one: dict[str, float]) -> str:
    return f"{one['value']:.3f} [{one['low']:.3f}, {one['high']:.3f}]"


def table1(found: dict[str, Any]) -> str:
    """The example, word by word, and what both metrics say."""
    names = ["", "word", "distance to awful", "WMD: mass", "price"]
    names += ["WFR: carried", "created", "price"]
    rows = [
        [
            word["document"],
            word["word"],
            *(number(word[name], 3) for name in ("distance", "wmd_mass", "wmd_price")),
            *(number(word[name], 3) for name in ("wfr_carried", "wfr_created", "wfr_price")),
        ]
        for word in found["words"]
    ]
    a, c = found["A"], found["C"]
    order = "farther" if a["lower"] > c["upper"] else "not proven farther"
    said = (
        f"From B to A and to C, WMD is {a['wmd']:.3f} and {c['wmd']:.3f}; WFR at eta {found['eta']:.3g} "
        f"is {a['wfr']:.3f} and {c['wfr']:.3f}: A is {order} than C. Prices of WFR add up to J."
    )
    drawn = "\n\n".join(f"![{name}]({name}.png)" for name in ("wmd-b-c", "wfr-b-c", "wfr-b-a"))
    return f"## Table 1 and Figure 1: the example\n\n{table(names, rows)}\n\n{said}\n\n{drawn}\n"


def pruning(lines: Lines) -> str:
    """What is left after each round of the paper's algorithm and each bound of ours, in percent."""
    names = ["dataset", "documents", "queries", "eta", "round 1", "round 2", "round 3"]
    names += [
        "paper: 1",
        "2",
        "3",
        "ours: after the words",
        "own words",
        "middle",
        "sweeps",
        "solved",
    ]
    rows = [
        [
            CARDS[line["dataset"]].title,
            f"{line['documents']:,}",
            str(line["queries"]),
            number(line["eta"], 2),
            *(number(100 * share, 2) for share in line["rounds"][:3]),
            *([""] * 3 if line["printed"] is None else map(number, line["printed"])),
            *(
                number(100 * line["ours"][name], 2)
                for name in ("by_rows", "by_middle", "by_sweep", "started", "solved")
            ),
        ]
        for line in lines
    ]
    note = (
        "Percent of the training documents, K = 20. The columns of ours are the documents that reach "
        "each dearer bound, the solver, and its end: what is left once the bound before has been used."
    )
    return f"## Pruning\n\n{table(names, rows)}\n\n{note}\n"


def timing(found: dict[str, Any]) -> str:
    """Seconds of a query, of the same iteration for both metrics, and the paper's gap."""
    rows = [
        [
            CARDS[line["dataset"]].title,
            f"{line['documents']:,}",
            *(number(line[name], 4) for name in ("brute", "paper", "ours", "gpu")),
            f"{line['mean_gap']:.1e}",
            f"{line['worst_gap']:.1e}",
        ]
        for line in found["queries"]
    ]
    names = ["dataset", "documents", "brute force, s", "paper's algorithm, s", "ours, s"]
    names += ["ours on a GPU, s", "mean gap of the paper's schedule", "largest"]
    said = (
        f"The median of {found['timed']} queries, K = 20, one thread, after compilation; the paper's "
        "algorithm is our NumPy of it. Gaps are relative, between proven bounds; the paper says at most "
        f"{DUALITY_GAP:g}."
    )
    same = found["sinkhorn"]
    if same is not None:
        said += (
            f" {same['pairs']:,} pairs of {same['shortest']} to {same['longest']:,} words, "
            f"{same['sweeps']} sweeps of the same iteration: WFR {same['wfr']:.1f} s, WMD "
            f"{same['wmd']:.1f} s (the paper: {SINKHORN_SECONDS['wfr']} s and "
            f"{SINKHORN_SECONDS['wmd']} s)."
        )
    return f"## Timing\n\n{table(names, rows)}\n\n{said}\n"

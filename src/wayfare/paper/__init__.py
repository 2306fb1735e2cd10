"""The paper, reproduced: its datasets, its protocols, its tables, beside ours.

published.py   the numbers of the paper and of Sato et al. (2022), each once
cards.py       what is known of each dataset
datasets.py    the datasets, from each form in which people have them
splits.py      which documents are learnt from, and which are asked
cells.py       what is finished is kept, so that a run can be cut and go on
scope.py       how much is run: all of it, or a seeded sample
methods.py     the rows of Table 2, a function each
task2.py       Table 2: k-NN classification
task1.py       concept and project: matching texts of unlike length
table1.py      the example of Figure 1 and Table 1
pruning.py     what each round of a search leaves
timing.py      what a query, a pair and a sweep take
figures.py     the figures, as PNG and SVG
report.py      report.md and results.json
run.py         one command
"""

from __future__ import annotations

from wayfare.paper.cards import CARDS, Card
from wayfare.paper.datasets import Dataset, load
from wayfare.paper.run import TASKS, reproduce
from wayfare.paper.scope import Scope

__all__ = ["CARDS", "TASKS", "Card", "Dataset", "Scope", "load", "reproduce"]

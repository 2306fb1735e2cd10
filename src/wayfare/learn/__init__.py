"""Learning with documents: scikit-learn estimators over certified distances.

documents.py   what estimators take as X, as a corpus
"""

from __future__ import annotations

__all__: list[str] = []

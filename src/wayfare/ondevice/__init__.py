"""Documents on a GPU: what is placed there, and bounds on their pairs.

desk.py     where pairs are worked on, and what is asked of them
kept.py     collections that stay on a device between searches
blocks.py   all pairs of two corpora
"""

from wayfare.ondevice.blocks import all_pairs
from wayfare.ondevice.desk import Desk

__all__ = ["Desk", "all_pairs"]

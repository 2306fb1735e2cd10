"""Transport distances learnt from labels, by a map of the points and a weight for each word.

parameters.py     what is learnt, how it changes documents, and the chain rule through that
nca.py            the loss over distances
transport.py      the distances and their derivatives, one anchor against its neighbours
objective.py      the loss of a batch and its gradient
pools.py          who is compared with whom
descent.py        Adam, early stopping, from check to check
centroid_loss.py  the loss over centres of mass
initial.py        where descent starts
checkpoint.py     a course on disk
lesson.py         one learning problem: start, learn, judge
nearest.py        exact neighbours under balanced transport
known.py          from what was learnt to other documents
settings.py       what may be asked for
estimator.py      what the two estimators share
wmd.py, wfr.py    SupervisedWMD and SupervisedWFR
"""

from wayfare.learn.supervised.wfr import SupervisedWFR
from wayfare.learn.supervised.wmd import SupervisedWMD

__all__ = ["SupervisedWFR", "SupervisedWMD"]

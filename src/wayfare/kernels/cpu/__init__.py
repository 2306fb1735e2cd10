"""The production kernels, in Numba. Each runs on one thread and releases the interpreter's lock.

jit.py         how they are compiled and cached
lanes.py       sixteen numbers at once, the type that passes are written in
memory.py      between arrays and lanes
passes.py      the passes over a matrix
powers.py      logarithms and powers to base 2
problem.py     one dense problem as it is held: matrices, transposes, a scratch a side
certificate.py bounds of its affinity, from any potentials and any plan
anneal.py      one dense problem: anneal, certify, stop
sparse.py      one long problem, with a plan that holds only what matters
components.py  a problem with zeros in its kernel, taken apart
codes.py       distances of words as 16-bit codes
balanced.py    bounds on balanced transport, from both sides
batch.py       one query against many documents; one pair with its plan
"""

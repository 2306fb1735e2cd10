"""The production kernels, in Numba. Each runs on one thread and releases the interpreter's lock.

jit.py         how they are compiled and cached
passes.py      the passes over a matrix
powers.py      logarithms and powers to base 2
anneal.py      one dense problem: anneal, certify, stop
components.py  a problem with zeros in its kernel, taken apart
codes.py       distances of words as 16-bit codes
balanced.py    bounds on balanced transport, from both sides
batch.py       one query against many documents; one pair with its plan
"""

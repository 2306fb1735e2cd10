"""The kernels on a GPU, in PyTorch and Triton, behind the same bounds as those on the CPU.

torches.py   PyTorch at its door: the device, the install command, no TF32
tritons.py   Triton, where it is installed
problem.py   what a pass is, and how far its numbers may be off
placed.py    documents on a device, and the table of their cosines
bounds.py    lower bounds for search, for all documents at once
plain.py     a pass over a padded batch, in plain PyTorch
fused.py     a pass over pairs in registers, in Triton
tiled.py     the same over plans in memory, tile by tile
engines.py   who runs a pass
pairs.py     pairs by size, pass after pass, in blocks that fit the memory
"""

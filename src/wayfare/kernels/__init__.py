"""The hot loops behind one small interface.

    reference.py   float64 NumPy, the paper line by line: the oracle of the tests, and method="paper"
    finish.py      float64 NumPy, an interior-point method: the finish for tolerances beyond Sinkhorn
    cpu/           Numba: what production runs
    gpu/           PyTorch and Triton: the same bounds for millions of pairs at once

All of them speak cosines. `h_ij = cos_+(|x_i - y_j| / 2 eta)`, so the kernel is `k = h^2` and the
cost `C = -2 log h`; `h = 0` is an infinite cost and needs no special case. All of them bound the
affinity `S` of two measures, from which everything else follows:

    J = |mu| + |nu| - 2 S,    S = max sum_ij h_ij sqrt(A_ij B_ij)          (semi-coupling, primal)
                                = min sqrt(<a, mu> <b, nu>), a_i b_j >= h_ij^2    (dual, translated)
"""

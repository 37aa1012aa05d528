"""SciPy's iterative solvers, in turns with the bench `solve` in Rust.

    solve_peers.py SIDE ITERATIONS

Reads names of methods, a line each, and answers each with the nanoseconds that ITERATIONS
iterations took, for Poisson's equation on SIDE^3 points.
"""

import sys
import time

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as solvers

side, iterations = map(int, sys.argv[1:])
difference = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (side, side))
one = sp.identity(side)
a = sp.csr_array(sum(sp.kron(sp.kron(x, y), z) for x, y, z in
                     [(difference, one, one), (one, difference, one), (one, one, difference)]))
b = np.arange(side**3) * 7 % 11 - 5.0
reciprocals = 1 / a.diagonal()
jacobi = solvers.LinearOperator(a.shape, matvec=lambda x: reciprocals * x)
methods = {
    "cg": lambda: solvers.cg(a, b, rtol=0, maxiter=iterations),
    "cg, Jacobi": lambda: solvers.cg(a, b, rtol=0, maxiter=iterations, M=jacobi),
    "bicgstab": lambda: solvers.bicgstab(a, b, rtol=0, maxiter=iterations),
    "lsqr": lambda: solvers.lsqr(a, b, atol=0, btol=0, conlim=0, iter_lim=iterations),
}

for line in sys.stdin:
    start = time.perf_counter_ns()
    methods[line.strip()]()
    print(time.perf_counter_ns() - start, flush=True)

"""Compiled leaves for small dense systems I - gamma P_pi whose graph is not known beforehand, as in
an empirical model.

The matrix is an M-matrix, so elimination needs no pivoting; zeros are skipped. Where the graph is
known and many policies are to be evaluated, `elimination` is faster. Matrices are flat [n*n], rows
contiguous; unsigned indices let the compiler vectorize.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.jit import kernel, phase

Floats = NDArray[np.float64]
ZERO, ONE, TWO, THREE, FOUR = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
SINGULAR = 1e-13


@kernel
def fill_system(
    M: Floats,
    indptr: NDArray[np.int32],
    indices: NDArray[np.int32],
    data: Floats,
    pi: Floats,
    gamma: float,
) -> None:
    """M = I - gamma P_pi."""
    n_states, n_actions = pi.shape
    M[:] = 0.0
    for s in range(n_states):
        row = s * n_states
        M[row + s] = 1.0
        for a in range(n_actions):
            weight = gamma * pi[s, a]
            if weight != 0.0:
                for e in range(indptr[s * n_actions + a], indptr[s * n_actions + a + 1]):
                    M[row + indices[e]] -= weight * data[e]


@kernel
def dot(x: Floats, y: Floats, start_x: int, start_y: int, count: int) -> float:
    """Sum of x[start_x + i] * y[start_y + i] in four independent sums, whatever the machine's
    vector width.
    """
    i, j, end = np.uint64(start_x), np.uint64(start_y), np.uint64(start_x + (count & ~3))
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    while i < end:
        s0 += x[i] * y[j]
        s1 += x[i + ONE] * y[j + ONE]
        s2 += x[i + TWO] * y[j + TWO]
        s3 += x[i + THREE] * y[j + THREE]
        i += FOUR
        j += FOUR
    for _ in range(count & 3):
        s0 += x[i] * y[j]
        i += ONE
        j += ONE
    return (s0 + s1) + (s2 + s3)


@kernel
def factor(M: Floats, inverse: Floats, x: Floats) -> None:
    """Overwrite M with its factors, `inverse` with the reciprocal pivots; see `eliminate`."""
    n = np.uint64(len(inverse))
    for k in range(ZERO, n):
        inverse_pivot = reciprocal(M[k * n + k])
        inverse[k] = inverse_pivot
        for i in range(k + ONE, n):
            multiplier = M[i * n + k]
            if multiplier != 0.0:
                eliminate(M, x, i * n, k * n, i, k, n, multiplier * inverse_pivot)


@phase
def reciprocal(pivot: float) -> float:
    """1 / pivot. A pivot of 0 belongs to a set of states that is never left; its reciprocal is 0,
    which sets those states' visits to 0.
    """
    return 0.0 if pivot < SINGULAR else 1.0 / pivot


@phase
def eliminate(
    M: Floats,
    x: Floats,
    row: Any,
    pivot_row: Any,
    i: Any,
    k: Any,
    end: Any,
    multiplier: float,
) -> None:
    """Subtract from row i, which begins at `row`, `multiplier` times row k, which ends at `end`.

    M becomes its unit lower factor (below the diagonal) and upper factor. The right-hand side x is
    carried along and leaves as the solution of the lower system, for `back_substitute`.
    """
    M[row + k] = multiplier
    for j in range(k + ONE, end):
        M[row + j] -= multiplier * M[pivot_row + j]
    x[i] -= multiplier * x[k]


@kernel
def back_substitute(M: Floats, inverse: Floats, x: Floats) -> None:
    """Overwrite x, as `factor` left it, with the solution of the whole system."""
    n = len(inverse)
    for i in range(n - 1, -1, -1):
        x[i] = (x[i] - dot(M, x, i * n + i + 1, i + 1, n - 1 - i)) * inverse[i]

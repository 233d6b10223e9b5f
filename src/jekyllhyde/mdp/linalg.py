"""Compiled leaves for linear systems A x = b with A = I - gamma P, the graph of P not known before.

Small dense systems, as of an empirical model: A is an M-matrix, so elimination needs no pivoting;
zeros are skipped. Where the graph is known and many policies are to be evaluated, `elimination` is
faster. Matrices are flat [n*n], rows contiguous; unsigned indices let the compiler vectorize.

Large sparse systems: BiCGSTAB, scaled by the diagonal. Every vector operation is fused with its
neighbours and with the inner products it feeds: an iteration is two sparse products and three
passes over memory. P comes as CSR arrays, that of a transposed system too. Sums are taken in order,
so results depend neither on threads nor on the vector width. Unsigned indices spare a test for
negative ones at every access: twice the speed.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.jit import kernel, phase
from jekyllhyde.parallel import WORK

Floats = NDArray[np.float64]
Indices = NDArray[np.uint64]
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
        inverse[k] = inverse_pivot = reciprocal(M[k * n + k])
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


class Sparse(NamedTuple):
    """The matrix I - gamma P: the CSR arrays of P, and gamma."""

    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    data: Floats
    gamma: float


@kernel
def _row(A: Sparse, x: Floats, i: int) -> float:
    # Entry i of P x.
    product = 0.0
    for e in range(np.uint64(A.indptr[i]), np.uint64(A.indptr[i + ONE])):
        product += A.data[e] * x[np.uint64(A.indices[e])]
    return product


@kernel
def residual_of(A: Sparse, b: Floats, x: Floats, out: Floats) -> float:
    """Set out = b - A x; returns its largest absolute entry."""
    largest = 0.0
    for i in range(ZERO, np.uint64(len(x))):
        out[i] = b[i] - (x[i] - A.gamma * _row(A, x, i))
        if abs(out[i]) > largest or out[i] != out[i]:  # a NaN stays
            largest = abs(out[i])
    return largest


@kernel
def _apply(A: Sparse, scale: Floats, x: Floats, y: Floats, out: Floats) -> tuple[float, float]:
    # Set out = scale A x; returns out . y and out . out.
    with_y, with_itself = 0.0, 0.0
    for i in range(ZERO, np.uint64(len(x))):
        out[i] = value = scale[i] * (x[i] - A.gamma * _row(A, x, i))
        with_y += value * y[i]
        with_itself += value * value
    return with_y, with_itself


@kernel
def substitute(A: Sparse, x: Floats, backwards: bool) -> None:
    """Solve A x = b in place of b [n], where each row has only later columns (`backwards`), or only
    earlier ones.
    """
    n = len(x)
    for i in range(n):
        row: Any = np.uint64(n - 1 - i if backwards else i)
        x[row] += A.gamma * _row(A, x, row)


def bicgstab(
    A: Sparse, scale: Floats, rest: Floats, x: Floats, goal: float, iterations: int
) -> int:
    """Add to x the correction that takes `rest` = b - A x [n], overwritten, below `goal`; returns
    the iterations made.

    `scale` [n] holds the reciprocal diagonal. The usual shadow, the first residual, is often zero
    in all but a few states and then orthogonal to the next ones, which ends the iteration; a dense
    one is not. The caller checks the true residual: the recurrence drifts from it by rounding.
    """
    vectors, scalars = np.zeros((4, len(x))), np.zeros(4)
    stride = 1 + WORK // (4 * len(A.data) + 20 * len(x))
    made, ended = 0, False
    while made < iterations and not ended:
        step, ended = _iterate(
            A, scale, rest, vectors, scalars, x, goal, min(stride, iterations - made)
        )
        made += step
    return made


@kernel
def _iterate(
    A: Sparse,
    scale: Floats,
    r: Floats,
    vectors: Floats,
    scalars: Floats,
    x: Floats,
    goal: float,
    iterations: int,
) -> tuple[int, bool]:
    # Up to so many iterations; returns how many were made, and whether there is nothing left.
    # vectors [4, n] (the shadow, p, v, t) and scalars [4] (rho, the next rho, alpha, omega) are
    # handed from call to call; all are 0 at the first.
    shadow, p, v, t = vectors[0], vectors[1], vectors[2], vectors[3]
    rho, rho_next, alpha, omega = scalars[0], scalars[1], scalars[2], scalars[3]
    if rho == 0.0:
        rho, alpha, omega = 1.0, 1.0, 1.0
        for i in range(len(x)):
            r[i] *= scale[i]
            shadow[i] = 1.0 + (0.6180339887498949 * i) % 1.0
            rho_next += shadow[i] * r[i]
    for iteration in range(1, iterations + 1):
        beta = rho_next / rho * (alpha / omega)
        rho = rho_next
        for i in range(len(x)):
            p[i] = r[i] + beta * (p[i] - omega * v[i])
        with_shadow, _ = _apply(A, scale, p, shadow, v)
        if with_shadow == 0.0:
            return iteration, True
        alpha = rho / with_shadow
        for i in range(len(x)):
            r[i] -= alpha * v[i]
        with_r, with_itself = _apply(A, scale, r, r, t)
        omega = with_r / with_itself if with_itself > 0.0 else 0.0
        rho_next, largest = 0.0, 0.0
        for i in range(len(x)):
            x[i] += alpha * p[i] + omega * r[i]
            r[i] -= omega * t[i]
            rho_next += shadow[i] * r[i]
            largest = max(largest, abs(r[i]))
        if largest <= goal or omega == 0.0 or rho_next == 0.0:
            return iteration, True
    scalars[0], scalars[1], scalars[2], scalars[3] = rho, rho_next, alpha, omega
    return iterations, False

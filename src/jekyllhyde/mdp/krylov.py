"""Compiled leaf: BiCGSTAB for A x = b, A = I - gamma P with P sparse, scaled by the diagonal.

Every vector operation is fused with its neighbours and with the inner products it feeds: an
iteration is two sparse products and three passes over memory. P comes as CSR arrays, that of a
transposed system too. Sums are taken in order, so results depend neither on threads nor on the
vector width. Unsigned indices spare a test for negative ones at every access: twice the speed.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.jit import kernel
from jekyllhyde.mdp.finite import Floats
from jekyllhyde.mdp.linalg import ONE, ZERO
from jekyllhyde.parallel import WORK


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
        value = scale[i] * (x[i] - A.gamma * _row(A, x, i))
        out[i] = value
        with_y += value * y[i]
        with_itself += value * value
    return with_y, with_itself


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
        limit = min(stride, iterations - made)
        step, ended = _iterate(A, scale, rest, vectors, scalars, x, goal, limit)
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

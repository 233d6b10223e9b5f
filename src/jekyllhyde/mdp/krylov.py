"""Compiled leaf: BiCGSTAB for (I - gamma P) x = b with P sparse, scaled by the diagonal.

Every vector operation is fused with its neighbours and with the inner products it feeds: an
iteration is two sparse products and three passes over memory. P comes as CSR arrays, that of a
transposed system too. Sums are taken in order, so results depend neither on threads nor on the
vector width. Unsigned indices spare a test for negative ones at every access: twice the speed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.jit import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
ZERO, ONE = np.uint64(0), np.uint64(1)


@kernel
def _row(indptr: Ints, indices: Ints, data: Floats, x: Floats, i: int) -> float:
    """Entry i of P x."""
    product = 0.0
    for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + ONE])):
        product += data[e] * x[np.uint64(indices[e])]
    return product


@kernel
def residual_of(
    indptr: Ints, indices: Ints, data: Floats, gamma: float, b: Floats, x: Floats, out: Floats
) -> float:
    """Set out = b - (I - gamma P) x; returns its largest absolute entry."""
    largest = 0.0
    for i in range(ZERO, np.uint64(len(x))):
        out[i] = b[i] - (x[i] - gamma * _row(indptr, indices, data, x, i))
        if abs(out[i]) > largest or out[i] != out[i]:  # a NaN stays
            largest = abs(out[i])
    return largest


@kernel
def _apply(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    gamma: float,
    scale: Floats,
    x: Floats,
    y: Floats,
    out: Floats,
) -> tuple[float, float]:
    """Set out = scale (I - gamma P) x; returns out . y and out . out."""
    with_y, with_itself = 0.0, 0.0
    for i in range(ZERO, np.uint64(len(x))):
        value = scale[i] * (x[i] - gamma * _row(indptr, indices, data, x, i))
        out[i] = value
        with_y += value * y[i]
        with_itself += value * value
    return with_y, with_itself


@kernel
def bicgstab(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    gamma: float,
    scale: Floats,
    rest: Floats,
    x: Floats,
    goal: float,
    iterations: int,
) -> int:
    """Add to x the correction that takes `rest` = b - A x [n], overwritten, below `goal`; returns
    the iterations made.

    `scale` [n] holds the reciprocal diagonal. The usual shadow, the first residual, is often zero
    in all but a few states and then orthogonal to the next ones, which ends the iteration; a dense
    one is not. The caller checks the true residual: the recurrence drifts from it by rounding.
    """
    n = len(x)
    r = rest
    for i in range(n):
        r[i] *= scale[i]
    shadow, p, v, t = np.empty(n), np.zeros(n), np.zeros(n), np.empty(n)
    for i in range(n):
        shadow[i] = 1.0 + (0.6180339887498949 * i) % 1.0
    rho, alpha, omega = 1.0, 1.0, 1.0
    rho_next = 0.0
    for i in range(n):
        rho_next += shadow[i] * r[i]
    for iteration in range(1, iterations + 1):
        beta = rho_next / rho * (alpha / omega)
        rho = rho_next
        for i in range(n):
            p[i] = r[i] + beta * (p[i] - omega * v[i])
        with_shadow, _ = _apply(indptr, indices, data, gamma, scale, p, shadow, v)
        if with_shadow == 0.0:
            return iteration
        alpha = rho / with_shadow
        for i in range(n):
            r[i] -= alpha * v[i]
        with_r, with_itself = _apply(indptr, indices, data, gamma, scale, r, r, t)
        omega = with_r / with_itself if with_itself > 0.0 else 0.0
        rho_next, largest = 0.0, 0.0
        for i in range(n):
            x[i] += alpha * p[i] + omega * r[i]
            r[i] -= omega * t[i]
            rho_next += shadow[i] * r[i]
            largest = max(largest, abs(r[i]))
        if largest <= goal or omega == 0.0 or rho_next == 0.0:
            return iteration
    return iterations

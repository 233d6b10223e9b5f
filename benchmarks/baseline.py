"""The straightforward script: exact policy updates with NumPy, one inverse of the (S*A) x (S*A)
matrix per update.

    q = (I - gamma P^pi)^-1 r,   P^pi[(s, a), (s', a')] = p(s'|s, a) pi(a'|s'),
    d = sum_a (p_0 pi) (I - gamma P^pi)^-1

The undiscounted density inverts the same matrix with gamma = 1. Rows are projected on the simplex
one by one. `lean` is the same script after an afternoon of care: all rows projected at once,
densities from the S x S inverse. The published convention: densities count the visit to the
terminal state, the uniform one is over the other states.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def state_action_inverse(P: Floats, pi: Floats, gamma: float) -> Floats:
    """(I - gamma P^pi)^-1 [S*A, S*A]."""
    S, A = pi.shape
    P_pi = np.einsum("sat,tb->satb", P, pi).reshape(S * A, S * A)
    return np.linalg.inv(np.eye(S * A) - gamma * P_pi)


def state_inverse(P: Floats, pi: Floats, gamma: float) -> Floats:
    """(I - gamma P_pi)^-1 [S, S]."""
    return np.linalg.inv(np.eye(len(pi)) - gamma * np.einsum("sa,sat->st", pi, P))


def project(x: Floats) -> Floats:
    """Euclidean projection of x [A] on the simplex."""
    ordered = np.sort(x)[::-1]
    candidates = (np.cumsum(ordered) - 1.0) / np.arange(1, len(x) + 1)
    return np.maximum(x - candidates[np.sum(ordered > candidates) - 1], 0.0)


def project_all(x: Floats) -> Floats:
    """Euclidean projection of every row of x [S, A] on the simplex."""
    ordered = -np.sort(-x, axis=1)
    candidates = (np.cumsum(ordered, axis=1) - 1.0) / np.arange(1, x.shape[1] + 1)
    last = np.sum(ordered > candidates, axis=1) - 1
    return np.maximum(x - candidates[np.arange(len(x)), last][:, None], 0.0)


def softmax(theta: Floats) -> Floats:
    """Rows of theta [S, A] as distributions."""
    weights = np.exp(theta - theta.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def run(
    P: Floats,
    r: Floats,
    p0: Floats,
    gamma: float,
    is_terminal: NDArray[np.bool_],
    *,
    parametrization: str,
    density: str,
    eta: float,
    lam: float,
    o: float,
    updates: int,
    lean: bool = False,
) -> Floats:
    """J before each of the updates. P : [S, A, S].  r : [S, A].  p0 : [S]."""
    S, A = r.shape
    pi = np.full((S, A), 1.0 / A)
    theta = np.zeros((S, A))
    uniform = ~is_terminal / np.sum(~is_terminal)
    J = np.empty(updates)
    for t in range(updates):
        inverse = state_action_inverse(P, pi, gamma)
        q = (inverse @ r.ravel()).reshape(S, A)
        v = np.sum(pi * q, axis=1)
        J[t] = p0 @ v

        if density == "uniform":
            d = uniform
        else:
            gamma_on = 1.0 if density == "undiscounted" else gamma
            if lean:
                d = p0 @ state_inverse(P, pi, gamma_on)
            else:
                if gamma_on != gamma:
                    inverse = state_action_inverse(P, pi, gamma_on)
                d = ((p0[:, None] * pi).ravel() @ inverse).reshape(S, A).sum(axis=1)
            d = d / d.sum()
            if density == "mixture":
                d = o * uniform + (1.0 - o) * d

        if parametrization == "direct":
            moved = pi + eta * d[:, None] * q
            pi = project_all(moved) if lean else np.array([project(row) for row in moved])
        else:
            gradient = q - v[:, None]
            if lam > 0:
                gradient = gradient - lam * np.log(np.maximum(pi, np.finfo(float).tiny))
            theta = theta + eta * d[:, None] * pi * gradient
            pi = softmax(theta)
    return J

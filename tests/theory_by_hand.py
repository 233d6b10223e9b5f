"""Random problems, and the mathematics of the theory by hand: plain loops, bisection, value
iteration.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jekyllhyde import theory
from jekyllhyde.mdp.evaluation import Evaluation
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.planning.plan_run import PlanRun
from mdps import dense_model, naive

Floats = NDArray[np.float64]
LOG_TIMES = np.unique(np.geomspace(1, 100_000, 120).astype(int))


def random_problem(seed: int, n: int = 4, k: int = 3, gamma: float = 0.6) -> FiniteMDP:
    """Rewards in [0, 1], every state a start."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(n, 0.5), size=(n, k))
    return FiniteMDP(P, rng.random((n, k)), p0=rng.dirichlet(np.full(n, 5.0)), gamma=gamma)


def softmax(theta: Floats) -> Floats:
    e = np.exp(theta - theta.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def projected(point: Floats) -> Floats:
    """The projection on the simplex, by bisection on its threshold."""
    low, high = point.min() - 1.0, point.max()
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(point - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(point - high, 0.0)


def optimum(mdp: FiniteMDP) -> tuple[Floats, Floats]:
    """v_star and q_star by value iteration."""
    P, r_next = dense_model(mdp)
    r = (P * r_next).sum(axis=2)
    q = np.zeros(r.shape)
    for _ in range(500):
        q = r + mdp.gamma * P @ q.max(axis=1)
    return q.max(axis=1), q


def gaps(q: Floats) -> Floats:
    ordered = np.sort(q, axis=1)
    return ordered[:, -1] - ordered[:, -2]


def gradient_density(t: int, mdp: FiniteMDP, pi: Floats, evaluation: Evaluation) -> Floats:
    """d_{pi,gamma}, not normalized."""
    return naive(mdp, pi)[2]


def named(run: PlanRun) -> dict[str, theory.Check]:
    return {c.name: c for c in theory.check(run)}


def bandits(n: int, gamma: float = 0.5) -> FiniteMDP:
    """n separate one-state problems with rewards 1 and 0; only the first is ever started in."""
    P = np.zeros((n + 1, 2, n + 1))
    P[:n, :, n] = 1.0
    r = np.zeros((n + 1, 2))
    r[:n, 0] = 1.0
    return FiniteMDP(P, r, gamma=gamma, terminal=[n])


def dense(seed: int, n_states: int = 4, n_actions: int = 3, gamma: float = 0.5) -> FiniteMDP:
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(n_states, 0.5), size=(n_states, n_actions))
    return FiniteMDP(
        P, rng.random((n_states, n_actions)), p0=np.full(n_states, 1 / n_states), gamma=gamma
    )


def stays_put(run: PlanRun) -> bool:
    """Whether on-policy updates of the direct parametrization leave the policy where it is."""
    pi = run.pi.copy()
    _, q, d = naive(run.mdp, pi)
    for s in range(len(pi)):
        for step in (1e-3, 1.0, 1e3):
            if not np.allclose(projected(pi[s] + step * d[s] * q[s]), pi[s], atol=1e-6):
                return False
    return True

"""Random MDPs and independent, naive computations for the tests."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.planning.plan_run import PlanRun
from jekyllhyde.simplex import softmax_row

Floats = NDArray[np.float64]


def random_mdp(
    seed: int,
    n_states: int = 8,
    n_actions: int = 3,
    gamma: float = 0.9,
    *,
    connectivity: int = 3,
    exit_probability: float = 0.0,
    random_start: bool = True,
) -> FiniteMDP:
    """Random sparse transitions, a reward for each; the last state is terminal, entered with
    `exit_probability` at least.
    """
    rng = np.random.default_rng(seed)
    P = np.zeros((n_states, n_actions, n_states))
    for s in range(n_states):
        for a in range(n_actions):
            support = rng.choice(n_states, size=min(connectivity, n_states), replace=False)
            P[s, a, support] = (1.0 - exit_probability) * rng.dirichlet(np.ones(len(support)))
            P[s, a, n_states - 1] += exit_probability
    r = rng.normal(size=(n_states, n_actions, n_states))
    p0 = rng.dirichlet(np.ones(n_states)) if random_start else None
    return FiniteMDP(P, r, p0=p0, gamma=gamma, terminal=[n_states - 1], name=f"random({seed})")


def random_policy(seed: int, mdp: FiniteMDP, concentration: float = 1.0) -> Floats:
    """Rows drawn from a Dirichlet distribution."""
    return np.random.default_rng(seed).dirichlet(
        np.full(mdp.n_actions, concentration), size=mdp.n_states
    )


def deterministic(actions: Any, n_actions: int) -> Floats:
    return np.eye(n_actions)[np.asarray(actions)]


def dense_model(mdp: FiniteMDP) -> tuple[Floats, Floats]:
    """P [S, A, S] and r [S, A, S] rebuilt from the sparse rows."""
    shape = (mdp.n_states, mdp.n_actions, mdp.n_states)
    rewards = sparse.csr_array((mdp.r_next, mdp.P.indices, mdp.P.indptr), shape=mdp.P.shape)
    return mdp.P.toarray().reshape(shape), rewards.toarray().reshape(shape)


def naive(mdp: FiniteMDP, pi: Floats) -> tuple[Floats, Floats, Floats]:
    """v, q and d_{pi,gamma} by a dense inverse."""
    P, r_next = dense_model(mdp)
    r = (P * r_next).sum(axis=2)
    P_pi = np.einsum("sa,sat->st", pi, P)
    inverse = np.linalg.inv(np.eye(mdp.n_states) - mdp.gamma * P_pi)
    v = inverse @ (pi * r).sum(axis=1)
    return v, r + mdp.gamma * P @ v, mdp.p0 @ inverse


def simulate(
    mdp: FiniteMDP, pi: Floats, episodes: int, horizon: int, seed: int
) -> tuple[Floats, Floats]:
    """Discounted returns [episodes] and discounted visit counts [episodes, S] of independent
    episodes.
    """
    rng = np.random.default_rng(seed)
    P, r_next = dense_model(mdp)
    cumulative, choices = P.cumsum(axis=2), pi.cumsum(axis=1)
    state = rng.choice(mdp.n_states, size=episodes, p=mdp.p0)
    returns, visits = np.zeros(episodes), np.zeros((episodes, mdp.n_states))
    alive, discount = np.ones(episodes, dtype=bool), 1.0
    for _ in range(horizon):
        visits[np.flatnonzero(alive), state[alive]] += discount
        alive &= ~mdp.is_terminal[state]
        who = np.flatnonzero(alive)
        if not len(who):
            break
        action = (
            (choices[state[who]] < rng.random((len(who), 1)))
            .sum(axis=1)
            .clip(max=mdp.n_actions - 1)
        )
        following = (
            (cumulative[state[who], action] < rng.random((len(who), 1)))
            .sum(axis=1)
            .clip(max=mdp.n_states - 1)
        )
        returns[who] += discount * r_next[state[who], action, following]
        state[who] = following
        discount *= mdp.gamma
    return returns, visits


def assert_close(first: PlanRun, second: PlanRun, tolerance: float = 1e-10) -> None:
    for name in ("J", "pi", "theta", "weights"):
        one, other = getattr(first, name), getattr(second, name)
        np.testing.assert_allclose(
            one, other, atol=tolerance * (1 + abs(other).max()), err_msg=name
        )
    np.testing.assert_array_equal(first.t, second.t)
    assert first.records.keys() == second.records.keys()
    for name, other in second.records.items():
        np.testing.assert_allclose(
            first.records[name], other, atol=tolerance * (1 + abs(other).max()), err_msg=name
        )


class GreedyStep(NamedTuple):
    """A rule of a user's own: cross-entropy to the greedy action."""

    scale: float = 1.0

    def improve_row(
        self, theta: Floats, pi: Floats, q: Floats, row: Any, width: Any, step: float
    ) -> None:
        best = row
        for i in range(row, row + width):
            if q[i] > q[best]:
                best = np.uint64(i)
        for i in range(row, row + width):
            theta[i] += self.scale * step * ((1.0 if i == best else 0.0) - pi[i])
        softmax_row(theta, pi, row, width)


Outcomes = dict[int, tuple[float, float]]  # successor: probability and reward


def outcomes(mdp: FiniteMDP, s: int, a: int) -> Outcomes:
    row = s * mdp.n_actions + a
    entries = range(mdp.P.indptr[row], mdp.P.indptr[row + 1])
    return {int(mdp.P.indices[e]): (float(mdp.P.data[e]), float(mdp.r_next[e])) for e in entries}


def best_value(mdp: FiniteMDP, steps: int) -> float:
    """The optimal undiscounted return within so many steps, by backward induction."""
    v = np.zeros(mdp.n_states)
    for _ in range(steps):
        q = [
            [
                sum(p * (r + v[t]) for t, (p, r) in outcomes(mdp, s, a).items())
                for a in range(mdp.n_actions)
            ]
            for s in range(mdp.n_states)
        ]
        v = np.max(q, axis=1)
    return float(mdp.p0 @ v)

"""Critics, one sample at a time: Jekyll's q of his own policy, Hyde's q of the exploration bonus, and the MLE critic.

    Jekyll   q(s,a)  <- q(s,a)  + eta_c (r + nu b(s,a) + discount sum_a' pi(a'|s') q(s',a') - q(s,a))      expected SARSA
                        the same with max_a' q(s',a')                                                      Q-learning
    Hyde     q~(s,a) <- q~(s,a) + eta_h (b(s,a) + discount max_a' q~(s',a') - q~(s,a)), cut from above
    MLE      q = r^ + gamma P^ v with v exact for pi in the empirical model (r^, P^); q0 where (s,a) was never tried

The bonus b is sqrt(log(trajectories + 1) / (n(s,a) + 0.001)) (published: ucb) or 1 / sqrt(n(s,a)) (paper: count).
"""

from __future__ import annotations

import numpy as np

from jekyllhyde.jit import kernel
from jekyllhyde.mdp.finite import Floats
from jekyllhyde.mdp.linalg import back_substitute, factor, fill_system
from jekyllhyde.tabular.arrays import Edges, Scratch, Tables
from jekyllhyde.tabular.leaf import phase

LARGEST = 1e300


@phase
def expected_value(pi: Floats, q: Floats, s: int) -> float:
    """v(s) = sum_a pi(a|s) q(s, a)."""
    v = 0.0
    for a in range(q.shape[1]):
        v += pi[s, a] * q[s, a]
    return v


@phase
def greedy_value(q: Floats, s: int) -> float:
    """max_a q(s, a)."""
    best = q[s, 0]
    for a in range(1, q.shape[1]):
        best = max(best, q[s, a])
    return best


@phase
def ucb(visits: int, log_count: float) -> float:
    """The published bonus; its guard keeps it finite where visits = 0."""
    return np.sqrt(log_count / (visits + 0.001))


@kernel
def fit_model(tables: Tables, edges: Edges, scratch: Scratch, gamma: float, q0: float) -> None:
    """The MLE critic: overwrite q with the exact values of pi in the empirical model."""
    n_states, n_actions = tables.q.shape
    P, v = scratch.P, scratch.v
    for s in range(n_states):
        v[s] = 0.0
        for a in range(n_actions):
            row = s * n_actions + a
            tables.q[s, a] = 0.0 if tables.n[s, a] > 0 else q0
            for e in range(edges.first[row], edges.first[row + 1]):
                P[e] = edges.count[e] / tables.n[s, a] if tables.n[s, a] > 0 else 0.0
                tables.q[s, a] += P[e] * edges.r[e]
            if edges.first[row + 1] > edges.first[row]:
                v[s] += tables.pi[s, a] * tables.q[s, a]
    fill_system(scratch.M, edges.first, edges.next, P, tables.pi, gamma)
    factor(scratch.M, scratch.inverse, v)
    back_substitute(scratch.M, scratch.inverse, v)
    for s in range(n_states):
        for a in range(n_actions):
            row = s * n_actions + a
            for e in range(edges.first[row], edges.first[row + 1]):
                tables.q[s, a] += gamma * P[e] * v[edges.next[e]]

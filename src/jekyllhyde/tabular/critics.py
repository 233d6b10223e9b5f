"""Critics, one sample at a time: Jekyll's q of his own policy, Hyde's q of the exploration bonus,
and the MLE critic.

    Jekyll   q(s,a)  <- q(s,a)  + eta_c (r + nu b(s,a) + discount sum_a' pi(a'|s') q(s',a') - q(s,a))      expected SARSA
                        the same with max_a' q(s',a')                                                      Q-learning
    Hyde     q~(s,a) <- q~(s,a) + eta_h (b(s,a) + discount max_a' q~(s',a') - q~(s,a)), cut from above
    MLE      q = r^ + gamma P^ v with v exact for pi in the empirical model (r^, P^); q0 where (s,a) was never tried

The bonus b is sqrt(log(trajectories + 1) / (n(s,a) + 0.001)) (published: ucb) or 1 / sqrt(n(s,a))
(paper: count). Tables are flat [S A]: the actions of s stand in row .. row + width - 1 with row = s
A, width = A. Such places are unsigned, so that the compiler need not think of negative ones.
"""

from __future__ import annotations

import numpy as np

from jekyllhyde.jit import kernel, phase
from jekyllhyde.mdp.finite import Floats
from jekyllhyde.mdp.linalg import back_substitute, factor, fill_system
from jekyllhyde.tabular.arrays import ONE, Edges, Place, Scratch, Tables, Trace

LARGEST = 1e300


@phase
def expected_value(pi: Floats, q: Floats, row: Place, width: Place) -> float:
    """v(s) = sum_a pi(a|s) q(s, a)."""
    v = 0.0
    for i in range(row, row + width):
        v += pi[i] * q[i]
    return v


@phase
def greedy_value(q: Floats, row: Place, width: Place) -> float:
    """max_a q(s, a)."""
    best = q[row]
    for i in range(row + ONE, row + width):
        best = max(best, q[i])
    return best


@phase
def ucb(visits: np.int64, log_count: float) -> float:
    """The published bonus; its guard keeps it finite where visits = 0."""
    return float(np.sqrt(log_count / (visits + 0.001)))


@kernel
def fit_model(
    tables: Tables, edges: Edges, trace: Trace, scratch: Scratch, gamma: float, q0: float
) -> None:
    """The MLE critic: overwrite q with the exact values of pi in the empirical model."""
    pi, q, n, P, v = tables.pi, tables.q, tables.n, scratch.P, scratch.v
    n_states, n_actions = q.shape
    for s in range(n_states):
        v[s] = 0.0
        for a in range(n_actions):
            begin, end = trace.indptr[s * n_actions + a], trace.indptr[s * n_actions + a + 1]
            q[s, a] = 0.0 if n[s, a] > 0 else q0
            for e in range(begin, end):
                P[e] = edges.seen[e] / n[s, a] if n[s, a] > 0 else 0.0
                q[s, a] += P[e] * edges.r[e]
            if end > begin:
                v[s] += pi[s, a] * q[s, a]
    fill_system(scratch.M, trace.indptr, trace.indices, P, pi, gamma)
    factor(scratch.M, scratch.inverse, v)
    back_substitute(scratch.M, scratch.inverse, v)
    for s in range(n_states):
        for a in range(n_actions):
            for e in range(trace.indptr[s * n_actions + a], trace.indptr[s * n_actions + a + 1]):
                q[s, a] += gamma * P[e] * v[trace.indices[e]]

"""Actors, one state at a time: choosing an action, and the policy update in a visited state.

    expected (Eq. 4)   theta(s,.) <- theta(s,.) + step sum_a q(s,a) grad pi(a|s)
    sampled (Alg. 2)   theta(s,.) <- theta(s,.) + step y grad pi(a|s), with a one-step target y for the action taken

`step` is eta d. Softmax: grad pi(a|s) = pi(a|s) (e_a - pi(.|s)), so the expected update is step pi (q - v). Direct: e_a, then the projection on
the simplex. Entropy weight lam adds -lam log pi(a|s) to q(s,a) as it stands, or `centred`, which makes it the gradient of the entropy.
"""

from __future__ import annotations

import numpy as np

from jekyllhyde.jit import kernel
from jekyllhyde.mdp.finite import Floats
from jekyllhyde.planning.updates import project_row
from jekyllhyde.tabular.arrays import Tables
from jekyllhyde.tabular.rng import Words, below, uniform


@kernel
def sample_action(pi: Floats, s: int, words: Words) -> int:
    """A ~ pi(.|s); never one of probability 0, whatever the rounding."""
    u = uniform(words)
    chosen = 0
    for a in range(pi.shape[1]):
        if pi[s, a] > 0.0:
            chosen = a
            u -= pi[s, a]
            if u < 0.0:
                break
    return chosen


@kernel
def greedy_action(q: Floats, s: int, words: Words) -> int:
    """An action of largest q(s, .), ties broken at random."""
    best, ties, chosen = q[s, 0], 1, 0
    for a in range(1, q.shape[1]):
        if q[s, a] > best:
            best, ties, chosen = q[s, a], 1, a
        elif q[s, a] == best:
            ties += 1
    if ties == 1:
        return chosen
    rank = below(ties, words)
    for a in range(q.shape[1]):
        if q[s, a] == best:
            if rank == 0:
                chosen = a
                break
            rank -= 1
    return chosen


@kernel
def normalize_softmax(theta: Floats, pi: Floats, s: int) -> None:
    """Shift theta(s, .) so that its maximum is 0, and pi(.|s) = exp(theta) / sum."""
    top = theta[s, 0]
    for a in range(1, theta.shape[1]):
        top = max(top, theta[s, a])
    total = 0.0
    for a in range(theta.shape[1]):
        theta[s, a] -= top
        weight = 1.0 if theta[s, a] == 0.0 else np.exp(theta[s, a])
        pi[s, a] = weight
        total += weight
    scale = 1.0 / total
    for a in range(theta.shape[1]):
        pi[s, a] *= scale


@kernel
def improve(theta: Floats, pi: Floats, q: Floats, s: int, step: float) -> None:
    """The expected update, softmax, without entropy: the common case."""
    v = 0.0
    for a in range(q.shape[1]):
        v += pi[s, a] * q[s, a]
    for a in range(q.shape[1]):
        theta[s, a] += step * pi[s, a] * (q[s, a] - v)
    normalize_softmax(theta, pi, s)


@kernel
def improve_direct(tables: Tables, s: int, step: float) -> None:
    """The expected update under the direct parametrization."""
    for a in range(tables.q.shape[1]):
        tables.theta[s, a] += step * tables.q[s, a]
    project_row(tables.theta, s, tables.row)
    for a in range(tables.q.shape[1]):
        tables.pi[s, a] = tables.theta[s, a]

"""Actors, one state at a time: choosing an action, and the policy update in a visited state.

    expected (Eq. 4)   theta(s,.) <- theta(s,.) + step sum_a q(s,a) grad pi(a|s)
    sampled (Alg. 2)   theta(s,.) <- theta(s,.) + step y grad pi(a|s), with a one-step target y for the action taken

`step` is eta d. Softmax: grad pi(a|s) = pi(a|s) (e_a - pi(.|s)), so the expected update is step pi (q - v). Direct: e_a, then the projection
on the simplex. Entropy adds -lam log pi(a|s) to q(s,a) as it stands, or centred, which makes it the gradient of the entropy.
"""

from __future__ import annotations

import numpy as np

from jekyllhyde.jit import kernel
from jekyllhyde.mdp.finite import Floats, Ints
from jekyllhyde.tabular.critics import expected_value
from jekyllhyde.tabular.leaf import phase

TINY = 1e-300


@phase
def sample_action(pi: Floats, s: int, u: float) -> int:
    """Sample pi(.|s) by a uniform u: the last action of positive probability whose predecessors sum to at most u."""
    chosen, before = 0, 0.0
    for a in range(pi.shape[1]):
        if pi[s, a] > 0.0 and before <= u:
            chosen = a
        before += pi[s, a]
    return chosen


@phase
def greedy_action(q: Floats, s: int, u: float) -> int:
    """An action of largest q(s, .), ties broken by a uniform u."""
    best = q[s, 0]
    for a in range(1, q.shape[1]):
        best = max(best, q[s, a])
    ties = 0
    for a in range(q.shape[1]):
        ties += q[s, a] == best
    rank = np.int64(u * ties)
    chosen, seen = 0, 0
    for a in range(q.shape[1]):
        if q[s, a] == best:
            if seen == rank:
                chosen = a
            seen += 1
    return chosen


@phase
def softmax_row(theta: Floats, pi: Floats, s: int) -> None:
    """Shift theta(s, .) so that its maximum is 0, and pi(.|s) = exp(theta) / sum."""
    top = theta[s, 0]
    for a in range(1, theta.shape[1]):
        top = max(top, theta[s, a])
    total = 0.0
    for a in range(theta.shape[1]):
        shifted = theta[s, a] - top
        weight = 1.0 if shifted == 0.0 else np.exp(shifted)
        theta[s, a] = shifted
        pi[s, a] = weight
        total += weight
    scale = 1.0 / total
    for a in range(theta.shape[1]):
        pi[s, a] *= scale


@phase
def improve(theta: Floats, pi: Floats, q: Floats, s: int, step: float) -> None:
    """The expected update with softmax, without entropy or bonus."""
    v = expected_value(pi, q, s)
    for a in range(q.shape[1]):
        theta[s, a] += step * pi[s, a] * (q[s, a] - v)
    softmax_row(theta, pi, s)


@phase
def improve_softmax(
    theta: Floats, pi: Floats, q: Floats, n: Ints, work: Floats, s: int, step: float, lam: float, centred: bool, nu: float, log_t: float
) -> None:  # fmt: skip
    """The expected update with softmax; entropy weight lam, and the bonus nu sqrt(log t / n(s, a)) added to q(s, a)."""
    baseline = 0.0
    for a in range(q.shape[1]):
        value = q[s, a] + nu * np.sqrt(log_t / max(n[s, a], 1))
        entropy = -lam * np.log(max(pi[s, a], TINY))
        baseline += pi[s, a] * (value + entropy if centred else value)
        work[a] = value + entropy
    for a in range(q.shape[1]):
        theta[s, a] += step * pi[s, a] * (work[a] - baseline)
    softmax_row(theta, pi, s)


@phase
def improve_direct(theta: Floats, pi: Floats, q: Floats, n: Ints, s: int, step: float, nu: float, log_t: float) -> None:
    """The expected update with the direct parametrization."""
    for a in range(q.shape[1]):
        theta[s, a] += step * (q[s, a] + nu * np.sqrt(log_t / max(n[s, a], 1)))
    project_row(theta, pi, s)


@phase
def improve_sampled(theta: Floats, pi: Floats, s: int, taken: int, target: float, step: float, direct: bool) -> None:
    """The sampled update: the action taken, towards its one-step target."""
    p = pi[s, taken]
    for a in range(theta.shape[1]):
        is_taken = 1.0 if a == taken else 0.0
        theta[s, a] += step * target * (is_taken if direct else p * (is_taken - pi[s, a]))
    if direct:
        project_row(theta, pi, s)
    else:
        softmax_row(theta, pi, s)


@kernel
def project_row(theta: Floats, pi: Floats, s: int) -> None:
    """Project theta(s, .) on the simplex, and copy it to pi(.|s): max(theta - tau, 0) with tau such that it sums to 1.

    An entry below the tau of those still in is 0 in the projection, so it is left out; this ends when all that are in stay positive.
    Entries of -inf (actions that do not exist) are never in.
    """
    tau, members, before = -np.inf, 0, -1
    while members != before:
        before, members, total = members, 0, -1.0
        for a in range(theta.shape[1]):
            if theta[s, a] > tau:
                members += 1
                total += theta[s, a]
        tau = total / members
    for a in range(theta.shape[1]):
        pi[s, a] = max(theta[s, a] - tau, 0.0)
        theta[s, a] = pi[s, a] if theta[s, a] > -np.inf else theta[s, a]

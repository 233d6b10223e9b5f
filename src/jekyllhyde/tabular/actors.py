"""Actors, one state at a time: choosing an action, and the policy update in a visited state.

    expected (Eq. 4)   theta(s,.) <- theta(s,.) + step sum_a q(s,a) grad pi(a|s)
    sampled (Alg. 2)   theta(s,.) <- theta(s,.) + step y grad pi(a|s), with a one-step target y for the action taken

`step` is eta d. Softmax: grad pi(a|s) = pi(a|s) (e_a - pi(.|s)), so the expected update is step pi (q - v). Direct: e_a, then the projection
on the simplex. Entropy adds -lam log pi(a|s) to q(s,a) as it stands, or centred, which makes it the gradient of the entropy.
"""

from __future__ import annotations

import numpy as np

from jekyllhyde.jit import kernel
from jekyllhyde.mdp.finite import Floats
from jekyllhyde.planning.updates import project_row
from jekyllhyde.tabular.arrays import Edges, Options, Tables
from jekyllhyde.tabular.critics import expected_value
from jekyllhyde.tabular.leaf import phase


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


@kernel
def improve(options: Options, tables: Tables, edges: Edges, e: int, step: float, log_t: float) -> None:
    """The policy update in the state of edge e under `options`."""
    theta, pi, q, n, work = tables.theta, tables.pi, tables.q, tables.n, options.row
    s, taken = edges.s[e], edges.a[e]
    baseline, mean_entropy = 0.0, 0.0
    for a in range(len(work)):
        bonus = options.nu_actor * np.sqrt(log_t / max(n[s, a], 1)) if options.nu_actor > 0.0 else 0.0
        entropy = -options.lam * np.log(pi[s, a]) if options.lam > 0.0 and pi[s, a] > 0.0 else 0.0
        baseline += pi[s, a] * (q[s, a] + bonus)
        mean_entropy += pi[s, a] * entropy
        work[a] = q[s, a] + bonus + entropy
        if options.sampled and a == taken:
            value = expected_value(pi, q, edges.next[e])
            work[a] = edges.r[e] + edges.discount[e] * value + bonus + entropy
    if options.centred:
        baseline += mean_entropy
    taken_pi = pi[s, taken]
    for a in range(len(work)):
        if options.sampled and options.direct:
            theta[s, a] += step * work[a] if a == taken else 0.0
        elif options.sampled:
            theta[s, a] += step * work[taken] * taken_pi * ((a == taken) - pi[s, a])
        elif options.direct:
            theta[s, a] += step * work[a]
        else:
            theta[s, a] += step * pi[s, a] * (work[a] - baseline)
    if options.direct:
        project_row(theta, s, work)
        for a in range(len(work)):
            pi[s, a] = theta[s, a]
    else:
        softmax_row(theta, pi, s)

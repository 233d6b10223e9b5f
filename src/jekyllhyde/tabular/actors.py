"""Actors, one state at a time: choosing an action, and the policy update in a visited state.

    expected (Eq. 4)   theta(s,.) <- theta(s,.) + step sum_a q(s,a) grad pi(a|s)
    sampled (Alg. 2)   theta(s,.) <- theta(s,.) + step y grad pi(a|s), with a one-step target y for the action taken

`step` is eta d. Softmax: grad pi(a|s) = pi(a|s) (e_a - pi(.|s)), so the expected update is step pi
(q - v). Direct: e_a, then the projection on the simplex. Entropy adds -lam log pi(a|s) to q(s,a) as
it stands, or centred, which makes it the gradient of the entropy. Tables are flat, as in `critics`.
"""

from __future__ import annotations

import numpy as np

from jekyllhyde.jit import kernel, phase
from jekyllhyde.mdp.finite import Floats, Ints
from jekyllhyde.tabular.arrays import ONE, Place
from jekyllhyde.tabular.critics import expected_value, greedy_value

TINY = 1e-300


@phase
def sample_action(pi: Floats, row: Place, width: Place, u: float) -> Place:
    """The place of an action drawn from pi(.|s) by a uniform u: the first whose running sum exceeds
    u.

    A loop that stops early lets the processor guess the action before it is computed, which is
    worth half of the time where the policy is nearly deterministic. Where rounding leaves no such
    action, the last one of positive probability is taken.
    """
    chosen, last, rest = row, row + width - ONE, u - pi[row]
    while rest >= 0.0 and chosen < last:
        chosen += ONE
        rest -= pi[chosen]
    while pi[chosen] == 0.0:
        chosen -= ONE
    return chosen


@phase
def greedy_action(q: Floats, row: Place, width: Place, u: float) -> Place:
    """The place of an action of largest q(s, .), ties broken by a uniform u."""
    best, ties = greedy_value(q, row, width), 0
    for i in range(row, row + width):
        ties += q[i] == best
    chosen, rank = row, np.int64(u * ties)
    for i in range(row, row + width):
        if q[i] == best:
            if rank == 0:
                chosen = Place(i)
            rank -= 1
    return chosen


@phase
def improve(theta: Floats, pi: Floats, q: Floats, row: Place, width: Place, step: float) -> None:
    """The expected update with softmax, without entropy or bonus."""
    v, top = expected_value(pi, q, row, width), -np.inf
    for i in range(row, row + width):
        theta[i] += step * pi[i] * (q[i] - v)
        top = max(top, theta[i])
    softmax_row(theta, pi, row, width, top)


@phase
def softmax_row(theta: Floats, pi: Floats, row: Place, width: Place, top: float) -> None:
    """Shift theta(s, .) by its maximum `top`, and pi(.|s) = exp(theta) / sum."""
    total = 0.0
    for i in range(row, row + width):
        shifted = theta[i] - top
        weight = 1.0 if shifted == 0.0 else np.exp(shifted)
        theta[i] = shifted
        pi[i] = weight
        total += weight
    scale = 1.0 / total
    for i in range(row, row + width):
        pi[i] *= scale


@phase
def improve_softmax(
    theta: Floats,
    pi: Floats,
    q: Floats,
    n: Ints,
    work: Floats,
    row: Place,
    width: Place,
    step: float,
    lam: float,
    centred: bool,
    nu: float,
    log_t: float,
) -> None:
    """The expected update with softmax; entropy weight lam, and the bonus nu sqrt(log t / n(s, a))
    added to q(s, a).
    """
    baseline, top = 0.0, -np.inf
    for i in range(row, row + width):
        value = q[i] + nu * np.sqrt(log_t / max(n[i], 1))
        entropy = -lam * np.log(max(pi[i], TINY))
        baseline += pi[i] * (value + entropy if centred else value)
        work[i - row] = value + entropy
    for i in range(row, row + width):
        theta[i] += step * pi[i] * (work[i - row] - baseline)
        top = max(top, theta[i])
    softmax_row(theta, pi, row, width, top)


@phase
def improve_direct(
    theta: Floats,
    pi: Floats,
    q: Floats,
    n: Ints,
    row: Place,
    width: Place,
    step: float,
    nu: float,
    log_t: float,
) -> None:
    """The expected update with the direct parametrization."""
    for i in range(row, row + width):
        theta[i] += step * (q[i] + nu * np.sqrt(log_t / max(n[i], 1)))
    project_row(theta, pi, row, width)


@phase
def improve_sampled(
    theta: Floats,
    pi: Floats,
    row: Place,
    width: Place,
    taken: Place,
    target: float,
    step: float,
    direct: bool,
) -> None:
    """The sampled update: the action taken, towards its one-step target."""
    p, top = pi[taken], -np.inf
    for i in range(row, row + width):
        is_taken = 1.0 if i == taken else 0.0
        theta[i] += step * target * (is_taken if direct else p * (is_taken - pi[i]))
        top = max(top, theta[i])
    if direct:
        project_row(theta, pi, row, width)
    else:
        softmax_row(theta, pi, row, width, top)


@kernel
def project_row(theta: Floats, pi: Floats, row: Place, width: Place) -> None:
    """Project theta(s, .) on the simplex, and copy it to pi(.|s): max(theta - tau, 0) with tau such
    that it sums to 1.

    An entry below the tau of those still in is 0 in the projection, so it is left out; this ends
    when all that are in stay positive. Entries of -inf (actions that do not exist) are never in.
    """
    tau, members, before = -np.inf, 0, -1
    while members != before:
        before, members, total = members, 0, -1.0
        for i in range(row, row + width):
            if theta[i] > tau:
                members += 1
                total += theta[i]
        tau = total / members
    for i in range(row, row + width):
        pi[i] = max(theta[i] - tau, 0.0)
        theta[i] = pi[i] if theta[i] > -np.inf else theta[i]

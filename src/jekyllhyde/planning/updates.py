"""The policy update U(theta, d) of Eq. (2) under the two parametrizations, one row (state) at a time.

    direct    pi = theta           theta(s, .) <- projection on the simplex of theta(s, .) + eta d(s) q(s, .)
    softmax   pi ~ exp(theta)      theta(s, a) <- theta(s, a) + eta d(s) pi(a|s) (q(s, a) - v(s) + entropy(s, a))

With entropy weight lam, `published` adds -lam log pi(a|s) as it stands; `centred` subtracts its mean under pi(.|s), which makes
it the gradient of lam times the entropy. A row with eta d(s) = 0 is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.jit import kernel

Floats = NDArray[np.float64]


@kernel
def project_row(x: Floats, s: int, work: Floats) -> None:
    """Euclidean projection of the row x[s] [A] on the simplex, in place: max(x - tau, 0) with tau such that it sums to 1.

    The largest entries are taken one by one from a heap in `work` [A] until the next one would not stay positive: O(A + k log A)
    for k positive entries. Two actions have a closed form.
    """
    n = x.shape[1]
    if n == 2:
        x[s, 0] = min(max(0.5 * (x[s, 0] - x[s, 1] + 1.0), 0.0), 1.0)
        x[s, 1] = 1.0 - x[s, 0]
        return
    for i in range(n):
        work[i] = x[s, i]
    for i in range(n // 2 - 1, -1, -1):
        sift_down(work, i, n)
    top, total, tau = work[0], 0.0, 0.0  # counted from the largest entry, so that huge entries keep their differences
    for i in range(n):
        largest = work[0] - top
        total += largest
        candidate = (total - 1.0) / (i + 1)
        if largest <= candidate:
            break
        tau = candidate
        work[0] = work[n - 1 - i]
        sift_down(work, 0, n - 1 - i)
    for i in range(n):
        x[s, i] = max((x[s, i] - top) - tau, 0.0)


@kernel
def sift_down(heap: Floats, i: int, n: int) -> None:
    """Let heap[i] sink until the n entries are a heap again, each at least as large as its two children."""
    value = heap[i]
    child = 2 * i + 1
    while child < n:
        if child + 1 < n and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[i] = heap[child]
        i = child
        child = 2 * i + 1
    heap[i] = value


@kernel
def softmax_row(theta: Floats, pi: Floats, s: int) -> None:
    """Shift theta[s] so that its maximum is 0 (it never overflows, pi is unchanged), then pi[s] = exp(theta[s]) / sum."""
    n = theta.shape[1]
    top = theta[s, 0]
    for a in range(1, n):
        top = max(top, theta[s, a])
    total = 0.0
    for a in range(n):
        theta[s, a] -= top
        pi[s, a] = np.exp(theta[s, a])
        total += pi[s, a]
    inverse = 1.0 / total
    for a in range(n):
        pi[s, a] *= inverse


@kernel
def direct_update(theta: Floats, pi: Floats, q: Floats, v: Floats, step: Floats, lam: float, centred: bool, work: Floats) -> None:
    """One update of all rows under the direct parametrization, where theta is pi; `step` [S] is eta d, `work` [A] is scratch."""
    n_states, n_actions = pi.shape
    for s in range(n_states):
        weight = step[s]
        if weight != 0.0:
            for a in range(n_actions):
                pi[s, a] += weight * q[s, a]
            project_row(pi, s, work)


@kernel
def softmax_update(theta: Floats, pi: Floats, q: Floats, v: Floats, step: Floats, lam: float, centred: bool, work: Floats) -> None:
    """One update of all rows under the softmax parametrization; `step` [S] is eta d, `work` [A] is scratch."""
    n_states, n_actions = pi.shape
    for s in range(n_states):
        weight = step[s]
        if weight != 0.0:
            baseline = v[s]
            if lam == 0.0:
                for a in range(n_actions):
                    theta[s, a] += weight * pi[s, a] * (q[s, a] - baseline)
            else:
                mean = 0.0
                for a in range(n_actions):
                    work[a] = -lam * np.log(pi[s, a]) if pi[s, a] > 0.0 else 0.0
                    mean += pi[s, a] * work[a]
                if centred:
                    baseline += mean
                for a in range(n_actions):
                    theta[s, a] += weight * pi[s, a] * (q[s, a] + work[a] - baseline)
            softmax_row(theta, pi, s)


Update = Callable[[Floats, Floats, Floats, Floats, Floats, float, bool, Floats], None]

PARAMETRIZATIONS: dict[str, Update] = {"direct": direct_update, "softmax": softmax_update}


def theta_of(parametrization: str, pi: Floats) -> Floats:
    """A theta whose policy is `pi`: pi itself, the same array, or log pi shifted so that each row's maximum is 0."""
    if parametrization == "direct":
        return pi
    with np.errstate(divide="ignore"):
        theta = np.log(pi)
    return theta - theta.max(axis=1, keepdims=True)

"""The policy update U(theta, d) of Eq. (2) under the two parametrizations, one row (state) at a
time.

    direct    pi = theta           theta(s, .) <- projection on the simplex of theta(s, .) + eta d(s) q(s, .)
    softmax   pi ~ exp(theta)      theta(s, a) <- theta(s, a) + eta d(s) pi(a|s) (q(s, a) - v(s) + entropy(s, a))

With entropy weight lam, `published` adds -lam log pi(a|s) as it stands; `centred` subtracts its
mean under pi(.|s), which makes it the gradient of lam times the entropy. A row with eta d(s) = 0 is
left as it is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.jit import kernel, phase

Floats = NDArray[np.float64]
POWERS_OF_2 = np.ldexp(1.0, np.arange(-1075, 1))
LEAST = -745.5  # exp of less is 0
INVERSE_LOG_2, LOG_2_HIGH, LOG_2_LOW = (
    1.4426950408889634,
    6.93147180369123816490e-01,
    1.90821492927058770002e-10,
)


@phase
def project_row(x: Floats, s: int, work: Floats) -> None:
    """Euclidean projection of the row x[s] [A] on the simplex, in place: max(x - tau, 0) with tau
    such that it sums to 1.

    The largest entries are taken one by one from a heap in `work` [A] until the next one would not
    stay positive: O(A + k log A) for k positive entries. Two actions have a closed form.
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
    top, total, tau = (
        work[0],
        0.0,
        0.0,
    )  # counted from the largest entry, so that huge entries keep their differences
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
    """Let heap[i] sink until the n entries are a heap again, each at least as large as its two
    children.
    """
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


@phase
def direct_update(
    theta: Floats,
    pi: Floats,
    q: Floats,
    v: Floats,
    step: Floats,
    lam: float,
    centred: bool,
    work: Floats,
) -> None:
    """One update of all rows under the direct parametrization, where theta is pi; `step` [S] is eta
    d, `work` [A] is scratch.
    """
    n_states, n_actions = pi.shape
    for s in range(n_states):
        weight = step[s]
        if weight != 0.0:
            for a in range(n_actions):
                pi[s, a] += weight * q[s, a]
            project_row(pi, s, work)


@phase
def softmax_update(
    theta: Floats,
    pi: Floats,
    q: Floats,
    v: Floats,
    step: Floats,
    lam: float,
    centred: bool,
    work: Floats,
) -> None:
    """One update of all rows under the softmax parametrization; `step` [S] is eta d, `work` [S*A]
    is scratch.

    Each row of theta is shifted so that its maximum is 0: it never overflows, and pi is unchanged.
    """
    n_states, n_actions = pi.shape
    for s in range(n_states):
        weight = step[s]
        if weight != 0.0:
            if lam != 0.0:
                add_entropy(theta, pi, s, weight * lam, centred)
            for a in range(n_actions):
                theta[s, a] += weight * pi[s, a] * (q[s, a] - v[s])
            top = theta[s, 0]
            for a in range(1, n_actions):
                top = max(top, theta[s, a])
            for a in range(n_actions):
                theta[s, a] -= top
    exponentials(theta.reshape(n_states * n_actions), work)
    for s in range(n_states):
        if step[s] != 0.0:
            total = 0.0
            for a in range(n_actions):
                total += work[s * n_actions + a]
            inverse = 1.0 / total
            for a in range(n_actions):
                pi[s, a] = work[s * n_actions + a] * inverse


@kernel
def add_entropy(theta: Floats, pi: Floats, s: int, weight: float, centred: bool) -> None:
    """Add to theta(s, a): weight pi(a|s) (-log pi(a|s)), less its mean under pi(.|s) if `centred`;
    0 log 0 is 0.
    """
    n_actions = pi.shape[1]
    mean = 0.0
    if centred:
        for a in range(n_actions):
            if pi[s, a] > 0.0:
                mean -= pi[s, a] * np.log(pi[s, a])
    for a in range(n_actions):
        if pi[s, a] > 0.0:
            theta[s, a] += weight * pi[s, a] * (-np.log(pi[s, a]) - mean)


@kernel
def exponentials(x: Floats, out: Floats) -> None:
    """Set out = exp(x) for x <= 0, to one unit in the last place; vectorized, and the same bits
    whatever the C library.

    x = k log 2 + r with |r| <= log(2)/2, and exp(x) = 2^k (1 + r + r^2/2 + ... + r^13/13!).
    """
    for i in range(len(x)):
        y = min(x[i], 0.0) if x[i] > LEAST else LEAST  # a NaN too, so that the table is never left
        k = np.floor(y * INVERSE_LOG_2 + 0.5)
        r = (y - k * LOG_2_HIGH) - k * LOG_2_LOW
        p = 1.0 / 6227020800.0
        p = p * r + 1.0 / 479001600.0
        p = p * r + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        p = p * r + 1.0
        p = p * r + 1.0
        out[i] = p * POWERS_OF_2[np.uint64(k + 1075.0)]


Update = Callable[[Floats, Floats, Floats, Floats, Floats, float, bool, Floats], None]

PARAMETRIZATIONS: dict[str, Update] = {"direct": direct_update, "softmax": softmax_update}


def theta_of(parametrization: str, pi: Floats) -> Floats:
    """A theta whose policy is `pi`: pi itself, the same array, or log pi shifted so that each row's
    maximum is 0.
    """
    if parametrization == "direct":
        return pi
    with np.errstate(divide="ignore"):
        theta = np.log(pi)
    return theta - theta.max(axis=1, keepdims=True)

"""Policies row by row: softmax, the projection on the simplex, and an exponential.

Tables are flat: the row of state s is at the places row .. row + width - 1, row = s * width, both
unsigned, which spares a test for negative indices at every access. A policy update of one's own
(`improve_row`) calls these functions, compiled or not.
"""

import math

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.jit import kernel, phase

Floats = NDArray[np.float64]
Place = np.uint64
ZERO, ONE, TWO = Place(0), Place(1), Place(2)
POWERS_OF_2 = np.ldexp(1.0, np.arange(-1075, 1))
LEAST = -745.4  # exp of less is 0; its power of 2 is the first of the table
INVERSE_LOG_2 = 1.4426950408889634
LOG_2_HIGH, LOG_2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10


@phase
def softmax_row(theta: Floats, pi: Floats, row: Place, width: Place) -> None:
    """Shift theta(s, .) by its maximum, and pi(.|s) = exp(theta) / sum."""
    top = -math.inf
    for i in range(row, row + width):
        top = max(top, theta[i])
    shifted_softmax_row(theta, pi, row, width, top)


@phase
def shifted_softmax_row(theta: Floats, pi: Floats, row: Place, width: Place, top: float) -> None:
    """`softmax_row` where the maximum `top` is known, as it is to a loop that changes theta."""
    total = 0.0
    for i in range(row, row + width):
        shifted = theta[i] - top
        weight = 1.0 if shifted == 0.0 else math.exp(shifted)
        theta[i] = shifted
        pi[i] = weight
        total += weight
    scale = 1.0 / total
    for i in range(row, row + width):
        pi[i] *= scale


@phase
def project_row(theta: Floats, pi: Floats, row: Place, width: Place) -> None:
    """Project theta(s, .) on the simplex, in place, and copy it to pi(.|s).

    Entries of -inf (actions that do not exist) stay, with probability 0.
    """
    project_in_place(theta, row, width, pi, row)
    for i in range(row, row + width):
        pi[i] = max(theta[i], 0.0)


@phase
def project_in_place(x: Floats, row: Place, width: Place, heap: Floats, at: Place) -> None:
    """Euclidean projection of a row on the simplex: max(x - tau, 0) with tau such that it sums to
    1. The places of `heap` from `at` on are scratch. Two actions have a closed form.

    The largest entries are taken one by one from a heap until the next one would not stay positive:
    O(A + k log A) for k positive entries. tau is counted from the largest entry, so that huge
    entries keep their differences.
    """
    if width == TWO and min(x[row], x[row + ONE]) > -math.inf:
        x[row] = min(max(0.5 * (x[row] - x[row + ONE] + 1.0), 0.0), 1.0)
        x[row + ONE] = 1.0 - x[row]
        return
    for i in range(ZERO, width):
        heap[at + i] = x[row + i]
    for step in range(ZERO, width // TWO):
        _sift_down(heap, at, width // TWO - ONE - step, width)
    top, total, tau = heap[at], 0.0, 0.0
    for taken in range(ZERO, width):
        largest = heap[at] - top
        total += largest
        candidate = (total - 1.0) / float(taken + ONE)
        if largest <= candidate:
            break
        tau = candidate
        heap[at] = heap[at + width - ONE - taken]
        _sift_down(heap, at, ZERO, width - ONE - taken)
    for i in range(row, row + width):
        x[i] = max((x[i] - top) - tau, 0.0) if x[i] > -math.inf else x[i]


@kernel
def _sift_down(heap: Floats, row: Place, i: Place, n: Place) -> None:
    # Let entry i of a row sink until its n entries are a heap again, each at least as large as its
    # two children.
    value = heap[row + i]
    child = TWO * i + ONE
    while child < n:
        if child + ONE < n and heap[row + child + ONE] > heap[row + child]:
            child += ONE
        if heap[row + child] <= value:
            break
        heap[row + i] = heap[row + child]
        i = child
        child = TWO * i + ONE
    heap[row + i] = value


@kernel
def exponentials(x: Floats, out: Floats) -> None:
    """Set out = exp(x) for x <= 0, to one unit in the last place; vectorized, and the same bits
    whatever the C library.

    x = k log 2 + r with |r| <= log(2)/2, and exp(x) = 2^k (1 + r + r^2/2 + ... + r^13/13!).
    """
    for i in range(len(x)):
        y = min(x[i], 0.0) if x[i] > LEAST else LEAST  # a NaN too, so that the table is never left
        power = math.floor(y * INVERSE_LOG_2 + 0.5)
        k = float(power)
        r = (y - k * LOG_2_HIGH) - k * LOG_2_LOW
        high = 1.0 / 6227020800.0 * r + 1.0 / 479001600.0
        high = ((high * r + 1.0 / 39916800.0) * r + 1.0 / 3628800.0) * r + 1.0 / 362880.0
        middle = ((high * r + 1.0 / 40320.0) * r + 1.0 / 5040.0) * r + 1.0 / 720.0
        middle = ((middle * r + 1.0 / 120.0) * r + 1.0 / 24.0) * r + 1.0 / 6.0
        p = ((middle * r + 0.5) * r + 1.0) * r + 1.0
        out[i] = p * POWERS_OF_2[np.uint64(power + 1075)]

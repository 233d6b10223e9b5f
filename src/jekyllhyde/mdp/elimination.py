"""Compiled leaves: the linear system I - gamma P_pi of a small MDP, eliminated along the sparsity
of its graph.

Only decision states take part (a terminal state's value is 0). I - gamma P_pi is diagonally
dominant with non-positive off-diagonal entries (an M-matrix): elimination without pivoting is
stable, so the order of elimination is free, and one factorization serves v (solve) and d
(transposed solve). The graph of an MDP does not change with the policy: `plan_elimination` chooses
the order once, least fill first (Markowitz), and notes where entries can appear; the numerical part
then touches those rows and column ranges only. A chain costs O(n) this way; on a random graph it
saves about a third. At these sizes LAPACK is slower.

Matrices are flat [n*n], rows contiguous; unsigned indices let the compiler vectorize the inner
loops.
"""

from typing import NamedTuple

import numpy as np

from jekyllhyde.jit import allocating, kernel, reduction
from jekyllhyde.mdp.finite import Bools, FiniteMDP, Floats, Ints
from jekyllhyde.mdp.linalg import ONE, SINGULAR, ZERO, Indices, eliminate, reciprocal
from jekyllhyde.parallel import interruptible

LARGE = 1000  # states from which an order takes long enough to be interrupted


class Model(NamedTuple):
    """A model in elimination order, and where entries of the factors can be. State order[k] is
    eliminated k-th.

    first, last : row k has entries in the columns first[k] <= j < last[k].
    pointer, rows : rows[pointer[k]:pointer[k+1]] are the rows below k that have an entry in column
        k.
    p, pair, successor, cell : the transitions between decision states, one entry per (s, a, s')
        with p > 0: probability, s * A + a, s', and s * n + s', the place in the matrix. Those into
        terminal states are left out: they lead to value 0.
    r, p0 : rewards [n*A] and initial distribution [n].
    """

    order: Ints
    first: Indices
    last: Indices
    pointer: Ints
    rows: Indices
    p: Floats
    pair: Indices
    successor: Indices
    cell: Indices
    r: Floats
    p0: Floats


def plan_elimination(mdp: FiniteMDP) -> Model:
    """The model of `mdp` in the order in which it is eliminated."""
    decides, n_actions = np.flatnonzero(~mdp.is_terminal), mdp.n_actions
    n = len(decides)
    rows, columns = mdp.P[:, decides].nonzero()
    pattern = np.eye(n, dtype=np.bool_)
    pattern[np.searchsorted(decides, rows // n_actions), columns] = True
    ins, outs = pattern.sum(axis=0) - 1, pattern.sum(axis=1) - 1
    order = interruptible(_least_fill_order, pattern, ins, outs, long=n > LARGE)
    filled, states = pattern[np.ix_(order, order)], decides[order]
    k, below = np.nonzero(np.triu(filled.T, 1))
    P = mdp.P[(states[:, None] * n_actions + np.arange(n_actions)).ravel()][:, states].tocsr()
    P.sort_indices()
    pair = np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))
    return Model(
        order=states,
        first=filled.argmax(axis=1).astype(np.uint64),
        last=(n - filled[:, ::-1].argmax(axis=1)).astype(np.uint64),
        pointer=np.searchsorted(k, np.arange(n + 1)),
        rows=below.astype(np.uint64),
        p=P.data,
        pair=pair.astype(np.uint64),
        successor=P.indices.astype(np.uint64),
        cell=(pair // n_actions * n + P.indices).astype(np.uint64),
        r=mdp.r[states].ravel(),
        p0=mdp.p0[states],
    )


@allocating
def _least_fill_order(pattern: Bools, ins: Ints, outs: Ints) -> Ints:
    # Eliminate symbolically, each time the state with the least (predecessors x successors) left;
    # fill goes into `pattern`. ins, outs: how many of them each state has, itself apart; used up.
    n = len(pattern)
    order, left = np.empty(n, np.int64), np.ones(n, np.bool_)
    for k in range(n):
        best = -1
        for s in range(n):
            if left[s] and (best < 0 or ins[s] * outs[s] < ins[best] * outs[best]):
                best = s
        order[k], left[best] = best, False
        for i in range(n):
            if left[i] and pattern[i, best]:
                outs[i] -= 1
                for j in range(n):
                    if left[j] and pattern[best, j] and not pattern[i, j]:
                        pattern[i, j] = True
                        outs[i] += 1
                        ins[j] += 1
        for j in range(n):
            if left[j] and pattern[best, j]:
                ins[j] -= 1
    return order


@kernel
def fill_system(
    M: Floats,
    first: Indices,
    last: Indices,
    p: Floats,
    pair: Indices,
    cell: Indices,
    pi: Floats,
    gamma: float,
) -> None:
    """M = I - gamma P_pi, within the structure; pi is flat [n*A]."""
    n = np.uint64(len(first))
    for s in range(ZERO, n):
        for j in range(s * n + first[s], s * n + last[s]):
            M[j] = 0.0
        M[s * n + s] = 1.0
    for e in range(len(p)):
        M[cell[e]] -= gamma * pi[pair[e]] * p[e]


@kernel
def factor(
    M: Floats, inverse: Floats, x: Floats, last: Indices, pointer: Ints, rows: Indices
) -> None:
    """Overwrite M with its factors, `inverse` with the reciprocal pivots; see `eliminate`."""
    n = np.uint64(len(inverse))
    for k in range(ZERO, n):
        pivot_row, end = k * n, last[k]
        inverse[k] = inverse_pivot = reciprocal(M[pivot_row + k])
        for e in range(pointer[k], pointer[k + ONE]):
            i = rows[e]
            multiplier = M[i * n + k]
            if multiplier != 0.0:
                eliminate(M, x, i * n, pivot_row, i, k, end, multiplier * inverse_pivot)


@kernel
def back_substitute(M: Floats, inverse: Floats, x: Floats, last: Indices) -> None:
    """Overwrite x, as `factor` left it, with the solution of the whole system."""
    n = np.uint64(len(inverse))
    for step in range(ONE, n + ONE):
        i = n - step
        x[i] = (x[i] - dot(M, x, i * n + i + ONE, i + ONE, last[i] - i - ONE)) * inverse[i]


@kernel
def solve_transposed(M: Floats, inverse: Floats, x: Floats, first: Indices, last: Indices) -> bool:
    """Overwrite x with the solution y of (I - gamma P_pi)^T y = x; False where a set that is never
    left receives visits.
    """
    n = np.uint64(len(inverse))
    proper = True
    for k in range(ZERO, n):
        if inverse[k] == 0.0 and x[k] > SINGULAR:
            proper = False
        x[k] = value = x[k] * inverse[k]
        if value != 0.0:
            for j in range(k + ONE, last[k]):
                x[j] -= M[k * n + j] * value
    for step in range(ONE, n):
        i = n - step
        value = x[i]
        if value != 0.0:
            for k in range(first[i], i):
                x[k] -= M[i * n + k] * value
    return proper


@reduction
def dot(x: Floats, y: Floats, i: np.uint64, j: np.uint64, count: np.uint64) -> float:
    """Sum of x[i + e] * y[j + e] over e < count."""
    total = 0.0
    for e in range(ZERO, count):
        total += x[i + e] * y[j + e]
    return total

"""The known MDP as an environment, and the exact evaluation of the agent between trajectories."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.jit import kernel, phase
from jekyllhyde.mdp.finite import Floats, Ints
from jekyllhyde.mdp.linalg import back_substitute, dot, factor, fill_system
from jekyllhyde.tabular.arrays import (
    EVALUATE,
    FINISHED,
    HYDE_TRAJECTORIES,
    NEXT,
    ONE,
    PAUSED,
    STEPS,
    Index,
    Place,
    Problem,
    Scratch,
    Tables,
    Trace,
)


@kernel
def start_row(start: Index, start_cdf: Floats, u: float) -> np.uint32:
    """The row of s_0 ~ p0, by bisection with a uniform u."""
    low, high = 0, len(start) - 1
    while low < high:
        middle = (low + high) // 2
        if u < start_cdf[middle]:
            high = middle
        else:
            low = middle + 1
    return start[low]


@phase
def next_edge(first: Index, cdf: Floats, pair: Place, u: float) -> Place:
    """An edge of a pair, drawn from the model by a uniform u."""
    chosen = np.uint64(first[pair])
    for e in range(chosen, np.uint64(first[pair + ONE]) - ONE):
        if u >= cdf[e]:
            chosen = e + ONE
    return chosen


@kernel
def record(
    trace: Trace, scratch: Scratch, problem: Problem, tables: Tables, clock: Ints, epsilon: float
) -> int:
    """Evaluate the agent exactly; the reason to leave the loop, PAUSED when there is none."""
    (
        at,
        J_jekyll,
        J_hyde,
        epsilons,
        steps,
        hyde_trajectories,
        least_count,
        unvisited,
        indptr,
        indices,
        r,
        p0,
        P,
        gamma,
        uniform_hyde,
        stop_global,
        stop_jekyll,
    ) = trace
    M, inverse, v, pi_hyde, _ = scratch
    i = clock[NEXT]
    epsilons[i], steps[i], hyde_trajectories[i] = epsilon, clock[STEPS], clock[HYDE_TRAJECTORIES]
    least_count[i], unvisited[i] = coverage(tables.n, problem.terminal)
    if len(M) == 0:
        return EVALUATE
    J_jekyll[i] = exact_return(indptr, indices, P, r, p0, gamma, M, inverse, v, tables.pi)
    if epsilon > 0.0:
        hyde_policy(tables.q_hyde, pi_hyde, uniform_hyde)
        J_hyde[i] = exact_return(indptr, indices, P, r, p0, gamma, M, inverse, v, pi_hyde)
    clock[NEXT] += 1
    return verdict(J_jekyll[i], J_hyde[i], epsilon, stop_global, stop_jekyll, i + 1 == len(at))


@kernel
def verdict(
    J_jekyll: float,
    J_hyde: float,
    epsilon: float,
    stop_global: float,
    stop_jekyll: float,
    is_last: bool,
) -> int:
    """FINISHED after the last evaluation and at the target."""
    J_global = J_jekyll if epsilon == 0.0 else (1.0 - epsilon) * J_jekyll + epsilon * J_hyde
    return FINISHED if is_last or (J_global > stop_global and J_jekyll > stop_jekyll) else PAUSED


@kernel
def exact_return(
    indptr: NDArray[np.int32],
    indices: NDArray[np.int32],
    P: Floats,
    r: Floats,
    p0: Floats,
    gamma: float,
    M: Floats,
    inverse: Floats,
    v: Floats,
    pi: Floats,
) -> float:
    """J(pi) from one factorization of I - gamma P_pi."""
    fill_system(M, indptr, indices, P, pi, gamma)
    for s in range(pi.shape[0]):
        v[s] = 0.0
        for a in range(pi.shape[1]):
            v[s] += pi[s, a] * r[s, a]
    factor(M, inverse, v)
    back_substitute(M, inverse, v)
    return dot(p0, v, 0, 0, len(v))


@kernel
def hyde_policy(q: Floats, pi: Floats, is_uniform: bool) -> None:
    """Hyde's policy: greedy for q, ties to the lowest index; or uniform."""
    n_actions = q.shape[1]
    for s in range(q.shape[0]):
        best = 0
        for a in range(n_actions):
            pi[s, a] = 1.0 / n_actions if is_uniform else 0.0
            if q[s, a] > q[s, best]:
                best = a
        if not is_uniform:
            pi[s, best] = 1.0


@kernel
def coverage(n: Ints, terminal: NDArray[np.bool_]) -> tuple[np.int64, int]:
    """The smallest n(s, a), and the number of states never visited, among the states that act."""
    least, unvisited = np.int64(2**62), 0
    for s in range(n.shape[0]):
        if not terminal[s]:
            visits = np.int64(0)
            for a in range(n.shape[1]):
                visits += n[s, a]
                least = min(least, n[s, a])
            unvisited += visits == 0
    return least, unvisited

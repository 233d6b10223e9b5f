"""The known MDP as an environment, and the exact evaluation of the agent between trajectories."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.jit import kernel
from jekyllhyde.mdp.finite import Floats, Ints
from jekyllhyde.mdp.linalg import back_substitute, dot, factor, fill_system
from jekyllhyde.tabular.arrays import (
    EVALUATE, FINISHED, HYDE_TRAJECTORIES, NEXT, ONE, PAUSED, STEPS, TRAJECTORIES, Index, Problem, Scratch, Tables, Trace,
)  # fmt: skip
from jekyllhyde.tabular.leaf import phase


@kernel
def start_row(start: Index, start_cdf: Floats, u: float) -> int:
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
def next_edge(first: Index, cdf: Floats, pair: int, u: float) -> int:
    """An edge of a pair, drawn from the model by a uniform u."""
    chosen = np.uint64(first[pair])
    for e in range(chosen, np.uint64(first[pair + ONE]) - ONE):
        if u >= cdf[e]:
            chosen = e + ONE
    return chosen


@kernel
def record(trace: Trace, scratch: Scratch, problem: Problem, tables: Tables, clock: Ints, epsilon: float) -> int:
    """Evaluate the agent exactly if it is time to; the reason to leave the loop, PAUSED when there is none."""
    i = clock[NEXT]
    if i >= len(trace.at) or clock[TRAJECTORIES] != trace.at[i]:
        return PAUSED
    trace.epsilon[i] = epsilon
    trace.steps[i] = clock[STEPS]
    trace.hyde_trajectories[i] = clock[HYDE_TRAJECTORIES]
    trace.least_count[i], trace.unvisited[i] = coverage(tables.n, problem.terminal)
    if len(scratch.M) == 0:
        return EVALUATE
    trace.J_jekyll[i] = exact_return(trace, scratch, tables.pi)
    trace.J_hyde[i] = np.nan
    if epsilon > 0.0:
        hyde_policy(tables.q_hyde, scratch.pi, trace.uniform_hyde)
        trace.J_hyde[i] = exact_return(trace, scratch, scratch.pi)
    clock[NEXT] += 1
    return verdict(trace, i)


@kernel
def verdict(trace: Trace, i: int) -> int:
    """FINISHED after the last evaluation and at the target."""
    J, epsilon = trace.J_jekyll[i], trace.epsilon[i]
    J_global = J if epsilon == 0.0 else (1.0 - epsilon) * J + epsilon * trace.J_hyde[i]
    reached = J_global > trace.stop_global and trace.stop_jekyll < J
    return FINISHED if reached or i + 1 == len(trace.at) else PAUSED


@kernel
def exact_return(trace: Trace, scratch: Scratch, pi: Floats) -> float:
    """J(pi) from one factorization of I - gamma P_pi."""
    v = scratch.v
    fill_system(scratch.M, trace.indptr, trace.indices, trace.P, pi, trace.gamma)
    for s in range(pi.shape[0]):
        v[s] = 0.0
        for a in range(pi.shape[1]):
            v[s] += pi[s, a] * trace.r[s, a]
    factor(scratch.M, scratch.inverse, v)
    back_substitute(scratch.M, scratch.inverse, v)
    return dot(trace.p0, v, 0, 0, len(v))


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
def coverage(n: Ints, terminal: NDArray[np.bool_]) -> tuple[int, int]:
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

"""The worlds in which the loop runs, by type: a known MDP, or one transition of an environment.

In a known MDP the agent is evaluated exactly between trajectories.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.jit import kernel, phase
from jekyllhyde.mdp.evaluation import DENSE_LIMIT
from jekyllhyde.mdp.finite import FiniteMDP, Floats, Ints
from jekyllhyde.mdp.linalg import Sparse, back_substitute, dot, factor, fill_system
from jekyllhyde.tabular.algorithm import EVALUATE, FINISHED, PAUSED
from jekyllhyde.tabular.hyde import hyde_action, hyde_policy
from jekyllhyde.tabular.random_stream import Words, uniform
from jekyllhyde.tabular.records import ONE, Index, Place, Run, Tables, sample_action

Mask = NDArray[np.bool_]


class Scratch(NamedTuple):
    """For exact evaluation: M [S*S], inverse, v [S], pi [S, A], P [E].

    M is empty where evaluation happens outside the loop.
    """

    M: Floats
    inverse: Floats
    v: Floats
    pi: Floats
    P: Floats


class Trace(NamedTuple):
    """What is recorded after trajectory at[i]: returns, epsilon_t, steps, coverage."""

    at: Ints
    J_jekyll: Floats
    J_hyde: Floats
    epsilon: Floats
    steps: Ints
    hyde_trajectories: Ints
    least_count: Ints
    unvisited: Ints


@phase
def choose_action(tables: Tables, explorer: Any, row: Place, control: Any, words: Words) -> Place:
    """The place of an action of the personality in control."""
    u = uniform(words)
    return hyde_action(explorer, tables, row, u) if control else sample_action(tables, row, u)


class KnownModel(NamedTuple):
    """A known MDP as an environment, with the evaluations to make.

    cdf, ends [E] : running sums of p(.|s, a), and whether the edge ends the trajectory.
    start, start_cdf : rows of the start states, and running sums of p0.
    horizon : after how many steps a trajectory is cut.  counts : transitions are counted.
    pi [S, A] : Jekyll's policy, the same memory as tables.pi.
    P, r [S, A], p0 [S] : the model.
    over : the run ends when the global return and Jekyll's exceed these.
    """

    cdf: Floats
    ends: Mask
    start: Index
    start_cdf: Floats
    terminal: Mask
    horizon: int
    counts: bool
    pi: Floats
    P: Sparse
    r: Floats
    p0: Floats
    scratch: Scratch
    trace: Trace
    over: tuple[float, float]

    def act(self, run: Run, explorer: Any, row: Place, control: np.int64) -> tuple[Place, Place]:
        edges, tables, words = run.edges, run.tables, run.words
        pair = choose_action(tables, explorer, row, control, words)
        e = np.uint64(edges.first[pair])
        if edges.first[pair + ONE] > e + ONE:
            e = next_edge(edges.first, self.cdf, pair, uniform(words))
        if self.counts:
            edges.seen[e] += 1
        return pair, e

    def is_over(self, e: Place, k: int) -> bool:
        return bool(self.ends[e] or k == self.horizon)

    def restart(self, row: Place, words: Words) -> Place:
        if len(self.start) == 1:
            return np.uint64(self.start[0])
        return start_row(self.start, self.start_cdf, uniform(words))

    def evaluate(self, run: Run, explorer: Any, trajectories: int, t: int, epsilon: float) -> int:
        tables, now, trace = run.tables, run.position[0], self.trace
        i = now.next_evaluation
        if trajectories != trace.at[i]:
            return PAUSED
        trace.epsilon[i], trace.steps[i] = epsilon, t
        trace.hyde_trajectories[i] = now.hyde_trajectories
        trace.least_count[i], trace.unvisited[i] = coverage(tables.n, self.terminal)
        if len(self.scratch.M) == 0:
            return EVALUATE
        trace.J_jekyll[i] = exact_return(self, self.pi)
        if epsilon > 0.0:
            hyde_policy(explorer, tables, self.scratch.pi)
            trace.J_hyde[i] = exact_return(self, self.scratch.pi)
        now.next_evaluation += 1
        return verdict(trace, i, self.over)


class Observed(NamedTuple):
    """One transition of an environment: its edge, and whether it ended the episode."""

    edge: int
    ended: bool

    def act(self, run: Run, explorer: Any, row: Place, control: np.int64) -> tuple[Place, Place]:
        e = np.uint64(self.edge)
        return np.uint64(run.edges.pair[e]), e

    def is_over(self, e: Place, k: int) -> bool:
        return self.ended

    def restart(self, row: Place, words: Words) -> Place:
        return row

    def evaluate(self, run: Run, explorer: Any, trajectories: int, t: int, epsilon: float) -> int:
        return PAUSED


@kernel
def start_row(start: Index, start_cdf: Floats, u: float) -> Place:
    """The row of s_0 ~ p0, by bisection with a uniform u."""
    low, high = 0, len(start) - 1
    while low < high:
        middle = (low + high) // 2
        if u < start_cdf[middle]:
            high = middle
        else:
            low = middle + 1
    return np.uint64(start[low])


@phase
def next_edge(first: Index, cdf: Floats, pair: Place, u: float) -> Place:
    """An edge of a pair, drawn from the model by a uniform u."""
    chosen = np.uint64(first[pair])
    for e in range(chosen, np.uint64(first[pair + ONE]) - ONE):
        if u >= cdf[e]:
            chosen = Place(e) + ONE
    return chosen


@kernel
def exact_return(world: KnownModel, pi: Floats) -> float:
    """J(pi) from one factorization of I - gamma P_pi."""
    P, M, inverse, v = world.P, world.scratch.M, world.scratch.inverse, world.scratch.v
    fill_system(M, P.indptr, P.indices, P.data, pi, P.gamma)
    for s in range(pi.shape[0]):
        v[s] = 0.0
        for a in range(pi.shape[1]):
            v[s] += pi[s, a] * world.r[s, a]
    factor(M, inverse, v)
    back_substitute(M, inverse, v)
    return dot(world.p0, v, 0, 0, len(v))


@phase
def verdict(trace: Trace, i: int, over: tuple[float, float]) -> int:
    """FINISHED after the last evaluation and where both returns are over the target."""
    epsilon, J_jekyll, J_hyde = trace.epsilon[i], trace.J_jekyll[i], trace.J_hyde[i]
    J = J_jekyll if epsilon == 0.0 else (1.0 - epsilon) * J_jekyll + epsilon * J_hyde
    reached = J > over[0] and J_jekyll > over[1]
    return FINISHED if reached or i + 1 == len(trace.at) else PAUSED


@kernel
def fit_model(world: KnownModel, run: Run, q0: float) -> None:
    """The MLE critic; pi [S, A] is the same memory as tables.pi."""
    edges, q, n, pi, scratch = run.edges, run.tables.q, run.tables.n, world.pi, world.scratch
    model, P, v, gamma = world.P, scratch.P, scratch.v, world.P.gamma
    n_states, n_actions = pi.shape
    for s in range(n_states):
        v[s] = 0.0
        for a in range(n_actions):
            pair = s * n_actions + a
            begin, end = model.indptr[pair], model.indptr[pair + 1]
            q[pair] = 0.0 if n[pair] > 0 else q0
            for e in range(begin, end):
                P[e] = edges.seen[e] / n[pair] if n[pair] > 0 else 0.0
                q[pair] += P[e] * edges.r[e]
            if end > begin:
                v[s] += pi[s, a] * q[pair]
    fill_system(scratch.M, model.indptr, model.indices, P, pi, gamma)
    factor(scratch.M, scratch.inverse, v)
    back_substitute(scratch.M, scratch.inverse, v)
    for pair in range(n_states * n_actions):
        for e in range(model.indptr[pair], model.indptr[pair + 1]):
            q[pair] += gamma * P[e] * v[np.uint64(model.indices[e])]


@kernel
def coverage(n: Ints, terminal: Mask) -> tuple[np.int64, int]:
    """The smallest n(s, a), and the number of states never visited, among the states that act."""
    least, unvisited = np.int64(2**62), 0
    n_actions = len(n) // len(terminal)
    for s in range(len(terminal)):
        if not terminal[s]:
            visits = np.int64(0)
            for pair in range(s * n_actions, (s + 1) * n_actions):
                visits += n[pair]
                least = min(least, n[pair])
            unvisited += visits == 0
    return least, unvisited


def known_model(
    mdp: FiniteMDP, pi: Floats, horizon: int, counts: bool, at: Ints, over: tuple[float, float]
) -> KnownModel:
    """A known MDP as a world; the last edge of a row and the last start get the rounding."""
    start = np.flatnonzero(mdp.p0 > 0)
    cdf, start_cdf = mdp.P.data.copy(), mdp.p0[start]
    cumulate(mdp.P.indptr, cdf)
    cumulate(np.array([0, len(start)], dtype=np.int32), start_cdf)
    is_small = mdp.n_states <= DENSE_LIMIT and mdp.gamma < 1.0
    S, A, E = (mdp.n_states, mdp.n_actions, mdp.P.nnz) if is_small else (0, 0, 0)
    return KnownModel(
        cdf=cdf,
        ends=mdp.is_terminal[mdp.P.indices],
        start=(start * mdp.n_actions).astype(np.uint32),
        start_cdf=start_cdf,
        terminal=mdp.is_terminal.copy(),
        horizon=horizon,
        counts=counts,
        pi=pi,
        P=Sparse(mdp.P.indptr, mdp.P.indices, mdp.P.data, mdp.gamma),
        r=mdp.r,
        p0=mdp.p0,
        scratch=Scratch(*map(np.empty, (S * S, S, S, (S, A), E))),
        trace=Trace(at, *np.full((3, len(at)), np.nan), *np.zeros((4, len(at)), dtype=np.int64)),
        over=over,
    )


@kernel
def cumulate(first: NDArray[np.int32], p: Floats) -> None:
    """Overwrite the probabilities of each row first[i] .. first[i + 1] - 1 with their running sums.

    The last of a row becomes a certain 1.
    """
    for i in range(len(first) - 1):
        for e in range(first[i] + 1, first[i + 1]):
            p[e] += p[e - 1]
        if first[i + 1] > first[i]:
            p[first[i + 1] - 1] = 1.0

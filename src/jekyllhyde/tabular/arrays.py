"""The array bundles that the compiled loops work on. S states, A actions, E kinds of transition ("edges").

An edge is (s, a, r, s', discount): on a known MDP there is one per possible transition; in an environment every observed transition
becomes one. `discount` is gamma, or 0 where s' is terminal: termination and truncation are told apart here and nowhere else.
What an agent does not have (`Hyde`, `Buffers`, lam, nu) is None, and the compiler leaves its branch out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.jit import kernel
from jekyllhyde.mdp.finite import FiniteMDP, Floats, Ints

Index = NDArray[np.int32]

# Where the run stands: positions in `clock` (integers) and in `sums` (floats).
STEPS, TRAJECTORIES, K, STATE, CONTROL, SIZE_JEKYLL, SIZE_HYDE, HYDE_TRAJECTORIES, NEXT = range(9)
FACTOR, FACTOR_SUM = range(2)
# Why a compiled loop returned.
PAUSED, FINISHED, EVALUATE, DIVERGED = range(4)
# Options with more than two values.
EXPECTED_SARSA, CURRENT, Q_LEARNING, MLE = range(4)
PUBLISHED, PAPER, NONE = range(3)


class Edges(NamedTuple):
    """Transitions: s, a, next, r, discount [E]; `first` [S*A + 1] where the edges of (s, a) start; `count` [E] how often each was seen.

    `first` and `count` are empty where the model is not known.
    """

    s: Index
    a: Index
    next: Index
    r: Floats
    discount: Floats
    first: Index
    count: Ints


class Problem(NamedTuple):
    """How a known MDP is simulated: cumulative p(.|s, a) per edge [E]; start states and their cumulative p0; terminal [S]; the cut."""

    cdf: Floats
    start: Index
    start_cdf: Floats
    terminal: NDArray[np.bool_]
    horizon: int


class Tables(NamedTuple):
    """Jekyll's theta, pi, q, Hyde's q and the counts n over both personalities, all [S, A]; `row` [A] is scratch."""

    theta: Floats
    pi: Floats
    q: Floats
    q_hyde: Floats
    n: Ints
    row: Floats


class Buffers(NamedTuple):
    """The replay buffers as logs of edge numbers; `capacity` bounds each; `ring`: the oldest makes room, else the newest is dropped."""

    jekyll: Index
    hyde: Index
    capacity: int
    ring: bool
    batch: int
    from_model: bool


class Schedules(NamedTuple):
    """epsilon_t and o_t as c / t^alpha; `epsilon_table` and `o_table` replace them where they are not empty, from step `first` on."""

    epsilon_c: float
    epsilon_alpha: float
    o_c: float
    o_alpha: float
    epsilon_table: Floats
    o_table: Floats
    first: int


class Jekyll(NamedTuple):
    """Jekyll's settings. `decay` multiplies the step factor along a trajectory: gamma (pg) or 1 (undiscounted)."""

    eta: float
    eta_c: float
    q0: float
    softmax: bool
    critic: int
    mle_every: int
    normalization: int
    decay: float
    gamma: float


class Hyde(NamedTuple):
    """Hyde's settings: step size, clip from above, bonus (ucb, else count), uniform (he learns nothing and acts at random)."""

    eta: float
    clip: float
    ucb: bool
    uniform: bool


class Scratch(NamedTuple):
    """For exact evaluation inside the loop: M [S*S], inverse, v [S], pi [S, A], P [E]; M is empty where that is done outside."""

    M: Floats
    inverse: Floats
    v: Floats
    pi: Floats
    P: Floats


class Trace(NamedTuple):
    """What is recorded after trajectory at[i]: returns of Jekyll and of greedy Hyde, epsilon_t, steps, Hyde's trajectories, coverage.

    `r` [S, A], `p0` [S], `P` [E], `next` [E] and `first` are the model for the exact evaluation. The run ends once the returns exceed
    `stop_global` and `stop_jekyll`.
    """

    at: Ints
    J_jekyll: Floats
    J_hyde: Floats
    epsilon: Floats
    steps: Ints
    hyde_trajectories: Ints
    least_count: Ints
    unvisited: Ints
    r: Floats
    p0: Floats
    P: Floats
    gamma: float
    stop_global: float
    stop_jekyll: float


def edges_of(mdp: FiniteMDP) -> Edges:
    """The edges of a known MDP, one per stored entry of P."""
    row = np.repeat(np.arange(mdp.n_states * mdp.n_actions), np.diff(mdp.P.indptr))
    next_state = mdp.P.indices.astype(np.int32)
    return Edges(
        s=(row // mdp.n_actions).astype(np.int32), a=(row % mdp.n_actions).astype(np.int32), next=next_state,
        r=mdp.r_next.copy(), discount=np.where(mdp.is_terminal[next_state], 0.0, mdp.gamma),
        first=mdp.P.indptr.astype(np.int32), count=np.zeros(len(next_state), dtype=np.int64),
    )  # fmt: skip


def problem_of(mdp: FiniteMDP, horizon: int) -> Problem:
    """The sampler of a known MDP. The last edge of a row and the last start state get all that rounding leaves."""
    start = np.flatnonzero(mdp.p0 > 0).astype(np.int32)
    cdf = mdp.P.data.copy()
    cumulate(mdp.P.indptr, cdf)
    start_cdf = mdp.p0[start]
    cumulate(np.array([0, len(start)]), start_cdf)
    return Problem(cdf, start, start_cdf, mdp.is_terminal.copy(), horizon)


@kernel
def cumulate(first: Index, p: Floats) -> None:
    """Overwrite the probabilities of each row first[i] .. first[i + 1] - 1 with their running sums, the last with a certain 1."""
    for i in range(len(first) - 1):
        for e in range(first[i] + 1, first[i + 1]):
            p[e] += p[e - 1]
        if first[i + 1] > first[i]:
            p[first[i + 1] - 1] = 1.0


def tables_of(n_states: int, n_actions: int, softmax: bool, q0: float, hyde_q0: float) -> Tables:
    """Pi uniform, theta its parameters, q = q0, Hyde's q = hyde_q0."""
    shape = (n_states, n_actions)
    return Tables(
        theta=np.full(shape, 0.0 if softmax else 1.0 / n_actions), pi=np.full(shape, 1.0 / n_actions), q=np.full(shape, q0), q_hyde=np.full(shape, hyde_q0),
        n=np.zeros(shape, dtype=np.int64), row=np.empty(n_actions),
    )  # fmt: skip

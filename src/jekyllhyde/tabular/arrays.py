"""The array bundles that the compiled loops work on. S states, A actions, E kinds of transition
("edges").

An edge is (s, a, r, s', discount): on a known MDP there is one per possible transition; in an
environment every observed transition becomes one. `discount` is gamma, or 0 where s' is terminal:
termination and truncation are told apart here and nowhere else. What an agent does not have
(`Hyde`, `Buffers`, `Options`) is None, and the compiler leaves its branch out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.jit import kernel
from jekyllhyde.mdp.finite import FiniteMDP, Floats, Ints

Index = NDArray[np.uint32]
Place = np.uint64

# Where a run stands: positions in `clock` (integers) and in `sums` (floats).
(
    STEPS,
    TRAJECTORIES,
    K,
    STATE,
    CONTROL,
    SIZE_JEKYLL,
    SIZE_HYDE,
    HYDE_TRAJECTORIES,
    NEXT,
    EDGE,
    ENDED,
) = range(11)
FACTOR, FACTOR_SUM = range(2)
# Why a compiled loop returned.
PAUSED, FINISHED, EVALUATE, DIVERGED = range(4)
ONE = np.uint64(1)
# Options with more than two values.
EXPECTED_SARSA, CURRENT, Q_LEARNING, MLE = range(4)
PUBLISHED, PAPER, NONE = range(3)


class Edges(NamedTuple):
    """Transitions [E], by places in flat tables: row = s A, pair = s A + a, next = s' A; r and
    discount.

    `first` [S A + 1] : where the edges of a pair start.     `seen` [E] : how often each was seen. Both are empty without a model.
    """

    row: Index
    pair: Index
    next: Index
    r: Floats
    discount: Floats
    first: Index
    seen: Ints


class Problem(NamedTuple):
    """A known MDP as an environment.

    cdf, ends [E] : running sums of p(.|s, a), and whether the edge ends the trajectory.
    start, start_cdf : rows of the start
    states, and running sums of p0.
    terminal : [S].
    horizon : after how many steps a trajectory is cut.
    """

    cdf: Floats
    ends: NDArray[np.bool_]
    start: Index
    start_cdf: Floats
    terminal: NDArray[np.bool_]
    horizon: int


class Tables(NamedTuple):
    """Jekyll's theta, pi, q and Hyde's q, with the counts n over both personalities, all [S, A]."""

    theta: Floats
    pi: Floats
    q: Floats
    q_hyde: Floats
    n: Ints


class Buffers(NamedTuple):
    """Replay as logs of edges [2, room], Jekyll's and Hyde's.

    capacity : bounds each.     ring : the oldest makes room, else the newest is dropped.
    from_model : s' is drawn again from the empirical model of both buffers.
    """

    log: Index
    capacity: int
    ring: bool
    from_model: bool
    batch: int


class Jekyll(NamedTuple):
    """Step sizes, and `decay`, by which the step factor shrinks along a trajectory: gamma (pg) or 1
    (undiscounted).
    """

    eta: float
    eta_c: float
    decay: float
    normalization: int


class Hyde(NamedTuple):
    """Mr Hyde: step size, upper clip, bonus (ucb, else count), `uniform` (he learns nothing and
    acts at random).

    epsilon_t and o_t are min(1, c / t^alpha), or table[t - first] where alpha is nan.
    """

    eta: float
    clip: float
    ucb: bool
    uniform: bool
    epsilon_c: float
    epsilon_alpha: float
    epsilon_table: Floats
    o_c: float
    o_alpha: float
    o_table: Floats
    first: int


class Options(NamedTuple):
    """What departs from expected SARSA on the sample and an expected softmax update without entropy
    or UCB.

    critic : one of the constants above; `mle_every`, q0, gamma belong to MLE.     direct :
        parametrization.     sampled : update
    of the action taken alone.
    lam, centred : entropy.
    nu_critic, nu_actor : weights of UCB.     row [A] : scratch.
    """

    critic: int
    mle_every: int
    q0: float
    gamma: float
    direct: bool
    sampled: bool
    lam: float
    centred: bool
    nu_critic: float
    nu_actor: float
    row: Floats


class Scratch(NamedTuple):
    """For exact evaluation inside the loop: M [S*S], inverse, v [S], pi [S, A], P [E]; M is empty
    where that happens outside.
    """

    M: Floats
    inverse: Floats
    v: Floats
    pi: Floats
    P: Floats


class Trace(NamedTuple):
    """What is recorded after trajectory at[i]: both returns, epsilon_t, steps, Hyde's trajectories,
    coverage.

    indptr, indices, P (CSR rows over pairs), r [S, A], p0 [S] and gamma are the model for the exact
    evaluation. The run ends when both returns exceed their stops.
    """

    at: Ints
    J_jekyll: Floats
    J_hyde: Floats
    epsilon: Floats
    steps: Ints
    hyde_trajectories: Ints
    least_count: Ints
    unvisited: Ints
    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    r: Floats
    p0: Floats
    P: Floats
    gamma: float
    uniform_hyde: bool
    stop_global: float
    stop_jekyll: float


def problem_of(mdp: FiniteMDP, horizon: int) -> Problem:
    """The sampler of a known MDP. The last edge of a row and the last start state get all that
    rounding leaves.
    """
    start = np.flatnonzero(mdp.p0 > 0)
    cdf, start_cdf = mdp.P.data.copy(), mdp.p0[start]
    cumulate(mdp.P.indptr, cdf)
    cumulate(np.array([0, len(start)], dtype=np.int32), start_cdf)
    ends = mdp.is_terminal[mdp.P.indices]
    return Problem(
        cdf,
        ends,
        (start * mdp.n_actions).astype(np.uint32),
        start_cdf,
        mdp.is_terminal.copy(),
        horizon,
    )


def edges_of(mdp: FiniteMDP) -> Edges:
    """The edges of a known MDP, one per stored entry of P."""
    pair = np.repeat(
        np.arange(mdp.n_states * mdp.n_actions, dtype=np.uint32), np.diff(mdp.P.indptr)
    )
    return Edges(
        row=pair - pair % np.uint32(mdp.n_actions),
        pair=pair,
        next=(mdp.P.indices * mdp.n_actions).astype(np.uint32),
        r=mdp.r_next.copy(),
        discount=np.where(mdp.is_terminal[mdp.P.indices], 0.0, mdp.gamma),
        first=mdp.P.indptr.astype(np.uint32),
        seen=np.zeros(mdp.P.nnz, dtype=np.int64),
    )


@kernel
def cumulate(first: NDArray[np.int32], p: Floats) -> None:
    """Overwrite the probabilities of each row first[i] .. first[i + 1] - 1 with their running sums,
    the last with a certain 1.
    """
    for i in range(len(first) - 1):
        for e in range(first[i] + 1, first[i + 1]):
            p[e] += p[e - 1]
        if first[i + 1] > first[i]:
            p[first[i + 1] - 1] = 1.0

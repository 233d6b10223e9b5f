"""The records that the compiled loop works on. S states, A actions, E "edges".

An edge is (s, a, r, s', discount): on a known MDP there is one per possible transition; in an
environment every observed transition becomes one. `discount` is gamma, or 0 where s' is terminal:
termination and truncation are told apart here and nowhere else.

Tables are flat [S A]: the actions of s stand in row .. row + width - 1 with row = s A, width = A.
Such places are unsigned, so that the compiler need not think of negative ones.

The random stream of a run is xoshiro256++ on four words of state, seeded from (seed, run) and
nothing else: it does not know threads, order or time, and saving the words makes resuming exact.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.jit import by_type, phase, sqrt
from jekyllhyde.mdp.finite import FiniteMDP, Floats, Ints
from jekyllhyde.schedule import Schedule

Index = NDArray[np.uint32]
Place = np.uint64
Words = NDArray[np.uint64]
ONE = np.uint64(1)
U11, U17, U19, U23, U41, U45 = (np.uint64(k) for k in (11, 17, 19, 23, 41, 45))


class Edges(NamedTuple):
    """Transitions [E]: row = s A, pair = s A + a, next = s' A, r and discount.

    first [S A + 1] : where the edges of a pair start.  seen [E] : how often each was seen.
    Both are empty without a model.
    """

    row: Index
    pair: Index
    next: Index
    r: Floats
    discount: Floats
    first: Index
    seen: Ints


EDGE_FIELDS = ("row", "pair", "next", "r", "discount")  # what is kept of observed transitions


def new_edges(room: int) -> Edges:
    """Room for so many observed transitions."""
    places, numbers = np.zeros((3, room), dtype=np.uint32), np.zeros((2, room))
    return Edges._make((*places, *numbers, np.zeros(0, np.uint32), np.zeros(0, np.int64)))


class Transition(NamedTuple):
    """One edge: the places of s, (s, a) and s' in the tables, the reward and the discount."""

    row: Place
    pair: Place
    next: Place
    r: float
    discount: float


@phase
def transition(edges: Edges, e: Place) -> Transition:
    """Edge number e."""
    return Transition(
        row=np.uint64(edges.row[e]),
        pair=np.uint64(edges.pair[e]),
        next=np.uint64(edges.next[e]),
        r=edges.r[e],
        discount=edges.discount[e],
    )


class Tables(NamedTuple):
    """Jekyll's theta, pi and q, Hyde's q, and the counts n of both personalities, all [S A].

    work [A] is scratch, width is A.
    """

    theta: Floats
    pi: Floats
    q: Floats
    q_hyde: Floats
    n: Ints
    work: Floats
    width: Place


# Where a run stands, as an array of one record. The state is kept as its row in the tables; factor
# is the actor's step factor of the next step, factor_sum the sum of all before; next_evaluation
# counts the evaluations made. Of the learned model: how many transitions are distinct, and its
# queue of pairs. Of a backward replay: the length of a stretch, its log and its last place.
# start_value is Hyde's value where trajectories start, scale the largest reward seen; the last
# three are Jekyll's value there, see `Stalling`.
POSITION = np.dtype(
    [(name, np.int64) for name in ("steps", "trajectories", "k", "row", "control")]
    + [(name, np.int64) for name in ("size_jekyll", "size_hyde", "hyde_trajectories")]
    + [("next_evaluation", np.int64), ("factor", np.float64), ("factor_sum", np.float64)]
    + [(name, np.int64) for name in ("transitions", "queue_first", "queue_size")]
    + [(name, np.int64) for name in ("stretch", "stretch_log", "stretch_last")]
    + [("start_value", np.float64), ("scale", np.float64)]
    + [(name, np.float64) for name in ("value_fast", "value_slow", "value_pace")]
)


class Run(NamedTuple):
    """What a run works on: edges, tables, what it has learned of the model (see `learned_model`),
    the words of its random stream, and where it stands.
    """

    edges: Edges
    tables: Tables
    model: Any
    words: Words
    position: Any


def stream(seed: int, run: int) -> Words:
    """The state [4] from which run number `run` starts."""
    return np.asarray(np.random.SeedSequence((seed, run)).generate_state(4, np.uint64), np.uint64)


@phase
def number_of(x: np.uint64, w: np.uint64) -> float:
    """The number in [0, 1) that the first and the last word make."""
    mixed = x + w
    bits = ((mixed << U23) | (mixed >> U41)) + x
    return np.float64(bits >> U11) * 2.0**-53


@phase
def next_numbers(words: Words) -> tuple[float, float]:
    """What the next two calls of `uniform` will give; the stream stays where it is."""
    x, w = words[0], words[3]
    changed = w ^ words[1]
    return number_of(x, w), number_of(x ^ changed, (changed << U45) | (changed >> U19))


@phase
def uniform(words: Words) -> float:
    """The next number of the stream, uniform in [0, 1)."""
    x, y, z, w = words[0], words[1], words[2], words[3]
    number = number_of(x, w)
    shifted = y << U17
    z ^= x
    w ^= y
    words[1] = y ^ z
    words[0] = x ^ w
    words[2] = z ^ shifted
    words[3] = (w << U45) | (w >> U19)
    return number


class Rate(NamedTuple):
    """epsilon_t or o_t: min(1, c / t^alpha), or table[t - first] where alpha is nan."""

    c: float
    alpha: float
    table: Floats
    first: int

    def rate_now(self, run: "Run", t: int) -> float:
        if self.alpha == 0.0:
            value = self.c
        elif self.alpha == 0.5:
            value = self.c / sqrt(t)
        elif self.alpha == 1.0:
            value = self.c / t
        elif math.isnan(self.alpha):
            value = self.table[t - self.first]
        else:
            value = self.c / t**self.alpha
        return min(1.0, value)


rate_now = by_type("rate_now")  # at t, which is 1 at the first environment step


def rate_of(schedule: Schedule, done: int, steps: int) -> Rate:
    """A schedule for the `steps` environment steps after the first `done`."""
    if schedule.function is None:
        return Rate(float(schedule.c), float(schedule.alpha), np.empty(0), 0)
    return Rate(math.nan, math.nan, schedule.values(done + 1, steps), done + 1)


class Constant(NamedTuple):
    """A step of always the same size."""

    eta: float

    def step(self, visits: np.int64) -> float:
        return self.eta


class ByVisits(NamedTuple):
    """The step (h + 1) / (h + n) of a pair seen n times: at first 1, and rewards of long ago fade
    as in Q-learning with an analysis (Jin et al., 2018), h being a horizon.
    """

    h: float = 10.0

    def step(self, visits: np.int64) -> float:
        return (self.h + 1.0) / (self.h + visits)


critic_step = by_type("step")
PUBLISHED, PAPER, NONE = range(3)


class StepSize(NamedTuple):
    """The actor's step eta d_t.

    decay : by which the factor d_t shrinks along a trajectory, gamma (pg) or 1 (undiscounted).
    normalization : PUBLISHED, times trajectories / sum of factors, so that the actor does not move
    in the first trajectory; PAPER, divided by their mean.
    """

    eta: float
    decay: float
    normalization: int


@phase
def step_of(size: StepSize, factor: float, factor_sum: float, trajectories: int, t: int) -> float:
    """The step at t, with `factor` included in the sum."""
    step = size.eta * factor
    if size.normalization == PUBLISHED:
        step *= trajectories / factor_sum
    elif size.normalization == PAPER:
        step *= t / factor_sum
    return step


@phase
def expected_value(tables: Tables, row: Place) -> float:
    """v(s) = sum_a pi(a|s) q(s, a)."""
    v = 0.0
    for i in range(row, row + tables.width):
        v += tables.pi[i] * tables.q[i]
    return v


@phase
def greedy_value(q: Floats, row: Place, width: Place) -> float:
    """max_a q(s, a)."""
    best = q[row]
    for i in range(row + ONE, row + width):
        best = max(best, q[i])
    return best


@phase
def sample_action(tables: Tables, row: Place, u: float) -> Place:
    """The place of an action drawn from pi(.|s) by a uniform u: the first whose sum exceeds u.

    A loop that stops early lets the processor guess the action before it is computed, which is
    worth half of the time where the policy is nearly deterministic. Where rounding leaves no such
    action, the last one of positive probability is taken.
    """
    pi = tables.pi
    chosen, last, rest = row, row + tables.width - ONE, u - pi[row]
    while rest >= 0.0 and chosen < last:
        chosen += ONE
        rest -= pi[chosen]
    while pi[chosen] == 0.0:
        chosen -= ONE
    return chosen


def edges_of(mdp: FiniteMDP) -> Edges:
    """The edges of a known MDP, one per stored entry of P."""
    pair = np.repeat(np.arange(mdp.r.size, dtype=np.uint32), np.diff(mdp.P.indptr))
    return Edges(
        row=pair - pair % np.uint32(mdp.n_actions),
        pair=pair,
        next=(mdp.P.indices * mdp.n_actions).astype(np.uint32),
        r=mdp.r_next.copy(),
        discount=np.where(mdp.is_terminal[mdp.P.indices], 0.0, mdp.gamma),
        first=mdp.P.indptr.astype(np.uint32),
        seen=np.zeros(mdp.P.nnz, dtype=np.int64),
    )

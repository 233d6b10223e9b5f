"""The records that the compiled loop works on. S states, A actions, E "edges".

An edge is (s, a, r, s', discount): on a known MDP there is one per possible transition; in an
environment every observed transition becomes one. `discount` is gamma, or 0 where s' is terminal:
termination and truncation are told apart here and nowhere else.

Tables are flat [S A]: the actions of s stand in row .. row + width - 1 with row = s A, width = A.
Such places are unsigned, so that the compiler need not think of negative ones.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.jit import phase
from jekyllhyde.mdp.finite import FiniteMDP, Floats, Ints
from jekyllhyde.tabular.random_stream import Words

Index = NDArray[np.uint32]
Place = np.uint64
ONE = np.uint64(1)


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

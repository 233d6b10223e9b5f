"""The model that the agent has learned: what it saw, counted, and whom a change concerns.

    P^(s'|s,a) = count(s,a,s') / n(s,a)          r^(s,a) = the mean reward

Distinct transitions are kept once, in two lists: by pair (s, a), and by successor s'. Both
personalities take their values from these counts. When the value of a state moves, for either of
them, by more than `TOLERANCE` of its size or of the largest reward, the pairs that were seen to
lead there are queued, and drawn next (prioritized sweeping; Moore and Atkeson, 1993; here first
come, first served). So news travel backwards at once, and a step costs no more than its `batch` of
samples.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.jit import kernel, phase, sqrt
from jekyllhyde.mdp.finite import Floats, Ints
from jekyllhyde.tabular.records import Index, Place, Run, Tables, expected_value, greedy_value

NOTHING = np.uint32(0xFFFFFFFF)  # the end of a list
TOLERANCE = 1e-3
OBSERVED = ("pair", "next", "ended", "times")  # per transition
LISTS = ("more", "more_into", "of_pair", "into")  # follow from the order of the transitions


class NoModel(NamedTuple):
    """Nothing is counted."""

    def observe(self, run: Run, e: Place) -> None:
        """Nothing."""

    def settle(self, run: Run, row: Place) -> None:
        """Nothing."""


class Counts(NamedTuple):
    """M distinct transitions: pair, next (s' itself, not its row), whether it ended, how often.

    of_pair [S A], more [M] : the list of a pair's transitions.
    into [S], more_into [M] : the list of the transitions into a state.
    r, r_spread [S A] : mean rewards, and the sums of their squared distances from them.
    doubt [S A] : see `doubt_of`.  v, v_hyde [S] : the values of both.
    told, told_hyde [S] : the values that the pairs before were last queued for.
    queue, is_queued [S A] : a ring of pairs.
    """

    pair: Index
    next: Index
    ended: NDArray[np.bool_]
    times: Ints
    more: Index
    more_into: Index
    of_pair: Index
    into: Index
    r: Floats
    r_spread: Floats
    doubt: Floats
    v: Floats
    v_hyde: Floats
    told: Floats
    told_hyde: Floats
    queue: Index
    is_queued: NDArray[np.bool_]

    def observe(self, run: Run, e: Place) -> None:
        """Count the transition of edge e; n(s, a) includes it already."""
        edges, now = run.edges, run.position[0]
        pair, s = np.uint64(edges.pair[e]), np.uint64(edges.next[e]) // run.tables.width
        ended = edges.discount[e] == 0.0
        now.scale = max(now.scale, abs(edges.r[e]))
        surprise = edges.r[e] - self.r[pair]
        self.r[pair] += surprise / run.tables.n[pair]
        self.r_spread[pair] += surprise * (edges.r[e] - self.r[pair])
        i = self.of_pair[pair]
        while i != NOTHING and not (self.next[i] == s and self.ended[i] == ended):
            i = self.more[i]
        if i == NOTHING:
            i = np.uint32(now.transitions)
            now.transitions += 1
            self.pair[i], self.next[i], self.ended[i], self.times[i] = pair, s, ended, 0
            enlist(self, i)
        self.times[i] += 1

    def settle(self, run: Run, row: Place) -> None:
        """Take up the values of a state; queue the pairs that lead to it where one has moved."""
        tables, now = run.tables, run.position[0]
        s = np.uint64(np.uint32(row) // np.uint32(tables.width))  # half the time of 64 bits
        v, v_hyde = expected_value(tables, row), greedy_value(tables.q_hyde, row, tables.width)
        self.v[s], self.v_hyde[s] = v, v_hyde
        moved = abs(v - self.told[s]) > TOLERANCE * max(abs(v), now.scale)
        if moved or abs(v_hyde - self.told_hyde[s]) > TOLERANCE * abs(v_hyde):
            self.told[s], self.told_hyde[s] = v, v_hyde
            room, i = len(self.queue), self.into[s]
            while i != NOTHING:
                pair = self.pair[i]
                if not (self.is_queued[pair] or self.ended[i]):
                    self.is_queued[pair] = True
                    end = now.queue_first + now.queue_size
                    self.queue[np.uint64(end if end < room else end - room)] = pair
                    now.queue_size += 1
                i = self.more_into[i]


@phase
def enlist(counts: Counts, i: np.uint32) -> None:
    """Put transition number i at the head of its two lists."""
    pair, s = counts.pair[i], counts.next[i]
    counts.more[i], counts.of_pair[pair] = counts.of_pair[pair], i
    counts.more_into[i], counts.into[s] = counts.into[s], i


@kernel
def link(counts: Counts, distinct: int) -> None:
    """Make the lists of so many transitions."""
    for i in range(distinct):
        enlist(counts, np.uint32(i))


def new_counts(n_states: int, n_actions: int, v: float, v_hyde: float) -> Counts:
    """Nothing seen, no room for a transition yet, and what every state is worth to both."""
    size, no_places = n_states * n_actions, np.empty(0, dtype=np.uint32)
    return Counts(
        pair=no_places,
        next=no_places,
        ended=np.empty(0, dtype=bool),
        times=np.empty(0, dtype=np.int64),
        more=no_places,
        more_into=no_places,
        of_pair=np.full(size, NOTHING, dtype=np.uint32),
        into=np.full(n_states, NOTHING, dtype=np.uint32),
        r=np.zeros(size),
        r_spread=np.zeros(size),
        doubt=np.zeros(size),
        v=np.full(n_states, v),
        v_hyde=np.full(n_states, v_hyde),
        told=np.full(n_states, v),
        told_hyde=np.full(n_states, v_hyde),
        queue=np.zeros(size, dtype=np.uint32),
        is_queued=np.zeros(size, dtype=bool),
    )


def enlarged(counts: Counts, room: int) -> Counts:
    """The same counts with room for so many distinct transitions."""
    larger = {}
    for name in (*OBSERVED, *LISTS[:2]):
        old = getattr(counts, name)
        larger[name] = np.zeros(room, dtype=old.dtype)
        larger[name][: len(old)] = old
    return counts._replace(**larger)


@phase
def next_mean(counts: Counts, tables: Tables, pair: Place, v: Floats, at_end: float) -> float:
    """The mean of v(s') over what followed a pair, `at_end` where the trajectory ended."""
    total, i = 0.0, counts.of_pair[pair]
    while i != NOTHING:
        total += counts.times[i] * (at_end if counts.ended[i] else v[counts.next[i]])
        i = counts.more[i]
    return total / tables.n[pair]


@phase
def doubt_of(counts: Counts, tables: Tables, pair: Place, gamma: float, mean: float) -> float:
    """The standard error of r + gamma v(s') after a pair, where the mean of v(s') is `mean`, r and
    s' being taken for independent.
    """
    spread, i = counts.r_spread[pair], counts.of_pair[pair]
    while i != NOTHING:
        value = 0.0 if counts.ended[i] else counts.v[counts.next[i]]
        spread += counts.times[i] * (gamma * (value - mean)) ** 2
        i = counts.more[i]
    return sqrt(spread) / tables.n[pair]

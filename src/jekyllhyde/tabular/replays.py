"""Replay, by type: two logs of edge numbers, one per personality, or no replay at all.

A log is O(1) in time and four bytes per transition. `from_model` (published): (s, a) comes from the
chosen buffer, and s' from the empirical model of both; otherwise the stored transition itself is
replayed.
"""

from typing import NamedTuple

import numpy as np

from jekyllhyde.jit import phase
from jekyllhyde.mdp.finite import Ints
from jekyllhyde.tabular.records import ONE, Index, Place, Run, uniform

Sizes = tuple[np.int64, np.int64]


class UnderWay(NamedTuple):
    """No replay: the sample is the transition under way (Algorithm 2)."""

    def store(self, e: Place, control: np.int64, sizes: Sizes) -> Sizes:
        return sizes

    def draw(self, run: Run, e: Place, o: float, sizes: Sizes) -> Place:
        return e


class TwoLogs(NamedTuple):
    """The buffers of Jekyll and Hyde, log [2, room].

    capacity : bounds each.  ring : the oldest makes room, else the newest is dropped.
    from_model : s' is drawn again from the empirical model of both buffers.
    """

    log: Index
    capacity: int
    ring: bool
    from_model: bool

    def store(self, e: Place, control: np.int64, sizes: Sizes) -> Sizes:
        """Append edge e to the buffer of the personality in control.

        `sizes` count all that was ever offered to each.
        """
        size = sizes[1] if control else sizes[0]
        if size < self.capacity:
            self.log[control, size] = e
        elif self.ring:
            self.log[control, size % self.capacity] = e
        return sizes[0] + 1 - control, sizes[1] + control

    def draw(self, run: Run, e: Place, o: float, sizes: Sizes) -> Place:
        edges, tables, words, _ = run
        from_hyde = 1 if sizes[1] > 0 and uniform(words) < o else 0
        size = sizes[1] if from_hyde else sizes[0]
        place = np.uint64(uniform(words) * min(size, self.capacity))  # type: ignore[operator]
        drawn = np.uint64(self.log[from_hyde, place])
        if self.from_model:
            pair = np.uint64(edges.pair[drawn])
            if edges.first[pair + ONE] > edges.first[pair] + ONE:
                visit = np.int64(uniform(words) * tables.n[pair])
                drawn = edge_of_visit(edges.first, edges.seen, pair, visit)
        return drawn


@phase
def edge_of_visit(first: Index, seen: Ints, pair: Place, visit: np.int64) -> Place:
    """The edge that visit number `visit` of a pair took, when visits are ordered by edge."""
    chosen, before = np.uint64(first[pair]), np.int64(0)
    for e in range(chosen, np.uint64(first[pair + ONE]) - ONE):
        before += seen[e]
        if visit >= before:
            chosen = Place(e) + ONE
    return chosen

"""Replay: two logs of edge numbers, one per personality (lines 6 and 9 of Algorithm 3).

A log is O(1) in time and four bytes per transition. `from_model` (published): (s, a) comes from the
chosen buffer, and s' from the empirical model of both; otherwise the stored transition itself is
replayed.
"""

from __future__ import annotations

import numpy as np

from jekyllhyde.jit import phase
from jekyllhyde.mdp.finite import Ints
from jekyllhyde.tabular.arrays import ONE, Index, Place


@phase
def store(
    log: Index, control: np.int64, size: np.int64, capacity: int, ring: bool, e: Place
) -> None:
    """Append edge e as number `size` of all that were ever offered to this buffer."""
    if size < capacity:
        log[control, size] = e
    elif ring:
        log[control, size % capacity] = e


@phase
def pick(first: Index, seen: Ints, pair: Place, rank: np.int64) -> Place:
    """The edge of a pair that its visit number `rank` took, when visits are ordered by edge."""
    chosen, before = np.uint64(first[pair]), np.int64(0)
    for e in range(chosen, np.uint64(first[pair + ONE]) - ONE):
        before += seen[e]
        if rank >= before:
            chosen = e + ONE
    return chosen

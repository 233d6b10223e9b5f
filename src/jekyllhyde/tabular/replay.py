"""Replay: two logs of edge numbers, one per personality (lines 6 and 9 of Algorithm 3).

A log is O(1) in time and four bytes per transition. `from_model` (published): (s, a) comes from the chosen buffer, and s' from the
empirical model of both; otherwise the stored transition itself is replayed.
"""

from __future__ import annotations

from jekyllhyde.mdp.finite import Ints
from jekyllhyde.tabular.arrays import Index
from jekyllhyde.tabular.leaf import phase


@phase
def store(log: Index, control: int, size: int, capacity: int, ring: bool, e: int) -> None:
    """Append edge e as number `size` of all that were ever offered to this buffer."""
    if size < capacity:
        log[control, size] = e
    elif ring:
        log[control, size % capacity] = e


@phase
def pick(first: Index, count: Ints, row: int, rank: int) -> int:
    """The edge of (s, a) = row that its visit number `rank` took, when visits are ordered by edge."""
    chosen, seen = first[row], 0
    for e in range(first[row], first[row + 1] - 1):
        seen += count[e]
        chosen += rank >= seen
    return chosen

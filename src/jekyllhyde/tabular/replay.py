"""Replay: two logs of edge numbers, one per personality (lines 6 and 9 of Algorithm 3).

A log is O(1) in time and four bytes per transition. `from_model` (published): (s, a) comes from the chosen buffer, and s' from the
empirical model of both; otherwise the stored transition itself is replayed.
"""

from __future__ import annotations

from jekyllhyde.jit import kernel
from jekyllhyde.mdp.finite import Ints
from jekyllhyde.tabular.arrays import Index
from jekyllhyde.tabular.rng import Words, below, uniform


@kernel
def store(log: Index, size: int, capacity: int, ring: bool, e: int) -> int:
    """Append edge e; the new size. `size` counts all that was ever offered, so that a ring knows where it stands."""
    if size < capacity:
        log[size] = e
    elif ring:
        log[size % capacity] = e
    return size + 1


@kernel
def draw(jekyll: Index, hyde: Index, size_jekyll: int, size_hyde: int, capacity: int, o: float, words: Words) -> int:
    """An edge from Hyde's buffer with probability o, if that is not empty, else from Jekyll's."""
    if size_hyde > 0 and (size_jekyll == 0 or uniform(words) < o):
        return hyde[below(min(size_hyde, capacity), words)]
    return jekyll[below(min(size_jekyll, capacity), words)]


@kernel
def redraw(first: Index, count: Ints, visits: int, row: int, e: int, words: Words) -> int:
    """An edge of the same (s, a) = row as e, drawn from the empirical model."""
    begin, last = first[row], first[row + 1] - 1
    if begin == last:
        return e
    rank = below(visits, words)
    chosen = begin
    while chosen < last and rank >= count[chosen]:
        rank -= count[chosen]
        chosen += 1
    return chosen

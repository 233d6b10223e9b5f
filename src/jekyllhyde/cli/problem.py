"""The options that say which problem is meant, shared by the commands that take one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """Options of the problem; each domain takes its own, `jh list` says which."""

    n_states: int | None = None
    """|S|, the number of states (chain, garnet)."""
    beta: float | None = None
    """Value of the low-hanging fruit relative to the optimum (chain)."""
    n_actions: int | None = None
    """|A|, the number of actions (garnet)."""
    connectivity: int | None = None
    """Successors per state and action (garnet)."""
    goal: int | None = None
    """The goal state, instead of a search for the hardest one (garnet)."""
    level: int | None = None
    """Where episodes start: 1 anywhere, 2 never in the goal's room (four_rooms)."""
    size: int | None = None
    """Cells per side (four_rooms)."""
    slip: float | None = None
    """Probability that a move is random (four_rooms)."""
    n: int | None = None
    """Rows of the sea (deep_sea)."""
    gamma: float | None = None
    """Discount; the domain's own by default, 0.99 for a Gymnasium environment."""

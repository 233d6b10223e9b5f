"""Mazes: square rooms on a grid, joined by random doors, with a trap in the first room.

Cells are (row, column), and walls are one cell thick. States are the free cells in reading order;
actions are North, East, South, West; bumping into a wall stays.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

from jekyllhyde.errors import check_count, check_entries, require
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.mdp.rooms import MOVES, Layout

GOAL, TRAP = 1.0, 0.1
OPEN = 0.25  # share of the other walls that have a door


@dataclass(frozen=True)
class MazeLayout(Layout):
    """The map of a maze; `trap` is the trap's state."""

    trap: int


def layout(rooms: int = 4, size: int = 5, seed: int = 0) -> MazeLayout:
    """The map. A random tree of doors joins all rooms, and a quarter of the other walls between
    two rooms have a door too. The start is the first cell, the trap the middle of its room, the
    goal the last cell.
    """
    rooms, size = check_count(rooms, "rooms", 2), check_count(size, "size", 3)
    needed = max(rooms**4, 16 * (rooms * (size + 1)) ** 2)
    check_entries(needed, f"rooms is {rooms} and size {size}")
    rng = np.random.default_rng(np.random.SeedSequence(check_count(seed, "seed", 0)))
    period, side = size + 1, rooms * (size + 1) + 1
    inside = np.arange(side) % period > 0
    free = np.outer(inside, inside)
    room = np.arange(rooms**2).reshape(rooms, rooms)
    pairs = np.concatenate(
        [np.stack([room[:, :-1], room[:, 1:]], -1), np.stack([room[:-1].T, room[1:].T], -1)]
    ).reshape(-1, 2)
    weight = 1.0 + rng.random(len(pairs))
    tree = minimum_spanning_tree(sparse.csr_array((weight, tuple(pairs.T)), shape=2 * (rooms**2,)))
    has_door = (tree.toarray()[tuple(pairs.T)] > 0.0) | (rng.random(len(pairs)) < OPEN)
    places = rng.integers(1, period, size=len(pairs))
    for (one, other), place in zip(pairs[has_door], places[has_door], strict=True):
        corner = np.array(divmod(int(one), rooms)) * period  # of the room, where two walls meet
        free[tuple(corner + ([place, period] if other == one + 1 else [period, place]))] = True
    cell = np.argwhere(free)
    state = np.where(free, np.cumsum(free).reshape(free.shape) - 1, -1)
    trap = int(state[(size + 1) // 2, (size + 1) // 2])
    return MazeLayout(free, state, cell, len(cell) - 1, np.eye(1, len(cell))[0], trap)


def maze(
    rooms: int = 4, size: int = 5, gamma: float = 0.99, slip: float = 0.0, seed: int = 0
) -> FiniteMDP:
    """A maze of rooms with random doors: a trap near the start, the goal in the far corner.

    Parameters
    ----------
    rooms : rooms per side.
    size : cells per side of a room.
    gamma : discount.
    slip : probability that a move is drawn uniformly instead of taken.
    seed : which maze.

    Entering the goal pays 1, entering the trap 0.1, and both end the episode; steps are free. In a
    maze so large that gamma^distance falls below 0.1 the trap is the better end. The environment's
    cut after 10 rooms * size steps is not part of the model. J_low is the uniform policy's return.
    """
    require(0.0 <= slip <= 1.0, f"slip is {slip}; it must lie in [0, 1]")
    plan = layout(rooms, size, seed)
    n, n_actions = len(plan.cell), len(MOVES)
    ahead = plan.state[tuple((plan.cell[:, None] + MOVES).transpose(2, 0, 1))]
    successor = np.where(ahead < 0, np.arange(n)[:, None], ahead)
    chosen = slip / n_actions + (1.0 - slip) * np.eye(n_actions)
    pair = np.arange(n * n_actions).repeat(n_actions)
    P = sparse.csr_array(
        (np.tile(chosen, (n, 1)).ravel(), (pair, successor.repeat(n_actions, 0).ravel())),
        shape=(n * n_actions, n),
    )
    worth = np.zeros(n)
    worth[[plan.trap, plan.goal]] = TRAP, GOAL
    rewards = sparse.csr_array((worth[P.indices], P.indices, P.indptr), shape=P.shape)
    return FiniteMDP(
        P,
        rewards,
        p0=plan.p0,
        gamma=gamma,
        terminal=[plan.trap, plan.goal],
        name=f"maze({rooms}, size={size}, seed={seed})",
    )

"""Four Rooms (Appendix F): a grid of four rooms joined by doors, with a fixed goal in the first
one.

Cells are (row, column). The outer cells, the middle row and the middle column are walls, but for
four doors. States are the free cells in reading order; actions are North, East, South, West;
bumping into a wall stays. A step costs 0.1, but the one that enters the goal pays 90 and ends the
episode.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from jekyllhyde.errors import check_choice, check_count, check_entries, require
from jekyllhyde.mdp.domains import CONVENTIONS
from jekyllhyde.mdp.finite import Bools, FiniteMDP, Floats, Ints

MOVES = np.array([(-1, 0), (0, 1), (1, 0), (0, -1)])
STEP_REWARD, GOAL_REWARD = -0.1, 90.0


@dataclass(frozen=True)
class Layout:
    """The map: `free` [size, size], `state` [size, size] (-1 at walls), `cell` [S, 2], the goal's
    state, p0 [S].
    """

    free: Bools
    state: Ints
    cell: Ints
    goal: int
    p0: Floats


def layout(level: int = 1, size: int = 15) -> Layout:
    """Level 1 starts anywhere but in the goal; level 2 never in the goal's room.

    Level 2: with probability 1/2 a uniform free cell below the middle row, else one to the right of
    the middle column.
    """
    size = check_count(size, "size", 7)
    check_entries(16 * size * size, f"size is {size}")
    require(level in (1, 2), f"level is {level}; it must be 1 or 2")
    require(size % 2, f"size is {size}; it must be odd, so that a wall can stand in the middle")
    middle = size // 2
    in_a_room = ~np.isin(np.arange(size), [0, middle, size - 1])
    free = np.outer(in_a_room, in_a_room)
    free[middle, [_scaled(2, size), _scaled(10, size)]] = True
    free[[_scaled(3, size), _scaled(11, size)], middle] = True
    cell = np.argwhere(free)
    state = np.where(free, np.cumsum(free).reshape(free.shape) - 1, -1)
    goal = int(state[_scaled(3, size), _scaled(3, size)])
    starts = [np.arange(len(cell)) != goal] if level == 1 else list((cell > middle).T)
    return Layout(
        free, state, cell, goal, p0=np.mean([among / among.sum() for among in starts], axis=0)
    )


def _scaled(position: int, size: int) -> int:
    # A position on the 15 x 15 map, carried over to another size and kept off the walls.
    middle = size // 2
    low, high = (1, middle - 1) if position < 7 else (middle + 1, size - 2)
    return int(np.clip(round(position * (size - 1) / 14), low, high))


def four_rooms(
    level: int = 1,
    size: int = 15,
    gamma: float = 0.9,
    slip: float = 0.0,
    convention: str = "published",
) -> FiniteMDP:
    """Four Rooms: a grid of four rooms joined by doors, with a fixed goal in the first one.

    Parameters
    ----------
    level : where episodes start: 1 anywhere but in the goal, 2 never in the goal's room.
    size : cells per side, walls included; odd.
    gamma : discount.
    slip : probability that a move is drawn uniformly instead of taken.
    convention : published or paper; both are the same here.

    The environment's cut after 90 steps is not part of the model (a cut is not terminal). J_low is
    the uniform policy's return.
    """
    check_choice(convention, "convention", CONVENTIONS)
    require(0.0 <= slip <= 1.0, f"slip is {slip}; it must lie in [0, 1]")
    plan = layout(level, size)
    n, n_actions = len(plan.cell), len(MOVES)
    ahead = plan.state[tuple(plan.cell.T[:, :, None] + MOVES.T[:, None, :])]
    successor = np.where(ahead < 0, np.arange(n)[:, None], ahead)
    chosen = np.full((n_actions, n_actions), slip / n_actions) + (1.0 - slip) * np.eye(n_actions)
    rows = np.repeat(np.arange(n * n_actions), n_actions)
    columns = np.repeat(successor, n_actions, axis=0).ravel()
    P = sparse.csr_array(
        (np.tile(chosen, (n, 1)).ravel(), (rows, columns)), shape=(n * n_actions, n)
    )
    enters_goal = np.asarray(P[:, [plan.goal]].todense()).reshape(n, n_actions)
    return FiniteMDP(
        P,
        STEP_REWARD * (1.0 - enters_goal) + GOAL_REWARD * enters_goal,
        p0=plan.p0,
        gamma=gamma,
        terminal=[plan.goal],
        name=f"four_rooms(level={level}, size={size})",
    )

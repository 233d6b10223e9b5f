"""The domains: the paper's chain, random MDPs and Four Rooms (Appendices C and F), and DeepSea.

`convention` is "published" (what the paper's figures were made with) or "paper" (its text,
literally). They differ in the chain's last decision state and in the random MDPs' choice of goal;
Four Rooms and DeepSea are the same under both.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from jekyllhyde.errors import InputError, check_choice, check_count
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.mdp.garnet import garnet
from jekyllhyde.mdp.rooms import four_rooms

CONVENTIONS = ("published", "paper")


def chain(
    n_states: int = 10, beta: float = 0.95, gamma: float = 0.99, convention: str = "published"
) -> FiniteMDP:
    """The chain of Figure 1: leave now for a fair reward (action 0, a_1), or walk on to a better
    one (action 1, a_2).

    States 0 to n_states - 2 decide, n_states - 1 is terminal. a_1 ends the episode with beta *
    gamma^(n_states - 2); a_2 moves on, and pays 1 on entering the terminal state from the last
    decision state. `published`: rewards depend on (s, s'), so there both actions pay 1. `paper`:
    a_1 pays the same everywhere. J_low is the return of leaving at once.
    """
    n = check_count(n_states, "n_states", 2)
    check_choice(convention, "convention", CONVENTIONS)
    if not 0.0 <= beta < 1.0:
        raise InputError(f"beta is {beta}; it must lie in [0, 1)")
    if not 0.0 < gamma <= 1.0:
        raise InputError(f"gamma is {gamma}; the chain takes one in (0, 1]")
    fruit = beta * gamma ** (n - 2)
    rows = np.arange(2 * (n - 1))
    successor = np.where(rows % 2 == 0, n - 1, rows // 2 + 1)
    P = sparse.csr_array((np.ones(len(rows)), (rows, successor)), shape=(2 * n, n))
    r = np.zeros((n, 2))
    r[: n - 1, 0] = fruit
    r[n - 2, 1] = 1.0
    if convention == "published":
        r[n - 2, 0] = 1.0
    return FiniteMDP(
        P, r, gamma=gamma, terminal=[n - 1], J_low=fruit, name=f"chain({n}, beta={beta:g})"
    )


def deep_sea(n: int = 10, gamma: float = 0.99, convention: str = "published") -> FiniteMDP:
    """DeepSea: dive n rows in an n x n sea, one step left (action 0) or right (action 1) per row.

    Going right costs 0.01/n; only going right at every row finds the treasure, worth 1, in the last
    corner. State row*n + column, and one terminal state. A uniform policy finds it with probability
    2^-n. J_low is 0, the return of always going left.
    """
    n = check_count(n, "n", 2)
    check_choice(convention, "convention", CONVENTIONS)
    row, column = np.divmod(np.arange(n * n), n)
    states = np.stack([np.maximum(column - 1, 0), np.minimum(column + 1, n - 1)], axis=1)
    successor = np.where(row[:, None] == n - 1, n * n, (row[:, None] + 1) * n + states)
    P = sparse.csr_array(
        (np.ones(2 * n * n), (np.arange(2 * n * n), successor.ravel())),
        shape=(2 * (n * n + 1), n * n + 1),
    )
    r = np.zeros((n * n + 1, 2))
    r[: n * n, 1] = -0.01 / n
    r[n * n - 1, 1] += 1.0
    return FiniteMDP(P, r, gamma=gamma, terminal=[n * n], J_low=0.0, name=f"deep_sea({n})")


DOMAINS: dict[str, Callable[..., FiniteMDP]] = {
    "chain": chain,
    "garnet": garnet,
    "four_rooms": four_rooms,
    "deep_sea": deep_sea,
}

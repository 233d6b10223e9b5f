"""The chain of Figure 1."""

import numpy as np
from scipy import sparse

from jekyllhyde.errors import check_choice, check_count, check_entries, require
from jekyllhyde.mdp.domains import CONVENTIONS
from jekyllhyde.mdp.finite import FiniteMDP


def chain(
    n_states: int = 10, beta: float = 0.95, gamma: float = 0.99, convention: str = "published"
) -> FiniteMDP:
    """The chain: leave now for a fair reward, or walk on to a better one.

    Parameters
    ----------
    n_states : |S|, the number of states.
    beta : value of the low-hanging fruit relative to the optimum.
    gamma : discount.
    convention : published (as the figures were made) or paper (the text, literally).

    States 0 to n_states - 2 decide, n_states - 1 is terminal. Action 0, a_1, ends the episode with
    beta * gamma^(n_states - 2); action 1, a_2, moves on, and pays 1 on entering the terminal state
    from the last decision state. `published`: rewards depend on (s, s'), so there both actions pay
    1. `paper`: a_1 pays the same everywhere. J_low is the return of leaving at once.
    """
    n = check_count(n_states, "n_states", 2)
    check_entries(2 * n, f"n_states is {n}")
    check_choice(convention, "convention", CONVENTIONS)
    require(0.0 <= beta < 1.0, f"beta is {beta}; it must lie in [0, 1)")
    require(0.0 < gamma <= 1.0, f"gamma is {gamma}; the chain takes one in (0, 1]")
    fruit = beta * gamma ** (n - 2)
    rows = np.arange(2 * (n - 1))
    successor = np.where(rows % 2 == 0, n - 1, rows // 2 + 1)
    P = sparse.csr_array((np.ones(len(rows)), (rows, successor)), shape=(2 * n, n))
    r = np.zeros((n, 2))
    r[: n - 1, 0] = fruit
    r[n - 2] = fruit if convention == "paper" else 1.0, 1.0
    return FiniteMDP(
        P, r, gamma=gamma, terminal=[n - 1], J_low=fruit, name=f"chain({n}, beta={beta:g})"
    )

"""DeepSea (Osband et al., 2019): a treasure that undirected exploration finds once in 2^n tries."""

import numpy as np
from scipy import sparse

from jekyllhyde.errors import check_choice, check_count
from jekyllhyde.mdp.domains import CONVENTIONS
from jekyllhyde.mdp.finite import FiniteMDP


def deep_sea(n: int = 10, gamma: float = 0.99, convention: str = "published") -> FiniteMDP:
    """DeepSea: dive n rows, left or right at each; a treasure lies in the last corner.

    Parameters
    ----------
    n : rows and columns of the sea.
    gamma : discount.
    convention : published or paper; both are the same here.

    Going right (action 1) costs 0.01/n; only going right at every row finds the treasure, worth 1.
    State row*n + column, and one terminal state. A uniform policy finds it with probability 2^-n.
    J_low is 0, the return of always going left (action 0).
    """
    n = check_count(n, "n", 2)
    check_choice(convention, "convention", CONVENTIONS)
    row, column = np.divmod(np.arange(n * n)[:, None], n)
    below = (row + 1) * n + np.clip(column + np.array([-1, 1]), 0, n - 1)
    successor = np.where(row == n - 1, n * n, below)
    P = sparse.csr_array(
        (np.ones(2 * n * n), (np.arange(2 * n * n), successor.ravel())),
        shape=(2 * (n * n + 1), n * n + 1),
    )
    r = np.zeros((n * n + 1, 2))
    r[: n * n, 1] = -0.01 / n
    r[n * n - 1, 1] += 1.0
    return FiniteMDP(P, r, gamma=gamma, terminal=[n * n], J_low=0.0, name=f"deep_sea({n})")

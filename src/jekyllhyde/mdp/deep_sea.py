"""DeepSea (Osband et al., 2019): a treasure that undirected exploration finds once in 2^n tries.

The diver sinks one row per step, and one of two actions takes him right. Which one is drawn for
every cell, as bsuite draws it: nothing that is learned in one cell says what to do in another.
"""

import numpy as np
from scipy import sparse

from jekyllhyde.errors import check_choice, check_count, check_entries, require
from jekyllhyde.mdp.domains import CONVENTIONS
from jekyllhyde.mdp.finite import CSR, FiniteMDP, Ints

MAPPINGS = ("random", "easy")
COST = 0.01  # of an episode that goes right at every row


def deep_sea(
    n: int = 10,
    gamma: float = 0.99,
    convention: str = "published",
    mapping: str = "random",
    mapping_seed: int = 42,
    stochastic: bool = False,
) -> FiniteMDP:
    """DeepSea: dive n rows, left or right at each; a treasure lies in the last corner.

    Parameters
    ----------
    n : rows and columns of the sea.
    gamma : discount.
    convention : published or paper; both are the same here.
    mapping : which action goes right: random (drawn for every cell) or easy (always action 1).
    mapping_seed : seed of the random mapping; bsuite's is 42, and 0 where the sea is stochastic.
    stochastic : whether going right fails with probability 1/n, and the ends are noisy.

    Going right costs 0.01/n; only going right at every row finds the treasure, worth 1. State
    row*n + column, then the terminal state n*n. The cells right of the diagonal cannot be reached
    and do not act; with mapping="easy" they do, as in version 0.1.

    `stochastic`: a dive to the right that fails sinks straight down, for the same cost. What is
    found in the two bottom corners has unit noise. In a finite model it is a coin's: the episode
    ends in the terminal state n*n + 1, lucky, with 1 more than without noise, or in n*n + 2,
    unlucky, with 1 less; mean 0 and variance 1 as the normal noise of bsuite.

    A uniform policy finds the treasure with probability 2^-n, or less with `stochastic`. J_low is
    0, the return of always going left.
    """
    n = check_count(n, "n", 2)
    check_entries(2 * n * n, f"n is {n}")
    check_choice(convention, "convention", CONVENTIONS)
    right = np.ones((n, n), dtype=np.int64)
    if check_choice(mapping, "mapping", MAPPINGS) == "random":
        right = action_mapping(n, mapping_seed)
    P, r = _transitions(n, right, bool(stochastic))
    row, column = np.divmod(np.arange(n * n), n)
    idle = np.flatnonzero((column > row) & (mapping == "random"))
    kind = ", easy" * (mapping == "easy") + ", stochastic" * bool(stochastic)
    return FiniteMDP(
        P,
        r,
        gamma=gamma,
        terminal=[*idle, *range(n * n, P.shape[1])],
        J_low=0.0,
        name=f"deep_sea({n}{kind})",
    )


def _transitions(n: int, right: Ints, stochastic: bool) -> tuple[CSR, CSR]:
    # Probabilities and rewards of the transitions; each pair has a usual successor and another.
    row, column = np.divmod(np.arange(n * n)[:, None], n)
    goes_right, at_bottom = right.reshape(-1, 1) == np.arange(2), row == n - 1
    noisy = stochastic & at_bottom & ((column == 0) | (column == n - 1))
    sideways = np.where(goes_right, np.minimum(column + 1, n - 1), np.maximum(column - 1, 0))
    usual = np.where(at_bottom, n * n + noisy, (row + 1) * n + sideways)
    other = np.where(at_bottom, n * n + 2, (row + 1) * n + column)
    fails = np.where(noisy, 0.5, stochastic / n * (goes_right & ~at_bottom))
    p = np.stack([1.0 - fails, fails], axis=2).ravel()
    pair = np.repeat(np.arange(2 * n * n), 2)[p > 0.0]
    successor = np.stack(np.broadcast_arrays(usual, other), axis=2).ravel()[p > 0.0]
    r = np.where(goes_right, -COST / n, 0.0)
    r[-1, right[-1, -1]] += 1.0
    luck = 1.0 * (successor == n * n + 1) - (successor == n * n + 2)
    size = n * n + (3 if stochastic else 1)
    return tuple(
        sparse.csr_array((numbers, (pair, successor)), shape=(2 * size, size))
        for numbers in (p[p > 0.0], r.ravel()[pair] + luck)
    )


def action_mapping(n: int, seed: int = 42) -> Ints:
    """The action that goes right in each cell [row, column], as bsuite draws it."""
    seed = check_count(seed, "mapping_seed", 0)
    require(seed < 2**32, f"mapping_seed is {seed}; it must lie below 2^32")
    return np.random.RandomState(seed).binomial(1, 0.5, (n, n)).astype(np.int64)

"""Combination locks in the manner of Misra et al. (2020): two of them, one with a decoy.

Level 0 is the first choice. Each later level has five states: two of the first lock, two of the
second, and a dead one. An open lock's state at the next level is one of its two by a fair coin, so
a combination cannot be learned as a fixed sequence of actions.
"""

import numpy as np
from scipy import sparse

from jekyllhyde.errors import check_count, check_entries
from jekyllhyde.mdp.finite import FiniteMDP

PRIZE, DECOY, BAIT = 1.0, 0.25, 0.05
DEAD, WIDTH = 4, 5  # the place of the dead state in a level, and the states of one


def locks(length: int = 6, n_actions: int = 4, gamma: float = 0.99, seed: int = 0) -> FiniteMDP:
    """Two combination locks behind one first choice: a prize in one, a decoy in the other.

    Parameters
    ----------
    length : steps of an episode, the first choice included.
    n_actions : |A|, the number of actions.
    gamma : discount.
    seed : which combinations.

    The first action chooses the lock; which actions lead to which lock is drawn, half of them to
    each. From then on one action per state, drawn, keeps the lock open. Any other pays 0.05 and
    leads to the dead state, which leads to dead states only and pays nothing. So each step seems
    to ask for a mistake. The last right action pays 1 in one lock and 0.25 in the other. A uniform
    policy opens either with probability n_actions^-(length - 1). J_low is the uniform policy's
    return.

    State 0 is the first choice, 1 + 5 (level - 1) + place the others, with the places 0 and 1 of
    the prize's lock, 2 and 3 of the decoy's, and 4 dead; the last index is the end.
    """
    length = check_count(length, "length", 2)
    n_actions = check_count(n_actions, "n_actions", 2)
    check_entries(10 * length * n_actions, f"length is {length} and n_actions {n_actions}")
    rng = np.random.default_rng(np.random.SeedSequence(check_count(seed, "seed", 0)))
    to_decoy = rng.permutation(n_actions) < n_actions // 2
    keys = np.full((length - 1, WIDTH), -1)  # the right action in each state; none in a dead one
    keys[:, :DEAD] = rng.integers(n_actions, size=(length - 1, DEAD))
    is_right = keys[..., None] == np.arange(n_actions)
    lock = np.arange(WIDTH)[:, None] // 2 * 2  # the first of the two states, of each place
    r = np.zeros((1 + (length - 1) * WIDTH + 1, n_actions))
    r[1:-1] = np.where(is_right | (lock == DEAD), 0.0, BAIT).reshape(-1, n_actions)
    r[-1 - WIDTH : -1] += np.where(is_right[-1], np.where(lock == 0, PRIZE, DECOY), 0.0)
    # the two successors, by a fair coin: of level 0, of the levels up to the last, and the end
    following = 1 + WIDTH * np.arange(1, length)[:, None, None]
    place = np.where(is_right, lock, DEAD)
    first = np.vstack([1 + 2 * to_decoy, (following + place).reshape(-1, n_actions)])
    second = first + np.vstack([to_decoy >= 0, (place < DEAD).reshape(-1, n_actions)])
    end, rows = len(r) - 1, np.arange(first.size)
    columns = np.minimum(np.append(first, second), end)
    P = sparse.csr_array(
        (np.full(2 * first.size, 0.5), (np.tile(rows, 2), columns)),
        shape=(len(r) * n_actions, len(r)),
    )
    return FiniteMDP(P, r, gamma=gamma, terminal=[end], name=f"locks({length}, seed={seed})")

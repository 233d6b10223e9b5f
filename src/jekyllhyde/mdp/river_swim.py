"""RiverSwim (Strehl and Littman, 2008): a swim against the current, and a meal on the near bank."""

import numpy as np

from jekyllhyde.errors import check_count, check_entries, require
from jekyllhyde.mdp.finite import FiniteMDP

MEAL, PRIZE = 0.005, 1.0
BACK, STAY, AHEAD = 0.05, 0.6, 0.35


def river_swim(n: int = 6, gamma: float = 0.99) -> FiniteMDP:
    """RiverSwim: a small reward on the near bank, a large one at the end of a swim upstream.

    Parameters
    ----------
    n : places in the river.
    gamma : discount.

    Episodes start in place 0, the near bank, and never end: an environment cuts them after 20 n
    steps, several times what the swim takes. Action 0 always drifts one place back; in place 0 it
    stays, and pays 0.005. Action 1 swims: one place ahead with probability 0.35, none with 0.6,
    one back with 0.05; from place 0 ahead with 0.6, and in the last place it pays 1 and holds with
    0.6, else it is carried one place back. These are the numbers of Osband et al. (2013). J_low is
    the return of staying on the near bank.
    """
    n = check_count(n, "n", 3)
    check_entries(2 * n * n, f"n is {n}")
    require(0.0 <= gamma < 1.0, f"gamma is {gamma}; the river has no end and takes one in [0, 1)")
    place = np.arange(n)
    P = np.zeros((n, 2, n))
    P[place, 0, np.maximum(place - 1, 0)] = 1.0
    for step, p in ((-1, BACK), (0, STAY), (1, AHEAD)):
        P[place[1:-1], 1, place[1:-1] + step] = p
    P[0, 1, :2] = 1.0 - STAY, STAY
    P[-1, 1, -2:] = 1.0 - STAY, STAY
    r = np.zeros((n, 2))
    r[0, 0], r[-1, 1] = MEAL, PRIZE
    low = MEAL / (1.0 - gamma)
    return FiniteMDP(P, r, gamma=gamma, J_low=low, name=f"river_swim({n})")

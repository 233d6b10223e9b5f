"""Random MDPs (garnets, Appendix C): sparse random transitions, and the goal that is hardest to
reach.

For every (s, a), `connectivity` distinct successors are drawn among all states, with probabilities
that cut [0, 1] uniformly. The episode starts in state 0 and ends on entering the goal, for a reward
of 1. With f as the goal, let v_f be the optimal value of state 0. The goal is the f with the
smallest v_f (`paper`), or the smallest above gamma^50 (`published`), which drops goals that cannot
be reached.
J_low is the uniform policy's return.
"""

import numpy as np
from scipy import sparse

from jekyllhyde.errors import check_choice, check_count, check_entries, require
from jekyllhyde.jit import allocating, kernel
from jekyllhyde.mdp.domains import CONVENTIONS
from jekyllhyde.mdp.finite import FiniteMDP, Floats, Ints
from jekyllhyde.mdp.linalg import back_substitute, factor
from jekyllhyde.parallel import WORK, interruptible

SWEEPS = 60
LARGE = 1000  # states from which a round of policy iteration takes long


def garnet(
    n_states: int = 50,
    n_actions: int = 4,
    connectivity: int = 2,
    gamma: float = 0.99,
    seed: int = 0,
    convention: str = "published",
    goal: int | None = None,
) -> FiniteMDP:
    """A random MDP, a garnet, with the goal that is hardest to reach.

    Parameters
    ----------
    n_states : |S|, the number of states.
    n_actions : |A|, the number of actions.
    connectivity : successors per state and action.
    gamma : discount.
    seed : which random MDP.
    convention : published (as the figures were made) or paper (the text, literally).
    goal : the goal state, instead of a search, whose cost grows as n_states squared.
    """
    n = check_count(n_states, "n_states", 2)
    check_choice(convention, "convention", CONVENTIONS)
    n_actions = check_count(n_actions, "n_actions", 1)
    connectivity = check_count(connectivity, "connectivity", 1)
    seed = check_count(seed, "seed", 0)
    require(connectivity <= n, f"connectivity is {connectivity}; it cannot exceed the {n} states")
    require(
        goal is None or 0 < check_count(goal, "goal", 0) < n,
        f"goal is {goal}; it must be a state from 1 to {n - 1}",
    )
    require(0.0 < gamma < 1.0, f"gamma is {gamma}; a garnet takes one in (0, 1)")
    drawn = n if connectivity**2 > n else connectivity
    check_entries(n * n_actions * drawn, f"n_states is {n}, n_actions {n_actions}")
    if goal is None:  # all goals are compared, in memory that grows as the square
        check_entries(n * n / 5, f"n_states is {n} and no goal is given")
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    successors = _distinct(rng, n * n_actions, connectivity, n).reshape(n, n_actions, connectivity)
    cuts = np.sort(rng.random((n, n_actions, connectivity - 1)))
    probabilities = np.diff(cuts, prepend=0.0, append=1.0)
    indptr = np.arange(0, n * n_actions * connectivity + 1, connectivity)
    P = sparse.csr_array(
        (probabilities.ravel(), successors.ravel(), indptr), shape=(n * n_actions, n)
    )
    if goal is None:
        floor = gamma**50 if convention == "published" else -1.0
        goal = _hardest_goal(successors, probabilities, gamma, floor)
        require(
            goal >= 0,
            f"seed {seed}: no goal of this random MDP has an optimal value above gamma^50; "
            "take another seed",
        )
    P.sort_indices()
    return FiniteMDP(
        P,
        sparse.csr_array((P.indices == goal, P.indices, P.indptr), shape=P.shape),
        gamma=gamma,
        terminal=[goal],
        name=f"garnet({n}, {n_actions}, {connectivity}, seed={seed})",
    )


def _distinct(rng: np.random.Generator, rows: int, k: int, n: int) -> Ints:
    # `rows` ordered samples of k distinct integers below n: rows with a repetition are drawn again,
    # or all keys are ranked.
    if k * k > n:
        return np.argsort(rng.random((rows, n)), axis=1)[:, :k]
    drawn, repeating = np.empty((rows, k), np.int64), np.arange(rows)
    while len(repeating):
        drawn[repeating] = rng.integers(n, size=(len(repeating), k))
        repeating = np.flatnonzero((np.diff(np.sort(drawn, axis=1)) == 0).any(axis=1))
    return drawn


def _hardest_goal(successors: Ints, probabilities: Floats, gamma: float, floor: float) -> int:
    # The goal f whose optimal value v_f(0) is smallest among those above `floor`; -1 if there is
    # none. A few sweeps of value iteration from 0 bound every v_f(0) from below. Goals are then
    # solved exactly, most promising first, until the next bound exceeds the best value seen: most
    # goals are never solved.
    n = len(successors)
    values, bound = np.zeros((n, n)), np.full(n, np.inf)
    stride = 1 + WORK // (SWEEPS * successors.size)
    for first in range(1, n, stride):
        _bound_goals(successors, probabilities, gamma, values, bound, first, min(first + stride, n))
    actions, M, inverse = np.empty(n, np.int64), np.empty(n * n), np.empty(n)
    best_goal, best = -1, np.inf
    for f in _order(bound):
        if bound[f] >= best:
            break
        v = values[f]
        actions[:] = -1
        arguments = (successors, probabilities, gamma, f, v, actions, M, inverse)
        while interruptible(_improve_goal, *arguments, long=n > LARGE):
            pass
        if floor < v[0] < best:
            best_goal, best = int(f), float(v[0])
    return best_goal


@allocating
def _order(bound: Floats) -> Ints:
    # The order of the bounds; which of equal ones comes first is Numba's choice, and stays so.
    return np.argsort(bound)


@kernel
def _bound_goals(
    successors: Ints,
    probabilities: Floats,
    gamma: float,
    values: Floats,
    bound: Floats,
    first: int,
    last: int,
) -> None:
    # Lower bounds for the goals from `first` to before `last`.
    for f in range(first, last):
        for _ in range(SWEEPS):
            _goal_sweep(successors, probabilities, gamma, f, values[f])
        bound[f] = values[f, 0]


@kernel
def _goal_sweep(
    successors: Ints, probabilities: Floats, gamma: float, goal: int, v: Floats
) -> None:
    # v(s) <- max_a sum_s' p (1 if s' is the goal else gamma v(s')), in place.
    n, n_actions, k = successors.shape
    v[goal] = 1.0 / gamma
    for s in range(n):
        best = 0.0
        for a in range(n_actions):
            value = 0.0
            for e in range(k):
                value += probabilities[s, a, e] * v[successors[s, a, e]]
            best = max(best, gamma * value)
        if s != goal:
            v[s] = best


@kernel
def _improve_goal(
    successors: Ints,
    probabilities: Floats,
    gamma: float,
    goal: int,
    v: Floats,
    actions: Ints,
    M: Floats,
    inverse: Floats,
) -> bool:
    # One round of policy iteration: actions greedy for v, then their v; False if none changes.
    n, n_actions, k = successors.shape
    changed = False
    for s in range(n):
        best, best_action = -1.0, -1
        for a in range(n_actions):
            value = 0.0
            for e in range(k):
                value += probabilities[s, a, e] * v[successors[s, a, e]]
            if value > best + 1e-12 or (a == actions[s] and value > best - 1e-12):
                best, best_action = value, a
        if s != goal and best_action != actions[s]:
            changed = True
            actions[s] = best_action
    if not changed:
        return False
    M[:] = 0.0
    for s in range(n):
        M[s * n + s] = 1.0
        if s != goal:
            for e in range(k):
                M[s * n + successors[s, actions[s], e]] -= gamma * probabilities[s, actions[s], e]
    v[:] = 0.0
    v[goal] = 1.0 / gamma
    factor(M, inverse, v)
    back_substitute(M, inverse, v)
    return True

"""Which states a policy can reach, which actions are optimal, whether every policy ends; and what
the checks ask of a run.
"""

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.errors import require
from jekyllhyde.mdp.finite import FiniteMDP, Floats, Ints
from jekyllhyde.mdp.optimum import Optimum
from jekyllhyde.planning.plan_run import PlanRun

Mask = NDArray[np.bool_]
ROUNDING = 1e-10  # relative to the largest value; exact updates leave about 1e-15


def optimal_actions(optimum: Optimum) -> Mask:
    """The actions with q_star(s, a) = v_star(s), as a mask [S, A]; all at terminal states."""
    return np.less(optimum.v[:, None] - optimum.q, optimum.gap[:, None])


def edges(mdp: FiniteMDP, gamma: float, actions: Mask | None = None) -> tuple[Ints, Ints]:
    """The pairs (s, s') with gamma p(s' | s, a) > 0 for one of the `actions` [S, A] (any by
    default), as two arrays.
    """
    if gamma == 0.0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    row = np.repeat(np.arange(mdp.n_states * mdp.n_actions), np.diff(mdp.P.indptr))
    keep = mdp.P.data > 0
    if actions is not None:
        keep &= actions.ravel()[row]
    return (row // mdp.n_actions)[keep], mdp.P.indices[keep].astype(np.int64)


def carry_maximum(values: Floats, source: Ints, target: Ints) -> Floats:
    """For each state, the largest of `values` [..., S] over itself and the states from which a path
    leads to it.
    """
    result = values.copy()
    while True:
        before = result.copy()
        np.maximum.at(result.T, target, before.T[source])
        if np.array_equal(result, before):
            return result


def support(mdp: FiniteMDP, gamma: float, actions: Mask | None = None) -> Mask:
    """The states where d_{pi,gamma} is positive for some pi that uses these actions [S]; all
    actions by default.
    """
    start = (mdp.p0 > 0).astype(np.float64)
    return np.greater(carry_maximum(start, *edges(mdp, gamma, actions)), 0)


def always_ends(mdp: FiniteMDP) -> bool:
    """Whether every policy reaches a terminal state for sure; the expected length of an episode is
    then bounded over all policies.
    """
    row = np.repeat(np.arange(mdp.n_states * mdp.n_actions), np.diff(mdp.P.indptr))
    positive = mdp.P.data > 0
    trapped = ~mdp.is_terminal  # shrinks to the states where some policy can stay for ever
    while True:
        leaves = np.zeros(mdp.n_states * mdp.n_actions, dtype=bool)
        leaves[row[positive & ~trapped[mdp.P.indices]]] = True
        stays = trapped & ~leaves.reshape(mdp.n_states, mdp.n_actions).all(axis=1)
        if np.array_equal(stays, trapped):
            return not trapped.any()
        trapped = stays


def some_records(run: PlanRun, name: str) -> Floats:
    """A recorded quantity [n, ...] with n of at least 1."""
    recorded = run.record(name)
    require(len(recorded), f"{name!r} was recorded at no time; give plan some times in record_at")
    return recorded


def require_run(run: PlanRun, parametrization: str, what: str) -> None:
    """Refuse a run that `what` says nothing about."""
    used, lam = run.settings["parametrization"], run.settings["lam"]
    require(
        used == parametrization,
        f"{what} is about the {parametrization} parametrization; this run used {used}",
    )
    require(lam == 0.0, f"{what} is about lam = 0; this run used lam = {lam:g}")


def require_every_time(run: PlanRun, what: str) -> None:
    """Refuse a run with times that were not recorded."""
    require(
        len(run.t) == run.updates + 1,
        f"{what} is taken over every t; this run recorded {len(run.t)} of {run.updates + 1} "
        "times, record all of them",
    )


def first_for_good(holds: Mask) -> int | None:
    """The first index from which `holds` [n] is true up to the end; None where the end is false."""
    first = int(np.append(-1, np.flatnonzero(~holds))[-1]) + 1
    return first if first < len(holds) else None

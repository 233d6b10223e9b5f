"""Which states lead to which: the sets that statements quantify over, without any S x S matrix."""

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.mdp.finite import FiniteMDP, Floats, Ints
from jekyllhyde.mdp.optimum import Optimum

Mask = NDArray[np.bool_]


def optimal_actions(optimum: Optimum) -> Mask:
    """The actions with q_star(s, a) = v_star(s), as a mask [S, A]; all at terminal states."""
    mask: Mask = optimum.v[:, None] - optimum.q < optimum.gap[:, None]
    return mask


def edges(mdp: FiniteMDP, gamma: float, actions: Mask | None = None) -> tuple[Ints, Ints]:
    """The pairs (s, s') with gamma p(s' | s, a) > 0 for one of the `actions` [S, A] (any by
    default), as two arrays.
    """
    if gamma == 0.0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    row = np.repeat(np.arange(mdp.n_states * mdp.n_actions), np.diff(mdp.P.indptr))
    keep = slice(None) if actions is None else actions.ravel()[row]
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
    source, target = edges(mdp, gamma, actions)
    reached: Mask = carry_maximum((mdp.p0 > 0).astype(np.float64), source, target) > 0
    return reached

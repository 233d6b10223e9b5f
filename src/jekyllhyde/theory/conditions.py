"""The assumptions on the model (A2, A8) and C3's step size; `weights` has C4, C4-s, C5 and C7.

    A2    p0(s) > 0 for every s
    C3    eta = (1 - gamma)^3 / (2 gamma |A|) (direct), (1 - gamma)^3 / 8 (softmax)
    A8    one optimal action per state

Every statement is about the states that decide: a terminal state has no policy to update.
"""

import math
from dataclasses import dataclass, field

from jekyllhyde.errors import check_choice
from jekyllhyde.mdp.finite import FiniteMDP, Ints
from jekyllhyde.planning.updates import PAPER_RULES
from jekyllhyde.theory.reach import optimal_actions


def learning_rate(parametrization: str, gamma: float, n_actions: int) -> float:
    """C3's constant step size, for rewards in [0, 1]; infinite for the direct parametrization with
    gamma = 0.
    """
    check_choice(parametrization, "parametrization", PAPER_RULES)
    if parametrization == "softmax":
        return (1.0 - gamma) ** 3 / 8.0
    return (1.0 - gamma) ** 3 / (2.0 * gamma * n_actions) if gamma > 0 else math.inf


def least_start(mdp: FiniteMDP) -> float:
    """The smallest p0(s) over the states that decide; A2 asks that it be positive."""
    return float(mdp.p0[~mdp.is_terminal].min())


@dataclass(frozen=True)
class Uniqueness:
    """A8. counts : number of optimal actions in each state that decides.  unique : A8 itself.

    enough : every state has one optimal action, or nothing but optimal ones, the case of the
        paper's footnote; the proof of Theorem 4 needs no more.
    """

    counts: Ints = field(repr=False)
    unique: bool
    enough: bool


def uniqueness(mdp: FiniteMDP) -> Uniqueness:
    """Count the optimal actions of every state that decides."""
    counts = optimal_actions(mdp.optimal()).sum(axis=1)[~mdp.is_terminal]
    single, harmless = counts == 1, counts == mdp.n_actions
    return Uniqueness(counts, bool(single.all()), enough=bool((single | harmless).all()))

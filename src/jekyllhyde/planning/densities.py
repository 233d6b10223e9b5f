"""State densities d_t: where the policy is updated.

Every built-in density is a mixture of an on-policy part and a fixed off-policy part,

    d_t = o_t d_off + (1 - o_t) d_{pi_t, g} / |d_{pi_t, g}|_1,

    pg            o_t = 0, g = gamma: the policy gradient
    undiscounted  o_t = 0, g = 1: what practitioners do
    uniform       o_t = 1, d_off uniform
    mixture       g = gamma, d_off uniform, o_t as given

`published`: the on-policy density counts the one visit to a terminal state and is normalized with
it (that share of the step is lost), and d_off is uniform over the non-terminal states. `paper`:
only visits to non-terminal states count, and d_off is 1/|S|.

A user's density is an array [S], taken as it is, or a callable (t, mdp, pi, evaluation) -> [S] with
t = 0 at the first update.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.errors import InputError, check_choice
from jekyllhyde.mdp.evaluation import Evaluation
from jekyllhyde.mdp.finite import FiniteMDP, Floats, as_floats
from jekyllhyde.schedule import Schedule, ScheduleLike, probability

DensityFunction = Callable[[int, FiniteMDP, Floats, Evaluation], "NDArray[np.float64]"]
DensityLike = str | NDArray[np.float64] | DensityFunction


@dataclass(frozen=True)
class Density:
    """d_t in the form above. gamma : g.  o : o_t.  off : d_off [S].  count_terminal : the
    `published` normalization.
    """

    name: str
    gamma: float
    o: Schedule
    off: Floats
    count_terminal: bool

    def on_policy(
        self, mdp: FiniteMDP, evaluation: Evaluation, guess: Floats | None
    ) -> tuple[Floats, Floats]:
        """The normalized on-policy part [S], and the raw density to start the next solve from."""
        raw = evaluation.density(self.gamma, guess)
        counted = raw if self.count_terminal else np.where(mdp.is_terminal, 0.0, raw)
        return counted / counted.sum(), raw


def _uniform(mdp: FiniteMDP, convention: str) -> Floats:
    if convention == "paper":
        return np.full(mdp.n_states, 1.0 / mdp.n_states)
    decides = ~mdp.is_terminal
    return decides / decides.sum()


def _pg(mdp: FiniteMDP, o: Schedule | None, convention: str) -> Density:
    return Density(
        "pg", mdp.gamma, Schedule(0.0), _uniform(mdp, convention), convention == "published"
    )


def _undiscounted(mdp: FiniteMDP, o: Schedule | None, convention: str) -> Density:
    return Density(
        "undiscounted", 1.0, Schedule(0.0), _uniform(mdp, convention), convention == "published"
    )


def _uniform_density(mdp: FiniteMDP, o: Schedule | None, convention: str) -> Density:
    return Density(
        "uniform", mdp.gamma, Schedule(1.0), _uniform(mdp, convention), convention == "published"
    )


def _mixture(mdp: FiniteMDP, o: Schedule | None, convention: str) -> Density:
    if o is None:
        raise InputError(
            'density "mixture" needs o, the off-policiness: a number in [0, 1] or a schedule like "10/sqrt(t)"'
        )
    return Density("mixture", mdp.gamma, o, _uniform(mdp, convention), convention == "published")


DENSITIES: dict[str, Callable[[FiniteMDP, Schedule | None, str], Density]] = {
    "pg": _pg,
    "undiscounted": _undiscounted,
    "uniform": _uniform_density,
    "mixture": _mixture,
}


def resolve(
    density: DensityLike, mdp: FiniteMDP, o: ScheduleLike | None, convention: str
) -> Density | DensityFunction:
    """The density meant by a registry key, an array or a callable."""
    schedule = None if o is None else probability(o, "o")
    if isinstance(density, str):
        check_choice(density, "density", DENSITIES)
        if schedule is not None and density != "mixture":
            raise InputError(
                f'o is given, but density {density!r} does not take it; use density "mixture"'
            )
        return DENSITIES[density](mdp, schedule, convention)
    if schedule is not None:
        raise InputError(
            'o is given, but a density of your own does not take it; use density "mixture"'
        )
    if callable(density):
        return density
    return Density("array", mdp.gamma, Schedule(1.0), check_density(density, mdp), True)


def check_density(d: NDArray[np.float64], mdp: FiniteMDP) -> Floats:
    """`d` as a non-negative float array [S]."""
    array = as_floats(d, "density").copy()
    if array.shape != (mdp.n_states,):
        raise InputError(
            f"density has shape {array.shape}; it must be [{mdp.n_states}], one weight per state"
        )
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise InputError("density has an entry that is negative or not finite")
    return array

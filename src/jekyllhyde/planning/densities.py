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
t = 0 at the first update, or "file.py:function".
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from jekyllhyde.errors import check_choice, require
from jekyllhyde.mdp.evaluation import Evaluation
from jekyllhyde.mdp.finite import FiniteMDP, Floats, as_floats
from jekyllhyde.references import is_reference, load
from jekyllhyde.schedule import Schedule, ScheduleLike, probability

DensityFunction = Callable[[int, FiniteMDP, Floats, Evaluation], Floats]
DensityLike = str | Floats | DensityFunction


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


# the discount g of the on-policy part (the MDP's own where it is None), and o_t where it is fixed
DENSITIES: dict[str, tuple[float | None, float | None]] = {
    "pg": (None, 0.0),
    "undiscounted": (1.0, 0.0),
    "uniform": (None, 1.0),
    "mixture": (None, None),
}


def resolve(
    density: DensityLike, mdp: FiniteMDP, o: ScheduleLike | None, convention: str
) -> Density | DensityFunction:
    """The density meant by a name, an array, a callable or "file.py:function"."""
    schedule = None if o is None else probability(o, "o")
    if isinstance(density, str) and is_reference(density):
        density = load("density", density)
    name = check_choice(density, "density", DENSITIES) if isinstance(density, str) else None
    whose = "a density of your own" if name is None else f"density {name!r}"
    require(
        name == "mixture" or schedule is None,
        f'o is given, but {whose} does not take it; use density "mixture"',
    )
    if callable(density):
        return density
    if not isinstance(density, str):
        return Density("array", mdp.gamma, Schedule(1.0), check_density(density, mdp), True)
    require(
        schedule is not None or name != "mixture",
        'density "mixture" needs o, the off-policiness: a number in [0, 1] or a schedule like '
        '"10/sqrt(t)"',
    )
    (gamma, fixed), decides = DENSITIES[density], ~mdp.is_terminal
    return Density(
        name=density,
        gamma=mdp.gamma if gamma is None else gamma,
        o=schedule or Schedule(fixed or 0.0),
        off=np.full_like(mdp.p0, 1.0 / mdp.n_states)
        if convention == "paper"
        else decides / decides.sum(),
        count_terminal=convention == "published",
    )


def check_density(d: Floats, mdp: FiniteMDP) -> Floats:
    """`d` as a non-negative float array [S]."""
    array = as_floats(d, "density").copy()
    require(
        array.shape == (mdp.n_states,),
        f"density has shape {array.shape}; it must be [{mdp.n_states}], one weight per state",
    )
    require(
        np.isfinite(array).all() and (array >= 0).all(),
        "density has an entry that is negative or not finite",
    )
    return array

"""How bsuite (Osband et al., 2020) scores an explorer on DeepSea, and on the swing-up.

An episode is bad when its actions leave the diagonal, the way to the treasure; being carried off it
is not bad. A sea is solved at the first episode at which the share of bad episodes so far falls
below a threshold. The score is the share of the sizes 10, 12, ..., 50 that are solved before
episode 2^size + 100, within 10,000 episodes: sooner than a uniform policy would find the treasure.

Rules differ in the threshold, and in the episode from which they look:

    deterministic   below 0.9, as bsuite's article and the axes of its plots say
    code            below 0.8, which is what bsuite's code computes for the same sea
    stochastic      below 0.8, from episode 100 on, so that luck does not count

The swing-up has 20 heights, 0, 0.05, ..., 0.95, and 1,000 episodes at each. Half of a height's
score is the mean return of all of them, Hyde's included, as a share of 700, and half whether any
return was above 100.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jekyllhyde.errors import require
from jekyllhyde.mdp.finite import Floats, Ints

SIZES = tuple(range(10, 51, 2))
EPISODES, GRACE = 10_000, 100
OPTIMUM = 0.99  # the undiscounted return of going right at every row, without wind

HEIGHTS = tuple(n / 20 for n in range(20))
SWINGS, PERFECT, GOOD = 1_000, 700.0, 100.0  # episodes; mean return, and best one, of the swing-up

# 1 to 9, then 1, 1.2, 1.4, 1.7, 2, 2.5, 3, 4, ..., 9 times every power of ten
_STEPS = np.array([10, 12, 14, 17, 20, 25, *range(30, 100, 10)])
LOGGED = np.unique([*range(1, 10), *np.outer([1, 10, 100, 1000], _STEPS).ravel()])


class Rule(NamedTuple):
    """Solved where the share of bad episodes is below `threshold`, at episode `first` or later."""

    threshold: float
    first: int = 1


RULES = {"deterministic": Rule(0.9), "code": Rule(0.8), "stochastic": Rule(0.8, 100)}


def missed_treasure(returns: ArrayLike) -> NDArray[np.bool_]:
    """Which episodes of a deterministic sea are bad, by their undiscounted returns."""
    return np.asarray(returns) < OPTIMUM - 1e-6


def left_diagonal(states: ArrayLike, actions: ArrayLike, right: Ints) -> NDArray[np.bool_]:
    """Which episodes [...] are bad, by their states and actions [..., n]; `right` [n, n] is the
    action that goes right in each cell (`mdp.deep_sea.action_mapping`).
    """
    row, column = np.divmod(np.asarray(states), len(right))
    return np.any((row == column) & (np.asarray(actions) != right[row, column]), axis=-1)


def bad_dives(taken: ArrayLike, right: Ints) -> Ints:
    """How many episodes [...] were bad so far, of how often each action was taken [..., S, A], as
    in the result of `deep.train`: a bad one takes the other action on the diagonal once.
    """
    cell = np.arange(len(right))
    wrong = 1 - right[cell, cell]
    return np.asarray(np.asarray(taken)[..., cell * (len(right) + 1), wrong].sum(axis=-1))


def solved_at(bad: ArrayLike, rule: Rule, *, logged: bool = False) -> Floats:
    """The number, counted from 1, of the episode that solves each run of `bad` [..., episodes];
    infinite where none does. With `logged` only the episodes count that bsuite writes down.
    """
    flags = np.asarray(bad, dtype=np.float64)[..., :EPISODES]
    number = np.arange(1, flags.shape[-1] + 1)
    looked_at = np.isin(number, LOGGED) | (not logged)
    return first_below(np.cumsum(flags, axis=-1)[..., looked_at], number[looked_at], rule)


def first_below(bad: ArrayLike, number: ArrayLike, rule: Rule) -> Floats:
    """The first `number` [E] of episodes at which the runs [...] are solved, `bad` [..., E] of them
    having been bad by then; infinite where they are at none.
    """
    episodes = np.asarray(number, dtype=np.float64)
    solved = (np.asarray(bad) / episodes < rule.threshold) & (episodes >= rule.first)
    return np.where(solved, episodes, np.inf).min(axis=-1, initial=np.inf)


def score(bad: Mapping[int, ArrayLike], rule: Rule, *, logged: bool = False) -> Any:
    """The score [...] of runs whose bad episodes [..., episodes] are known for every size."""
    absent = [size for size in SIZES if size not in bad]
    require(
        not absent,
        f"bad has no episodes of size {min(absent, default=0)}; the sizes are 10, 12, ..., 50",
    )
    times = [solved_at(bad[size], rule, logged=logged) for size in SIZES]
    limits = [2.0**size + GRACE for size in SIZES]
    return np.mean([time < limit for time, limit in zip(times, limits, strict=True)], axis=0)


def swing_up_score(returns: Mapping[float, ArrayLike]) -> Any:
    """The score [...] of runs whose undiscounted returns [..., episodes] are known for every height
    of `HEIGHTS`.
    """
    absent = [height for height in HEIGHTS if height not in returns]
    require(
        not absent,
        f"returns has none at height {min(absent, default=0)}; the heights are 0, 0.05, ..., 0.95",
    )
    swings = [np.asarray(returns[height])[..., :SWINGS] for height in HEIGHTS]
    shares = [np.clip(each.mean(axis=-1) / PERFECT, 0.0, 1.0) for each in swings]
    is_up = [each.max(axis=-1) > GOOD for each in swings]
    return (np.mean(shares, axis=0) + np.mean(is_up, axis=0)) / 2.0

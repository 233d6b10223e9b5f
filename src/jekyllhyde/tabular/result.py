"""What `learn` leaves behind: curves per run, times to a target, coverage, failures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.errors import InputError, check_choice
from jekyllhyde.mdp.finite import Floats, Ints

CRITERIA = ("both", "global", "jekyll")


class Interval(NamedTuple):
    """A mean over runs with its 95 % confidence interval (Student's t), the median, and the share
    of censored runs.
    """

    mean: float
    low: float
    high: float
    median: float
    censored: float


@dataclass(frozen=True)
class LearnRun:
    """The outcome of `learn`: R runs (rows), E evaluations (columns).

    trajectories : [E], after how many trajectories the agent was evaluated.
    J, J_jekyll : [R, E], exact returns: global = (1 - epsilon_t) J(Jekyll) + epsilon_t J(greedy
        Hyde), and Jekyll's alone; nan after a run has stopped. J_norm, J_norm_jekyll : the same,
        normalized by each run's MDP.
    epsilon, steps : [R, E], epsilon_t and the environment steps so far.
    hyde_trajectories : [R, E], trajectories that Hyde led.     least_count, unvisited : [R, E], the
        smallest n(s, a), and the states never visited, among non-terminal states.
    q, pi : the final tables of each run, [S, A].
    failures : run -> reason, for runs that diverged.     target : where runs were stopped.
        settings : what was asked for.
    """

    trajectories: Ints
    J: Floats = field(repr=False)
    J_jekyll: Floats = field(repr=False)
    J_norm: Floats = field(repr=False)
    J_norm_jekyll: Floats = field(repr=False)
    epsilon: Floats = field(repr=False)
    steps: Ints = field(repr=False)
    hyde_trajectories: Ints = field(repr=False)
    least_count: Ints = field(repr=False)
    unvisited: Ints = field(repr=False)
    q: list[Floats] = field(repr=False)
    pi: list[Floats] = field(repr=False)
    failures: dict[int, str]
    target: float | None
    settings: dict[str, Any]

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(self.J)

    def reached(self, target: float, which: str = "both") -> NDArray[np.bool_]:
        """[R, E], where the normalized return is strictly above `target`: global and Jekyll's
        ("both"), or one of them.
        """
        check_choice(which, "which", CRITERIA)
        if self.target is not None and not target <= self.target:
            raise InputError(
                f"target is {target}; these runs were stopped at {self.target:g}, beyond it nothing is known"
            )
        above, above_jekyll = self.J_norm > target, self.J_norm_jekyll > target
        return np.asarray(
            above
            if which == "global"
            else above_jekyll
            if which == "jekyll"
            else above & above_jekyll
        )

    def censored(self, target: float, which: str = "both") -> NDArray[np.bool_]:
        """[R], the runs that never got above `target`."""
        return np.asarray(~self.reached(target, which).any(axis=1))

    def time_to(self, target: float, which: str = "both") -> Ints:
        """[R], the first evaluated number of trajectories above `target`; the cap, their full
        number, where censored.
        """
        reached = self.reached(target, which)
        return np.where(
            reached.any(axis=1), self.trajectories[reached.argmax(axis=1)], self.trajectories[-1]
        )

    def summary(self, target: float, which: str = "both") -> Interval:
        """The time to `target` over the runs."""
        return interval(self.time_to(target, which), self.censored(target, which))

    def curve(self, which: str = "global") -> tuple[Floats, Floats, Floats]:
        """Mean normalized return [E] over all runs, with the bounds of its 95 % confidence
        interval.

        A run that has stopped keeps its last value: averaging over those still going would follow
        the slowest.
        """
        check_choice(which, "which", CRITERIA[1:])
        values = self.J_norm if which == "global" else self.J_norm_jekyll
        known = np.maximum.accumulate(
            np.where(np.isnan(values), 0, np.arange(values.shape[1])), axis=1
        )
        values = np.take_along_axis(values, known, axis=1)
        mean, count = values.mean(axis=0), len(values)
        spread = values.std(axis=0, ddof=min(1, count - 1)) / np.sqrt(count)
        width = _student(np.array(count - 1)) * spread
        return mean, mean - width, mean + width


def interval(values: Ints | Floats, censored: NDArray[np.bool_] | None = None) -> Interval:
    """The mean of `values` [R] with its 95 % confidence interval."""
    mean = float(np.mean(values))
    width = (
        float(
            _student(np.array([len(values) - 1]))[0] * np.std(values, ddof=1) / np.sqrt(len(values))
        )
        if len(values) > 1
        else np.inf
    )
    share = 0.0 if censored is None else float(np.mean(censored))
    return Interval(mean, mean - width, mean + width, float(np.median(values)), share)


def _student(freedom: Ints) -> Floats:
    from scipy.special import stdtrit

    return np.asarray(stdtrit(np.maximum(freedom, 1), 0.975))

"""What `learn` leaves behind: curves per run, times to a target, coverage, failures."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.errors import InputError, check_choice
from jekyllhyde.intervals import summarize
from jekyllhyde.mdp.finite import Floats, Ints

CRITERIA = ("both", "global", "jekyll")


class Interval(NamedTuple):
    """A mean over runs with its 95 % interval, the median, and the share of censored runs."""

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
        Hyde), and Jekyll's alone; nan after a run has stopped.
    J_norm, J_norm_jekyll : the same, normalized by each run's MDP.
    epsilon, steps : [R, E], epsilon_t and the environment steps so far.
    hyde_trajectories : [R, E], trajectories that Hyde led.
    least_count, unvisited : [R, E], the smallest n(s, a), and the states never visited, among
        non-terminal states.
    q, pi : the final tables of each run, [S, A].
    failures : run -> reason, for runs that diverged.
    target, target_on : where runs were stopped, and on whose return; times are of the same return
        unless another is asked for.  settings : what was asked for.
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
    target_on: str = "both"

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(self.J)

    def reached(self, target: float, which: str | None = None) -> NDArray[np.bool_]:
        """[R, E], where the normalized return is strictly above `target`.

        The global one and Jekyll's ("both"), or one of them; `target_on` by default.
        """
        which = check_choice(self.target_on if which is None else which, "which", CRITERIA)
        if self.target is not None and not target <= self.target:
            raise InputError(
                f"target is {target}; these runs were stopped at {self.target:g}, "
                "beyond it nothing is known"
            )
        above = {"global": self.J_norm > target, "jekyll": self.J_norm_jekyll > target}
        return np.asarray(above[which] if which in above else above["global"] & above["jekyll"])

    def censored(self, target: float, which: str | None = None) -> NDArray[np.bool_]:
        """[R], the runs that never got above `target`."""
        return np.asarray(~self.reached(target, which).any(axis=1))

    def time_to(self, target: float, which: str | None = None) -> Ints:
        """[R], the first evaluated number of trajectories above `target`; their number if never."""
        reached = self.reached(target, which)
        first = np.where(reached.any(axis=1), reached.argmax(axis=1), -1)
        return self.trajectories[first]

    def summary(self, target: float, which: str | None = None) -> Interval:
        """The time to `target` over the runs."""
        times = self.time_to(target, which).astype(np.float64)
        interval, censored = summarize(times, "mean"), self.censored(target, which)
        return Interval(*map(float, (*interval, np.median(times), censored.mean())))

    def known(self, which: str = "global") -> Floats:
        """Normalized returns [R, E] in which a run that has stopped keeps its last value."""
        check_choice(which, "which", CRITERIA[1:])
        values = self.J_norm if which == "global" else self.J_norm_jekyll
        known = np.where(np.isnan(values), 0, np.arange(values.shape[1]))
        last = np.maximum.accumulate(known, axis=1)
        return np.asarray(np.take_along_axis(values, last, axis=1))

    def curve(self, which: str = "global") -> tuple[Floats, Floats, Floats]:
        """Mean normalized return [E] over all runs, with the bounds of its 95 % interval.

        Averaging over those still going alone would follow the slowest.
        """
        return summarize(self.known(which), "mean")

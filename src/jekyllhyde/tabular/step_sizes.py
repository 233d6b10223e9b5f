"""What falls with time: the rates epsilon_t and o_t, and the steps of critics and of the actor."""

import math
from typing import NamedTuple

import numpy as np

from jekyllhyde.jit import by_type, phase, sqrt
from jekyllhyde.mdp.finite import Floats
from jekyllhyde.schedule import Schedule
from jekyllhyde.tabular.records import Run


class Rate(NamedTuple):
    """epsilon_t or o_t: min(1, c / t^alpha), or table[t - first] where alpha is nan."""

    c: float
    alpha: float
    table: Floats
    first: int

    def rate_now(self, run: Run, t: int) -> float:
        if self.alpha == 0.0:
            value = self.c
        elif self.alpha == 0.5:
            value = self.c / sqrt(t)
        elif self.alpha == 1.0:
            value = self.c / t
        elif math.isnan(self.alpha):
            value = self.table[t - self.first]
        else:
            value = self.c / t**self.alpha
        return min(1.0, value)


rate_now = by_type("rate_now")  # at t, which is 1 at the first environment step


def rate_of(schedule: Schedule, done: int, steps: int) -> Rate:
    """A schedule for the `steps` environment steps after the first `done`."""
    if schedule.function is None:
        return Rate(float(schedule.c), float(schedule.alpha), np.empty(0), 0)
    return Rate(math.nan, math.nan, schedule.values(done + 1, steps), done + 1)


class Constant(NamedTuple):
    """A step of always the same size."""

    eta: float

    def step(self, visits: np.int64) -> float:
        return self.eta


class ByVisits(NamedTuple):
    """The step (h + 1) / (h + n) of a pair seen n times: at first 1, and rewards of long ago fade
    as in Q-learning with an analysis (Jin et al., 2018), h being a horizon.
    """

    h: float = 10.0

    def step(self, visits: np.int64) -> float:
        return (self.h + 1.0) / (self.h + visits)


critic_step = by_type("step")
PUBLISHED, PAPER, NONE = range(3)


class StepSize(NamedTuple):
    """The actor's step eta d_t.

    decay : by which the factor d_t shrinks along a trajectory, gamma (pg) or 1 (undiscounted).
    normalization : PUBLISHED, times trajectories / sum of factors, so that the actor does not move
    in the first trajectory; PAPER, divided by their mean.
    """

    eta: float
    decay: float
    normalization: int


@phase
def step_of(size: StepSize, factor: float, factor_sum: float, trajectories: int, t: int) -> float:
    """The step at t, with `factor` included in the sum."""
    step = size.eta * factor
    if size.normalization == PUBLISHED:
        step *= trajectories / factor_sum
    elif size.normalization == PAPER:
        step *= t / factor_sum
    return step

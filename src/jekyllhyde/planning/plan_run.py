"""What a run of exact policy updates leaves behind."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jekyllhyde.errors import require
from jekyllhyde.mdp.finite import FiniteMDP, Floats, Ints
from jekyllhyde.planning.densities import Density, DensityFunction
from jekyllhyde.schedule import Schedule


@dataclass(frozen=True)
class PlanRun:
    """The outcome of `plan`.

    J : [T+1]; J[t] is the return before update t, the last entry that of the final policy.
    pi, theta : the final policy and its parameters [S, A].
    weights : sum_t eta_t d_t [S], the quantity of condition C4.
    updates : T, the updates made; fewer than `cap`, those asked for, if the target was reached
        before.
    t : the recorded times [n]; `records` holds what was asked for at those times, and the weights
        spent before them: v, d, weights [n, S]; q, pi, theta [n, S, A].
    settings : what was asked for, in the words of the command line.  solver : compiled, dense,
        sparse_lu or iterative.
    """

    mdp: FiniteMDP = field(repr=False)
    J: Floats = field(repr=False)
    pi: Floats = field(repr=False)
    theta: Floats = field(repr=False)
    weights: Floats = field(repr=False)
    updates: int
    cap: int
    target: float | None
    censored: bool
    t: Ints = field(repr=False)
    records: dict[str, Floats] = field(repr=False)
    settings: dict[str, Any]
    solver: str
    density: Density | DensityFunction = field(repr=False)
    eta: Schedule = field(repr=False)

    @property
    def J_norm(self) -> Floats:
        """The normalized returns [T+1]: 0 at the domain's reference policy, 1 at the optimum."""
        return np.asarray(self.mdp.normalize(self.J))

    @property
    def time_to_target(self) -> int | None:
        """First t with J_norm[t] > target; the cap where it was never reached (`censored`); None
        without a target.
        """
        return None if self.target is None else self.cap if self.censored else self.updates

    def record(self, name: str) -> Floats:
        """A recorded quantity; its first axis is `t`."""
        require(
            name in self.records,
            f"{name!r} was not recorded; ask for it with plan(..., record=[{name!r}])",
        )
        return self.records[name]

"""The one-state MDP that shows C4 necessary (Appendix B): two actions that end the episode, worth 1
and r2 < 1.

Let m = sum_t eta_t d_t(s) be finite.

    direct    pi(a_1) rises by eta_t d_t (1 - r2)/2 per update. With pi_0(a_1) = x and the
              adversarial r2 = 1 - (1 - x)/m it stops half way, at a gap of (1 - x)^2 / (2 m).
              With r2 <= 1 - 2 (1 - x)/m it becomes optimal all the same: C4 is necessary to
              guarantee optimality on every MDP, not on each.
    softmax   theta_1 - theta_2 rises by at most m (1 - r2)/2 in all, from L at the start, so
              v_star - v_t >= (1 - r2) / (1 + exp(L + m (1 - r2)/2)). The paper bounds pi(a_2) below
              by exp(theta_2 - theta_1), which lies above it, and arrives at v_star - v_t >= exp(-L
              - m/2) (1 - r2). At t = 0 that says exp(-L - m/2) <= pi_0(a_2), which is false for
              every m < -2 log pi_0(a_1), such as m < 2 log 2 from a uniform start.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.special import zeta

from jekyllhyde.errors import require
from jekyllhyde.mdp.finite import FiniteMDP, Floats
from jekyllhyde.planning.plan import plan
from jekyllhyde.planning.plan_run import PlanRun
from jekyllhyde.schedule import ScheduleLike, positive


def one_state(r2: float, gamma: float = 0.9) -> FiniteMDP:
    """State 0 decides between rewards 1 and r2; both actions lead to the terminal state 1."""
    P = np.zeros((2, 2, 2))
    P[0, :, 1] = 1.0
    return FiniteMDP(
        P, np.array([[1.0, r2], [0.0, 0.0]]), gamma=gamma, terminal=[1], name=f"one_state({r2:g})"
    )


@dataclass(frozen=True)
class Counterexample:
    """A run with summable weights.  m : their sum over all t.  gap : v_star - v_t [T+1].

    printed : the paper's lower bound of every gap.     proved : the one that can be proved (the
        same for direct).
    """

    m: float
    r2: float
    gap: Floats = field(repr=False)
    printed: float
    proved: float
    run: PlanRun = field(repr=False)


def counterexample(
    parametrization: str,
    eta: ScheduleLike = "1/t^2",
    r2: float | None = None,
    start: float = 0.5,
    updates: int = 10_000,
) -> Counterexample:
    """Run the one-state MDP with d_t(s) = 1 and a summable eta "c/t^alpha", alpha > 1, from pi(a_1)
    = start.

    r2 is the adversarial reward by default with the direct parametrization, 0.5 with softmax.
    """
    schedule = positive(eta, "eta")
    require(
        schedule.function is None and schedule.alpha > 1.0,
        f'eta is {schedule}; the counterexample takes a summable one, "c/t^alpha" with alpha above '
        "1",
    )
    require(0.0 < start < 1.0, f"start is {start:g}; it must lie in (0, 1)")
    m = schedule.c * float(zeta(schedule.alpha))
    direct = parametrization == "direct"
    worse = r2 if r2 is not None else 1.0 - (1.0 - start) / m if direct else 0.5
    require(worse < 1.0, f"r2 is {worse:g}; it must be below 1")
    run = plan(
        one_state(worse),
        parametrization=parametrization,
        density=np.array([1.0, 0.0]),
        eta=schedule,
        updates=updates,
        pi0=[[start, 1.0 - start], [0.5, 0.5]],
    )
    if direct:
        printed = proved = max(0.0, (1.0 - start) - m * (1.0 - worse) / 2.0) * (1.0 - worse)
    else:
        lead = math.log(start / (1.0 - start))
        printed = math.exp(-lead - m / 2.0) * (1.0 - worse)
        proved = (1.0 - worse) / (1.0 + math.exp(lead + m * (1.0 - worse) / 2.0))
    return Counterexample(m=m, r2=worse, gap=1.0 - run.J, printed=printed, proved=proved, run=run)

"""Theorems 1 and 3 on a recorded run: monotone values, and the finite hitting time of the direct
parametrization.

Theorem 1: v_t and q_t never decrease, for both parametrizations, any density and any step size
(without entropy).

Theorem 3: with the direct parametrization and C4 there is a time from which q_t = q_star. The proof
says more: from the t_0 on at which q_star - q_t <= delta(s)/2, each update adds eta_t d_t(s)
delta(s)/4 to the mass on optimal actions, so state s is done once sum_{t' = t_0}^{t - 1} eta_t'
d_t'(s) >= 4 (1 - pi_{t_0}(optimal | s)) / delta(s). That time is the `ceiling`.
"""

from dataclasses import dataclass, field

import numpy as np

from jekyllhyde.errors import InputError
from jekyllhyde.mdp.finite import Floats
from jekyllhyde.planning.plan_run import PlanRun
from jekyllhyde.theory.conditions import some_records
from jekyllhyde.theory.graph import Mask, optimal_actions

ROUNDING = 1e-10  # relative to the largest value; exact updates leave about 1e-15


@dataclass(frozen=True)
class Monotonicity:
    """Theorem 1. decrease_v, decrease_q : the largest decrease between successive records, 0 if
    none, and the time `t` before it.

    tolerance : what rounding may explain.  holds : no decrease beyond it.
    """

    decrease_v: float
    decrease_q: float
    t: int
    tolerance: float
    holds: bool


def monotonicity(run: PlanRun, rounding: float = ROUNDING) -> Monotonicity:
    """Compare successive records of v and q; claimed for lam = 0 only, measured for any run."""
    v, q = run.record("v"), run.record("q")
    if len(v) < 2:
        raise InputError(f"the run has {len(v)} recorded times; monotonicity takes two or more")
    down_v = (v[:-1] - v[1:]).max(axis=1)
    down_q = (q[:-1] - q[1:]).max(axis=(1, 2))
    worst = np.maximum(down_v, down_q)
    tolerance = (rounding + _projection_error(run)) * float(abs(q).max())
    return Monotonicity(
        decrease_v=max(0.0, float(down_v.max())),
        decrease_q=max(0.0, float(down_q.max())),
        t=int(run.t[worst.argmax()]),
        tolerance=tolerance,
        holds=bool(worst.max() <= tolerance),
    )


def _projection_error(run: PlanRun) -> float:
    # What the projection of pi + eta d q loses of pi, the last digit of its largest entry, over a
    # whole horizon.
    if run.settings["parametrization"] != "direct":
        return 0.0
    largest = float(np.diff(run.record("weights"), axis=0).max() * abs(run.record("q")).max())
    return float(
        np.finfo(np.float64).eps * largest * run.mdp.n_actions / max(1.0 - run.mdp.gamma, 1e-6)
    )


@dataclass(frozen=True)
class HittingTime:
    """Theorem 3. t : first recorded time from which q_t = q_star for good, None if not in this run.

    t0 : first recorded time from which q_star - q_t <= delta(s)/2 in every state, None if never.
    ceiling : the recorded time by which the proof guarantees the hit, None if not in this run.
    times, gap : recorded times [n] and max |q_star - q_t| [n].
    """

    t: int | None
    t0: int | None
    ceiling: int | None
    times: Floats = field(repr=False)
    gap: Floats = field(repr=False)


def hitting_time(run: PlanRun, rounding: float = ROUNDING) -> HittingTime:
    """The measured hitting time of a direct run, and the proof's."""
    require(run, "direct", "Theorem 3")
    optimum = run.mdp.optimal()
    gap = abs(optimum.q - some_records(run, "q")).max(axis=2)
    t0 = first_for_good((gap <= optimum.gap / 2).all(axis=1))
    hit = first_for_good(
        gap.max(axis=1) <= rounding * max(abs(optimum.q).max(), np.finfo(float).tiny)
    )
    ceiling = None
    if t0 is not None:
        missing = 1.0 - (run.record("pi")[t0] * optimal_actions(optimum)).sum(axis=1)
        needed = 4.0 * np.where(missing > rounding, missing, 0.0) / optimum.gap
        spent = run.record("weights") - run.record("weights")[t0]
        ceiling = first_for_good((spent >= needed).all(axis=1))
        ceiling = None if ceiling is None else max(ceiling, t0)
    times = [None if index is None else int(run.t[index]) for index in (hit, t0, ceiling)]
    return HittingTime(
        t=times[0],
        t0=times[1],
        ceiling=times[2],
        times=run.t.astype(np.float64),
        gap=gap.max(axis=1),
    )


def first_for_good(holds: Mask) -> int | None:
    """The first index from which `holds` [n] is true up to the end; None where the end is false."""
    wrong = np.flatnonzero(~holds)
    first = 0 if len(wrong) == 0 else int(wrong[-1]) + 1
    return first if first < len(holds) else None


def require(run: PlanRun, parametrization: str, what: str) -> None:
    """Refuse a run that `what` says nothing about."""
    used, lam = run.settings["parametrization"], run.settings["lam"]
    if used != parametrization:
        raise InputError(
            f"{what} is about the {parametrization} parametrization; this run used {used}"
        )
    if lam != 0.0:
        raise InputError(f"{what} is about lam = 0; this run used lam = {lam:g}")

"""Theorems 1 and 3 on a recorded run, and Lemma 1.

Theorem 1: v_t and q_t never decrease, for both parametrizations, any density and any step size
(without entropy): each new policy is advantageous, adv_t(s, pi_{t+1}) >= 0 in every state, and
then Theorem 5, the policy improvement theorem, says that its values are not lower.

Theorem 3: with the direct parametrization and C4 there is a time from which q_t = q_star. The proof
says more: from the t_0 on at which q_star - q_t <= delta(s)/2, each update adds eta_t d_t(s)
delta(s)/4 to the mass on optimal actions, so state s is done once sum_{t' = t_0}^{t - 1} eta_t'
d_t'(s) >= 4 (1 - pi_{t_0}(optimal | s)) / delta(s). That time is the `ceiling`.

Lemma 1: adding y to x in the simplex and projecting moves mass to where y is large. If y_i >= alpha
for i <= k and y_i <= beta < alpha for i > k, then

    sum_{i <= k} P(x + y)_i >= min(1, sum_{i <= k} x_i + (alpha - beta)/2).
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from jekyllhyde.errors import check_count, require
from jekyllhyde.mdp.finite import FiniteMDP, Floats
from jekyllhyde.planning.plan_run import PlanRun
from jekyllhyde.simplex import Place, project_row
from jekyllhyde.theory.reach import (
    ROUNDING,
    first_for_good,
    optimal_actions,
    require_run,
    some_records,
)


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
    require(len(v) >= 2, f"the run has {len(v)} recorded times; monotonicity takes two or more")
    down_v, down_q = (v[:-1] - v[1:]).max(axis=1), (q[:-1] - q[1:]).max(axis=(1, 2))
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
    require_run(run, "direct", "Theorem 3")
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
        ceiling = first_for_good((spent >= needed).all(axis=1) & (np.arange(len(spent)) >= t0))
    t, t0, ceiling = (None if i is None else int(run.t[i]) for i in (hit, t0, ceiling))
    return HittingTime(t, t0, ceiling, times=run.t.astype(np.float64), gap=gap.max(axis=1))


@dataclass(frozen=True)
class Improvement:
    """Theorem 5. advantage : adv_pi(s, pi') [S].  gain : v_pi'(s) - v_pi(s) [S]; not negative where
    no advantage is, and at least the advantage.
    """

    advantage: Floats
    gain: Floats


def improvement(mdp: FiniteMDP, pi: ArrayLike, other: ArrayLike) -> Improvement:
    """The two sides of the policy improvement theorem for policies pi and pi' = other [S, A]."""
    before = mdp.evaluate(mdp.check_policy(pi))
    new = mdp.check_policy(other)
    return Improvement((new * before.adv).sum(axis=1), mdp.evaluate(new).v - before.v)


@dataclass(frozen=True)
class ProjectionLemma:
    """Both sides. before, after : mass of the first k coordinates of x and of P(x + y).     bound :
    what the lemma promises.
    """

    before: float
    after: float
    bound: float


def projection_lemma(x: ArrayLike, y: ArrayLike, k: int) -> ProjectionLemma:
    """The two sides of the lemma for x [n] in the simplex and y [n], with alpha and beta as good as
    y allows.
    """
    point, push = np.array(x, dtype=np.float64), np.array(y, dtype=np.float64)
    require(
        point.ndim == 1 and point.shape == push.shape and check_count(k, "k", 1) < len(point),
        f"x {point.shape}, y {push.shape} and k = {k} do not fit: x and y are [n] with 0 < k < n",
    )
    require(
        (point >= 0).all() and abs(point.sum() - 1.0) <= 1e-9 and np.isfinite(push).all(),
        "x must be a distribution and y finite",
    )
    alpha, beta = push[:k].min(), push[k:].max()
    require(
        alpha > beta,
        f"the first {k} entries of y must exceed the others; "
        f"the smallest is {alpha:g}, the largest other {beta:g}",
    )
    projected = point + push
    project_row(projected.copy(), projected, Place(0), Place(len(point)))
    before = float(point[:k].sum())
    return ProjectionLemma(
        before=before,
        after=float(projected[:k].sum()),
        bound=min(1.0, before + float(alpha - beta) / 2.0),
    )

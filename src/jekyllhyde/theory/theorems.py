"""Theorems 1, 3 and 4 on a recorded run: monotone values, the finite hitting time of the direct
parametrization and the lemma in its proof, and the rate of softmax.

Theorem 1: v_t and q_t never decrease, for both parametrizations, any density and any step size
(without entropy).

Theorem 3: with the direct parametrization and C4 there is a time from which q_t = q_star. The proof
says more: from the t_0 on at which q_star - q_t <= delta(s)/2, each update adds eta_t d_t(s)
delta(s)/4 to the mass on optimal actions, so state s is done once sum_{t' = t_0}^{t - 1} eta_t'
d_t'(s) >= 4 (1 - pi_{t_0}(optimal | s)) / delta(s). That time is the `ceiling`.

The projection lemma of Appendix B: adding y to x in the simplex and projecting moves mass to where
y is large. If y_i >= alpha for i <= k and y_i <= beta < alpha for i > k, then

    sum_{i <= k} P(x + y)_i >= min(1, sum_{i <= k} x_i + (alpha - beta)/2).

Theorem 4, as printed and as it can be proved. Let t_0 be the first time from which v_star(s) -
v_t(s) and q_star(s, .) - q_t(s, .) are at most delta(s)/2 in every state, and W(s) =
sum_{t' = t_0}^{t - 1} eta_t' d_t'(s). From t_0 on the optimal action a has pi_t(a|s) >= 1/2, so
that its lead D_t = theta(s, a) - max_{b != a} theta(s, b) grows by at least c_t exp(-D_t) with c_t
= delta(s) eta_t d_t(s) / 8, and

    exp(D_{t+1}) >= exp(D_t) exp(c_t exp(-D_t)) >= exp(D_t) + c_t, 1 - pi_t(a|s) <= (|A| - 1)
    exp(-D_t) <= (|A| - 1) / (exp(D_{t_0}) + delta(s) W(s) / 8) <= 8 |A| / (delta(s) W(s)).

This takes the place of the paper's sequence X_t and its differential equation, which need X_t in a
range that large steps leave. One step under pi_t then loses at most B(s) = 8 |A| (v_top - v_bot) /
(delta(s) W(s)), and the losses add up along the optimal policy's path:

    v_star(s) - v_t(s) <= 1/(1 - gamma) max of B over the states that the optimal policy reaches
                          from s.                                                      (`bound`)

The printed statement takes that maximum over supp(d_{pi_star,gamma}), the states reached from p0,
for every s (`printed`). On the support it follows; elsewhere it has no proof, and fails. Under C5,
W(s) >= (t - t_0) e_bot(s) gives the t^-1 form (`linear`).

v_top is the largest v_star and v_bot the smallest q_{t_0} (values only grow), over the states that
decide. A state all of whose actions are optimal has delta = inf and loses nothing by itself, so A8
may fail in that way.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from jekyllhyde.errors import InputError, check_count, require
from jekyllhyde.mdp.finite import Floats, Ints
from jekyllhyde.planning.plan_run import PlanRun
from jekyllhyde.simplex import Place, project_row
from jekyllhyde.theory.conditions import (
    Mask,
    carry_maximum,
    edges,
    optimal_actions,
    some_records,
    support,
    uniqueness,
)

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


@dataclass(frozen=True, repr=False)
class SoftmaxRate:
    """Theorem 4 at the recorded times t > t_0, [n]; arrays over states are [n, S].

    t0 : as above.  t0_q : the same from q alone, as the paper's proof sketch has it; it may come
        too early.
    gap : v_star - v_t.     bound, linear : what is proved, per state; `linear` with e_bot, the
        least average weight since t_0.
    printed [n] : the statement as printed, the same for every state.
    support : supp(d_{pi_star,gamma}) [S].
    policy_gap, policy_bound : 1 - pi_t(optimal|s), and (|A| - 1) / (exp(D_{t_0}) + delta(s) W(s) /
        8).
    rounding : gaps up to this size are counted as 0 by `excess`.
    """

    t0: int
    t0_q: int
    t: Ints
    gap: Floats
    bound: Floats
    linear: Floats
    printed: Floats
    support: Mask
    e_bot: Floats
    policy_gap: Floats
    policy_bound: Floats
    rounding: float

    def excess(self, bound: Floats, gap: Floats | None = None) -> float:
        """The largest gap / bound over states and times; above 1 the bound is violated."""
        measured = self.gap if gap is None else gap
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(measured <= self.rounding, 0.0, measured / bound)
        return float(ratio.max(initial=0.0))

    @property
    def excess_printed(self) -> Floats:
        """The largest gap / printed bound of each state [S]."""
        return np.array(
            [self.excess(self.printed, self.gap[:, s]) for s in range(self.gap.shape[1])]
        )


def softmax_rate(run: PlanRun, rounding: float = ROUNDING) -> SoftmaxRate:
    """Theorem 4's bounds beside the measured gaps; needs v, q and pi recorded."""
    require_run(run, "softmax", "Theorem 4")
    mdp, optimum = run.mdp, run.mdp.optimal()
    require(mdp.gamma < 1.0, "gamma is 1; Theorem 4 takes one below 1")
    require(
        uniqueness(mdp).enough,
        "Theorem 4 needs A8: some state has several optimal actions and a worse one",
    )
    v, q, pi, weights = (some_records(run, name) for name in ("v", "q", "pi", "weights"))
    gap_q = abs(optimum.q - q).max(axis=2) <= optimum.gap / 2
    first_q = first_for_good(gap_q.all(axis=1))
    first = first_for_good((gap_q & (optimum.v - v <= optimum.gap / 2)).all(axis=1))
    if first is None or first_q is None:
        raise InputError("this run has not reached t_0, where Theorem 4 begins; make more updates")

    decides, best = ~mdp.is_terminal, optimal_actions(optimum)
    spread = float(optimum.v[decides].max() - q[first][decides].min())
    scale = 8.0 * mdp.n_actions * spread / (1.0 - mdp.gamma)
    t, W = run.t[first + 1 :], weights[first + 1 :] - weights[first]
    e_bot = (W / (t - run.t[first])[:, None]).min(axis=0, initial=np.inf)
    source, target = edges(mdp, mdp.gamma, best)

    def worst_ahead(rate: Floats) -> Floats:
        # The largest loss scale / (delta rate) of the states that the optimal policy reaches.
        with np.errstate(divide="ignore", invalid="ignore"):
            loss = np.where(np.isinf(optimum.gap), 0.0, scale / (optimum.gap * rate))
        return carry_maximum(loss, target, source)

    reached = support(mdp, mdp.gamma, best)
    bound = worst_ahead(W)
    policy_gap, policy_bound = _policy_rate(pi[first], pi[first + 1 :], best, optimum.gap, W)
    return SoftmaxRate(
        t0=int(run.t[first]),
        t0_q=int(run.t[first_q]),
        t=t,
        gap=optimum.v - v[first + 1 :],
        bound=bound,
        linear=worst_ahead(e_bot) / (t - run.t[first])[:, None],
        printed=bound[:, reached].max(axis=1),
        support=reached & decides,
        e_bot=e_bot,
        policy_gap=policy_gap,
        policy_bound=policy_bound,
        rounding=rounding * float(abs(optimum.v).max()),
    )


def _policy_rate(
    pi0: Floats, pi: Floats, best: Mask, gap: Floats, W: Floats
) -> tuple[Floats, Floats]:
    # 1 - pi_t(optimal|s) and its bound [n, S], from the policy at t_0 and at later times.
    strongest = np.where(best, 0.0, pi0).max(axis=1)
    finite = np.isfinite(gap)
    with np.errstate(divide="ignore", over="ignore"):
        lead = np.where(finite, np.where(best, pi0, 0.0).max(axis=1) / strongest, np.inf)
    others = np.where(best, 0.0, pi).sum(axis=2)
    return others, (best.shape[1] - 1) / (lead + np.where(finite, gap, 0.0) * W / 8.0)


def first_for_good(holds: Mask) -> int | None:
    """The first index from which `holds` [n] is true up to the end; None where the end is false."""
    first = int(np.append(-1, np.flatnonzero(~holds))[-1]) + 1
    return first if first < len(holds) else None


def require_run(run: PlanRun, parametrization: str, what: str) -> None:
    """Refuse a run that `what` says nothing about."""
    used, lam = run.settings["parametrization"], run.settings["lam"]
    require(
        used == parametrization,
        f"{what} is about the {parametrization} parametrization; this run used {used}",
    )
    require(lam == 0.0, f"{what} is about lam = 0; this run used lam = {lam:g}")


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

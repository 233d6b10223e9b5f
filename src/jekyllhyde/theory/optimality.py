"""Corollary 1 and Theorem 2 on a run: where the values go, and why.

Values rise (Theorem 1) and cannot pass q_star, so that they have a limit (Corollary 1). Under C4
the limit is q_star (Theorem 2a, 2b). Without it a softmax policy stays short of v_star(s) in every
state s whose weights are summable and which has an action to unlearn, and a direct one may (2c).

Why C4 is enough for softmax, with steps w = eta d(s) of at most w_top. Fix a state, shift theta so
that it sums to 0 (updates keep the sum), and let Z = sum_a exp(theta_a), y_a = exp(-theta_a): with
G the geometric mean of pi(.|s), Z = 1/G and y_a = G / pi(a|s). One update multiplies y_a by
exp(-w pi(a|s) adv(a)), and pi(a|s) y_a = 1/Z. So on the clock tau = sum_t w_t / Z_t

    y_a falls at the speed adv(a) (up to a constant factor for steps that are not small),

and y_a > 0 never reaches 0: an action cannot keep an advantage if tau is unbounded. It is: no
advantage is below -M, so y_a <= c + K tau with c = max_a y_a(0) and K = (exp(w_top M) - 1) / w_top;
Z is at most |A| (c + K tau)^(|A| - 1), because the y_a multiply to 1; and adding up w = Z dtau,

    K W <= (c + K tau)^|A| - c^|A|:                     tau is unbounded as soon as W is.

The same bound keeps every action alive: sum_t w_t pi_t(a|s) = sum_t dtau / y_a(t) gives

    sum_{t < T} w_t pi_t(a|s) >= log(1 + K W_T / c^|A|) / (|A| K)                      (`flow`)

and since d(s') >= gamma p(s'|s,a) pi(a|s) d(s), on-policy weights diverge wherever p0 leads, each
step along a path costing one logarithm.
"""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from jekyllhyde.errors import require
from jekyllhyde.mdp.finite import Floats
from jekyllhyde.planning.plan_run import PlanRun
from jekyllhyde.theory.reach import (
    ROUNDING,
    Mask,
    optimal_actions,
    require_every_time,
    require_run,
    some_records,
    support,
)
from jekyllhyde.theory.weights import is_near, is_plain, is_settled, weight_growth


@dataclass(frozen=True)
class Limit:
    """Where q_t goes. kind : "optimal" (q_star), "short" (below v_star for ever in `short_of` [S])
        or "open".

    J_optimal : whether the return is certain to tend to the optimum, for which the states that p0
        leads to are enough.
    gap : v_star - v of the last policy [S]: what is left to gain, at most.
    """

    kind: Literal["optimal", "short", "open"]
    J_optimal: bool
    gap: Floats = field(repr=False)
    short_of: Mask = field(repr=False)


def limit(run: PlanRun) -> Limit:
    """Theorem 2 on a run: what C4, certified or refuted, says about the limit of its values."""
    require(
        is_plain(run),
        "Theorem 2 is about the direct and softmax parametrizations without entropy and gamma < 1",
    )
    optimum, growth = run.mdp.optimal(), weight_growth(run)
    gap = optimum.v - run.mdp.evaluate(run.pi).v
    short, alive = np.zeros(len(gap), dtype=bool), np.isfinite(run.theta)
    lively = (growth.diverges == 1) & alive.all(axis=1)
    reaches = bool(lively[growth.decides].all())
    J_optimal = bool(lively[growth.decides & support(run.mdp, run.mdp.gamma, alive)].all())
    if is_settled(run):
        short = gap > ROUNDING * float(abs(optimum.v).max())
        reaches, J_optimal = not short.any(), not short[run.mdp.p0 > 0].any()
    elif is_near(run):
        J_optimal = bool(lively[growth.optimal_support].all())
    elif run.settings["parametrization"] == "softmax":
        unlearns = (alive & ~optimal_actions(optimum)).any(axis=1)
        short = growth.decides & (growth.diverges == -1) & unlearns
    kind: Literal["optimal", "short", "open"] = "optimal" if reaches else "open"
    return Limit("short" if short.any() else kind, J_optimal, gap, short)


@dataclass(frozen=True)
class Ceiling:
    """Corollary 1. above : how far a recorded q_t lies above q_star, 0 if never.  left : the most
    that q_t can still gain after the run, max |q_star - q_T|.
    """

    above: float
    left: float


def ceiling(run: PlanRun) -> Ceiling:
    """Corollary 1: the recorded q_t stay below q_star, the ceiling that makes them converge."""
    q, best = some_records(run, "q"), run.mdp.optimal().q
    left = float((best - run.mdp.evaluate(run.pi).q).max())
    return Ceiling(above=max(0.0, float((q - best).max())), left=max(0.0, left))


@dataclass(frozen=True, repr=False)
class Flow:
    """What passes through each action of a softmax run, sum_t w_t pi_t(a|s), and its lower bound.

    passed : [S, A].  bound, clock : [S], the bound above and tau.  weights : W [S].
    """

    passed: Floats
    bound: Floats
    clock: Floats
    weights: Floats


def flow(run: PlanRun) -> Flow:
    """The bound that keeps every action alive, beside what passed; takes v, q, pi and d of every t.

    w_top and M are the largest step and the largest disadvantage of the run.
    """
    require_run(run, "softmax", "the flow")
    require_every_time(run, "the flow")
    v, q, pi = (some_records(run, name) for name in ("v", "q", "pi"))
    steps = np.diff(run.record("weights"), axis=0)
    with np.errstate(divide="ignore"):
        mean = np.exp(np.log(pi).mean(axis=2))
    worst = np.maximum((v[:, :, None] - q).max(axis=(0, 2)), ROUNDING)
    top = np.maximum(steps.max(axis=0, initial=0.0), ROUNDING)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        K = np.expm1(top * worst) / top
        start = (mean[0] / pi[0].min(axis=1)) ** run.mdp.n_actions
        bound = np.log1p(K * run.weights / start) / (run.mdp.n_actions * K)
    return Flow(
        passed=(steps[:, :, None] * pi[:-1]).sum(axis=0),
        bound=np.nan_to_num(bound, nan=0.0),
        clock=(steps * mean[:-1]).sum(axis=0),
        weights=run.weights,
    )

"""C4, C4-s, C5 and C7: how the weights W_T(s) = sum_{t < T} eta_t d_t(s) grow.

    C4    W_T(s) tends to infinity for every s
    C4-s  W_T(s) / T keeps above some d_bot(s) > 0 for every s; C5 asks it of supp(d_star) only
    C7    0 < d_bot <= d_t(s) <= d_top for every s and t

These are statements about infinitely many updates. They are certified where the model, the
schedules and the theory prove them, and left open otherwise, with the growth that was seen.
A built-in density is d_t = o_t d_off + (1 - o_t) d_on, and eta_t is c / t^alpha, so that

  1. d_off(s) > 0 gives weights of order eta_t o_t, p0(s) > 0 weights of order eta_t (the density of
     a policy is at least (1 - gamma) p0), and a state without either gets nothing of its own;
  2. softmax updates with bounded steps keep every action alive: sum_t w_t pi_t(a|s) grows at least
     as log W(s) (`optimality.flow`), so that on-policy weights diverge in every state that can be
     reached from p0, one logarithm less per step;
  3. where C4 is certified Theorem 2 gives the limit of the policy, and with it that of d_t:
     positive on the support of the optimal policy, 0 off it;
  4. an on-policy run of the direct parametrization whose policy takes nothing but best actions
     wherever it goes never moves again: adding a constant to them is undone by the projection.
     Several actions of a state may be best, all of them too (the footnote on A8);
  5. a direct run in which the optimal action is already worth more than any other will ever be, in
     every state that the optimal policy meets, moves mass to it for ever (Lemma 1): the weights of
     those states diverge, the others are soon not visited any more.

The growth seen is Cauchy's condensation: if the weights of one update behave as t^-alpha, what is
spent over [T/2, T] is 2^(1 - alpha) times what is spent over [T/4, T/2].
"""

import math
from dataclasses import dataclass

import numpy as np

from jekyllhyde.mdp.finite import Floats, Ints
from jekyllhyde.planning.densities import Density
from jekyllhyde.planning.plan_run import PlanRun
from jekyllhyde.planning.updates import PAPER_RULES
from jekyllhyde.theory.reach import (
    ROUNDING,
    Mask,
    always_ends,
    optimal_actions,
    some_records,
    support,
)

EQUAL = 1e-13  # relative to the largest value; what exact evaluation leaves between equal ones
DIVERGES, LINEAR = 1.0, 0.0  # sum t^-alpha is infinite up to alpha = 1, linear up to alpha = 0


@dataclass(frozen=True)
class Growth:
    """How the weights sum_t eta_t d_t(s) of a run grow; arrays are [S].

    weights : at the end of the run.  average : the same over the number of updates, the estimate of
        e_bot(s).
    exponent : g where W grew as t^g over the last two doublings (-inf where nothing was spent in
        the last one; nan where the run has too few records).
    diverges, linear : what is certain of C4 and of C4-s: 1 yes, -1 no, 0 not known.
    decides : states that are not terminal.  optimal_support : supp(d_star), the states that C5 is
        about.
    """

    weights: Floats
    average: Floats
    exponent: Floats
    diverges: Ints
    linear: Ints
    decides: Mask
    optimal_support: Mask


def weight_growth(run: PlanRun) -> Growth:
    """C4, C4-s and C5 on a run; record anything (the weights come along) at T/4, T/2 and T for the
    growth that was seen.
    """
    decides, best = ~run.mdp.is_terminal, optimal_actions(run.mdp.optimal())
    diverges, linear = _certify(run)
    return Growth(
        weights=run.weights,
        average=run.weights / max(run.updates, 1),
        exponent=_exponent(run),
        diverges=diverges,
        linear=linear,
        decides=decides,
        optimal_support=support(run.mdp, run.mdp.gamma, best) & decides,
    )


def _exponent(run: PlanRun) -> Floats:
    times, weights = run.t, run.records.get("weights", np.zeros(0)).reshape(-1, run.mdp.n_states)
    keep = (times >= 1) & (times < run.updates)
    times, weights = np.append(times[keep], run.updates), np.vstack([weights[keep], run.weights])
    t = [int(abs(times - run.updates / k).argmin()) for k in (4, 2, 1)]
    if not t[0] < t[1] < t[2]:
        return np.full(run.mdp.n_states, np.nan)
    rate = np.diff(weights[t], axis=0) / np.diff(times[t])[:, None]
    middle = np.sqrt(times[t[:-1]] * times[t[1:]])
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent: Floats = 1.0 + np.log(rate[1] / rate[0]) / math.log(middle[1] / middle[0])
    return np.where(rate[1] == 0.0, -np.inf, exponent)


def is_plain(run: PlanRun) -> bool:
    """Whether the theory is about this run: a paper's update without entropy, gamma below 1."""
    known = run.settings["parametrization"] in PAPER_RULES
    return known and run.settings["lam"] == 0.0 and run.mdp.gamma < 1.0


def is_settled(run: PlanRun) -> bool:
    """Whether an on-policy run of the direct parametrization has stopped for ever: wherever the
    policy goes, it takes only actions that are the best. The others there are clearly worse, or
    equal to rounding; what lies between is not decided.
    """
    density = run.density
    if not isinstance(density, Density) or run.settings["parametrization"] != "direct":
        return False
    if not (density.o.constant and density.o.c == 0.0):
        return False
    visited = support(run.mdp, density.gamma, run.pi > 0) & ~run.mdp.is_terminal
    q = run.mdp.evaluate(run.pi).q[visited]
    behind, size = q.max(axis=1, keepdims=True) - q, float(abs(q).max(initial=0.0))
    best, worse = behind <= EQUAL * size, behind > ROUNDING * size
    return bool((best | (worse & (run.pi[visited] == 0.0))).all())


def is_near(run: PlanRun) -> bool:
    """Whether a direct run is certain to become optimal where the optimal policy goes: there
    q_t(s, a_star) exceeds q_star(s, b) for every other action b. Values rise, and q_star is their
    ceiling, so that it stays so. A state all of whose actions are optimal may be met if no state
    that decides is met behind it only.
    """
    if run.settings["parametrization"] != "direct" or not isinstance(run.density, Density):
        return False
    if not is_plain(run):
        return False
    optimum, decides = run.mdp.optimal(), ~run.mdp.is_terminal
    best = optimal_actions(optimum)
    met = support(run.mdp, run.density.gamma, best) & decides
    single, idle = best.sum(axis=1) == 1, best.all(axis=1)
    sure = support(run.mdp, run.density.gamma, best & single[:, None])
    if (met & ~sure).any() or not (single | idle)[met].all():
        return False
    lowest = np.where(best, run.mdp.evaluate(run.pi).q, np.inf).min(axis=1)
    ceiling = np.where(best, -np.inf, optimum.q).max(axis=1)
    margin = ROUNDING * float(abs(optimum.q).max())
    return bool((lowest > ceiling + margin)[met].all())


def _certify(run: PlanRun) -> tuple[Ints, Ints]:
    # What is certain of C4 and of C4-s, each 1, -1 or 0 [S]; the numbers are those of the module's
    # docstring.
    nothing = np.zeros(run.mdp.n_states, dtype=np.int64)
    density, alpha = run.density, run.eta.alpha if run.eta.function is None else math.nan
    if not isinstance(density, Density):
        return nothing, nothing
    if is_settled(run):  # 4.
        visited = support(run.mdp, density.gamma, run.pi > 0) & ~run.mdp.is_terminal
        reached = np.where(visited, alpha, math.inf)
        return _judge(reached, reached, DIVERGES), _judge(reached, reached, LINEAR)
    at_least, at_most = _orders(run, density, alpha)  # 1.
    diverges, linear = (_judge(at_least, at_most, limit) for limit in (DIVERGES, LINEAR))
    if not is_plain(run) or not 0.0 <= alpha <= 1.0:
        return diverges, linear
    alive = np.isfinite(run.theta)
    on_policy = _on_policy_order(run, density, alpha) == alpha
    if on_policy and is_near(run):  # 5.
        met = support(run.mdp, density.gamma, optimal_actions(run.mdp.optimal()))
        never = ~met & ~run.mdp.is_terminal & (density.o.constant and density.o.c == 0.0)
        met &= ~run.mdp.is_terminal
        diverges = np.where(met, 1, np.where(never, -1, diverges))
        linear = np.where(never, -1, np.where(met & (alpha == 0.0), 1, linear))
    reachable = support(run.mdp, density.gamma, alive) & ~run.mdp.is_terminal
    if on_policy and run.settings["parametrization"] == "softmax":  # 2.
        diverges = np.where(reachable, 1, diverges)
    if on_policy and alpha == 0.0 and (diverges == 1)[reachable].all() and alive[reachable].all():
        best = optimal_actions(run.mdp.optimal())  # 3.
        surely = support(run.mdp, density.gamma, best & (best.sum(axis=1) == 1)[:, None])
        never = ~support(run.mdp, density.gamma, best) & (at_least > 0.0)
        linear = np.where(surely & ~run.mdp.is_terminal, 1, np.where(never, -1, linear))
    return diverges, linear


def _judge(at_least: Floats, at_most: Floats, limit: float) -> Ints:
    # Weights of order t^-at_least or more, and t^-at_most or less; nan is not known.
    return np.where(at_least <= limit, 1, np.where(at_most > limit, -1, 0))


def _orders(run: PlanRun, density: Density, alpha: float) -> tuple[Floats, Floats]:
    # Exponents a, b [S] such that eta_t d_t(s) is at least of order t^-a and at most of order t^-b.
    o = density.o
    never = o.function is None and o.c == 0.0
    mixes = math.inf if never else math.nan if o.function else alpha + max(o.alpha, 0.0)
    mixes_at_most = alpha if o.function else mixes
    started = np.where(run.mdp.p0 > 0, _on_policy_order(run, density, alpha), math.inf)
    softmax = run.settings["parametrization"] == "softmax"
    reachable = support(run.mdp, density.gamma, np.isfinite(run.theta) if softmax else None)
    visits = np.where(reachable & ~_purely_off_policy(density), alpha, math.inf)
    return (
        np.fmin(np.where(density.off > 0, mixes, math.inf), started),
        np.minimum(np.where(density.off > 0, mixes_at_most, math.inf), visits),
    )


def _purely_off_policy(density: Density) -> bool:
    # o_t is cut at 1
    return density.o.function is None and density.o.alpha <= 0.0 and density.o(1) >= 1.0


def _on_policy_order(run: PlanRun, density: Density, alpha: float) -> float:
    # The order of eta_t (1 - o_t) d_on(s) in a state with p0(s) > 0: that of eta_t, if visits are
    # not spread over episodes of unbounded length.
    if _purely_off_policy(density):
        return math.inf
    fades = density.o.function is None and density.o.alpha >= 0.0
    bounded = density.gamma < 1.0 or always_ends(run.mdp)
    return alpha if fades and bounded else math.nan


@dataclass(frozen=True)
class DensityRange:
    """C7. d_bot, d_top : the range of d_t(s) over the states that decide and t; bounds from the
    density's form where it gives them, else what was recorded.

    certain : what is known of C7: 1 it holds, -1 it fails, 0 not known.  outer : d_bot and d_top
        are bounds for every t.  trend : the least d_t(s) went as t^trend over the last doubling.
    """

    d_bot: float
    d_top: float
    certain: int
    outer: bool
    trend: float


def density_range(run: PlanRun) -> DensityRange:
    """C7 on a run; a density that neither is bounded below by its form nor has a known limit needs
    d recorded.
    """
    density, decides = run.density, ~run.mdp.is_terminal
    if isinstance(density, Density):
        o, off = density.o, density.off[decides]
        on = (1.0 - density.gamma) * run.mdp.p0[decides]
        # d_on is at least (1 - gamma) p0 and at most 1
        low, high = np.minimum(off, on), np.maximum(off, 1.0)
        if o.constant:
            low, high = o.c * off + (1.0 - o.c) * on, o.c * off + 1.0 - o.c
        if low.min() > 0:
            return DensityRange(float(low.min()), float(high.max()), 1, True, 0.0)
    d = some_records(run, "d")[:, decides]
    half = int(abs(run.t - run.t[-1] / 2).argmin())
    trend = 0.0
    if 0 < run.t[half] < run.t[-1] and d[half].min() > 0:
        with np.errstate(divide="ignore"):
            trend = float(np.log(d[-1].min() / d[half].min()) / math.log(run.t[-1] / run.t[half]))
    return DensityRange(float(d.min()), float(d.max()), _limit_of_density(run, d), False, trend)


def _limit_of_density(run: PlanRun, d: Floats) -> int:
    # With constant steps W(s)/T has the limit of the average of d_t(s).
    if not isinstance(run.density, Density):
        return -1 if d.min() == 0.0 else 0
    direct = run.settings["parametrization"] == "direct"
    if direct and d.min() == 0.0:
        return -1
    if not run.eta.constant:
        return 0
    linear = _certify(run)[1][~run.mdp.is_terminal]
    if (linear == -1).any():
        return -1
    # a direct density may have been 0 at a time that was not recorded
    return int((linear == 1).all() and not (direct and len(d) < run.updates + 1))

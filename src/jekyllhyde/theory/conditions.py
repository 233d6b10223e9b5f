"""The conditions and assumptions of Appendix B.1, on a model or on a recorded run.

    A2    p0(s) > 0 for every s
    C3    eta = (1 - gamma)^3 / (2 gamma |A|) (direct), (1 - gamma)^3 / 8 (softmax)
    C4    sum_t eta_t d_t(s) is infinite for every s
    C4-s  (1/T) sum_{t < T} eta_t d_t(s) tends to a positive limit for every s; C5 asks it of
    supp(d_star) only
    C7    0 < d_bot <= d_t(s) <= d_top for every s and t
    A8    one optimal action per state

Every statement is about the states that decide: a terminal state has no policy to update.

No finite run proves that a sum diverges. Where the schedules do (d_t = o_t d_off + (1 - o_t) d_on,
with sum_t eta_t o_t known, and d_on(s) >= (1 - gamma) p0(s)), the answer is certified. Elsewhere it
rests on the condensation test: the sum of t^-alpha over [t, 2t] is 2^(1 - alpha) times that over
[t/2, t], so the last two doublings of the run give the growth exponent g = 1 - alpha of the
weights. They grow as t^g when g > 0 and dry out when g < 0; g near 0 (a logarithm) is left open.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.errors import check_choice, require
from jekyllhyde.mdp.finite import FiniteMDP, Floats, Ints
from jekyllhyde.mdp.optimum import Optimum
from jekyllhyde.planning.densities import Density
from jekyllhyde.planning.plan_run import PlanRun
from jekyllhyde.planning.updates import PARAMETRIZATIONS
from jekyllhyde.schedule import Schedule

Mask = NDArray[np.bool_]
MARGIN = 0.1  # how far from 0 (or from 1) a measured exponent must be before it counts


def some_records(run: PlanRun, name: str) -> Floats:
    """A recorded quantity [n, ...] with n of at least 1."""
    recorded = run.record(name)
    require(len(recorded), f"{name!r} was recorded at no time; give plan some times in record_at")
    return recorded


def learning_rate(parametrization: str, gamma: float, n_actions: int) -> float:
    """C3's constant step size, for rewards in [0, 1]; infinite for the direct parametrization with
    gamma = 0.
    """
    check_choice(parametrization, "parametrization", PARAMETRIZATIONS)
    if parametrization == "softmax":
        return (1.0 - gamma) ** 3 / 8.0
    return (1.0 - gamma) ** 3 / (2.0 * gamma * n_actions) if gamma > 0 else math.inf


def least_start(mdp: FiniteMDP) -> float:
    """The smallest p0(s) over the states that decide; A2 asks that it be positive."""
    return float(mdp.p0[~mdp.is_terminal].min())


@dataclass(frozen=True)
class Uniqueness:
    """A8. counts : number of optimal actions in each state that decides.     unique : A8 itself.

    enough : every state has one optimal action, or nothing but optimal ones; the proof of Theorem 4
        needs no more.
    """

    counts: Ints = field(repr=False)
    unique: bool
    enough: bool


def uniqueness(mdp: FiniteMDP) -> Uniqueness:
    """Count the optimal actions of every state that decides."""
    counts = optimal_actions(mdp.optimal()).sum(axis=1)[~mdp.is_terminal]
    single, harmless = counts == 1, counts == mdp.n_actions
    return Uniqueness(counts, bool(single.all()), enough=bool((single | harmless).all()))


@dataclass(frozen=True)
class Growth:
    """How the weights sum_t eta_t d_t(s) of a run grow; arrays are [S].

    weights : at the end of the run.  average : the same over the number of updates, the estimate of
        e_bot(s).
    exponent : g of the last two doublings (-inf where nothing was spent in the last one; nan where
        the run has too few records).
    diverges, linear : what the schedules certify of C4 and of C4-s: 1 yes, -1 no, 0 not known.
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
    measured exponent.
    """
    decides = ~run.mdp.is_terminal
    return Growth(
        weights=run.weights,
        average=run.weights / max(run.updates, 1),
        exponent=_exponent(run),
        diverges=_certify(run, lambda schedule: schedule.sum_diverges),
        linear=_certify(
            run,
            lambda schedule: None if schedule.function else schedule.constant and schedule.c > 0,
        ),
        decides=decides,
        optimal_support=support(run.mdp, run.mdp.gamma, optimal_actions(run.mdp.optimal()))
        & decides,
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


def _certify(run: PlanRun, lasts: Callable[[Schedule], bool | None]) -> Ints:
    # 1 where the schedules prove that the weights last in the sense of `lasts`, -1 where they prove
    # the opposite, else 0.
    verdict = np.zeros(run.mdp.n_states, dtype=np.int64)
    density, eta = run.density, run.eta
    if not isinstance(density, Density):
        return verdict
    if lasts(eta) is False:
        return verdict - 1
    known = eta.function is None and density.o.function is None
    off_policy = (
        lasts(Schedule(eta.c * density.o.c, eta.alpha + density.o.alpha)) if known else None
    )
    purely_off_policy = density.o.constant and density.o.c >= 1.0
    if off_policy:
        verdict[density.off > 0] = 1
    if known and not purely_off_policy and density.gamma < 1.0:
        verdict[run.mdp.p0 > 0] = 1
    never_on_policy = np.full(len(verdict), purely_off_policy) | ~support(run.mdp, density.gamma)
    verdict[(verdict == 0) & never_on_policy & ((density.off == 0) | (off_policy is False))] = -1
    return verdict


@dataclass(frozen=True)
class DensityRange:
    """C7. d_bot, d_top : the range of d_t(s) over the states that decide and t.

    certified : from the density's form, not the records.     trend : the least d_t(s) goes as
        t^trend over the last doubling.
    """

    d_bot: float
    d_top: float
    certified: bool
    trend: float


def density_range(run: PlanRun) -> DensityRange:
    """C7's bounds: exact for a fixed density, certified outer ones for a constant mixture,
    otherwise those of the recorded d.
    """
    density, decides = run.density, ~run.mdp.is_terminal
    if (
        isinstance(density, Density)
        and density.o.constant
        and density.o.c > 0
        and density.off[decides].min() > 0
    ):
        o, off = density.o.c, density.off[decides]
        return DensityRange(float(o * off.min()), float(o * off.max() + 1.0 - o), True, 0.0)
    d = some_records(run, "d")[:, decides]
    half = int(abs(run.t - run.t[-1] / 2).argmin())
    trend = 0.0
    if 0 < run.t[half] < run.t[-1] and d[half].min() > 0:
        with np.errstate(divide="ignore"):
            trend = float(np.log(d[-1].min() / d[half].min()) / math.log(run.t[-1] / run.t[half]))
    return DensityRange(float(d.min()), float(d.max()), False, trend)


def optimal_actions(optimum: Optimum) -> Mask:
    """The actions with q_star(s, a) = v_star(s), as a mask [S, A]; all at terminal states."""
    return np.less(optimum.v[:, None] - optimum.q, optimum.gap[:, None])


def edges(mdp: FiniteMDP, gamma: float, actions: Mask | None = None) -> tuple[Ints, Ints]:
    """The pairs (s, s') with gamma p(s' | s, a) > 0 for one of the `actions` [S, A] (any by
    default), as two arrays.
    """
    if gamma == 0.0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    row = np.repeat(np.arange(mdp.n_states * mdp.n_actions), np.diff(mdp.P.indptr))
    keep = slice(None) if actions is None else actions.ravel()[row]
    return (row // mdp.n_actions)[keep], mdp.P.indices[keep].astype(np.int64)


def carry_maximum(values: Floats, source: Ints, target: Ints) -> Floats:
    """For each state, the largest of `values` [..., S] over itself and the states from which a path
    leads to it.
    """
    result = values.copy()
    while True:
        before = result.copy()
        np.maximum.at(result.T, target, before.T[source])
        if np.array_equal(result, before):
            return result


def support(mdp: FiniteMDP, gamma: float, actions: Mask | None = None) -> Mask:
    """The states where d_{pi,gamma} is positive for some pi that uses these actions [S]; all
    actions by default.
    """
    start = (mdp.p0 > 0).astype(np.float64)
    return np.greater(carry_maximum(start, *edges(mdp, gamma, actions)), 0)

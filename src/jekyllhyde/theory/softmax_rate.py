"""Theorem 4: the rate of the softmax parametrization, as printed and as it can be proved.

Let t_0 be the first time from which v_star(s) - v_t(s) and q_star(s, .) - q_t(s, .) are at most
delta(s)/2 in every state, and W(s) = sum_{t' = t_0}^{t - 1} eta_t' d_t'(s). From t_0 on

  1. the optimal action a has pi_t(a|s) >= 1/2, because v_t(s) is within delta(s)/2 of v_star(s);
  2. its lead D_t = theta(s, a) - max_{b != a} theta(s, b) grows by at least c_t exp(-D_t) with
     c_t = delta(s) eta_t d_t(s) / 8;
  3. so exp(D_{t+1}) >= exp(D_t) exp(c_t exp(-D_t)) >= exp(D_t) + c_t, and

         1 - pi_t(a|s) <= (|A| - 1) exp(-D_t) <= (|A| - 1) / (exp(D_{t_0}) + delta(s) W(s) / 8)
                       <= 8 |A| / (delta(s) W(s));

  4. one step under pi_t loses at most B(s) = 8 |A| (v_top - v_bot) / (delta(s) W(s)), and the
     losses add up along the optimal policy's path:

         v_star(s) - v_t(s) <= 1/(1 - gamma) max of B over the states R(s) that the optimal policy
                               reaches from s.                                         (`bound`)

Step 3 takes the place of the paper's sequence X_{t+1} = X_t + c_t exp(-X_t) and its differential
equation f' = c exp(-f), f = log(exp(X_{t_0}) + delta(s) W(s) / 8): X_t bounds D_t from below only
while X_t >= log c_t, which steps that grow leave; D_t >= f(t) for all steps.

The printed statement takes the maximum over supp(d_{pi_star,gamma}), the states reached from p0,
and does not say which s it is about (`printed`). It is right on the support, which contains R(s)
for each of its states; elsewhere it can fail. Under C5, W(s) >= (t - t_0) e_bot(s) gives the t^-1
form (`linear`).

v_top is the largest v_star and v_bot the smallest q_{t_0} (values only grow), over the states that
decide. A state all of whose actions are optimal has delta = inf and loses nothing by itself, so A8
may fail in that way.
"""

from dataclasses import dataclass

import numpy as np

from jekyllhyde.errors import InputError, require
from jekyllhyde.mdp.finite import Floats, Ints
from jekyllhyde.planning.plan_run import PlanRun
from jekyllhyde.theory.conditions import uniqueness
from jekyllhyde.theory.reach import (
    ROUNDING,
    Mask,
    carry_maximum,
    edges,
    first_for_good,
    optimal_actions,
    require_run,
    some_records,
    support,
)


@dataclass(frozen=True, repr=False)
class SoftmaxRate:
    """Theorem 4 at the recorded times t > t_0, [n]; arrays over states are [n, S].

    t0 : as above, the first recorded time.  t0_q : the same from q alone, as the paper's proof
        sketch has it; it may come too early.
    gap : v_star - v_t.  bound, linear : what is proved, per state; `linear` with e_bot, the
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
    ahead = carry_maximum(np.eye(mdp.n_states), *edges(mdp, mdp.gamma, best)) > 0

    def worst_ahead(rate: Floats) -> Floats:
        # The largest loss scale / (delta rate) of the states that the optimal policy reaches.
        with np.errstate(divide="ignore", invalid="ignore"):
            loss = np.where(np.isinf(optimum.gap), 0.0, scale / (optimum.gap * rate))
        return np.stack([loss[..., states].max(axis=-1) for states in ahead], axis=-1)

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

"""The bound for every t under A2, C7 and A8 (last theorem of Appendix B), and its corollary's t_0.

Let rewards lie in [0, 1], eta <= (1 - gamma)^3 / (8 d_top |1/p0|) be constant and C = 1 / min_{s,t}
pi_t(pi_star(s)|s)^2. The smoothness of J and the Lojasiewicz inequality of softmax policies give
g_{t+1} <= g_t - K g_t^2 for g_t = J_star - J_t, with

    1/K = 2 |S| C |d_star / p0|^2 / (eta (1 - gamma) d_bot),     hence     g_t <= 1 / (K t)

and v_star(s) - v_t(s) <= |1/p0| / (K t); all norms are largest entries. With eta at its limit this
is (`derived`)

    16 |S| C |d_star / p0|^2 |1/p0|^2 d_top / (d_bot (1 - gamma)^4 t).

The printed bound has (1 - gamma)^7 there: it holds, and gives away a factor (1 - gamma)^-3. For a
smaller eta both grow as 1/eta. |S| counts the states that decide. C is taken over the recorded
times, t = 0 included: the first update counts.
"""

from dataclasses import dataclass

import numpy as np

from jekyllhyde.errors import require
from jekyllhyde.mdp.finite import FiniteMDP, Floats, Ints
from jekyllhyde.planning.plan_run import PlanRun
from jekyllhyde.theory.conditions import density_range, least_start, some_records, uniqueness
from jekyllhyde.theory.theorems import require_run


def nonasymptotic_step(mdp: FiniteMDP, d_top: float) -> float:
    """The theorem's step size, (1 - gamma)^3 / (8 d_top |1/p0|)."""
    return (1.0 - mdp.gamma) ** 3 * least_start(mdp) / (8.0 * d_top)


@dataclass(frozen=True, repr=False)
class NonAsymptotic:
    """The bound for every t beside the gap, at the recorded t >= 1, [n].

    step, eta : the theorem's step size, and the run's, which is not above it.     C : 1 / min
        pi_t(pi_star(s)|s)^2.
    gap : max over s of v_star - v_t.     derived, printed : the bounds, the same for every state.
    t0 : the corollary's, with the printed constant.     t0_derived : with the derived one.
    """

    step: float
    eta: float
    C: float
    t0: float
    t0_derived: float
    t: Ints
    gap: Floats
    derived: Floats
    printed: Floats


def nonasymptotic(run: PlanRun) -> NonAsymptotic:
    """The bound on a softmax run that meets the conditions; needs v and pi recorded, and d where C7
    is not certified.
    """
    this = "the bound for every t"
    require_run(run, "softmax", this)
    mdp, optimum, decides = run.mdp, run.mdp.optimal(), ~run.mdp.is_terminal
    require(least_start(mdp) > 0, f"{this} needs A2: p0 is 0 in some state")
    require(uniqueness(mdp).unique, f"{this} needs A8: the optimal policy is not unique")
    rewards = mdp.r[decides]
    require(rewards.min() >= 0 and rewards.max() <= 1, f"{this} takes rewards in [0, 1]; rescale r")
    require(mdp.gamma < 1.0, f"gamma is 1; {this} takes one below 1")
    d = density_range(run)
    require(d.d_bot > 0, f"{this} needs C7: d_t(s) is 0 somewhere")
    step = nonasymptotic_step(mdp, d.d_top)
    require(
        run.eta.constant and run.eta.c <= step * (1 + 1e-9),
        f"eta is {run.eta}; {this} takes a constant of at most {step:.6g}",
    )

    pi = some_records(run, "pi")[:, decides]
    C = float(1.0 / pi[:, np.arange(pi.shape[1]), optimum.actions[decides]].min() ** 2)
    mismatch = float((mdp.density(optimum.pi)[decides] / mdp.p0[decides]).max())
    constant = (
        2.0
        * int(decides.sum())
        * C
        * mismatch**2
        / (run.eta.c * (1 - mdp.gamma) * d.d_bot * least_start(mdp))
    )
    loose, delta = constant / (1.0 - mdp.gamma) ** 3, float(optimum.gap.min())
    later = run.t >= 1
    return NonAsymptotic(
        step=step,
        eta=run.eta.c,
        C=C,
        t0=2.0 * loose / delta,
        t0_derived=2.0 * constant / delta,
        t=run.t[later],
        gap=(optimum.v - run.record("v")[later]).max(axis=1),
        derived=constant / run.t[later],
        printed=loose / run.t[later],
    )

"""Bounds for every t: Theorem 7 with Corollary 2's t_0, and Theorem 6, which it generalizes.

Off-policy updates are gradients rescaled per state: U(theta, d_t) = M_t grad J with the diagonal
matrix M_t(s) = d_t(s) / d_{pi_t,gamma}(s), densities not normalized. Its eigenvalues and their
ratio (`conditioning`) obey

    lambda_t >= (1 - gamma) d_bot,     Lambda_t <= d_top |1/p0|,     kappa_t = Lambda_t / lambda_t.

Theorem 7 (A2, C7, A8). Let rewards lie in [0, 1], eta <= (1 - gamma)^3 / (8 d_top |1/p0|) be
constant and C = 1 / min_{s,t} pi_t(pi_star(s)|s)^2. The smoothness of J and the Lojasiewicz
inequality of softmax policies give g_{t+1} <= g_t - K g_t^2 for g_t = J_star - J_t, with

    1/K = 2 |S| C |d_star / p0|^2 / (eta (1 - gamma) d_bot),     hence     g_t <= 1 / (K t)

and v_star(s) - v_t(s) <= |1/p0| / (K t); all norms are largest entries. With eta at its limit this
is (`derived`)

    16 |S| C |d_star / p0|^2 |1/p0|^2 d_top / (d_bot (1 - gamma)^4 t).

The printed bound has (1 - gamma)^7 there: it holds, and gives away a factor (1 - gamma)^-3. For a
smaller eta both grow as 1/eta. |S| counts the states that decide. C is taken over every t of the
run, t = 0 included: the first update counts.

Theorem 6 (Mei et al. 2020; A2, C3, A8) is about the policy gradient itself, M_t = 1:

    v_star(s) - v_t(s) <= 16 |S| C |(1 - gamma) d_star / p0|^2 |1/p0| / ((1 - gamma)^6 t).

The paper's version has a factor r_top - r_bot. C3's step is made for rewards in [0, 1] and does not
scale with them, so that the factor has to stay 1 (`printed` has it).
"""

from dataclasses import dataclass

import numpy as np

from jekyllhyde.errors import require
from jekyllhyde.mdp.finite import FiniteMDP, Floats, Ints
from jekyllhyde.planning.plan_run import PlanRun
from jekyllhyde.theory.conditions import learning_rate, least_start, uniqueness
from jekyllhyde.theory.reach import require_every_time, require_run, some_records
from jekyllhyde.theory.weights import density_range


def nonasymptotic_step(mdp: FiniteMDP, d_top: float) -> float:
    """Theorem 7's step size, (1 - gamma)^3 / (8 d_top |1/p0|)."""
    return (1.0 - mdp.gamma) ** 3 * least_start(mdp) / (8.0 * d_top)


@dataclass(frozen=True, repr=False)
class Conditioning:
    """M_t at the recorded times [n]. least, largest : lambda_t and Lambda_t.  floor, ceiling : the
    bounds of each, from the run's least and largest density.
    """

    least: Floats
    largest: Floats
    floor: float
    ceiling: float

    @property
    def condition(self) -> Floats:
        """kappa_t = Lambda_t / lambda_t."""
        return self.largest / self.least


def conditioning(run: PlanRun) -> Conditioning:
    """The eigenvalues of M_t; needs pi and d recorded, and A2."""
    mdp, decides = run.mdp, ~run.mdp.is_terminal
    require(least_start(mdp) > 0, "M_t needs A2: p0 is 0 in some state")
    require(mdp.gamma < 1.0, "gamma is 1; M_t takes one below 1")
    d = some_records(run, "d")[:, decides]
    on_policy = np.array([mdp.density(pi)[decides] for pi in some_records(run, "pi")])
    ratio = d / on_policy
    return Conditioning(
        least=ratio.min(axis=1),
        largest=ratio.max(axis=1),
        floor=float((1.0 - mdp.gamma) * d.min()),
        ceiling=float(d.max() / least_start(mdp)),
    )


@dataclass(frozen=True, repr=False)
class NonAsymptotic:
    """The bound for every t beside the gap, at the recorded t >= 1, [n].

    step, eta : the theorem's step size, and the run's, which is not above it.  C : 1 / min
        pi_t(pi_star(s)|s)^2.  mismatch : |d_star / p0|.
    gap : max over s of v_star - v_t.  derived, printed : the bounds, the same for every state.
    t0 : the corollary's, with the printed constant.  t0_derived : with the derived one.
    """

    step: float
    eta: float
    C: float
    mismatch: float
    t0: float
    t0_derived: float
    t: Ints
    gap: Floats
    derived: Floats
    printed: Floats


def nonasymptotic(run: PlanRun) -> NonAsymptotic:
    """Theorem 7 on a softmax run that meets its conditions; needs v, pi and d of every t."""
    this = "the bound for every t"
    C, mismatch = _constants(run, this)
    mdp, optimum, decides = run.mdp, run.mdp.optimal(), ~run.mdp.is_terminal
    d = density_range(run)
    require(d.d_bot > 0, f"{this} needs C7: d_t(s) is 0 somewhere")
    step = nonasymptotic_step(mdp, d.d_top)
    require(
        run.eta.constant and run.eta.c <= step * (1 + 1e-9),
        f"eta is {run.eta}; {this} takes a constant of at most {step:.6g}",
    )
    rate = run.eta.c * (1 - mdp.gamma) * d.d_bot * least_start(mdp)
    constant = 2.0 * int(decides.sum()) * C * mismatch**2 / rate
    loose, delta = constant / (1.0 - mdp.gamma) ** 3, float(optimum.gap.min())
    return NonAsymptotic(
        step=step,
        eta=run.eta.c,
        C=C,
        mismatch=mismatch,
        t0=2.0 * loose / delta,
        t0_derived=2.0 * constant / delta,
        t=run.t[1:],
        gap=(optimum.v - run.record("v")[1:]).max(axis=1),
        derived=constant / run.t[1:],
        printed=loose / run.t[1:],
    )


@dataclass(frozen=True, repr=False)
class GradientBound:
    """Theorem 6 beside the gap, at the recorded t >= 1, [n].  C : as above.

    gap : max over s of v_star - v_t.  bound : with the factor 1.  printed : with r_top - r_bot.
    """

    C: float
    t: Ints
    gap: Floats
    bound: Floats
    printed: Floats


def gradient_bound(run: PlanRun) -> GradientBound:
    """Theorem 6 on a run of the policy gradient, d_t = d_{pi_t,gamma} not normalized, with C3's
    step; needs v, pi and d of every t.
    """
    this = "Theorem 6"
    C, mismatch = _constants(run, this)
    mdp, decides = run.mdp, ~run.mdp.is_terminal
    step, scale = learning_rate("softmax", mdp.gamma, mdp.n_actions), conditioning(run)
    rates = run.eta.values(1, len(run.t)) * np.stack([scale.least, scale.largest])
    require(
        np.allclose(rates, step, rtol=1e-6),
        f"{this} is about the policy gradient with C3's step: eta d_t must be {step:.6g} "
        "d_{pi_t,gamma}",
    )
    constant = 16.0 * int(decides.sum()) * C * mismatch**2 / (1.0 - mdp.gamma) ** 4
    bound = constant / least_start(mdp) / run.t[1:]
    rewards = mdp.r[decides]
    return GradientBound(
        C=C,
        t=run.t[1:],
        gap=(mdp.optimal().v - run.record("v")[1:]).max(axis=1),
        bound=bound,
        printed=bound * float(rewards.max() - rewards.min()),
    )


def _constants(run: PlanRun, this: str) -> tuple[float, float]:
    # C and |d_star / p0| of a run that both theorems are about.
    require_run(run, "softmax", this)
    mdp, optimum, decides = run.mdp, run.mdp.optimal(), ~run.mdp.is_terminal
    require(least_start(mdp) > 0, f"{this} needs A2: p0 is 0 in some state")
    require(uniqueness(mdp).unique, f"{this} needs A8: the optimal policy is not unique")
    rewards = mdp.r[decides]
    require(rewards.min() >= 0 and rewards.max() <= 1, f"{this} takes rewards in [0, 1]; rescale r")
    require(mdp.gamma < 1.0, f"gamma is 1; {this} takes one below 1")
    pi = some_records(run, "pi")[:, decides]
    require_every_time(run, f"the constant C of {this}")
    least = pi[:, np.arange(pi.shape[1]), optimum.actions[decides]].min()
    mismatch = (mdp.density(optimum.pi)[decides] / mdp.p0[decides]).max()
    return float(1.0 / least**2), float(mismatch)

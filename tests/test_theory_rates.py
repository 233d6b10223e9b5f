"""Theorems 4, 6 and 7 with their corollaries and remarks on random MDPs, by code that shares no
formula with the package.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from jekyllhyde import theory
from jekyllhyde.errors import InputError
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.planning.plan import plan
from jekyllhyde.planning.plan_run import PlanRun
from mdps import dense_model, naive
from theory_by_hand import (
    Floats,
    gaps,
    gradient_density,
    optimum,
    random_problem,
    softmax,
)


def softmax_run(seed: int) -> PlanRun:
    mdp = random_problem(seed)
    return plan(mdp, density="uniform", eta=8.0, updates=600, record=theory.RECORD)


def test_theorem_4_by_hand() -> None:
    """Policy and value bounds from loops over states, actions and times."""
    for seed in range(20):
        run = softmax_run(seed)
        mdp, rate = run.mdp, theory.softmax_rate(run)
        v_star, q_star = optimum(mdp)
        delta, best = gaps(q_star), q_star.argmax(axis=1)
        P = dense_model(mdp)[0]
        ok = [
            all(
                v_star[s] - v[s] <= delta[s] / 2 and max(q_star[s] - q[s]) <= delta[s] / 2
                for s in range(4)
            )
            for v, q in zip(run.records["v"], run.records["q"], strict=True)
        ]
        t0 = ok.index(True)
        assert rate.t0 == t0
        ahead = np.eye(4, dtype=bool)
        for _ in range(4):
            for s in range(4):
                for s2 in np.flatnonzero(P[s, best[s]]):
                    ahead[s] |= ahead[s2]
        low = min(q for s in range(4) for q in run.records["q"][t0, s])
        for t in (t0 + 1, 300, 600):
            W = [math.fsum(8.0 * run.records["d"][i, s] for i in range(t0, t)) for s in range(4)]
            for s in range(4):
                worst = max(1 / (delta[x] * W[x]) for x in np.flatnonzero(ahead[s]))
                bound = 8 * 3 * (max(v_star) - low) / (1 - mdp.gamma) * worst
                assert rate.bound[t - t0 - 1, s] == pytest.approx(bound, rel=1e-9)
                assert v_star[s] - naive(mdp, run.records["pi"][t])[0][s] <= bound
                row, first = run.records["pi"][t, s], run.records["pi"][t0, s]
                odds = first[best[s]] / max(p for a, p in enumerate(first) if a != best[s])
                assert 1 - row[best[s]] <= 2 / (odds + delta[s] * W[s] / 8) + 1e-12


def test_equation_6_by_hand() -> None:
    """The 1/t form with uniform updates, e_bot = eta/|S|: 8 |A| |S| (v_top - v_bot) / (eta (1 -
    gamma) delta), the order in |S|, |A| and gamma that Section A.6 compares.
    """
    for seed in range(20):
        run = softmax_run(seed)
        rate = theory.softmax_rate(run)
        v_star, q_star = optimum(run.mdp)
        spread = max(v_star) - run.records["q"][rate.t0].min()
        constant = 8 * 3 * 4 * spread / (8.0 * (1 - run.mdp.gamma) * gaps(q_star).min())
        values = [v_star - naive(run.mdp, pi)[0] for pi in run.records["pi"][rate.t0 + 1 :]]
        for t, gap, form in zip(rate.t, values, rate.linear, strict=True):
            assert gap.max() <= constant / (t - rate.t0) + 1e-12
            assert form.max() == pytest.approx(constant / (t - rate.t0), rel=1e-6)


def test_x_t_by_hand() -> None:
    """f' = c exp(-f) with piecewise constant c, integrated numerically, is the proof's closed form,
    and the lead of the optimal action never falls below it.
    """
    for seed in range(4):
        run = softmax_run(seed)
        rate = theory.softmax_rate(run)
        q_star = optimum(run.mdp)[1]
        delta, best = gaps(q_star), q_star.argmax(axis=1)
        s, t0, last = 1, rate.t0, rate.t0 + 60
        pi = np.log(run.records["pi"][:, s])
        lead = pi[:, best[s]] - np.delete(pi, best[s], axis=1).max(axis=1)
        weights = 8.0 * run.records["d"][:, s]

        def slope(t: float, f: Floats, c: Floats = delta[s] * weights / 8) -> Floats:
            return c[min(int(t), len(c) - 1)] * np.exp(-f)

        solution = solve_ivp(slope, (t0, last), [lead[t0]], rtol=1e-9, atol=1e-9, max_step=1.0)
        closed = math.log(math.exp(lead[t0]) + delta[s] / 8 * weights[t0:last].sum())
        assert solution.y[0, -1] == pytest.approx(closed, rel=1e-6)
        assert lead[last] >= closed
        assert rate.policy_bound[last - t0 - 1, s] == pytest.approx(2 * math.exp(-closed))


def test_remark_1_by_hand() -> None:
    """Two optimal actions and a worse one: while the optimal action that the policy counts on lags
    behind the other, mass leaves the optimal set.
    """
    run = ties()
    mass = run.records["pi"][:, 0, :2].sum(axis=1)
    v_star, q_star = optimum(run.mdp)
    ties_at_start = q_star[0, :2] - v_star[0]
    np.testing.assert_allclose(ties_at_start, 0.0, atol=1e-9)
    # delta(0) = 0.5: Theorem 4's t_0 is 0, and yet
    assert (v_star - run.records["v"] <= 0.25).all()
    assert (q_star[0] - run.records["q"][:, 0] <= 0.25).all()
    assert mass[50] < mass[0] - 0.001
    assert mass[-1] > mass[50] + 0.001  # in the end it comes back
    with pytest.raises(InputError, match="A8"):
        theory.softmax_rate(run)


def ties() -> PlanRun:
    """State 0: a1 leads to state 1, a2 to state 2, a3 ends with 0.5; states 1 and 2 pay 1 or 0.
    The policy counts on a1; state 1 is learnt slowly, state 2 is learnt already.
    """
    P = np.zeros((4, 3, 4))
    P[0, 0, 1] = P[0, 1, 2] = P[0, 2, 3] = 1.0
    P[1:3, :, 3] = 1.0
    r = np.array([[0.5, 0.5, 0.5], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    mdp = FiniteMDP(P, r, gamma=0.5, terminal=[3])
    pi0 = [[0.9, 0.098, 0.002], [0.75, 0.15, 0.1], [0.998, 0.001, 0.001], [0.3, 0.3, 0.4]]
    density = np.array([1.0, 1e-3, 1.0, 0.0])
    return plan(mdp, density=density, updates=20_000, pi0=pi0, record=theory.RECORD)


def test_theorem_6_by_hand() -> None:
    """The policy gradient with C3's step on bandits and MDPs with rewards in [0, 1]."""
    for seed in range(8):
        mdp = random_problem(seed, n=3, k=2, gamma=0.3)
        run = plan(mdp, density=gradient_density, eta=0.7**3 / 8, updates=400, record=theory.RECORD)
        found = theory.gradient_bound(run)
        v_star, q_star = optimum(mdp)
        best = q_star.argmax(axis=1)
        d_star = naive(mdp, np.eye(2)[best])[2]
        least = min(run.records["pi"][t, s, best[s]] for t in range(401) for s in range(3))
        for t in (1, 20, 400):
            bound = 16 * 3 / (t * 0.7**6 * least**2)
            bound *= max(0.7 * d_star / mdp.p0) ** 2 * max(1 / mdp.p0)
            assert found.bound[t - 1] == pytest.approx(bound)
            assert found.gap[t - 1] == pytest.approx(
                float((v_star - naive(mdp, run.records["pi"][t])[0]).max())
            )
        assert (found.gap <= found.bound).all()


def test_finding_theorem_6_needs_rewards_of_range_1() -> None:
    """With rewards 0.01 and 0 the factor r_top - r_bot scales the bound, but not the step."""
    mdp = FiniteMDP(np.ones((1, 2, 1)), [[0.01, 0.0]], gamma=0.0)
    run = plan(mdp, density=np.ones(1), eta=1 / 8, updates=400, record=theory.RECORD)
    found = theory.gradient_bound(run)
    assert (found.gap > found.printed).any()
    assert (found.gap <= found.bound).all()


def test_theorem_6_is_about_the_policy_gradient() -> None:
    run = plan(random_problem(0), density="uniform", eta=0.01, updates=5, record=theory.RECORD)
    with pytest.raises(InputError, match="is about the policy gradient"):
        theory.gradient_bound(run)


def test_rescaled_gradients() -> None:
    """U = M_t grad J, with grad J by finite differences of J; and the bounds of M_t."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        mdp, d = random_problem(seed), rng.random(4) + 0.1
        theta = rng.normal(size=(4, 3))
        pi = softmax(theta)
        v, q, on_policy = naive(mdp, pi)
        gradient = np.zeros((4, 3))
        for s in range(4):
            for a in range(3):
                bump = np.zeros((4, 3))
                bump[s, a] = 1e-5
                up, down = (mdp.p0 @ naive(mdp, softmax(theta + e))[0] for e in (bump, -bump))
                gradient[s, a] = (up - down) / 2e-5
        update = d[:, None] * pi * (q - v[:, None])
        np.testing.assert_allclose(update, (d / on_policy)[:, None] * gradient, atol=1e-7)
        run = plan(mdp, density=d, eta=1.0, updates=30, pi0=pi, record=theory.RECORD)
        found = theory.conditioning(run)
        assert found.least[0] == pytest.approx(float((d / on_policy).min()))
        assert found.largest[0] == pytest.approx(float((d / on_policy).max()))
        assert (found.least >= 0.4 * d.min()).all()
        assert found.floor == pytest.approx(0.4 * d.min())
        assert (found.largest <= d.max() / mdp.p0.min()).all()
        assert found.ceiling == pytest.approx(d.max() / mdp.p0.min())
        assert (found.condition <= found.ceiling / found.floor * (1 + 1e-12)).all()


def test_theorem_7_by_hand() -> None:
    """The printed bound, the smaller constant that its proof gives, and the time at which each is
    half the least action gap.
    """
    for seed in range(8):
        gamma = 0.2 + 0.05 * seed
        mdp = random_problem(seed, n=3, k=2, gamma=gamma)
        d = np.random.default_rng(seed).random(3) + 0.2
        eta = (1 - gamma) ** 3 / 8 / max(d) * min(mdp.p0)
        run = plan(mdp, density=d, eta=eta, updates=150, record=theory.RECORD)
        found = theory.nonasymptotic(run)
        v_star, q_star = optimum(mdp)
        best = q_star.argmax(axis=1)
        d_star = naive(mdp, np.eye(2)[best])[2]
        least = min(run.records["pi"][t, s, best[s]] for t in range(151) for s in range(3))
        constant = 16 * 3 / least**2 * max(d_star / mdp.p0) ** 2 / min(mdp.p0) ** 2
        constant *= max(d) / min(d)
        for t in (1, 30, 150):
            assert found.printed[t - 1] == pytest.approx(constant / (1 - gamma) ** 7 / t)
            assert found.derived[t - 1] == pytest.approx(constant / (1 - gamma) ** 4 / t)
            assert max(v_star - naive(mdp, run.records["pi"][t])[0]) <= found.derived[t - 1]
        assert found.t0 == pytest.approx(2 * constant / (1 - gamma) ** 7 / gaps(q_star).min())
        assert found.t0_derived == pytest.approx(found.t0 * (1 - gamma) ** 3)


def test_theorem_7_takes_its_constant_over_every_t() -> None:
    """C over some of the times would be too small, and so would the bound."""
    mdp = random_problem(3, n=3, k=2, gamma=0.3)
    eta = theory.nonasymptotic_step(mdp, 1 / 3)
    with pytest.raises(InputError, match="recorded 1 of 201 times"):
        theory.nonasymptotic(
            plan(
                mdp,
                density="uniform",
                eta=eta,
                updates=200,
                record=theory.RECORD,
                record_at=[200],
            )
        )


def test_t0_of_the_main_text() -> None:
    """t_0 = O(|S| / ((1 - gamma)^7 delta) d_top / d_bot) lacks 32 C |d_star/p0|^2 |1/p0|^2."""
    for seed in range(8):
        mdp = random_problem(seed, n=3, k=2, gamma=0.5)
        eta = 0.5**3 / 8 * 3 * min(mdp.p0)
        run = plan(mdp, density="uniform", eta=eta, updates=50, record=theory.RECORD)
        found = theory.nonasymptotic(run)
        q_star = optimum(mdp)[1]
        best = q_star.argmax(axis=1)
        d_star = naive(mdp, np.eye(2)[best])[2]
        named = 3 / 0.5**7 / gaps(q_star).min()
        least = min(run.records["pi"][t, s, best[s]] for t in range(51) for s in range(3))
        left_out = 32 / least**2 * max(d_star / mdp.p0) ** 2 * max(1 / mdp.p0) ** 2
        assert found.mismatch == pytest.approx(max(d_star / mdp.p0))
        assert found.t0 == pytest.approx(named * left_out)
        assert left_out > 32 * 3**2  # |1/p0| is at least |S|, the others at least 1

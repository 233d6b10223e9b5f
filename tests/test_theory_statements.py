"""Each numbered statement of the paper on random MDPs, by code that shares no formula with the
package: dense inverses, plain loops, finite differences, series.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from jekyllhyde import theory
from jekyllhyde.errors import InputError
from jekyllhyde.mdp.evaluation import Evaluation
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.planning.plan import plan
from jekyllhyde.planning.plan_run import PlanRun
from mdps import dense_model, naive

Floats = NDArray[np.float64]


def random_problem(seed: int, n: int = 4, k: int = 3, gamma: float = 0.6) -> FiniteMDP:
    """Rewards in [0, 1], every state a start."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(n, 0.5), size=(n, k))
    return FiniteMDP(P, rng.random((n, k)), p0=rng.dirichlet(np.full(n, 5.0)), gamma=gamma)


def softmax(theta: Floats) -> Floats:
    e = np.exp(theta - theta.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def projected(point: Floats) -> Floats:
    """The projection on the simplex, by bisection on its threshold."""
    low, high = point.min() - 1.0, point.max()
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(point - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(point - high, 0.0)


def optimum(mdp: FiniteMDP) -> tuple[Floats, Floats]:
    """v_star and q_star by value iteration."""
    P, r_next = dense_model(mdp)
    r = (P * r_next).sum(axis=2)
    q = np.zeros(r.shape)
    for _ in range(500):
        q = r + mdp.gamma * P @ q.max(axis=1)
    return q.max(axis=1), q


def gaps(q: Floats) -> Floats:
    ordered = np.sort(q, axis=1)
    return ordered[:, -1] - ordered[:, -2]


def gradient_density(t: int, mdp: FiniteMDP, pi: Floats, evaluation: Evaluation) -> Floats:
    """d_{pi,gamma}, not normalized."""
    return naive(mdp, pi)[2]


@pytest.mark.parametrize("seed", range(5))
def test_equation_7_the_expected_update(seed: int) -> None:
    """One softmax update moves theta by eta d(s) times the gradient of sum_a q(s,a) pi(a|s) with q
    held fixed, which is the mean of the sampled update q(s,A) grad log pi(A|s).
    """
    rng = np.random.default_rng(seed)
    mdp, d, eta = random_problem(seed), rng.random(4), 0.7
    theta = rng.normal(size=(4, 3))
    pi = softmax(theta)
    q = naive(mdp, pi)[1]
    by_differences, by_sampling = np.zeros((4, 3)), np.zeros((4, 3))
    for s in range(4):
        for a in range(3):
            bump = np.zeros((4, 3))
            bump[s, a] = 1e-6
            change = softmax(theta + bump)[s] - softmax(theta - bump)[s]
            by_differences[s, a] = q[s] @ change / 2e-6
        for taken in range(3):
            score = np.eye(3)[taken] - pi[s]
            by_sampling[s] += pi[s, taken] * q[s, taken] * score
    np.testing.assert_allclose(by_differences, by_sampling, atol=1e-8)
    run = plan(mdp, density=d, eta=eta, updates=1, pi0=pi, record=["theta", "pi"])
    moved = np.log(run.records["pi"][1]) - np.log(run.records["pi"][0])
    expected = eta * d[:, None] * by_sampling
    # theta is known up to a shift per state
    np.testing.assert_allclose(moved - moved[:, :1], expected - expected[:, :1], atol=1e-8)


@pytest.mark.parametrize("parametrization", ["direct", "softmax"])
def test_theorem_1_and_corollary_1(parametrization: str) -> None:
    """Values rise, with any density and any step, and stay below the optimum."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        mdp, eta = random_problem(seed, gamma=0.8), 10 ** rng.uniform(-1, 2)
        top = optimum(mdp)[1]
        pi = rng.dirichlet(np.ones(3), size=4)
        theta, last = np.log(pi), None
        for _ in range(15):
            v, q, _ = naive(mdp, pi)
            assert last is None or (q >= last - 1e-9).all()
            assert (q <= top + 1e-9).all()
            last, step = q, eta * rng.exponential(size=4)[:, None]
            if parametrization == "softmax":
                theta = theta + step * pi * (q - v[:, None])
                pi = softmax(theta)
            else:
                pi = np.array([projected(row) for row in pi + step * q])
        run = plan(mdp, parametrization=parametrization, updates=20, record=["q"])
        found = theory.ceiling(run)
        assert found.above <= 1e-9
        assert found.left == pytest.approx(float((top - naive(mdp, run.pi)[1]).max()), abs=1e-9)


def test_theorem_5_policy_improvement() -> None:
    """No disadvantage anywhere means no lower value anywhere, and a strict one where it is."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        mdp, pi = random_problem(seed), rng.dirichlet(np.ones(3), size=4)
        v, q, _ = naive(mdp, pi)
        other = pi.copy()
        for s in np.flatnonzero(rng.random(4) < 0.6):  # move mass from the worst to the best
            best, worst = int(q[s].argmax()), int(q[s].argmin())
            other[s, best] += other[s, worst] / 2
            other[s, worst] /= 2
        found = theory.improvement(mdp, pi, other)
        np.testing.assert_allclose(found.advantage, (other * q).sum(axis=1) - v, atol=1e-12)
        np.testing.assert_allclose(found.gain, naive(mdp, other)[0] - v, atol=1e-12)
        assert (found.advantage >= -1e-12).all()
        assert (found.gain >= found.advantage - 1e-12).all()


@pytest.mark.parametrize("parametrization", ["direct", "softmax"])
def test_theorem_2_weights_that_diverge_reach_the_optimum(parametrization: str) -> None:
    """Steps 1/sqrt(t), 1/t and 1/t^2: the gap falls as far as the weights carry it."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        mdp = random_problem(seed)
        best = optimum(mdp)[0]
        pi0, density = rng.dirichlet(np.full(3, 5.0), size=4), rng.random(4) + 0.1
        found = [
            plan(
                mdp,
                parametrization=parametrization,
                density=density,
                eta=f"20/{decay}",
                updates=20_000,
                pi0=pi0,
            )
            for decay in ("sqrt(t)", "t", "t^2")
        ]
        left = [float((best - naive(mdp, run.pi)[0]).max()) for run in found]
        assert left[0] < 0.02
        assert left[0] <= left[1] <= left[2]
        assert [theory.limit(run).kind for run in found[:2]] == ["optimal", "optimal"]
        assert theory.limit(found[2]).kind == ("short" if parametrization == "softmax" else "open")


def test_theorem_2b_no_action_keeps_an_advantage() -> None:
    """The clock's budget: what an advantage of at least e takes from exp(-theta) per unit of tau
    cannot exceed what was there.
    """
    for seed in range(20):
        rng = np.random.default_rng(seed)
        mdp, eta = random_problem(seed), 0.5
        pi = rng.dirichlet(np.ones(3), size=4)
        theta = np.log(pi) - np.log(pi).mean(axis=1, keepdims=True)
        start, spent = np.exp(-theta), np.zeros((4, 3))
        for _ in range(400):
            v, q, _ = naive(mdp, pi)
            adv = q - v[:, None]
            dtau = eta / np.exp(theta).sum(axis=1)
            x = eta * pi * adv
            # exp(-x) = 1 - k x with k between the two constants of the proof
            spent += dtau[:, None] * adv * -np.expm1(-x) / np.where(x == 0, 1, x)
            theta = theta + x
            np.testing.assert_allclose(theta.sum(axis=1), 0.0, atol=1e-9)
            pi = softmax(theta)
        np.testing.assert_allclose(start - spent, np.exp(-theta), atol=1e-9)
        assert (spent < start).all()


def test_theorem_2c_finite_weights_keep_a_gap() -> None:
    """One state, rewards 1 and r2: by hand, the odds move by a factor that a finite W bounds."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        r2, c, x = rng.uniform(0, 0.9), rng.uniform(0.1, 3), rng.uniform(0.1, 0.9)
        lead = math.log(x / (1 - x))
        for t in range(1, 3000):
            p = 1 / (1 + math.exp(-lead))
            lead += 2 * c / t**2 * p * (1 - p) * (1 - r2)
        found = theory.counterexample("softmax", eta=f"{c}/t^2", r2=r2, start=x, updates=2999)
        gap = (1 - r2) / (1 + math.exp(lead))
        assert found.gap[-1] == pytest.approx(gap)
        assert found.proved <= gap
        assert theory.limit(found.run).kind == "short"


def test_theorem_3_by_hand() -> None:
    """Direct updates until q_t is within delta/2, then until the mass must have arrived."""
    for seed in range(12):
        mdp, eta = random_problem(seed), 2.0
        v_star, q_star = optimum(mdp)
        delta = gaps(q_star)
        pi, t0, needed, spent = np.full((4, 3), 1 / 3), None, np.zeros(4), 0.0
        for t in range(5000):
            q = naive(mdp, pi)[1]
            if t0 is None and ((q_star - q).max(axis=1) <= delta / 2).all():
                t0, needed = t, 4 * (1 - pi[np.arange(4), q_star.argmax(axis=1)]) / delta
            if t0 is not None and spent >= needed.max():
                break
            spent += 0.0 if t0 is None else eta / 4
            pi = np.array([projected(row) for row in pi + eta / 4 * q])
        assert t < 4999
        np.testing.assert_allclose(naive(mdp, pi)[0], v_star, atol=1e-9)
        run = plan(
            mdp,
            parametrization="direct",
            density="uniform",
            eta=eta,
            updates=t + 1,
            record=theory.RECORD,
        )
        found = theory.hitting_time(run)
        assert (found.t0, found.ceiling) == (t0, t)
        assert found.t is not None
        assert found.t <= t


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


def test_theorem_4s_differential_equation() -> None:
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


def test_the_examples_under_c5() -> None:
    """Uniform updates: eta/|S|. The policy gradient under A2: at least eta p0 in the paper's
    density, and in the limit eta d_star.
    """
    for seed in range(3):
        mdp = random_problem(seed)
        uniform = plan(mdp, density="uniform", eta=0.3, updates=200)
        np.testing.assert_allclose(theory.weight_growth(uniform).average, 0.3 / 4)
        run = plan(mdp, density=gradient_density, eta=5.0, updates=2000)
        average = theory.weight_growth(run).average
        assert (average >= 5.0 * mdp.p0 - 1e-9).all()
        star = np.eye(3)[optimum(mdp)[1].argmax(axis=1)]
        np.testing.assert_allclose(average, 5.0 * naive(mdp, star)[2], rtol=0.1)


@pytest.mark.parametrize("h", [1, 2, 3])
def test_dithering_needs_epsilon_of_order_t_to_the_minus_1_over_h(h: int) -> None:
    """A state h lucky steps away is visited with probability epsilon^h: its weights diverge with
    epsilon = t^(-1/h) (as log t) and converge with anything faster.
    """
    P = np.zeros((h + 2, 2, h + 2))
    P[:, 0, h + 1] = 1.0
    for s in range(h + 1):
        P[s, 1, s + 1] = 1.0
    mdp = FiniteMDP(P, np.zeros((h + 2, 2)), gamma=0.9, terminal=[h + 1])

    def weights(power: float, updates: int) -> float:
        total = 0.0
        for t in range(1, updates + 1):
            e = t**-power
            total += naive(mdp, np.tile([1 - e, e], (h + 2, 1)))[2][h]
        return total

    scale = 0.9**h
    harmonic = [math.fsum(1 / t for t in range(1, n + 1)) for n in (50, 400)]
    assert weights(1 / h, 50) == pytest.approx(scale * harmonic[0])
    assert weights(1 / h, 400) == pytest.approx(scale * harmonic[1])
    assert weights(1.5 / h, 400) < scale * 2.62  # zeta(3/2)


def test_remark_1_ties_can_send_the_policy_backwards() -> None:
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


def test_updates_are_rescaled_gradients() -> None:
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


def test_the_main_texts_t0_leaves_out_what_is_large() -> None:
    """t_0 = O(|S| / ((1 - gamma)^7 delta) d_top / d_bot) lacks 32 C |d_star/p0|^2 |1/p0|^2."""
    mdp = random_problem(2, n=3, k=2, gamma=0.5)
    eta = theory.nonasymptotic_step(mdp, 1 / 3)
    run = plan(mdp, density="uniform", eta=eta, updates=50, record=theory.RECORD)
    found = theory.nonasymptotic(run)
    q_star = optimum(mdp)[1]
    d_star = naive(mdp, np.eye(2)[q_star.argmax(axis=1)])[2]
    named = 3 / 0.5**7 / gaps(q_star).min()
    left_out = 32 * found.C * max(d_star / mdp.p0) ** 2 * max(1 / mdp.p0) ** 2
    assert found.mismatch == pytest.approx(max(d_star / mdp.p0))
    assert found.t0 == pytest.approx(named * left_out)
    assert left_out > 32 * 3**2  # |1/p0| is at least |S|, the others at least 1

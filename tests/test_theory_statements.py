"""The conditions and Theorems 1, 2, 3 and 5 on random MDPs, by code that shares no formula with the
package: dense inverses, plain loops, finite differences, series.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from jekyllhyde import theory
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.planning.plan import plan
from mdps import naive
from theory_by_hand import (
    gaps,
    gradient_density,
    optimum,
    projected,
    random_problem,
    softmax,
)


def test_assumptions() -> None:
    """A2, A8 with its footnote, and C3's steps."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(2, 5)), int(rng.integers(2, 4))
        P = rng.dirichlet(np.ones(n), size=(n, k))
        r = rng.random((n, k))
        kind = seed % 3  # no tie, a tie of two actions, a state where all are alike
        if kind:
            alike = range(2) if kind == 1 else range(k)
            for a in alike:
                P[0, a], r[0, a] = P[0, 0], 2.0
        p0 = rng.dirichlet(np.ones(n))
        p0[1] *= rng.integers(0, 2)
        gamma = float(rng.uniform(0.1, 0.9))
        mdp = FiniteMDP(P, r, p0=p0 / p0.sum(), gamma=gamma)
        q = optimum(mdp)[1]
        counts = [sum(x > max(row) - 1e-7 for x in row) for row in q]
        found = theory.uniqueness(mdp)
        assert found.counts.tolist() == counts
        assert found.unique == all(count == 1 for count in counts)
        assert found.enough == all(count in (1, k) for count in counts)
        assert theory.least_start(mdp) == pytest.approx(min(mdp.p0))
        cube = (1 - gamma) * (1 - gamma) * (1 - gamma)
        assert theory.learning_rate("softmax", gamma, k) == pytest.approx(cube / 8)
        assert theory.learning_rate("direct", gamma, k) == pytest.approx(cube / 2 / gamma / k)


def test_c7_by_hand() -> None:
    """Bounds for every t contain the densities of random policies; records give the range seen."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        mdp = random_problem(seed)
        o: Any = [0.0, 0.4, "3/t", 1.0][seed % 4]
        run = plan(mdp, density="mixture", o=o, updates=6, convention="paper")
        found = theory.density_range(run)
        assert (found.certain, found.outer) == (1, True)
        for t in range(1, 30):
            on = naive(mdp, rng.dirichlet(np.full(3, 0.2), size=4))[2]
            share = min(1.0, run.density.o(t))  # type: ignore[union-attr]
            d = share / 4 + (1 - share) * on / on.sum()
            assert found.d_bot - 1e-12 <= d.min()
            assert d.max() <= found.d_top + 1e-12
        seen = plan(mdp, density=gradient_density, updates=20, record=theory.RECORD)
        d = np.array([naive(mdp, pi)[2] for pi in seen.records["pi"]])
        found = theory.density_range(seen)
        assert (found.d_bot, found.d_top) == pytest.approx((d.min(), d.max()))
        assert (found.certain, found.outer) == (0, False)


@pytest.mark.parametrize("seed", range(5))
def test_equation_7_by_hand(seed: int) -> None:
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
def test_theorem_1_by_hand(parametrization: str) -> None:
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


def test_theorem_5_by_hand() -> None:
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
def test_theorem_2_by_hand(parametrization: str) -> None:
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


def test_theorem_2b_by_hand() -> None:
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


def test_theorem_2c_by_hand() -> None:
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


def test_examples_of_c5() -> None:
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
def test_dithering_by_hand(h: int) -> None:
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

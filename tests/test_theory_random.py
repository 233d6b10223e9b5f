"""Theorem 2c, Remark 1 and the paper's epsilon_t on random MDPs, by code that shares no formula
with the package: loops, dense inverses, value iteration.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import zeta

from jekyllhyde import theory
from jekyllhyde.errors import InputError
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.planning.plan import plan
from mdps import dense_model, naive
from theory_by_hand import Floats, gaps, optimum, projected, random_problem, softmax

# ------------------------------------------------------------------ Theorem 2c


def scaled(mdp: FiniteMDP, factor: float) -> FiniteMDP:
    P, r_next = dense_model(mdp)
    r = factor * (P * r_next).sum(axis=2)
    return FiniteMDP(P, r, p0=mdp.p0, gamma=mdp.gamma)


@pytest.mark.parametrize("seed", range(12))
def test_2c_softmax(seed: int) -> None:
    """theta moves by at most m R in all, R the range of q; so pi(b|s) keeps a share exp(-2 m R) of
    what it was, and each state stays short by that times its gap: on every MDP, at every t.
    """
    rng = np.random.default_rng(seed)
    mdp, alpha = random_problem(seed), float(rng.uniform(1.3, 2.5))
    d, c = rng.random(4) + 0.1, float(rng.uniform(0.2, 2.0))
    pi0 = rng.dirichlet(np.full(3, 2.0), size=4)
    v_star, q_star = optimum(mdp)
    m, reach = c * zeta(alpha) * d, 1.0 / (1 - mdp.gamma)  # rewards lie in [0, 1]
    worse = np.where(q_star < v_star[:, None] - 1e-9, pi0, 0.0).sum(axis=1)
    floor = worse * np.exp(-2 * m * reach) * gaps(q_star)
    assert (floor > 0).all()
    theta, pi = np.log(pi0), pi0
    for t in range(1, 1500):
        v, q, _ = naive(mdp, pi)
        assert (v_star - v >= floor).all()
        theta = theta + c / t**alpha * d[:, None] * pi * (q - v[:, None])
        pi = softmax(theta)
    run = plan(mdp, density=d, eta=f"{c}/t^{alpha}", updates=1499, pi0=pi0)
    np.testing.assert_allclose(run.pi, pi, atol=1e-9)
    found = theory.limit(run)
    assert (found.kind, int(found.short_of.sum()), found.J_optimal) == ("short", 4, False)


@pytest.mark.parametrize("m", [0.1, 1.0, 10.0, 30.0])
def test_the_printed_bound_of_2c_fails_in_one_step(m: float) -> None:
    """r2 = 0 and all of m in one step from a uniform start: below exp(-m/2), for every m."""
    mdp = theory.one_state(0.0)
    run = plan(mdp, density=np.array([1.0, 0.0]), eta=m, updates=1)
    gap = 1.0 - naive(mdp, run.pi)[0][0]
    assert gap == pytest.approx(1 / (1 + np.exp(m / 2)), rel=1e-6)
    assert gap < np.exp(-m / 2)


@pytest.mark.parametrize("seed", range(12))
def test_2c_direct(seed: int) -> None:
    """Direct: a projection is not longer than the step, w |q - middle|; so with rewards scaled down
    far enough, summable weights leave half of the wrong mass where it is. Scaled up, the same
    weights are enough.
    """
    rng = np.random.default_rng(seed)
    mdp, c = random_problem(seed), float(rng.uniform(0.2, 2.0))
    pi0 = rng.dirichlet(np.full(3, 5.0), size=4)
    m = c * zeta(2.0) / 4
    small = float(pi0.min() / 2 / (m * np.sqrt(3) / 2 / (1 - mdp.gamma)))
    for factor, short in ((min(small, 1.0), True), (1e5, False)):
        problem = scaled(mdp, factor)
        v_star, q_star = optimum(problem)
        floor = pi0.min() / 2 * gaps(q_star)
        pi = pi0
        for t in range(1, 300):
            v, q, _ = naive(problem, pi)
            assert not short or (v_star - v >= floor).all()
            pi = np.array([projected(row) for row in pi + c / t**2 / 4 * q])
        run = plan(
            problem,
            parametrization="direct",
            density=np.full(4, 0.25),
            eta=f"{c}/t^2",
            updates=299,
            pi0=pi0,
        )
        np.testing.assert_allclose(run.pi, pi, atol=1e-6)
        assert theory.weight_growth(run).diverges.tolist() == [-1] * 4
        assert short or np.allclose(naive(problem, pi)[0], v_star)


# ------------------------------------------------------------------ Remark 1


def block(rng: np.random.Generator, gamma: float) -> tuple[Floats, Floats, Floats]:
    """A random problem of three states worth 1 at the first: P, r, and an optimal policy."""
    P, r = rng.dirichlet(np.full(3, 0.7), size=(3, 3)), rng.random((3, 3))
    v, q = optimum(FiniteMDP(P, r, gamma=gamma))
    return P, r / v[0], np.eye(3)[q.argmax(axis=1)]


def two_ways(seed: int, lead: float) -> tuple[FiniteMDP, Floats, float]:
    """State 0 leads by a_1 to a block that is learnt slowly, by a_2 to one that is learnt already;
    a_3 ends with delta less. a_1 pays `lead` times delta more than a_2: 0 is a tie.
    """
    rng = np.random.default_rng(seed)
    gamma, delta = float(rng.uniform(0.5, 0.8)), float(rng.uniform(0.1, 0.3))
    P, r = np.zeros((8, 3, 8)), np.zeros((8, 3))
    pi = np.full((8, 3), 1 / 3)
    P[0, 0, 1] = P[0, 1, 4] = P[0, 2, 7] = 1.0
    r[0] = [delta * (1 + lead), delta, gamma]
    best = {}
    for first in (1, 4):
        here = slice(first, first + 3)
        P[here, :, here], r[here], best[first] = block(rng, gamma)
    mdp = FiniteMDP(P, r, gamma=gamma, terminal=[7])
    for first, loss in ((1, 0.35 * delta), (4, 0.001 * delta)):
        here, low, high = slice(first, first + 3), 0.0, 1.0
        for _ in range(50):  # the share of the uniform policy that costs so much at the head
            share = (low + high) / 2
            pi[here] = (1 - share) * best[first] + share / 3
            short = gamma * (1 - naive(mdp, pi)[0][first]) < loss
            low, high = (share, high) if short else (low, share)
    few, some = float(rng.uniform(0.001, 0.003)), float(rng.uniform(0.05, 0.1))
    pi[0] = [1 - some - few, some, few]
    return mdp, pi, delta


def by_hand(mdp: FiniteMDP, pi: Floats, d: Floats, updates: int) -> tuple[Floats, Floats, Floats]:
    """pi_t(.|0), q_t(0, .) and v_t(0) of softmax updates with weights d."""
    theta, rows = np.log(pi), []
    for _ in range(updates):
        v, q, _ = naive(mdp, pi)
        rows.append([*pi[0], *q[0], v[0]])
        theta = theta + d[:, None] * pi * (q - v[:, None])
        pi = softmax(theta)
    table = np.array(rows)
    return table[:, :3], table[:, 3:6], table[:, 6]


@pytest.mark.parametrize("seed", range(8))
def test_remark_1_random(seed: int) -> None:
    """With a tie, mass leaves the optimal actions although every value is within delta/2, and comes
    back; with a_1 better by delta, all else equal, the mass on it never falls, as A8 has it.
    """
    mdp, pi0, delta = two_ways(seed, lead=0.0)
    v_star, q_star = optimum(mdp)
    np.testing.assert_allclose(v_star[0] - q_star[0], [0.0, 0.0, delta], atol=1e-9)
    d = np.array([8.0, 1e-4, 1e-4, 1e-4, 1.0, 1.0, 1.0, 0.0])
    pi, q, v = by_hand(mdp, pi0, d, 3000)
    assert (v_star[0] - v <= delta / 2).all()
    assert (q_star[0] - q <= delta / 2).all()
    mass = pi[:, :2].sum(axis=1)
    lowest = int(mass.argmin())
    assert 0 < lowest < 1500
    assert mass[lowest] < mass[0] - 1e-5
    assert mass[-1] > mass[0]
    assert q[0, 0] < v[0] < q[0, 1]  # the order that the remark describes
    assert pi[0, 0] > 5 * pi[0, 1]
    assert not theory.uniqueness(mdp).enough
    run = plan(mdp, density=d, eta=1.0, updates=2999, pi0=pi0, record=theory.RECORD)
    np.testing.assert_allclose(run.records["pi"][:, 0], pi, atol=1e-8)
    with pytest.raises(InputError, match="A8"):
        theory.softmax_rate(run)

    mdp, pi0, delta = two_ways(seed, lead=1.0)
    v_star, q_star = optimum(mdp)
    assert v_star[0] - np.sort(q_star[0])[-2] == pytest.approx(delta)
    pi, q, v = by_hand(mdp, pi0, d, 600)
    assert (v_star[0] - v <= delta / 2).all()
    assert (q_star[0] - q <= delta / 2).all()
    assert (np.diff(pi[:, 0]) >= 0).all()


# ------------------------------------------------------------------ epsilon_t = Omega(t^(-1/h))


def lucky_actions(P: Floats, greedy: NDArray[np.int64]) -> list[float]:
    """The least number of actions that are not greedy on a path from state 0 to each state."""
    n, k, _ = P.shape
    least = [0.0] + [np.inf] * (n - 1)
    for _ in range(n):
        for s in range(n):
            for a in range(k):
                for s2 in np.flatnonzero(P[s, a]):
                    least[s2] = min(least[s2], least[s] + (a != greedy[s]))
    return least


def visits(P: Floats, greedy: NDArray[np.int64], gamma: float, eps: Floats) -> Floats:
    """d_{pi,gamma} from state 0 [len(eps), S] where another action than the greedy one is taken
    with probability eps.
    """
    n, k, _ = P.shape
    pi = np.repeat((eps / (k - 1))[:, None, None], n, axis=1) * np.ones(k)
    pi[:, np.arange(n), greedy] = (1 - eps)[:, None]
    step = np.einsum("esa,sat->est", pi, P)
    return np.linalg.inv(np.eye(n) - gamma * step)[:, 0]


def test_dithering_random() -> None:
    """A state that takes h actions that are not greedy has a density between two multiples of
    epsilon^h. So epsilon = t^(-1/h) gives infinite weights, any faster power finite ones.
    """
    seen: dict[float, int] = {}
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, k, gamma = 8, 3, float(rng.uniform(0.5, 0.95))
        P = np.zeros((n, k, n))
        for s in range(n):
            for a in range(k):
                ahead = rng.choice(n, size=2, p=np.exp(-abs(np.arange(n) - s - 0.5)) / _total(n, s))
                P[s, a, ahead] = rng.uniform(0.3, 0.7)
        P /= P.sum(axis=2, keepdims=True)
        greedy = rng.integers(0, k, size=n)
        for s, h in enumerate(lucky_actions(P, greedy)):
            if not 1 <= h <= 4:
                continue
            seen[h] = seen.get(h, 0) + 1
            eps = np.geomspace(1e-3, 0.5, 40) if h < 3 else np.geomspace(1e-2, 0.5, 40)
            ratio = visits(P, greedy, gamma, eps)[:, s] / eps**h
            least, most = ratio.min() / 1.5, ratio.max() * 1.5
            two = visits(P, greedy, gamma, np.array([1e-3, 2e-3]))[:, s]
            assert np.log2(two[1] / two[0]) == pytest.approx(h, abs=0.05), (seed, s)
            t = np.arange(1.0, 1001.0)
            for power, total in ((1 / h, (1 / t).sum()), (1.5 / h, (t**-1.5).sum())):
                weights = visits(P, greedy, gamma, 0.5 * t**-power)[:, s].sum()
                assert least * total <= weights / 0.5**h <= most * total, (seed, s)
    assert len(seen) >= 3, seen
    assert sum(seen.values()) > 60


def _total(n: int, s: int) -> float:
    return float(np.exp(-abs(np.arange(n) - s - 0.5)).sum())

"""The two gaps in the paper's proof of Theorem 2b and their repairs, step by step, in numbers.

Notation of that proof, in one state: better actions have q_inf > v_inf, by delta at least; neutral
ones q_inf = v_inf; from t_0 on q_t and v_t are within xi of their limits, from below.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from jekyllhyde import theory
from jekyllhyde.planning.plan import plan
from jekyllhyde.planning.plan_run import PlanRun
from theory_by_hand import Floats, random_problem

DELTA = 1.0


def configuration(rng: np.random.Generator, xi: float) -> tuple[Floats, Floats]:
    """A policy and values q_t of two better, two neutral and two worse actions, with v_inf = 0,
    that the proof allows: q_t within xi of q_inf, and v_t = sum_a pi(a) q_t(a) within xi of 0.
    """
    while True:
        q_inf = np.concatenate([DELTA + rng.exponential(size=2), np.zeros(2)])
        q_inf = np.append(q_inf, -2 * xi - rng.exponential(size=2))
        q_inf[0] = DELTA
        q = q_inf - xi * rng.choice([0.0, 1.0, rng.random()], size=6)
        pi = rng.dirichlet(np.full(6, 10.0 ** rng.uniform(-1, 1)))
        if -xi <= pi @ q <= 0.0:
            return pi, q


@pytest.mark.parametrize("share", [1 / 2, 1 / 3])
def test_first_gap_the_estimate_and_the_difference(share: float) -> None:
    """The paper's two estimates, delta - xi for a better action and xi for a neutral one, are equal
    at xi = delta/2, and each is met by some policy: nothing is left of their difference. It is
    delta/3 at xi = delta/3. But both advantages have the same v_t; so the updates of a better
    action and of a neutral or worse one behind it differ by at least pi (delta - xi) for both xi.
    """
    rng, xi = np.random.default_rng(0), share * DELTA
    least_better, most_neutral, least = math.inf, -math.inf, math.inf
    for _ in range(20_000):
        pi, q = configuration(rng, xi)
        adv = q - pi @ q
        least_better = min(least_better, adv[:2].min())
        most_neutral = max(most_neutral, adv[2:4].max())
        for a in range(2):
            for b in range(2, 6):
                if pi[a] >= pi[b]:
                    least = min(least, (pi[a] * adv[a] - pi[b] * adv[b]) / pi[a])
    assert DELTA - xi <= least_better + 1e-12
    assert most_neutral <= xi + 1e-12
    left = least_better - most_neutral  # what the two estimates leave, apart
    assert left == pytest.approx(DELTA - 2 * xi, abs=0.1)
    assert least >= DELTA - xi - 1e-12
    assert least == pytest.approx(DELTA - xi, abs=0.1)  # and no more than that


def softmax_run(seed: int) -> PlanRun:
    """Densities of very different sizes, so that some values rest while others move."""
    rng = np.random.default_rng(seed)
    return plan(
        random_problem(seed),
        density=10.0 ** rng.uniform(-4, 0, size=4),
        eta=0.5,
        updates=300,
        pi0=rng.dirichlet(np.ones(3), size=4),
        record=theory.RECORD,
    )


@pytest.mark.parametrize("share", [1 / 2, 1 / 3])
def test_first_gap_ratio(share: float) -> None:
    """Stretches of random runs in which values move by at most xi: a better action that is ahead of
    a neutral or worse one stays ahead, and the logarithm of their ratio grows by at least (delta -
    xi) sum_t w_t pi_t(a|s), so that it diverges with that sum.
    """
    found = 0
    for seed in range(40):
        run = softmax_run(seed)
        v, q, pi = (run.records[name] for name in ("v", "q", "pi"))
        for s in range(4):
            w = 0.5 * run.records["d"][:, s]
            for start, end in ((0, 40), (20, 150), (100, 300)):
                stretch = range(start, end)
                xi = max(max(v[end, s] - v[t, s], *(q[end, s] - q[t, s])) for t in stretch)
                for a in range(3):
                    delta = q[end, s, a] - v[end, s]
                    if xi > share * delta:
                        continue
                    for b in range(3):
                        if q[end, s, b] > v[end, s] or pi[start, s, a] < pi[start, s, b]:
                            continue
                        found += 1
                        passed = math.fsum(w[t] * pi[t, s, a] for t in stretch)
                        ratio = np.log(pi[start : end + 1, s, a] / pi[start : end + 1, s, b])
                        assert (np.diff(ratio) >= 0).all()
                        assert ratio[-1] - ratio[0] >= (delta - xi) * passed - 1e-9
    assert found > 100


def test_second_gap_mass_that_does_not_vanish_may_be_too_little() -> None:
    """Mass 1 at the powers of 2 and t^-2 elsewhere does not tend to 0, and weights of 1 except
    there sum to infinity; their product sums to less than 3. More than that must be shown.
    """
    mass, weight = [], []
    for t in range(1, 5000):
        power = math.log2(t).is_integer()
        mass.append(1.0 if power else t**-2.0)
        weight.append(2.0**-t if power else 1.0)
    assert max(mass[4000:]) == 1.0
    assert sum(weight) > 4900
    assert math.fsum(m * w for m, w in zip(mass, weight, strict=True)) < 3


@pytest.mark.parametrize("inside", [(0,), (1, 2)])
def test_second_gap_movement(inside: tuple[int]) -> None:
    """For any set of actions: each parameter outside, and the sum of those inside, moves by at most
    R sum_t w_t pi_t(outside), R the largest advantage; all of them add up to a constant. A finite
    sum makes all of these converge.
    """
    outside = [a for a in range(3) if a not in inside]
    for seed in range(20):
        run = softmax_run(seed)
        pi = run.records["pi"]
        adv = run.records["q"] - run.records["v"][:, :, None]
        for s in range(4):
            w = 0.5 * run.records["d"][:-1, s]
            reach = abs(adv[:, s]).max()
            allowed = reach * (w * pi[:-1, s][:, outside].sum(axis=1)).sum()
            steps = w[:, None] * pi[:-1, s] * adv[:-1, s]
            moved = np.diff(np.log(pi[:, s]), axis=0)  # the same up to a shift of all three
            np.testing.assert_allclose(moved[:, 1:] - moved[:, :1], steps[:, 1:] - steps[:, :1])
            np.testing.assert_allclose(steps.sum(axis=1), 0.0, atol=1e-12)
            for a in outside:
                assert abs(steps[:, a]).sum() <= allowed + 1e-12
            assert abs(steps[:, list(inside)].sum(axis=1)).sum() <= allowed + 1e-12


def test_second_gap_bounded_parameters_keep_mass_outside() -> None:
    """The first case. Parameters in [-B, B] leave each action a probability of at least
    exp(-2 B) / |A|, so that the sum above is at least that times W, which is infinite.
    """
    rng = np.random.default_rng(0)
    for _ in range(200):
        size, k = float(rng.uniform(0.1, 4)), int(rng.integers(2, 6))
        theta = rng.uniform(-size, size, size=(50, k))
        theta[0], theta[0, 0] = size, -size
        pi = np.exp(theta) / np.exp(theta).sum(axis=1, keepdims=True)
        w = rng.exponential(size=50)
        assert (w * pi[:, 0]).sum() >= w.sum() * math.exp(-2 * size) / k


def test_second_gap_or_one_of_them_sinks() -> None:
    """The second case. Of n numbers that add up to S, one of size x leaves another at (S - x)/(n -
    1) or below, so that with x large one lies below every parameter outside, which converge; by
    the first repair a better action stays ahead of it for ever.
    """
    rng = np.random.default_rng(1)
    for _ in range(200):
        n, outside, total = int(rng.integers(2, 6)), rng.normal(size=3), float(rng.normal())
        large = total - (n - 1) * outside.min() + rng.exponential()
        rest = rng.normal(size=n - 1) * 10.0 ** rng.uniform(-1, 2)
        inside = np.append(large, rest - rest.mean() + (total - large) / (n - 1))
        assert inside.sum() == pytest.approx(total, abs=1e-9)
        assert inside.min() <= (total - large) / (n - 1) + 1e-9
        assert inside.min() < outside.min()

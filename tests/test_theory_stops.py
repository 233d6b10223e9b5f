"""On-policy runs of the direct parametrization that have stopped, or are certain to arrive, ties or
not. What is expected is worked out here by dense inverses, bisection and paths.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jekyllhyde import theory
from jekyllhyde.mdp.chain import chain
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.planning.plan import plan
from jekyllhyde.planning.plan_run import PlanRun
from jekyllhyde.theory.weights import is_near, is_settled
from mdps import dense_model, naive
from theory_by_hand import Floats, named, optimum, projected, stays_put


def with_ties(seed: int) -> FiniteMDP:
    """Sparse transitions from state 0; one state has actions that are all alike, another two alike
    and one of its own.
    """
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(3, 7)), 3
    P, r = np.zeros((n, k, n)), rng.random((n, k))
    for s in range(n):
        for a in range(k):
            P[s, a, rng.choice(n, size=2, replace=False)] = rng.dirichlet(np.ones(2))
    all_alike, two_alike = rng.choice(n, size=2, replace=False)
    P[all_alike], r[all_alike] = P[all_alike, 0], r[all_alike, 0]
    P[two_alike, 1], r[two_alike, 1] = P[two_alike, 0], r[two_alike, 0]
    return FiniteMDP(P, r, gamma=float(rng.choice([0.3, 0.9])))


def met(mdp: FiniteMDP, actions: np.ndarray) -> np.ndarray:
    """The states on paths from p0 along these actions [S, A]."""
    P, seen = dense_model(mdp)[0], mdp.p0 > 0
    for _ in range(mdp.n_states):
        for s in np.flatnonzero(seen):
            for a in np.flatnonzero(actions[s]):
                seen = seen | (P[s, a] > 0)
    return seen


def go_on(run: PlanRun, eta: float, updates: int) -> tuple[Floats, Floats]:
    """The policy after more on-policy updates, and the weights spent in them, by hand."""
    pi, spent = run.pi.copy(), np.zeros(run.mdp.n_states)
    for _ in range(updates):
        _, q, d = naive(run.mdp, pi)
        w = eta * d / d.sum()
        spent += w
        pi = np.array([projected(row) for row in pi + w[:, None] * q])
    return pi, spent


@pytest.mark.parametrize("n", [5, 6])
@pytest.mark.parametrize("updates", [100, 1000])
def test_the_tie_of_the_published_chain_does_not_hide_the_optimum(n: int, updates: int) -> None:
    """On the way and after arrival: the last state, where both actions pay 1, never moves."""
    run = plan(
        chain(n), parametrization="direct", density="pg", updates=updates, record=theory.RECORD
    )
    np.testing.assert_allclose(run.pi[n - 2], [0.5, 0.5])
    assert is_settled(run) == (updates == 1000) == stays_put(run)
    found = theory.limit(run)
    assert (found.kind, found.J_optimal, int(found.short_of.sum())) == ("optimal", True, 0)
    checks = named(run)
    assert [checks[c].verdict for c in ("C4", "C4-s", "C5", "C7")] == ["holds"] * 4
    v_star = optimum(run.mdp)[0]
    assert abs(naive(run.mdp, run.pi)[0] - v_star).max() < (1e-9 if updates == 1000 else 0.1)


def test_stuck_before_the_optimum() -> None:
    """The chain of 8 leaves at once, for ever; after three updates nothing is certain yet."""
    early = theory.weight_growth(plan(chain(8), parametrization="direct", density="pg", updates=3))
    assert early.diverges.tolist() == [1, 0, 0, 0, 0, 0, 0, 0]
    run = plan(chain(8), parametrization="direct", density="pg", updates=2000)
    assert is_settled(run)
    assert not is_near(run)
    assert stays_put(run)
    assert theory.limit(run).kind == "short"


def test_stopped_or_near() -> None:
    """150 random MDPs with ties."""
    counts = {"stopped": 0, "mixed": 0, "optimal": 0, "short": 0, "near": 0, "open": 0}
    for seed in range(150):
        mdp = with_ties(seed)
        updates = int(np.random.default_rng(seed).integers(3, 300))
        run = plan(mdp, parametrization="direct", density="pg", eta=3.0, updates=updates)
        v_star, q_star = optimum(mdp)
        best = q_star > v_star[:, None] - 1e-8
        growth, limit = theory.weight_growth(run), theory.limit(run)
        if is_settled(run):
            counts["stopped"] += 1
            visited = met(mdp, run.pi > 0)
            counts["mixed"] += bool(((run.pi > 0).sum(axis=1) > 1)[visited].any())
            assert stays_put(run), seed
            assert growth.diverges.tolist() == np.where(visited, 1, -1).tolist(), seed
            short = v_star - naive(mdp, run.pi)[0] > 1e-8
            assert limit.short_of.tolist() == short.tolist(), seed
            assert limit.kind == ("short" if short.any() else "optimal"), seed
            counts[limit.kind] += 1
        elif is_near(run):
            counts["near"] += 1
            assert limit.J_optimal, seed
            where = met(mdp, best)
            assert growth.diverges.tolist() == np.where(where, 1, -1).tolist(), seed
            if counts["near"] <= 6:
                pi, _ = go_on(run, 1e3, 150)
                assert abs(mdp.p0 @ (v_star - naive(mdp, pi)[0])) < 1e-8, seed
                spent = go_on(run, 1e3, 160)[1] - go_on(run, 1e3, 150)[1]
                assert ((spent > 1e-6) == where).all(), seed
        else:
            counts["open"] += 1
    assert all(count >= 5 for count in counts.values()), counts


def test_a_tie_is_one_of_rounding_only() -> None:
    """Rewards that differ by 1e-11 are neither equal nor clearly apart: not called stopped."""
    P = np.zeros((2, 2, 2))
    P[0, :, 1] = 1.0
    for r2, stopped in ((1.0, True), (1.0 - 1e-11, False), (0.5, False)):
        mdp = FiniteMDP(P, [[1.0, r2], [0.0, 0.0]], gamma=0.5, terminal=[1])
        run = plan(mdp, parametrization="direct", density="pg", eta=1e-3, updates=3)
        assert is_settled(run) == stopped


def test_c7_of_a_direct_run_needs_every_time() -> None:
    """A density may have been 0 at a time that was not recorded."""
    times: list[tuple[Any, int]] = [("all", 1), ([0, 600], 0)]
    for record_at, certain in times:
        run = plan(
            chain(5),
            parametrization="direct",
            density="pg",
            updates=600,
            record=["d"],
            record_at=record_at,
        )
        assert theory.density_range(run).certain == certain

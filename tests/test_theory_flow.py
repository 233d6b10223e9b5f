"""Softmax keeps every action alive: what passes through each, and what that makes certain."""

from __future__ import annotations

import math

import numpy as np
import pytest

from jekyllhyde import theory
from jekyllhyde.mdp.chain import chain
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.planning.plan import plan
from mdps import dense_model
from theory_by_hand import bandits, stays_put


def test_flow_by_hand() -> None:
    """sum_t w_t pi_t(a|s) is at least a logarithm of W(s), and so are the weights one step on."""
    for seed in range(120):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(1, 5)), int(rng.integers(2, 5))
        mdp = FiniteMDP(rng.dirichlet(np.full(n, 0.4), size=(n, k)), rng.random((n, k)), gamma=0.8)
        run = plan(
            mdp,
            density=str(rng.choice(["pg", "uniform"])),
            eta=10 ** float(rng.uniform(-2, 1)),
            updates=300,
            pi0=rng.dirichlet(np.ones(k), size=n),
            record=theory.RECORD,
        )
        flow, pi, d = theory.flow(run), run.records["pi"], run.records["d"]
        eta = run.eta(1)
        P = dense_model(mdp)[0]
        for s in range(n):
            w = [eta * d[t, s] for t in range(300)]
            tops = max(w)
            M = max(
                float((run.records["v"][t, s] - run.records["q"][t, s]).max()) for t in range(301)
            )
            K = (math.exp(tops * M) - 1) / tops if tops else 0.0
            means = [math.prod(pi[t, s]) ** (1 / k) for t in range(301)]
            c = max(means[0] / p for p in pi[0, s])
            tau = math.fsum(w[t] * means[t] for t in range(300))
            W = math.fsum(w)
            assert K * W <= ((c + K * tau) ** k - c**k) * (1 + 1e-9)
            assert flow.clock[s] == pytest.approx(tau)
            for a in range(k):
                # y = G / pi is multiplied by exp(-w pi adv), and never exceeds c + K tau
                y = means[-1] / pi[-1, s, a]
                logs = math.fsum(
                    w[t] * pi[t, s, a] * (run.records["q"][t, s, a] - run.records["v"][t, s])
                    for t in range(300)
                )
                assert y == pytest.approx(means[0] / pi[0, s, a] * math.exp(-logs), rel=1e-6)
                assert y <= (c + K * tau) * (1 + 1e-9)
                passed = math.fsum(w[t] * pi[t, s, a] for t in range(300))
                assert flow.passed[s, a] == pytest.approx(passed)
                assert passed >= flow.bound[s] * (1 - 1e-9)
                if W > 0:
                    assert flow.bound[s] == pytest.approx(math.log1p(K * W / c**k) / (k * K))
        if run.settings["density"] == "pg":
            ahead = 0.8 * (P * flow.bound[:, None, None]).max(axis=(0, 1))
            assert (run.weights >= ahead * (1 - 1e-9)).all()


def test_policy_gradient_is_not_stuck_on_a_short_chain() -> None:
    """On-policy softmax updates leave the low-hanging fruit, late; the direct ones never do."""
    soft = plan(chain(7), density="pg", eta=10.0, updates=4000)
    assert soft.J_norm[100] < 0.0
    assert soft.J_norm[-1] > 0.95
    assert theory.limit(soft).kind == "optimal"
    hard = plan(chain(8), parametrization="direct", density="pg", eta=1.0, updates=4000)
    assert theory.limit(hard).kind == "short"
    assert theory.limit(hard).short_of.sum() == 6
    assert stays_put(hard)


def test_actions_that_cannot_be_taken_are_not_counted_on() -> None:
    """Softmax never takes up an action of probability 0: what lies behind it is out of reach."""
    start = np.array([[1.0, 0.0], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]])
    run = plan(chain(4), density="pg", pi0=start, updates=5)
    assert theory.weight_growth(run).diverges[:3].tolist() == [1, -1, -1]
    assert theory.limit(run).kind != "optimal"


@pytest.mark.parametrize("ends", [True, False])
def test_undiscounted_weights_need_episodes_that_end(ends: bool) -> None:
    P = np.zeros((2, 2, 2))
    P[0, 0, 1] = 1.0
    P[0, 1] = [0.0, 1.0] if ends else [1.0, 0.0]
    mdp = FiniteMDP(P, [[1.0, 0.5], [0.0, 0.0]], gamma=0.9, terminal=[1])
    growth = theory.weight_growth(plan(mdp, density="undiscounted", updates=4))
    assert growth.diverges[0] == (1 if ends else 0)


def test_the_return_needs_the_states_that_can_be_reached() -> None:
    """What p0 does not lead to may stay wrong, and does not matter to the return."""
    run = plan(bandits(2), density="pg", eta=5.0, updates=2000)
    found = theory.limit(run)
    assert (found.kind, found.J_optimal, found.short_of.tolist()) == ("short", True, [0, 1, 0])
    assert run.J[-1] > 0.999
    stuck = plan(chain(8), parametrization="direct", density="pg", updates=4000)
    assert not theory.limit(stuck).J_optimal
    assert theory.limit(plan(chain(5), density="pg", updates=5)).J_optimal

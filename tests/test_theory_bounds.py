"""Theorem 4, Theorem 7, the projection lemma and the counterexample against hand-made cases, and
known failures of the printed text.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from jekyllhyde import theory
from jekyllhyde.errors import InputError
from jekyllhyde.mdp.chain import chain
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.planning.plan import plan
from jekyllhyde.planning.plan_run import PlanRun
from theory_by_hand import LOG_TIMES, dense, named


def brute_force_bound(run: PlanRun, t: int, t0: int, states: list[int]) -> float:
    """8 |A| (v_top - v_bot) / ((1 - gamma) min delta W) over `states`, with plain loops."""
    mdp, optimum = run.mdp, run.mdp.optimal()
    losses = []
    for s in states:
        ordered = np.sort(optimum.q[s])
        W = sum(run.eta(k + 1) * run.records["d"][k, s] for k in range(t0, t))
        losses.append((ordered[-1] - ordered[-2]) * W)
    spread = max(optimum.v) - min(run.records["q"][t0].ravel())
    return float(8 * mdp.n_actions * spread / ((1 - mdp.gamma) * min(losses)))


def test_theorem_4_bound_against_brute_force() -> None:
    """Three states in a row under the optimal policy, 2 -> 1 -> 0 -> 0; started in 1, so 2 is
    outside the support.
    """
    P = np.zeros((3, 2, 3))
    P[0, :, 0] = P[1, 0, 0] = P[1, 1, 1] = P[2, 0, 1] = P[2, 1, 2] = 1.0
    mdp = FiniteMDP(
        P, np.array([[1.0, 0.7], [0.3, 0.2], [0.1, 0.0]]), p0=[0.0, 1.0, 0.0], gamma=0.6
    )
    assert mdp.optimal().actions.tolist() == [0, 0, 0]
    run = plan(mdp, density="mixture", o=0.3, eta=3.0, updates=400, record=theory.RECORD)
    rate = theory.softmax_rate(run)
    q_ok = [
        (abs(mdp.optimal().q - q).max(1) <= mdp.optimal().gap / 2).all() for q in run.records["q"]
    ]
    v_ok = [(mdp.optimal().v - v <= mdp.optimal().gap / 2).all() for v in run.records["v"]]
    assert rate.t0 == [a and b for a, b in zip(q_ok, v_ok, strict=True)].index(True)
    assert rate.t0_q == q_ok.index(True)
    assert rate.support.tolist() == [True, True, False]
    for t in (rate.t0 + 1, 200, 400):
        i = rate.t.tolist().index(t)
        for s, reached in enumerate([[0], [0, 1], [0, 1, 2]]):
            assert rate.bound[i, s] == pytest.approx(brute_force_bound(run, t, rate.t0, reached))
        assert rate.printed[i] == pytest.approx(brute_force_bound(run, t, rate.t0, [0, 1]))
    theta = np.log(run.records["pi"])
    lead = theta[:, :, 0] - theta[:, :, 1]
    W = run.records["weights"][-1] - run.records["weights"][rate.t0]
    np.testing.assert_allclose(
        rate.policy_bound[-1], 1 / (np.exp(lead[rate.t0]) + mdp.optimal().gap * W / 8)
    )
    np.testing.assert_allclose(rate.linear[-1] * (400 - rate.t0), rate.linear[0], rtol=1e-9)
    assert (rate.linear >= rate.bound * (1 - 1e-9)).all()


def test_finding_theorem_4_as_printed_fails_outside_the_support() -> None:
    """Plain policy gradient, every state reachable: s_0 ends with 1 or leads to s_1, which pays 1
    or 0. The optimal policy never sees s_1, whose gap falls as 1/log t, not as 1/t.
    """
    P = np.zeros((3, 2, 3))
    P[0, 0, 2] = P[0, 1, 1] = 1.0
    P[1, :, 2] = 1.0
    mdp = FiniteMDP(P, [[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]], gamma=0.5, terminal=[2])
    run = plan(
        mdp,
        density="pg",
        convention="paper",
        updates=100_000,
        record=theory.RECORD,
        record_at=LOG_TIMES,
    )
    checks = named(run)
    assert [checks[name].verdict for name in ("C4", "C5", "A8", "Theorem 1")] == ["holds"] * 4
    assert [checks[name].basis for name in ("C4", "C5")] == ["certified"] * 2
    rate = theory.softmax_rate(run)
    on, outside, _ = rate.excess_printed
    assert on < 0.1
    assert outside > 200
    excess = rate.gap[:, 1] / rate.printed
    assert (np.diff(excess[rate.t > 100]) > 0).all()  # grows with t: no later t_0 would mend it
    assert rate.excess(rate.bound) < 0.1
    assert checks["Theorem 4, as printed"].verdict == "open"  # there might be a later t_0
    assert checks["Theorem 4, as printed"].numbers["states"] == 1
    assert checks["Theorem 4"].verdict == "holds"


def test_finding_the_other_reading_of_theorem_4_fails_on_the_support() -> None:
    """With the sum outside the minimum, a state's own weight would count; but its gap is mostly
    that of its successor.
    """
    P = np.zeros((3, 2, 3))
    P[0, 0, 1] = P[0, 1, 2] = P[1, 0, 2] = P[1, 1, 2] = 1.0
    mdp = FiniteMDP(P, [[0.5, 0.0], [1.0, 0.0], [0.0, 0.0]], gamma=0.5, terminal=[2])
    times = LOG_TIMES[LOG_TIMES <= 20_000]
    run = plan(
        mdp,
        density=np.array([1.0, 1e-5, 0.0]),
        eta=1.0,
        updates=20_000,
        record=theory.RECORD,
        record_at=times,
    )
    rate = theory.softmax_rate(run)
    assert rate.support.tolist() == [True, True, False]
    own = (
        8 * 2 * 1.0 / (0.5 * 1.0 * (rate.t - rate.t0))
    )  # |A| = 2, v_top - v_bot = delta = 1, eta d = 1
    assert rate.gap[-1, 0] > 100 * own[-1]
    assert rate.excess(rate.bound) <= 1


def test_finding_t0_needs_v_as_well_as_q() -> None:
    """On a bandit q_t = q_star at once, but the bound counted from there fails as long as the start
    is unlucky.
    """
    pi0 = [[1e-4, 1 - 1e-4], [0.5, 0.5]]
    run = plan(
        theory.one_state(0.0, gamma=0.0),
        density=np.array([1.0, 0.0]),
        updates=6000,
        pi0=pi0,
        record=theory.RECORD,
    )
    rate = theory.softmax_rate(run)
    assert rate.t0_q == 0
    assert rate.t0 > 4000
    gap = 1.0 - run.records["v"][1:, 0]
    assert (gap / (16.0 / run.records["weights"][1:, 0])).max() > 100
    assert rate.excess(rate.bound) <= 1


def test_finding_x_t_overtakes_theta_but_the_rate_survives() -> None:
    """Steps that grow take X_t out of the range that the proof needs: X_2 > D_2. The conclusion
    holds all the same.
    """
    steps = [8.0, 8e4]
    run = plan(
        theory.one_state(0.0),
        density=np.array([1.0, 0.0]),
        eta=lambda t: steps[t - 1],
        updates=2,
        record=[*theory.RECORD, "theta"],
    )
    lead = run.records["theta"][:, 0, 0] - run.records["theta"][:, 0, 1]
    x = [0.0]
    for step in steps:
        x.append(x[-1] + step / 8 * math.exp(-x[-1]))
    assert (x[1], lead[1]) == pytest.approx((1.0, 4.0))
    assert (x[2], lead[2]) == pytest.approx((3679.79, 2830.03), abs=0.01)
    rate = theory.softmax_rate(run)
    assert rate.t0 == 0
    assert rate.excess(rate.policy_bound, rate.policy_gap) <= 1
    assert math.exp(min(lead[2], 700)) >= 1.0 + sum(steps) / 8


def test_theorem_4_accepts_states_where_every_action_is_optimal() -> None:
    run = plan(chain(6), density="uniform", eta=10.0, updates=2000, record=theory.RECORD)
    rate = theory.softmax_rate(run)
    assert (rate.bound[:, 4] == 0).all()
    assert (rate.bound[:, :4] > 0).all()
    assert 0 < rate.excess(rate.bound) <= 1


def test_theorem_4_refuses_what_it_is_not_about() -> None:
    with pytest.raises(InputError, match="has not reached t_0"):
        theory.softmax_rate(
            plan(chain(8), density="pg", eta=10.0, updates=50, record=theory.RECORD)
        )
    with pytest.raises(InputError, match="lam = 0"):
        theory.softmax_rate(plan(chain(8), lam=0.1, updates=1, record=theory.RECORD))
    with pytest.raises(InputError, match="'q' was not recorded"):
        theory.softmax_rate(plan(chain(8), updates=1, record=["v"]))


def test_bound_for_every_t_against_an_independent_computation() -> None:
    mdp = dense(3, gamma=0.3)
    step = 0.7**3 / 8 / 0.25 / 4
    assert theory.nonasymptotic_step(mdp, 0.25) == pytest.approx(step)
    run = plan(mdp, density="uniform", eta=step, updates=500, record=theory.RECORD)
    found = theory.nonasymptotic(run)
    actions = mdp.optimal().actions
    P = mdp.P.toarray().reshape(4, 3, 4)[np.arange(4), actions]
    d_star = np.linalg.inv(np.eye(4) - 0.3 * P).T @ np.full(4, 0.25)
    C = max(1 / run.records["pi"][t, s, actions[s]] ** 2 for t in range(501) for s in range(4))
    stated = 16 * 4 * C / (0.7**7 * np.arange(1, 501)) * (4 * d_star.max()) ** 2 * 16
    np.testing.assert_allclose(found.printed, stated)
    np.testing.assert_allclose(found.derived, stated * 0.7**3)
    assert found.t0 == pytest.approx(2 * stated[0] / mdp.optimal().gap.min())
    assert found.t0_derived < found.t0
    assert (found.gap > 0).all()
    assert (found.gap <= found.derived).all()
    half = theory.nonasymptotic(
        plan(mdp, density="uniform", eta=step / 2, updates=500, record=theory.RECORD)
    )
    assert half.printed[0] == pytest.approx(2 * stated[0] * half.C / found.C)


@pytest.mark.parametrize(
    ("mdp", "settings", "message"),
    [
        (chain(4, convention="paper"), {"eta": 1e-9}, "needs A2"),
        (dense(0), {"eta": 1.0}, "constant of at most"),
        (dense(0), {"eta": "1e-9/t"}, "constant of at most"),
        (dense(0), {"parametrization": "direct"}, "softmax parametrization"),
        (FiniteMDP(np.ones((1, 2, 1)), [[1.0, 1.0]], gamma=0.5), {"eta": 1e-9}, "needs A8"),
        (
            FiniteMDP(np.ones((1, 2, 1)), [[2.0, 1.0]], gamma=0.5),
            {"eta": 1e-9},
            r"rewards in \[0, 1\]",
        ),
    ],
)
def test_bound_for_every_t_refuses_what_it_is_not_about(
    mdp: FiniteMDP, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        theory.nonasymptotic(
            plan(mdp, density="uniform", updates=2, record=theory.RECORD, **settings)
        )


def test_projection_lemma_by_hand() -> None:
    tight = theory.projection_lemma([0.5, 0.5], [0.4, 0.0], 1)
    assert (tight.before, tight.after, tight.bound) == pytest.approx((0.5, 0.7, 0.7))
    full = theory.projection_lemma([0.2, 0.3, 0.5], [5.0, 0.0, 1.0], 1)
    assert (full.after, full.bound) == pytest.approx((1.0, 1.0))
    slack = theory.projection_lemma([0.25] * 4, [0.2, 0.2, 0.0, 0.0], 2)
    assert (slack.after, slack.bound) == pytest.approx((0.7, 0.6))


@pytest.mark.parametrize(
    ("x", "y", "k", "message"),
    [
        ([0.5, 0.5], [1.0, 0.0], 2, "do not fit"),
        ([0.5, 0.5], [1.0], 1, "do not fit"),
        ([0.9, 0.5], [1.0, 0.0], 1, "must be a distribution"),
        ([0.5, 0.5], [0.0, 1.0], 1, "must exceed"),
    ],
)
def test_projection_lemma_refuses_bad_input(
    x: list[float], y: list[float], k: int, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        theory.projection_lemma(x, y, k)


def test_counterexample_direct_stops_half_way() -> None:
    m = math.pi**2 / 6
    found = theory.counterexample("direct", start=0.3)
    assert (found.m, found.r2) == pytest.approx((m, 1 - 0.7 / m))
    assert found.proved == pytest.approx(0.7**2 / (2 * m))
    assert found.gap[-1] == pytest.approx(found.proved, rel=1e-3)
    assert (found.gap >= found.proved).all()
    assert theory.weight_growth(found.run).diverges.tolist() == [-1, -1]


def test_c4_is_not_necessary_on_each_mdp() -> None:
    """With a wide enough gap the direct parametrization becomes optimal, although the weights are
    summable.
    """
    found = theory.counterexample("direct", r2=0.0)
    assert found.proved == 0.0
    assert found.gap[-1] == pytest.approx(0.0, abs=1e-12)


def test_finding_the_printed_softmax_lower_bound_is_above_the_gap() -> None:
    found = theory.counterexample("softmax", eta="0.5/t^2", r2=0.5)
    assert found.printed == pytest.approx(0.5 * math.exp(-(math.pi**2) / 24))
    assert found.printed > found.gap.max()  # 0.331 against a gap of 0.25 before the first update
    assert (found.gap >= found.proved).all()
    assert found.gap[-1] < found.proved * 1.001
    generous = theory.counterexample("softmax", eta="6/t^2", r2=0.5)
    assert generous.printed < generous.gap.min()


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"eta": "1/t"}, "summable"), ({"start": 1.0}, "start is 1"), ({"r2": 1.0}, "r2 is 1")],
)
def test_counterexample_refuses_bad_input(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        theory.counterexample("softmax", **settings)

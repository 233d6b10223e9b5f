"""Conditions, theorems and bounds against hand-made cases, independent computations, and known
failures of the printed text.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from jekyllhyde import theory
from jekyllhyde.errors import InputError
from jekyllhyde.mdp.chain import chain
from jekyllhyde.mdp.evaluation import Evaluation
from jekyllhyde.mdp.finite import FiniteMDP, Floats
from jekyllhyde.planning.plan import plan
from jekyllhyde.planning.plan_run import PlanRun

LOG_TIMES = np.unique(np.geomspace(1, 100_000, 120).astype(int))


def bandits(n: int, gamma: float = 0.5) -> FiniteMDP:
    """n separate one-state problems with rewards 1 and 0; only the first is ever started in."""
    P = np.zeros((n + 1, 2, n + 1))
    P[:n, :, n] = 1.0
    r = np.zeros((n + 1, 2))
    r[:n, 0] = 1.0
    return FiniteMDP(P, r, gamma=gamma, terminal=[n])


def dense(seed: int, n_states: int = 4, n_actions: int = 3, gamma: float = 0.5) -> FiniteMDP:
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(n_states, 0.5), size=(n_states, n_actions))
    return FiniteMDP(
        P, rng.random((n_states, n_actions)), p0=np.full(n_states, 1 / n_states), gamma=gamma
    )


def named(run: PlanRun) -> dict[str, theory.Check]:
    return {c.name: c for c in theory.check(run)}


def test_c3_learning_rates() -> None:
    assert theory.learning_rate("softmax", 0.9, 7) == pytest.approx(0.000125)
    assert theory.learning_rate("direct", 0.9, 4) == pytest.approx(0.001 / 7.2)
    assert theory.learning_rate("direct", 0.0, 4) == math.inf
    with pytest.raises(InputError, match="parametrization is 'escort'"):
        theory.learning_rate("escort", 0.9, 4)


def test_a2_looks_at_states_that_decide() -> None:
    assert theory.least_start(chain(5)) == 0.0
    P = np.zeros((2, 2, 2))
    P[0, :, 1] = 1.0
    assert theory.least_start(FiniteMDP(P, np.zeros((2, 2)), terminal=[1])) == 1.0


def test_a8_fails_harmlessly_on_the_published_chain_only() -> None:
    published, paper = (theory.uniqueness(chain(6, convention=c)) for c in ("published", "paper"))
    assert (published.unique, published.enough) == (False, True)
    assert published.counts.tolist() == [1, 1, 1, 1, 2]
    assert paper.unique
    P = np.zeros((2, 3, 2))
    P[0, :, 1] = 1.0
    tie = FiniteMDP(P, np.array([[1.0, 1.0, 0.0], [0, 0, 0]]), terminal=[1])
    assert not theory.uniqueness(tie).enough
    with pytest.raises(InputError, match="A8"):
        theory.softmax_rate(plan(tie, density="uniform", updates=5, record=theory.RECORD))


S4 = [1, 1, 1, 1, 0]
START = [1, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("settings", "diverges", "linear"),
    [
        ({"density": "uniform"}, [1, 1, 1, 1, -1], [1, 1, 1, 1, -1]),
        ({"density": "uniform", "eta": "1/t"}, [1, 1, 1, 1, -1], [-1] * 5),
        ({"density": "uniform", "eta": "1/t^1.01"}, [-1] * 5, [-1] * 5),
        ({"density": "mixture", "o": 0.5}, S4, S4),
        ({"density": "mixture", "o": "10/t"}, S4, S4),
        ({"density": "mixture", "o": "10/t^2"}, S4, S4),
        ({"density": "mixture", "o": "1/sqrt(t)", "eta": "1/sqrt(t)"}, S4, [-1] * 5),
        ({"density": "mixture", "o": "1/t", "eta": "1/sqrt(t)"}, S4, [-1] * 5),
        ({"density": "pg"}, S4, S4),
        ({"density": "pg", "parametrization": "direct"}, START, START),
        ({"density": "pg", "lam": 0.1}, START, START),
        ({"density": "undiscounted"}, S4, S4),
        ({"density": np.array([1.0, 0.0, 2.0, 1e-9, 0.0])}, [1, -1, 1, 1, -1], [1, -1, 1, 1, -1]),
        ({"density": "uniform", "eta": lambda t: 1.0}, [0, 0, 0, 0, -1], [0, 0, 0, 0, -1]),
        ({"density": lambda t, mdp, pi, evaluation: np.ones(5)}, [0] * 5, [0] * 5),
    ],
)
def test_c4_certificates(settings: dict[str, Any], diverges: list[int], linear: list[int]) -> None:
    growth = theory.weight_growth(plan(chain(5), updates=3, **settings))
    assert growth.diverges.tolist() == diverges
    assert growth.linear.tolist() == linear


def test_unreachable_states_fail_c4_on_policy() -> None:
    growth = theory.weight_growth(plan(bandits(2), density="pg", updates=3))
    assert growth.diverges.tolist() == [1, -1, 0]
    assert growth.optimal_support.tolist() == [True, False, False]
    assert (
        named(plan(bandits(2), density="pg", updates=3, record=theory.RECORD))["C4"].verdict
        == "fails"
    )


def test_with_gamma_0_successors_do_not_count() -> None:
    mdp = FiniteMDP(np.tile([0.0, 1.0], (2, 2, 1)), [[1.0, 0.0], [1.0, 0.0]], gamma=0.0)
    growth = theory.weight_growth(plan(mdp, density="pg", updates=3))
    assert growth.diverges.tolist() == [1, -1]
    assert growth.optimal_support.tolist() == [True, False]


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 2.0])
def test_measured_exponent_is_that_of_the_weights(alpha: float) -> None:
    def density(t: int, mdp: FiniteMDP, pi: Floats, evaluation: Evaluation) -> Floats:
        return np.full(3, (t + 1.0) ** -alpha)

    run = plan(
        bandits(2), density=density, updates=2000, record=theory.RECORD, record_at=[500, 1000]
    )
    growth = theory.weight_growth(run)
    np.testing.assert_allclose(growth.exponent[:2], 1.0 - alpha, atol=0.01)
    np.testing.assert_allclose(growth.average * 2000, run.weights)
    checks = named(run)
    assert (checks["C4"].verdict, checks["C4"].basis) == ("open", "measured")
    assert f"grew as t^{growth.exponent[0]:.2f}" in checks["C4"].sentence


def test_without_records_the_exponent_is_unknown() -> None:
    run = plan(chain(5), density="pg", lam=0.1, updates=8)
    assert np.isnan(theory.weight_growth(run).exponent).all()
    assert named(run)["C4"].verdict == "open"


def test_weights_that_stop_growing() -> None:
    run = plan(
        chain(8),
        parametrization="direct",
        density="pg",
        eta=1.0,
        updates=4000,
        record=theory.RECORD,
    )
    check = named(run)["C4"]
    assert (check.verdict, check.basis) == ("fails", "certified")
    assert check.numbers["least_exponent"] == -math.inf


def test_c7_certified_bounds_contain_the_recorded_density() -> None:
    run = plan(chain(6), density="mixture", o=0.3, updates=50, record=["d"])
    found, d = theory.density_range(run), run.records["d"][:, :-1]
    assert (found.certain, found.outer) == (1, True)
    assert found.d_bot <= d.min() <= d.max() <= found.d_top
    assert found.d_bot == pytest.approx(0.06)
    exact = theory.density_range(
        plan(chain(6), density=np.array([1.0, 2.0, 3.0, 4.0, 5.0, 0.0]), updates=1)
    )
    assert (exact.d_bot, exact.d_top) == (1.0, 5.0)


def test_c7_measured_sees_a_density_that_vanishes() -> None:
    run = plan(bandits(2), density="mixture", o="1/t", updates=1000, record=theory.RECORD)
    found = theory.density_range(run)
    assert found.d_bot == pytest.approx(0.5 / 1001)
    assert found.trend == pytest.approx(-1.0, abs=0.01)
    assert (named(run)["C7"].verdict, named(run)["C7"].basis) == ("fails", "certified")
    limits = plan(chain(6), density="mixture", o="1/t", updates=50, record=theory.RECORD)
    assert theory.density_range(limits).certain == 1  # d_t tends to that of the optimal policy
    assert not theory.density_range(limits).outer


def test_theorem_1_sees_a_decrease() -> None:
    run = plan(chain(6), density="uniform", eta=5.0, updates=50, record=theory.RECORD)
    assert theory.monotonicity(run).holds
    v = run.records["v"].copy()
    v[30, 2] -= 0.01
    broken = theory.monotonicity(replace(run, records={**run.records, "v": v}))
    assert not broken.holds
    assert broken.t == 29
    assert broken.decrease_v == pytest.approx(0.01, abs=0.005)
    with pytest.raises(InputError, match="two or more"):
        theory.monotonicity(plan(chain(6), updates=3, record=["v", "q"], record_at=[0]))


def test_theorem_1_is_not_claimed_with_entropy_and_fails_there() -> None:
    pi0 = np.tile([0.01, 0.99], (6, 1))
    run = plan(
        chain(6), density="uniform", eta=10.0, lam=0.5, updates=50, pi0=pi0, record=theory.RECORD
    )
    assert theory.monotonicity(run).decrease_v > 0.001
    assert named(run)["Theorem 1"].verdict == "n/a"


def test_theorem_3_hitting_time() -> None:
    run = plan(
        chain(10),
        parametrization="direct",
        density="uniform",
        eta=1.0,
        updates=2000,
        record=theory.RECORD,
    )
    found = theory.hitting_time(run)
    optimum = run.mdp.optimal()
    equal = [bool(np.allclose(q, optimum.q, rtol=0, atol=1e-10)) for q in run.records["q"]]
    assert found.t == equal.index(True)
    assert all(equal[found.t :])
    assert found.t0 is not None
    assert found.ceiling is not None
    assert found.t0 < found.t <= found.ceiling
    assert found.gap[found.t - 1] > 1e-10


def test_theorem_3_says_nothing_without_updates() -> None:
    run = plan(
        chain(10),
        parametrization="direct",
        density="pg",
        eta=1.0,
        updates=100,
        record=theory.RECORD,
    )
    assert theory.hitting_time(run).t is None
    assert named(run)["Theorem 3"].verdict == "open"
    with pytest.raises(InputError, match="direct parametrization; this run used softmax"):
        theory.hitting_time(plan(chain(5), updates=1, record=theory.RECORD))


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
    """d_t(1) = 1/(2t) meets C4, and C5 holds on the support; yet the gap of state 1 falls as 1/log
    t, not as 1/t.
    """
    run = plan(
        bandits(2),
        density="mixture",
        o="1/t",
        eta=1.0,
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
    assert outside > 100
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


def test_check_reports_every_statement_once() -> None:
    mdp = dense(5)
    step = theory.nonasymptotic_step(mdp, 0.25)
    run = plan(mdp, density="uniform", eta=step, updates=20_000, record=theory.RECORD)
    checks = theory.check(run)
    verdicts = {c.name: c.verdict for c in checks}
    assert len(verdicts) == len(checks)
    assert verdicts.pop("Theorem 3") == "n/a"
    assert set(verdicts.values()) == {"holds"}
    lines = theory.table(checks).splitlines()
    assert len(lines) == len(checks) + 2
    assert lines[2].split()[:3] == ["A2", "holds", "certified"]


def test_check_says_what_to_record() -> None:
    checks = named(plan(chain(5), density="pg", updates=3))
    assert checks["Theorem 1"].verdict == "n/a"
    assert "record=['v']" in checks["Theorem 1"].sentence
    assert checks["C7"].verdict == "n/a"


def test_check_survives_runs_with_hardly_any_record() -> None:
    for parametrization in ("direct", "softmax"):
        for times, updates in (([], 5), ([5], 5), ([0], 0)):
            run = plan(
                chain(4),
                parametrization=parametrization,
                updates=updates,
                record=theory.RECORD,
                record_at=times,
            )
            assert (
                named(run)["Theorem 1"].sentence
                == f"the run has {len(times)} recorded times; monotonicity takes two or more"
            )
    assert (
        "no time"
        in named(plan(chain(4), updates=5, record=theory.RECORD, record_at=[]))["C7"].sentence
    )


def test_finding_a_large_step_freezes_softmax_although_c4_holds() -> None:
    checks = named(
        run := plan(chain(10), density="uniform", eta=1e5, updates=100, record=theory.RECORD)
    )
    assert (checks["C4"].verdict, checks["C4"].basis) == ("holds", "certified")
    assert checks["Exact arithmetic"].verdict == "fails"
    assert run.J_norm[-1] == pytest.approx(0.0, abs=1e-9)
    assert (
        named(plan(chain(10), density="uniform", eta=10.0, updates=100, record=theory.RECORD))[
            "Exact arithmetic"
        ].verdict
        == "holds"
    )

"""Conditions, Theorems 1 and 3, and the list of checks, against hand-made cases."""

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
from theory_by_hand import bandits, dense, named


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
        ({"density": "pg", "parametrization": "direct"}, S4, S4),
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

"""What claims are made of: estimates with their intervals, parts, and verdicts."""

from __future__ import annotations

import numpy as np
import pytest

from claim_worlds import make
from curve_worlds import chain_learns
from jekyllhyde.lab import claim_tests, estimates, verdicts
from jekyllhyde.lab.estimates import Estimate, Untestable, exactly
from jekyllhyde.lab.figures import PANELS
from jekyllhyde.lab.panel import judge
from time_worlds import eta_chain, eta_random, exploration, plan_sizes


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((True, True), "supported"),
        ((False, False), "contradicted"),
        ((True, False), "partly"),
        ((None,), "partly"),
        ((True, None), "partly"),
        ((False, None), "partly"),
        ((np.False_, False), "contradicted"),
        ((np.True_,), "supported"),
    ],
)
def test_parts_make_a_verdict(parts: tuple[bool | None, ...], expected: str) -> None:
    assert verdicts.verdict(*parts) == expected


def test_no_parts_are_not_testable() -> None:
    with pytest.raises(Untestable):
        verdicts.verdict()


def test_intervals_decide_only_when_they_lie_on_one_side() -> None:
    low, across, high = Estimate(1, 0.9, 1.1), Estimate(2, 1, 3), Estimate(4, 3.5, 4.5)
    assert [verdicts.below(estimate, 2) for estimate in (low, across, high)] == [True, None, False]
    assert [verdicts.above(estimate, 2) for estimate in (low, across, high)] == [False, None, True]
    assert [verdicts.within(each, 0.5, 1.5) for each in (low, across, high)] == [True, None, False]
    assert [verdicts.much_below(exactly(y)) for y in (0.4, 0.7, 1.0)] == [True, None, False]
    assert [verdicts.much_above(exactly(y)) for y in (2.5, 1.5, 1.0)] == [True, None, False]
    assert [verdicts.mostly(exactly(share)) for share in (1.0, 0.5, 0.49)] == [True, None, False]
    curves = make(PANELS["2a"], chain_learns)
    assert [
        verdicts.most(curves, flags)
        for flags in ([True, True], [True, False], [False, False, True])
    ] == [True, None, False]
    assert [verdicts.both(*parts) for parts in ((True, True), (True, None), (None, False))] == [
        True,
        None,
        False,
    ]
    unknown = Estimate(1.0, -np.inf, np.inf)
    assert verdicts.below(unknown, 5) is None
    assert verdicts.about(unknown, 1.0) is None


@pytest.mark.parametrize(
    ("estimate", "expected"),
    [
        (exactly(2500), True),
        (exactly(2100), True),
        (exactly(3000), True),
        (exactly(3500), None),
        (exactly(4500), False),
        (exactly(-2500), False),
        (Estimate(2500, 1000, 4000), None),
        (Estimate(5000, 3000, 9000), None),
    ],
)
def test_about(estimate: Estimate, expected: bool | None) -> None:
    assert verdicts.about(estimate, 2500) is expected
    mirrored = Estimate(-estimate.y, -estimate.hi, -estimate.lo)
    assert verdicts.about(mirrored, -2500) is expected


@pytest.mark.parametrize(
    ("y", "stated", "digits", "expected"),
    [
        (0.994, 0.99, 2, True),
        (0.9835, 0.99, 2, None),
        (0.97, 0.99, 2, False),
        (0.9969, 0.997, 3, True),
        (0.9955, 0.997, 3, None),
    ],
)
def test_rounding_to_a_stated_return(
    y: float, stated: float, digits: int, expected: bool | None
) -> None:
    assert verdicts.rounds_to(exactly(y), stated, digits) is expected


def test_the_nearest_place_must_be_near() -> None:
    curves = make(PANELS["16a"], exploration)
    assert curves.x[estimates.at(curves, 0.6)] == pytest.approx(0.6)
    thin = make(PANELS["16a"], exploration, x=np.linspace(0.0, 1.0, 11))
    with pytest.raises(Untestable, match=r"epsilon 0.05 is not among the points; the nearest is 0"):
        estimates.at(thin, 0.05)
    assert {claim["id"]: claim["verdict"] for claim in judge(thin)}[
        "16a-alleviates"
    ] == "not testable"
    logarithmic = make(PANELS["11a"], eta_chain)
    assert logarithmic.x[estimates.at(logarithmic, 16.0)] == pytest.approx(10**1.2)
    with pytest.raises(Untestable):
        estimates.at(make(PANELS["11a"], eta_chain, x=np.array([0.01, 1.0, 1000.0])), 20.0)


def test_one_run_refutes_every_and_few_do_not_prove_it() -> None:
    curves = make(PANELS["2a"], chain_learns, runs=5)
    assert verdicts.every(curves, [True, False]) is False
    assert verdicts.every(curves, [True, True]) is None
    assert verdicts.every(make(PANELS["2a"], chain_learns, runs=6), [True, True]) is True
    assert verdicts.every(make(PANELS["5b"], plan_sizes), [True]) is True


def test_times_in_a_curve_and_distances_to_the_optimum() -> None:
    curves = make(PANELS["2a"], chain_learns, noise=0.0)
    np.testing.assert_array_equal(estimates.crossing(curves, "jh-100t-o0.5", 0.5), 8000.0)
    np.testing.assert_array_equal(estimates.crossing(curves, "pg", 0.5), 100_000.0)
    ratio = estimates.crossing_ratio(curves, "jh-100t-o10sqrtt", "jh-100t-o0.5", 0.5)
    assert ratio.y == pytest.approx(5.5)
    gap = estimates.gap_ratio(curves, "jh-10sqrtt-o0.5", "jh-100t-o0.5")
    assert gap.y == pytest.approx(0.015 / 0.002)
    assert estimates.gain(curves, "pg-nu1", "pg").y == pytest.approx(0.97)


def test_along_the_axis_of_times() -> None:
    curves = make(PANELS["11b"], eta_random, noise=0.0)
    place = estimates.best(curves, "jh-100t-o0.5")
    assert place.y == pytest.approx(20, rel=0.27)
    assert estimates.slowdown(curves, "pg", curves.x[np.argmin(curves.y["pg"])]).y == 1.0
    assert estimates.trend(curves, "pg", high=4.0).y == pytest.approx(-1.0)
    assert estimates.trend(curves, "pg", low=6.0, high=60.0).y == pytest.approx(1.0)
    with pytest.raises(Untestable, match="nowhere"):
        estimates.best(make(PANELS["11a"], eta_chain), "pg")
    sizes_curves = make(PANELS["5b"], plan_sizes)
    assert estimates.largest(sizes_curves, "pg").y == 6.0
    assert estimates.solved(sizes_curves, "uniform").all()


def test_a_text_shows_estimates_places_and_the_panel() -> None:
    curves = make(PANELS["16a"], exploration)
    text = "{x[0.049]:g} of {first:g} to {last:g} ({points} {xlabel}, {cap}): {}"
    values = {"a": exactly(1.0), "": Estimate(2.0, 1.5, 2.5)}
    expected = "0.05 of 0 to 1 (101 epsilon, 100000): a 1, 2 [1.5, 2.5]"
    assert claim_tests.fill(text, curves, values) == expected


def test_measures_make_a_claim() -> None:
    """All parts decide, some estimates are only shown, and short runs decide nothing."""
    curves = make(PANELS["16a"], exploration, noise=0.0)
    tags = ("jh-o0.5", "jh-o10sqrtt")
    times = claim_tests.each(estimates.mean, tags, 0.05)
    first = claim_tests.compare(
        "{}", times, verdicts.about, 15_000, deciding=claim_tests.FIRST_ONLY
    )
    arrive = claim_tests.in_runs(verdicts.none, estimates.arrived, tags, 0.05)
    long, short, both = (
        claim_tests.claims(horizon, ("a", "A.", *measures))[0].test(curves)
        for horizon, measures in (
            (100_000, [first]),
            (100_001, [first]),
            (100_000, [first, arrive]),
        )
    )
    assert long == ("supported", "J&H o=0.5 1.5e+04, J&H o=10/sqrt(t) 9e+04")
    assert short[0] == "not testable"
    assert both == ("partly", long[1])

"""The laboratory's statistics, each against an independent computation, and how often the intervals
cover.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from jekyllhyde.errors import InputError
from jekyllhyde.intervals import (
    STATISTICS,
    bootstrap,
    difference,
    interquartile_mean,
    jointly,
    kaplan_meier,
    of_means,
    probability_of_improvement,
    share,
    summarize,
    weights,
)
from mdps import Floats


def gamma_samples(n: int, columns: int, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).gamma(2.0, size=(n, columns))


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("mean", lambda x: x.mean(axis=0)),
        ("median", lambda x: np.median(x, axis=0)),
        ("decile", lambda x: np.quantile(x, 0.1, axis=0)),
        ("iqm", lambda x: stats.trim_mean(x, 0.25, axis=0)),
    ],
)
def test_statistics_and_their_bootstrap_against_scipy(name: str, reference: object) -> None:
    assert callable(reference)
    samples = gamma_samples(30, 2)
    y, lo, hi = bootstrap(samples, name, draws=2000)
    np.testing.assert_allclose(y, reference(samples), rtol=1e-12)
    for column in range(2):
        found = stats.bootstrap(
            (samples[:, column],),
            lambda x, axis: np.apply_along_axis(reference, axis, x),
            method="percentile",
            n_resamples=2000,
            rng=np.random.default_rng(1),
        ).confidence_interval
        spread = found.high - found.low
        assert abs(lo[column] - found.low) < 0.12 * spread
        assert abs(hi[column] - found.high) < 0.12 * spread


def test_the_interquartile_mean_by_hand() -> None:
    assert interquartile_mean(np.array([100.0, 1.0, 2.0, 3.0, 4.0, -50.0, 5.0, 6.0])) == 3.5
    assert interquartile_mean(np.array([1.0, 2.0, 6.0])) == 3.0


def test_the_bootstrap_of_three_runs_by_brute_force() -> None:
    """All 27 resamples of three runs: their mean's quantiles are those of many draws."""
    samples = np.array([0.0, 1.0, 10.0])
    every = np.array([np.mean(chosen) for chosen in product(samples, repeat=3)])
    _, lo, hi = bootstrap(samples, draws=20_000)
    low, high = (np.quantile(every, p, method="inverted_cdf") for p in (0.025, 0.975))
    assert lo == pytest.approx(low)
    assert hi == pytest.approx(high)


def test_the_same_generator_gives_the_same_interval_and_another_one_another() -> None:
    samples = gamma_samples(20, 3)
    first, again, other = (
        bootstrap(samples, "median", rng=np.random.default_rng(seed)) for seed in (5, 5, 6)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    np.testing.assert_array_equal(
        bootstrap(samples), bootstrap(samples, rng=np.random.default_rng(0))
    )


@pytest.mark.parametrize("statistic", list(STATISTICS))
def test_one_run_has_no_interval(statistic: str) -> None:
    y, lo, hi = summarize(np.array([[1.0, 2.0]]), statistic)
    np.testing.assert_array_equal(y, [1.0, 2.0])
    np.testing.assert_array_equal(lo, hi)


def test_strata_are_kept() -> None:
    strata = np.array([0, 1, 0, 1, 1])
    counts = weights(5, 300, np.random.default_rng(3), strata)
    np.testing.assert_array_equal(counts[:, strata == 0].sum(axis=1), 2)
    np.testing.assert_array_equal(counts[:, strata == 1].sum(axis=1), 3)
    assert (counts.std(axis=0) > 0).all()
    assert (weights(5, 300, np.random.default_rng(3))[:, strata == 0].sum(axis=1) != 2).any()


def test_the_stratified_bootstrap_forgets_the_spread_between_strata() -> None:
    """Two strata far apart: their means' standard error is that within strata, computed here by
    hand.
    """
    rng = np.random.default_rng(2)
    samples = np.concatenate([rng.normal(0.0, 1.0, 40), rng.normal(100.0, 1.0, 60)])
    strata = np.repeat([0, 1], [40, 60])
    _, lo, hi = bootstrap(samples, strata=strata, draws=4000)
    error = np.sqrt(40 * samples[:40].var() + 60 * samples[40:].var()) / 100
    assert (hi - lo) / (2 * 1.96 * error) == pytest.approx(1.0, abs=0.08)
    _, plain_lo, plain_hi = bootstrap(samples)
    assert plain_hi - plain_lo > 20 * (hi - lo)
    with pytest.raises(InputError, match="strata has 3 entries"):
        bootstrap(samples, strata=[0, 1, 1])


def test_the_paired_difference_is_that_of_the_differences() -> None:
    rng = np.random.default_rng(4)
    level = rng.normal(0.0, 10.0, (50, 3))
    a, b = level + rng.normal(0.5, 0.1, (50, 3)), level
    y, lo, hi = difference(a, b)
    np.testing.assert_allclose(y, (a - b).mean(axis=0))
    t = stats.ttest_1samp(a - b, 0.0).confidence_interval()
    np.testing.assert_allclose(hi - lo, t.high - t.low, rtol=0.15)
    _, lo, hi = difference(a, b, "median")
    assert (lo < 0.5 + 0.1).all()
    assert (hi - lo < 5.0).all()  # a tenth of what independent resampling would give
    with pytest.raises(InputError, match="same runs"):
        difference(a, b[:-1])


def test_functions_of_means_agree_with_the_slow_way() -> None:
    a, b = gamma_samples(25, 4), gamma_samples(25, 4, seed=1)

    def ratio(x: Floats, y: Floats) -> Floats:
        return np.asarray(x[..., 1] / y[..., 3])

    fast = of_means(ratio, a, b)
    slow = jointly(lambda x, y: ratio(x.mean(axis=0), y.mean(axis=0)), a, b)
    np.testing.assert_allclose(fast, slow, rtol=1e-12)
    np.testing.assert_allclose(
        of_means(lambda x: x[..., 0], a[:, 0]), bootstrap(a[:, 0]), rtol=1e-12
    )


def test_the_place_of_the_best_is_found_with_an_interval() -> None:
    x = np.linspace(0.0, 1.0, 11)
    samples = (x - 0.3) ** 2 + 0.001 * np.random.default_rng(0).normal(size=(40, 11))
    assert of_means(lambda means: x[means.argmin(axis=-1)], samples) == pytest.approx(
        (0.3, 0.3, 0.3)
    )


@pytest.mark.parametrize("ties", [False, True])
def test_probability_of_improvement_is_the_u_statistic(ties: bool) -> None:
    rng = np.random.default_rng(6)
    a, b = rng.normal(0.0, 1.0, 30), rng.normal(0.4, 1.0, 45)
    if ties:
        a, b = a.round(), b.round()
    y, lo, hi = probability_of_improvement(a, b)
    assert y == pytest.approx(stats.mannwhitneyu(b, a).statistic / (30 * 45))
    assert lo < y < hi
    assert probability_of_improvement(b, a)[0] == pytest.approx(1.0 - y)


def test_probability_of_improvement_in_pairs() -> None:
    a, b = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 2.0, 4.0, 0.0])
    assert probability_of_improvement(a, b, paired=True)[0] == pytest.approx((1 + 0.5 + 1 + 0) / 4)
    _, lo, hi = probability_of_improvement(a, a + 1.0, paired=True)
    assert lo == hi == 1.0


@pytest.mark.parametrize(("k", "n"), [(0, 12), (12, 12), (3, 20), (57, 200)])
def test_shares_have_the_exact_interval(k: int, n: int) -> None:
    y, lo, hi = share(np.arange(n) < k)
    reference = stats.binomtest(k, n).proportion_ci(method="exact")
    assert (float(y), float(lo), float(hi)) == pytest.approx((k / n, reference.low, reference.high))


def test_kaplan_meier_by_hand() -> None:
    """Six runs: arrivals at 1, 3, 3 and 5, one lost at 3 (at risk there), one at 4."""
    curve = kaplan_meier([1, 3, 3, 3, 4, 5], [True, True, True, False, False, True])
    np.testing.assert_array_equal(curve.times, [1, 3, 5])
    np.testing.assert_allclose(curve.survival, [5 / 6, 5 / 6 * 3 / 5, 0.0])
    assert curve.median[0] == 3.0
    assert curve.restricted_mean(4.5)[0] == pytest.approx(1 + 2 * 5 / 6 + 1.5 * 0.5)


def test_kaplan_meier_against_scipy_with_any_censoring() -> None:
    rng = np.random.default_rng(7)
    arrival, lost = rng.exponential(10.0, 80).round(), rng.exponential(15.0, 80).round()
    times, observed = (
        np.append(np.minimum(arrival, lost), 1000.0),
        np.append(arrival <= lost, False),
    )
    curve = kaplan_meier(times, observed)
    reference = stats.ecdf(stats.CensoredData.right_censored(times, ~observed)).sf
    np.testing.assert_allclose(curve.survival, reference.evaluate(curve.times), atol=1e-12)
    interval = reference.confidence_interval(method="log-log")
    np.testing.assert_allclose(curve.lo, interval.low.evaluate(curve.times), atol=1e-9)
    np.testing.assert_allclose(curve.hi, interval.high.evaluate(curve.times), atol=1e-9)


def test_with_censoring_at_the_cap_alone_the_restricted_mean_is_the_capped_mean() -> None:
    times = np.random.default_rng(8).exponential(80.0, 200)
    capped, observed = np.minimum(times, 100.0), times < 100.0
    curve = kaplan_meier(capped, observed)
    y, lo, hi = curve.restricted_mean(100.0)
    assert y == pytest.approx(capped.mean())
    _, low, high = bootstrap(capped, draws=4000)
    assert (hi - lo) / (high - low) == pytest.approx(1.0, abs=0.1)
    assert curve.median[0] == pytest.approx(
        np.sort(capped)[99]
    )  # the hundredth arrival leaves half of them


def test_a_median_that_is_not_reached_is_infinite() -> None:
    curve = kaplan_meier([5.0, 10.0, 10.0, 10.0], [True, False, False, False])
    assert curve.median[0] == np.inf
    assert kaplan_meier([10.0, 10.0], [False, False]).restricted_mean(10.0) == (10.0, 10.0, 10.0)
    with pytest.raises(InputError, match="same length"):
        kaplan_meier([1.0, 2.0], [True])


def coverage(intervals: list[tuple[Floats, Floats, Floats]], truth: float) -> float:
    return float(np.mean([lo <= truth <= hi for _, lo, hi in intervals]))


@pytest.mark.parametrize(
    ("statistic", "truth"), [("mean", 0.5), ("median", 0.5), ("iqm", 0.5), ("decile", 0.1)]
)
def test_intervals_cover_about_as_often_as_they_say(statistic: str, truth: float) -> None:
    _, lo, hi = summarize(np.random.default_rng(9).random((60, 400)), statistic, draws=300)
    assert 0.9 <= np.mean((lo <= truth) & (truth <= hi)) <= 0.99


def test_the_stratified_interval_covers() -> None:
    rng, strata = np.random.default_rng(10), np.repeat([0.0, 5.0], 30)
    found = [
        bootstrap(rng.normal(strata, 1.0), strata=strata, draws=300, rng=rng) for _ in range(300)
    ]
    assert 0.9 <= coverage(found, 2.5) <= 0.99


def test_the_paired_interval_covers() -> None:
    rng, found = np.random.default_rng(11), []
    for _ in range(300):
        level = rng.normal(0.0, 5.0, 40)
        found.append(difference(level + rng.gamma(2.0, size=40), level, draws=300, rng=rng))
    assert 0.88 <= coverage(found, 2.0) <= 0.99


def test_the_interval_of_the_probability_of_improvement_covers() -> None:
    rng = np.random.default_rng(12)
    found = [
        probability_of_improvement(rng.normal(0, 1, 40), rng.normal(0.5, 1, 40), draws=300, rng=rng)
        for _ in range(300)
    ]
    assert 0.9 <= coverage(found, float(stats.norm.cdf(0.5 / np.sqrt(2)))) <= 0.99


def test_the_restricted_mean_and_the_median_cover_under_random_censoring() -> None:
    rng, means, medians = np.random.default_rng(13), [], []
    for _ in range(400):
        arrival, lost = rng.exponential(1.0, 80), rng.exponential(3.0, 80)
        curve = kaplan_meier(np.minimum(arrival, lost), arrival <= lost)
        means.append(tuple(np.asarray(one) for one in curve.restricted_mean(1.5)))
        medians.append(tuple(np.asarray(one) for one in curve.median))
    assert 0.91 <= np.mean([lo <= 1.0 - np.exp(-1.5) <= hi for _, lo, hi in means]) <= 0.99
    assert 0.91 <= np.mean([lo <= np.log(2.0) <= hi for _, lo, hi in medians]) <= 0.99

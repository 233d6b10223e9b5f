"""Claims that runs leave open: parts whose runs nobody has, what has not happened yet, and
intervals across the bounds; and estimates that stand for runs.
"""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from all_worlds import BETWEEN, CONTRADICTED
from claim_worlds import make
from curve_worlds import level
from jekyllhyde.lab import claims, estimates, times
from jekyllhyde.lab.figures import PANELS
from jekyllhyde.lab.judgement import judge_claim
from jekyllhyde.lab.panel import Curves
from jekyllhyde.lab.recalled import Recalled
from jekyllhyde.lab.verdicts import HIGHER, Estimate, Undecided, above, below
from test_lab_claims import CLAIMS, judged, no_other
from time_worlds import flat


def test_a_series_that_is_not_there_leaves_the_others_judged() -> None:
    """Runs of one agent decide its part, whatever those of another, that nobody has, would say."""
    world, claim = CONTRADICTED["3a-weights"], CLAIMS["3a-weights-best"][1]
    assert callable(world)

    def others(name: str) -> Curves:
        return make(replace(PANELS[name], series=("ddqn+rnd",)), world, runs=40)

    result = judge_claim(claim, others("3a-weights"), others)
    assert result.verdict == "contradicted"
    assert result.reason == "the panel has no series SAC+RND"
    assert {part.name for part in result.parts} == {"DDQN+RND"}


def test_what_has_not_happened_yet_is_open() -> None:
    slow = judged("2b-eventually", lambda label, x: 0.5 * x / x[-1])
    assert [part.holds for part in slow.parts] == [True, None, None, None]


def test_stated_decays_are_compared_without_a_run() -> None:
    claim = judge_claim(CLAIMS["3a-decay-hyde"][1], make(PANELS["3a-decay"], flat), no_other)
    assert claim.verdict == "contradicted"  # level 2: 40,000 steps are 444 episodes or more
    assert [part.holds for part in claim.parts] == [None, False]
    assert claim.parts[1].estimate.y == pytest.approx(40_000 / 90 / 100)


@pytest.mark.parametrize("id", BETWEEN)
def test_a_claim_is_undecided_where_intervals_lie_across_the_bounds(id: str) -> None:
    """With a hundred runs, none of them at a cap: they differ, to either side."""
    result = judged(id, BETWEEN[id])
    assert result.verdict == "undecided", result.measured
    deciding = [part for part in result.parts if part.stated]
    assert deciding
    assert not result.reason
    for part in deciding:
        assert part.holds is None
        assert np.isfinite([part.estimate.lo, part.estimate.hi]).all()


def without_runs(curves: Curves, known: dict[tuple[str, str], Estimate] | None = None) -> Recalled:
    whole = {each.name: getattr(curves, each.name) for each in fields(Curves)}
    return Recalled(**{**whole, "samples": {}}, known=known or {})


def test_what_is_known_of_curves_stands_for_their_runs() -> None:
    """Where it has the same words and is of the same series, here or in the other panel."""
    runs = make(PANELS["9a"], level(0.9))
    known = Estimate(0.5, 0.4, 0.6)
    curves = without_runs(runs, {("mean time to 0.95, ratio", "PG against undiscounted"): known})
    (part,) = claims.compare(
        estimates.crossing_ratio, (("pg", "undiscounted"),), below(1), panel="9a", level=0.95
    )(runs, {"9a": curves}.__getitem__)
    assert (part.estimate, part.holds) == (known, True)
    assert part.what == "mean time to 0.95, ratio in 9a"
    for place, tag in ((0.5, "pg"), (0.95, "pg-lam0.01")):
        other = claims.compare(
            estimates.crossing_ratio, ((tag, "undiscounted"),), below(1), level=place
        )
        with pytest.raises(Undecided, match="the panel has no series"):
            other(curves, no_other)


def test_a_mean_that_is_drawn_is_known_and_so_is_what_is_made_of_it() -> None:
    runs = make(PANELS["9a"], lambda label, x: 0.9 + 0.001 * len(label) + 0.0 * x, noise=1.0)
    curves = without_runs(runs)
    mean, drawn = (estimates.mean(each, "pg") for each in (runs, curves))
    assert drawn == Estimate(runs.y["pg"][-1], runs.lo["pg"][-1], runs.hi["pg"][-1])
    assert drawn.y == mean.y
    tags = ("pg", "undiscounted", "jh-100t-o0.5")
    spread, widest = (estimates.spread(each, *tags) for each in (runs, curves))
    assert widest.y == pytest.approx(spread.y)
    assert widest.lo <= spread.lo <= spread.hi <= widest.hi
    decile = replace(runs, panel=replace(runs.panel, statistic="decile"))
    for unknown in (without_runs(decile), without_runs(replace(runs, runs=0))):
        with pytest.raises(Undecided, match="panel 9a shows no mean of pg"):
            estimates.mean(unknown, "pg")


def test_known_ratios_and_chosen_series_need_no_run() -> None:
    times_of_10b, times_of_10a = (make(PANELS[name], flat) for name in ("10b", "10a"))
    what = "factor between mean times at the ends of what nearly all runs reach"
    known = Estimate(0.5, 0.4, 0.6)
    curves = without_runs(
        times_of_10b, {(f"{what}, relative to panel 10a", "J&H eps=100/t"): known}
    )
    ratio = claims.relative(times.factor, ("jh-100t",), "10a", below(1))
    assert [part.estimate for part in ratio(curves, lambda name: times_of_10a)] == [known]
    key = ("mean time, relative to the shortest elsewhere at o=1", "J&H eps=100/t")
    chosen = claims.compare(
        times.slowdown, ("jh-100t", "jh-eps0.1"), below(1), reaching=True, x=1.0
    )
    (part,) = chosen(without_runs(times_of_10b, {key: known}), no_other)
    assert (part.name, part.estimate) == ("J&H eps=100/t", known)


def test_errors_of_numbers_from_different_runs_add_up() -> None:
    first: claims.Place = ("9a", "pg", {})
    second: claims.Place = ("8a", "undiscounted", {"x": 50_000})
    test = claims.apart(estimates.mean, first, second, HIGHER, above(0.5))
    worlds = {
        name: replace(curves, samples={})
        for name, y in (("9a", 0.9), ("8a", 0.4))
        for curves in [make(PANELS[name], level(y))]
    }
    means = {"9a": Estimate(0.9, 0.6, 1.3), "8a": Estimate(0.4, 0.3, 0.8)}
    keys = {
        "9a": ("mean at the end", "PG"),
        "8a": ("mean at trajectories=50000", "undiscounted"),
    }
    panels = {name: without_runs(worlds[name], {keys[name]: means[name]}) for name in worlds}
    parts = test(panels["9a"], panels.__getitem__)
    assert [part.holds for part in parts] == [None, None]
    assert {part.name for part in parts} == {"PG against undiscounted"}
    assert parts[0].what == "mean at the end in 9a less mean at trajectories=50000 in 8a"
    difference = parts[0].estimate
    assert difference.y == pytest.approx(0.5)
    assert difference.lo == pytest.approx(0.5 - np.hypot(0.3, 0.4))
    assert difference.hi == pytest.approx(0.5 + np.hypot(0.4, 0.1))
    own = claims.apart(estimates.mean, ("", "pg", {}), first, HIGHER)(
        panels["9a"], panels.__getitem__
    )
    assert own[0].what == "mean at the end less mean at the end in 9a"

"""What claims are made of: estimates with their intervals, parts, and verdicts."""

from __future__ import annotations

import inspect
import json
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from claim_worlds import axis_of, make
from curve_worlds import chain_learns, level
from jekyllhyde.lab import claims, estimates, times, verdicts
from jekyllhyde.lab.figures import PANELS
from jekyllhyde.lab.judgement import judge
from jekyllhyde.lab.panel import Curves
from jekyllhyde.lab.sentences import SENTENCES
from jekyllhyde.lab.verdicts import (
    ALIKE,
    EQUAL,
    NO_EXCEPTION,
    Estimate,
    Part,
    Range,
    Undecided,
    about,
    above,
    below,
    rounds_to,
)
from time_worlds import eta_chain, exploration, flat, never, plan_sizes

PAIR = ("pg", "jh-100t-o0.5")
FIGURES = Path(inspect.getfile(claims)).parent / "figures"


def part(estimate: Estimate, stated: Range | None) -> Part:
    return Part("mean", "PG", estimate, stated)


YES, NO, OPEN, SHOWN = (
    part(Estimate(1.0, 0.5, 1.5), stated) for stated in (above(0), above(2), above(1), None)
)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_parts_make_a_verdict(count: int) -> None:
    """Undecided is a verdict of its own, and one part that fails contradicts unless one holds."""
    for parts in product((YES, NO, OPEN), repeat=count):
        outcomes = [each.holds for each in parts]
        expected = (
            "supported"
            if all(outcomes)
            else "partly"
            if True in outcomes
            else "contradicted"
            if False in outcomes
            else "undecided"
        )
        assert verdicts.verdict(parts) == expected
        assert verdicts.verdict([*parts, SHOWN]) == expected  # what is only shown decides nothing
    assert verdicts.verdict([]) == verdicts.verdict([SHOWN]) == "undecided"


@pytest.mark.parametrize(
    ("stated", "inside", "across", "outside"),
    [
        (above(2), (3, 2.5, 4), (3, 1, 4), (1, 0, 2)),
        (above(2), (3, 2.5, np.inf), (3, -np.inf, np.inf), (1, -np.inf, 2)),
        (below(1), (0, 0, 0), (0, 0, np.inf), (1, 1, 1)),
        (Range(1, 2), (1.5, 1.2, 1.8), (1.5, 0.9, 1.8), (3, 2, 4)),
        (Range(1, 2), (1.5, 1.5, 1.5), (1.5, 1.5, np.inf), (1, 1, 1)),
        (about(100), (100, 81, 124), (100, 79, 110), (200, 126, 300)),
        (about(-1), (-1, -1.2, -0.9), (-1, -1.3, -0.9), (-2, -3, -1.25)),
        (rounds_to(0.99, 2), (0.99, 0.986, 0.994), (0.99, 0.98, 0.994), (0.97, 0.96, 0.985)),
        (ALIKE, (1, 0.95, 1.05), (1, 0.9, 1.2), (2, 1.1, 3)),
        (EQUAL, (0, -0.009, 0.009), (0, -0.02, 0.02), (1, 0.01, 2)),
    ],
)
def test_an_interval_decides_where_it_lies_inside_or_outside(
    stated: Range, inside: tuple[float, ...], across: tuple[float, ...], outside: tuple[float, ...]
) -> None:
    outcomes = [part(Estimate(*ends), stated).holds for ends in (inside, across, outside)]
    assert outcomes == [True, None, False]


def test_a_judged_claim_is_written_as_it_is_read() -> None:
    other = Part("mean", "J&H", Estimate(1.0, 1.0, 1.0), None)
    claim = verdicts.JudgedClaim("a", "A.", "partly", (YES, OPEN, other), "too few", "Sec. 5")
    assert claim.measured == (
        "too few; mean: PG 1 [0.5, 1.5] (stated: above 0 and above 1); mean: J&H 1"
    )
    record = json.loads(json.dumps(claim.record(), allow_nan=False))
    assert record["parts"][0] == {
        "what": "mean",
        "name": "PG",
        "y": 1.0,
        "lo": 0.5,
        "hi": 1.5,
        "low": 0.0,
        "high": None,
        "decides": True,
        "holds": True,
    }
    assert [each["holds"] for each in record["parts"]] == [True, None, None]
    assert [each["decides"] for each in record["parts"]] == [True, True, False]
    assert str(Estimate(4.0, 4.0, np.inf)) == "4 or more"
    assert str(Estimate(4.0, -np.inf, 5.0)) == "5 or less"


def test_the_words_are_read_as_the_page_says() -> None:
    page = (Path(__file__).resolve().parent.parent / "docs" / "readings.md").read_text()
    no_longer, slightly = verdicts.NO_LONGER.high, verdicts.SLIGHTLY_LONGER.high
    often, usually = verdicts.OFTEN.low, [share.low for share in verdicts.USUALLY]
    for words, reading in {
        "almost equal; a bit lower": f"within {EQUAL.high:g}; down to "
        f"{-verdicts.SLIGHTLY_LOWER.low:g} lower",
        "found; solved, well": f"above {verdicts.FOUND:g}; above {verdicts.SOLVED:g} (the paper's "
        "marks)",
        "exactly": f"below {verdicts.ROUNDING:g}",
        "much, very, large": f"the direction, and a factor {verdicts.MUCH_LONGER.low:g} beside it",
        "as fast, comparable, no worse": f"no more than {100 * (no_longer - 1):.0f} %",
        "slightly": f"up to a factor {slightly:g}",
        "perceptible; matters much": f"by more than {100 * (ALIKE.high - 1):.0f} %",
        "about, around a number": f"within a factor {about(1.0).high:g}; on a swept axis within one"
        " step of the nearest point; of a return, what rounds to it",
        "very close, very stable": f"within {EQUAL.high:g}",
        "often; a bit more": f"above {often:g}; up to {verdicts.A_LITTLE_MORE.high:g}",
        'what is said without "all" or "never"': "most (above {:g}), and nearly all (above {:g}) "
        "beside it".format(*usually),
    }.items():
        assert re.search(rf"^\| {re.escape(words)} \|[^|]*\| {re.escape(reading)} \|$", page, re.M)
    assert 1 / verdicts.MUCH_SHORTER.high == verdicts.MUCH_LONGER.low
    assert ALIKE == Range(verdicts.NO_SHORTER.low, verdicts.NO_LONGER.high)
    assert verdicts.PERCEPTIBLY_SHORTER.high == ALIKE.low


def test_no_figure_has_a_threshold_of_its_own_or_imports_another() -> None:
    """What is stated is a reading that all share, or a number that stands in the sentence."""
    stated = re.compile(r"\b(?:above|below|about|place_about|rounds_to|Range)\(([^()]*)\)")
    named = re.compile(r"top|FOUND|SOLVED|ROUNDING|said\.\w+\.low|EQUAL\.low|MUCH_LONGER\.low|BEST")
    sentences = " ".join(sentence.text for sentence in SENTENCES.values()).replace(",", "")
    for path in sorted(FIGURES.glob("*.py")):
        text = path.read_text()
        assert not re.search(r"import figure\d|from .*figure\d\d", text)
        for arguments in stated.findall(text):
            number = arguments.split(",")[0].strip()
            if named.fullmatch(number):
                continue
            value = abs(float(number))
            spelled = {"0.1": "ten times", "1": "", "6450": "6400 to 6500", "199": "200 runs"}
            word = spelled.get(f"{value:g}", f"{value:g}")
            assert word in sentences, f"{path.name}: {arguments}"


def test_the_nearest_place_must_be_near() -> None:
    curves = make(PANELS["16a"], exploration)
    assert curves.x[estimates.at(curves, 0.6)] == pytest.approx(0.6)
    thin = make(PANELS["16a"], exploration, x=np.linspace(0.0, 1.0, 11))
    with pytest.raises(Undecided, match=r"epsilon 0.05 is not among the points; the nearest is 0"):
        estimates.at(thin, 0.05)
    assert {claim.id: claim.verdict for claim in judge(thin)}["16a-little"] == "undecided"
    logarithmic = make(PANELS["11a"], eta_chain)
    assert logarithmic.x[estimates.at(logarithmic, 16.0)] == pytest.approx(10**1.2)
    with pytest.raises(Undecided):
        estimates.at(make(PANELS["11a"], eta_chain, x=np.array([0.01, 1.0, 1000.0])), 20.0)
    with pytest.raises(Undecided, match="points of epsilon from 2 to 3"):
        estimates.between(curves, 2, 3)


def test_one_run_refutes_never_and_few_do_not_prove_it() -> None:
    few, many = (make(PANELS["2a"], chain_learns, runs=runs) for runs in (35, 36))
    for curves, outcome in ((few, None), (many, True)):
        number = estimates.count(curves, "pg", estimates.ends_above, level=0.5)
        assert part(number, NO_EXCEPTION).holds is outcome
    one = estimates.count(few, "pg-nu1", estimates.ends_above, level=0.5)
    assert part(one, NO_EXCEPTION).holds is False
    exact = make(PANELS["5b"], plan_sizes)
    assert part(estimates.count(exact, "pg", times.arrive, low=7), NO_EXCEPTION).holds is True


def test_intervals_need_ten_runs_and_contain_their_estimate() -> None:
    few, enough = (make(PANELS["2a"], chain_learns, runs=runs) for runs in (9, 10))
    assert np.isinf(estimates.mean(few, "pg").lo)
    assert np.isfinite(estimates.mean(enough, "pg").lo)
    noisy = make(PANELS["10a"], lambda label, x: 5000 - 20 * x, noise=0.3)
    correlation = times.trend(noisy, "jh-100t")
    assert correlation.lo <= correlation.y <= correlation.hi


def test_times_in_a_curve_and_distances_to_the_optimum() -> None:
    curves = make(PANELS["2a"], chain_learns, noise=0.0)
    arriving, stuck = estimates.crossings(curves, 0.5, "jh-100t-o0.5", "pg")
    np.testing.assert_array_equal(arriving, 8000.0)
    np.testing.assert_array_equal(stuck, 100_000.0)
    ratio = estimates.crossing_ratio(curves, "jh-100t-o10sqrtt", "jh-100t-o0.5")
    assert ratio.y == pytest.approx(5.5)
    gap = estimates.gap_ratio(curves, "jh-10sqrtt-o0.5", "jh-100t-o0.5")
    assert gap.y == pytest.approx(0.015 / 0.002)
    assert estimates.gain(curves, "pg-nu1", "pg").y == pytest.approx(0.97)
    assert estimates.crossing_mean(curves, "pg").hi == np.inf


def half_world(label: str, x: np.ndarray) -> np.ndarray:
    return (never if label.startswith("PG") else flat)(label, x)


def test_a_series_at_the_cap_gives_a_bound() -> None:
    curves = make(PANELS["11b"], half_world, runs=20, noise=0.0)
    assert times.time_ratio(curves, *PAIR) == Estimate(24.0, 24.0, np.inf)
    assert times.time_ratio(curves, *PAIR[::-1]).lo == -np.inf
    assert times.change(curves, "pg", x=1000.0, base=1.0).lo == -np.inf


@pytest.mark.parametrize(("capped", "is_known"), [(0, True), (10, True), (11, False), (100, False)])
def test_a_mean_time_is_a_bound_where_more_than_one_run_in_ten_is_at_the_cap(
    capped: int, is_known: bool
) -> None:
    curves = make(PANELS["11b"], flat, runs=100, noise=0.0)
    curves.samples["pg"][:capped] = curves.cap
    mean, ratio = times.mean_time(curves, "pg", 1.0), times.time_ratio(curves, *PAIR)
    assert mean.lo > 0
    assert np.isfinite([mean.hi, ratio.hi]).all() == is_known
    assert np.isfinite(times.time_ratio(curves, *PAIR[::-1]).lo) == is_known
    assert np.isfinite(times.slowdown(curves, "pg", 1.0).hi) == is_known
    assert np.isfinite(times.longest_to_shortest(curves, "pg").hi) == is_known
    assert times.reached(curves, "pg").all() == is_known


def test_an_average_over_the_axis_leaves_out_what_neither_reaches() -> None:
    """There nobody knows which is faster, and two caps would be alike."""
    curves = make(PANELS["12a"], flat, runs=20, noise=0.0)
    first, second = "jh-100t-o0.5", "jh-100t-o10sqrtt"
    curves.samples[first][:, :4] = curves.samples[second][:, :8] = curves.cap
    ratio = times.average_time_ratio(curves, first, second)
    expected = 5000 / np.mean([curves.cap] * 4 + [5000] * (len(curves.x) - 8))
    assert ratio.y == pytest.approx(expected)
    assert (ratio.lo, np.isfinite(ratio.hi)) == (-np.inf, True)


def test_a_ratio_to_another_panel_has_all_that_both_intervals_allow() -> None:
    test = claims.relative(estimates.mean, ("pg",), "9a", below(3.0))
    curves = {name: make(PANELS[name], level(y)) for name, y in (("2a", 0.8), ("9a", 0.4))}
    (ratio,) = test(curves["2a"], curves.__getitem__)
    assert ratio.what == "mean at the end, relative to panel 9a"
    assert ratio.estimate.lo < 2.0 < ratio.estimate.hi
    for name in ("hi", "lo"):
        bounds = [getattr(estimates.mean(each, "pg"), name) for each in curves.values()]
        assert min(bounds) > 0
    zero = {"2a": curves["2a"], "9a": make(PANELS["9a"], level(0.0))}
    assert test(curves["2a"], zero.__getitem__)[0].holds is None


TREND = "rank correlation of the mean time with epsilon"
SHORTEST = "mean time, relative to the shortest elsewhere"


@pytest.mark.parametrize(
    ("quantity", "where", "expected"),
    [
        (estimates.mean, {}, "mean at epsilon=1"),
        (estimates.mean, {"x": 0.05}, "mean at epsilon=0.05"),
        (times.slowdown, {"x": -np.inf}, f"{SHORTEST} at epsilon=0"),
        (times.change, {"x": 1, "base": 0.5}, "mean time, relative to that at 0.5 at epsilon=1"),
        (times.trend, {"low": 0.05, "high": 0.95}, f"{TREND} from epsilon=0.05 to 0.95"),
        (times.trend, {}, TREND),
        (
            estimates.count,
            {"flags": times.arrive, "low": 7},
            "number that get there from epsilon=7",
        ),
        (estimates.share, {"flags": times.fail_at, "x": 3}, "share that fail at epsilon=3"),
        (estimates.crossing_ratio, {"level": 0.95}, "mean time to 0.95, ratio"),
    ],
)
def test_what_is_measured_is_said_in_words(
    quantity: claims.Quantity, where: dict[str, float], expected: str
) -> None:
    assert claims.describe(quantity, make(PANELS["16a"], flat), where) == expected


def test_a_quantity_of_ones_own_is_called_by_its_text() -> None:
    def highest(curves: Curves, tag: str) -> Estimate:
        """Highest {xlabel}."""
        return estimates.exactly(curves.x.max())

    curves = make(PANELS["16a"], flat)
    (only,) = claims.compare(highest, ("jh-o0.5",), below(2))(curves, lambda name: curves)
    assert (only.what, only.holds) == ("highest epsilon", True)
    assert axis_of(PANELS["16a"]).max() == only.estimate.y

"""Every claim on made-up runs: a world as the paper tells it must be supported, its opposite
contradicted, and too little of either leaves it undecided.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from all_worlds import CONTRADICTED, SUPPORTED, Worlds
from claim_worlds import World, axis_of, make
from curve_worlds import even_runs, level, plan_curve
from jekyllhyde.lab.figures import PANELS
from jekyllhyde.lab.judgement import judge, judge_claim
from jekyllhyde.lab.panel import Claim, Curves, Others, Panel
from jekyllhyde.lab.sentences import SECTIONS, SENTENCES
from jekyllhyde.lab.verdicts import VERDICTS, JudgedClaim, Undecided
from mdps import Floats
from time_worlds import CAP, flat, never, off_policiness

CLAIMS = {claim.id: (panel, claim) for panel in PANELS.values() for claim in panel.claims}
NOT_TESTABLE = {"3a-exact-why", "5b-eventually", "16b-jekyll-explore", "16a-jekyll-statistics"}
PUBLISHED = {"8a": "supported", "14b": "contradicted", "13a": "undecided"}  # 204, 4, unknown runs
ON_NO_RUN = {"8a-runs", "3a-decay-hyde"}  # on what was published, and on stated numbers
TESTED = [id for id in CLAIMS if id not in NOT_TESTABLE | ON_NO_RUN]


def world_of(worlds: dict[str, Worlds], id: str) -> Worlds:
    """The claim's own world, or that of its panel."""
    return worlds[id] if id in worlds else worlds[CLAIMS[id][0].name]


@cache
def curves_in(name: str, world: World, runs: int, length: float) -> Curves:
    panel = PANELS[name]
    scaled = panel.experiment.scaled(length=length) if length < 1 else panel.experiment
    return make(replace(panel, experiment=scaled), world, runs=runs)


def judged(id: str, worlds: Worlds, runs: int = 100, length: float = 1.0) -> JudgedClaim:
    """A claim in a world; one that sets panels beside each other may have a world for each."""
    panel, claim = CLAIMS[id]
    by_panel = worlds if isinstance(worlds, dict) else {"": worlds}

    def others(name: str) -> Curves:
        return curves_in(name, by_panel.get(name, by_panel[""]), runs, length)

    return judge_claim(claim, others(panel.name), others)


@pytest.mark.parametrize("id", TESTED)
def test_a_claim_is_supported_in_the_world_of_the_paper(id: str) -> None:
    result = judged(id, world_of(SUPPORTED, id))
    assert result.verdict == "supported", result.measured
    assert result.record()["place"] == SENTENCES[id].place


@pytest.mark.parametrize("id", TESTED)
def test_a_claim_is_contradicted_in_the_opposite_world(id: str) -> None:
    result = judged(id, world_of(CONTRADICTED, id))
    assert result.verdict == "contradicted", result.measured


@pytest.mark.parametrize("id", TESTED)
def test_a_claim_is_undecided_where_runs_are_too_few_or_too_short(id: str) -> None:
    """Even in the world of the paper: nothing becomes supported by having few runs."""
    panel, _ = CLAIMS[id]
    if panel.exact:
        result = judged(id, world_of(SUPPORTED, id), length=0.5)
        assert "these runs have" in result.reason
    else:
        result = judged(id, world_of(SUPPORTED, id), runs=9)
    assert result.verdict == "undecided", result.measured


@pytest.mark.parametrize(("published", "expected"), PUBLISHED.items())
def test_published_runs_are_counted(published: str, expected: str) -> None:
    curves = make(replace(PANELS["8a"], published=published), level(0.0), runs=10)
    assert by_id(curves, lambda name: curves)["8a-runs"].verdict == expected


def test_only_causes_and_the_end_of_time_are_not_testable() -> None:
    for id in NOT_TESTABLE:
        panel, claim = CLAIMS[id]
        result = judge_claim(claim, make(panel, lambda label, x: 0.5 + 0.0 * x), no_other)
        assert result.verdict == "not testable"
        assert "cause" in result.reason or "no run is long enough" in result.reason


def no_other(name: str) -> Curves:
    raise Undecided(f"no {name}")


def test_every_sentence_is_tested_once_and_its_id_tells_the_panel() -> None:
    ids = [claim.id for panel in PANELS.values() for claim in panel.claims]
    assert sorted(ids) == sorted(SENTENCES)
    assert len({sentence.text for sentence in SENTENCES.values()}) == len(SENTENCES) >= 170
    for panel in PANELS.values():
        assert all(claim.id.startswith(f"{panel.name}-") for claim in panel.claims)
        assert all(claim.text.endswith(".") for claim in panel.claims)


@pytest.mark.parametrize("id", CLAIMS)
def test_every_claim_has_a_place_that_the_paper_has(id: str) -> None:
    """A section and one of its paragraphs, or a caption."""
    _, claim = CLAIMS[id]
    section, comma, number = claim.place.partition(", par. ")
    assert section in SECTIONS
    if comma:
        assert 1 <= int(number) <= SECTIONS[section].paragraphs
    else:
        assert section.startswith("Fig. ")


@pytest.mark.parametrize("panel", PANELS.values(), ids=PANELS.keys())
@pytest.mark.parametrize("runs", [1, 9, 10])
def test_claims_stand_thin_axes_and_missing_numbers(panel: Panel, runs: int) -> None:
    """They say what cannot be told, and every interval contains its estimate."""
    panel = replace(panel, experiment=panel.experiment.scaled(runs=runs, points=3))
    x = np.linspace(0.0, panel.cap, 5) if panel.kind == "curve" else axis_of(panel)
    top = 0.7 * panel.cap if panel.kind == "time" else 0.97
    for holes in (False, True):
        curves = make(panel, lambda label, x: top * (len(label) % 7 + 1) / 8 + 0.0 * x, runs, x=x)
        if holes:
            next(iter(curves.samples.values()))[0, 0] = np.nan
        for claim in judge(curves):
            assert claim.verdict in VERDICTS
            assert claim.measured
            assert claim.record()["measured"] == claim.measured
            for part in claim.parts:
                estimate = part.estimate
                assert np.isnan(estimate.y) or estimate.lo <= estimate.y <= estimate.hi
            if runs < 10 and not panel.exact and claim.id != "8a-runs":
                assert claim.verdict != "supported"


def by_id(curves: Curves, others: Others | None = None) -> dict[str, JudgedClaim]:
    return {claim.id: claim for claim in judge(curves, others)}


def test_a_panel_that_is_not_there_leaves_its_part_open() -> None:
    """The other part may still contradict, and does not support alone."""
    alone = by_id(make(PANELS["10a"], flat, runs=40))["10a-half"]
    assert alone.verdict == "partly"
    assert "it needs panel 10b beside this one" in alone.reason
    assert by_id(make(PANELS["6a"], lambda label, x: x))["6a-rate"].verdict == "undecided"


def test_a_series_that_is_not_there_is_said() -> None:
    panel = replace(PANELS["2a"], series=("pg",))
    claim = by_id(make(panel, lambda label, x: 0.0 * x, runs=40))["2a-jh"]
    assert claim.verdict == "undecided"
    assert "J&H eps=100/t o=0.5" in claim.reason


def test_noise_that_hides_a_difference_leaves_it_open() -> None:
    """The same small difference is told with little noise and not with much."""
    world: World = lambda label, x: 5000 * (1 + 0.02 * x)  # noqa: E731
    clear, hidden = (
        by_id(make(PANELS["15b"], world, noise=noise))["15b-slightly"] for noise in (0.001, 3.0)
    )
    assert clear.verdict == "supported"
    assert [part.holds for part in hidden.parts].count(None) > len(hidden.parts) / 2


def test_a_series_that_never_arrives_compares_with_nothing() -> None:
    """With eps=0.1 the global return stays below 0.95: its flat line of caps must not count for
    or against anything.
    """

    def world(label: str, x: Floats) -> Floats:
        arrives = off_policiness(0.05)
        return (never if label.endswith("0.1") else arrives)(label, x)

    claims = by_id(make(PANELS["10b"], world))
    assert claims["10b-lower"].verdict == claims["10b-slightly"].verdict == "supported"
    assert "eps=0.1" not in claims["10b-lower"].measured
    nowhere = by_id(make(PANELS["10b"], never))
    assert {claim.verdict for claim in nowhere.values()} == {"undecided"}


def test_times_at_the_cap_are_bounds() -> None:
    """Most runs with entropy never get there: nobody knows when they would."""
    claim = judged("14a-entropy", never)
    assert claim.verdict == "contradicted"  # not by ten times 150,000
    panel = replace(PANELS["14a-long"], experiment=PANELS["14a-long"].experiment.scaled(length=0.1))
    short = judge_claim(
        CLAIMS["14a-entropy"][1],
        make(PANELS["14a"], never),
        lambda name: make(panel, never, runs=40),
    )
    assert short.verdict == "undecided"


def test_what_is_said_along_an_axis_is_open_where_too_many_times_are_at_the_cap() -> None:
    """With a target on the global return most of the axis of eps is at the cap: a flat line of caps
    must not tell how much worse it gets, whatever Jekyll's return says.
    """

    def rising(label: str, x: Floats) -> Floats:
        return np.where(x > 0.02, CAP, 30_000 * (1 + 10 * x))

    out_of_reach = judged("16b-slightly", {"": slow_random, "16b": rising})
    assert out_of_reach.verdict == "partly"  # by Jekyll's return
    assert "more than one run in ten of J&H o=0.5 is at the cap" in out_of_reach.reason
    assert judged("10b-slightly", rising).verdict == "undecided"
    assert judged("10b-slightly", {"": late_caps, "10a": flat}).verdict == "supported"


def slow_random(label: str, x: Floats) -> Floats:
    return 30_000 * (1 + 0.2 * x)


def late_caps(label: str, x: Floats) -> Floats:
    return np.where(x > 0.75, CAP, 30_000 * (1 + 0.2 * x))


def test_off_policiness_that_is_not_strong_enough_refutes_nothing() -> None:
    """The sentence is about what is strong enough; the weaker ones are shown beside it."""

    def weak_fails(label: str, x: Floats) -> Floats:
        return 0.0 * x if label == "o=0.1" else plan_curve(label, x)

    claim = judged("5a-strong", weak_fails)
    assert claim.verdict == "supported"
    assert "o=0.1 0," in claim.measured
    assert judged("5a-strong", level(0.4)).verdict == "contradicted"


def test_a_rate_that_is_better_is_comparable() -> None:
    """As everywhere else where the paper says comparable."""

    def sooner(label: str, x: Floats) -> Floats:
        return plan_curve(label, 2 * x)

    assert judged("6a-rate", {"": sooner, "5a": plan_curve}).verdict == "supported"


@pytest.mark.parametrize("ratio", [0.7, 0.85, 0.905, 0.912, 0.95, 1.0, 1.05])
def test_a_difference_is_perceptible_in_one_panel_as_in_another(ratio: float) -> None:
    """The same number is not both the small edge of 6c and no difference before it."""

    def world(label: str, x: Floats) -> Floats:
        return 5000.0 * (ratio if label.startswith("undiscounted") else 1.0) + 0.0 * x

    edge, first = (judged(id, world).verdict for id in ("6c-edge", "6c-first"))
    assert (edge == "supported") != (first == "supported")


@pytest.mark.parametrize(("runs", "expected"), [(40, "undecided"), (100, "supported")])
def test_there_is_no_winner_only_where_many_runs_found_none(runs: int, expected: str) -> None:
    assert judged("9c-no-winner", even_runs, runs).verdict == expected


def test_a_claim_of_ones_own_needs_no_other_panel() -> None:
    claim = Claim("mine", "It is so.", (lambda curves, others: [],))
    assert (
        judge_claim(claim, make(PANELS["2a"], lambda label, x: x), no_other).verdict == "undecided"
    )

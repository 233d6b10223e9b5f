"""The claims' tests on made-up runs: a world as the paper tells it must be supported, its opposite
contradicted.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import curve_worlds
import time_worlds
from claim_worlds import World, axis_of, make, random_world
from jekyllhyde.lab.figures import PANELS
from jekyllhyde.lab.panel import Curves, Panel, judge
from mdps import Floats

VERDICTS = {"supported", "partly", "contradicted", "not testable"}


def verdicts_of(curves: Curves) -> dict[str, str]:
    return {claim["id"]: claim["verdict"] for claim in judge(curves)}


CASES: list[tuple[str, World, str, set[str]]] = [
    ("5a", curve_worlds.plan_curve, "supported", set()),
    ("5a", curve_worlds.plan_curve_opposite, "contradicted", set()),
    ("5b", time_worlds.plan_sizes, "supported", set()),
    ("5b", time_worlds.plan_sizes_opposite, "contradicted", set()),
    ("5c", time_worlds.plan_betas, "supported", set()),
    ("5c", time_worlds.plan_betas_opposite, "contradicted", set()),
    ("5d", lambda label, x: 2 + 100 / x, "supported", set()),
    ("6a", curve_worlds.softmax_curve, "supported", set()),
    ("6a", curve_worlds.softmax_curve_opposite, "contradicted", set()),
    ("6b", time_worlds.plan_sizes, "supported", set()),
    ("6b", time_worlds.plan_sizes_opposite, "contradicted", set()),
    ("6c", time_worlds.plan_betas, "supported", set()),
    ("6c", time_worlds.plan_betas_opposite, "contradicted", set()),
    ("6d", time_worlds.plan_lambdas, "supported", set()),
    ("6d", time_worlds.plan_lambdas_opposite, "contradicted", {"6d-small"}),
    ("7a", curve_worlds.plan_random, "supported", {"7a-stagnate"}),
    ("7a", curve_worlds.plan_random_opposite, "contradicted", {"7a-stagnate"}),
    ("7b", curve_worlds.plan_random_decile, "supported", set()),
    ("7b", curve_worlds.plan_random_decile_opposite, "contradicted", set()),
    ("7c", curve_worlds.plan_softmax, "supported", set()),
    ("7c", curve_worlds.plan_softmax_opposite, "contradicted", set()),
    ("7d", curve_worlds.plan_random_decile, "supported", set()),
    ("7d", curve_worlds.plan_random_decile_opposite, "contradicted", set()),
    ("2a", curve_worlds.chain_learns, "supported", set()),
    ("2a", curve_worlds.chain_fails, "contradicted", set()),
    ("8a", curve_worlds.chain_learns, "supported", set()),
    ("8a", curve_worlds.chain_fails, "contradicted", set()),
    ("8b", curve_worlds.jekyll_learns, "supported", set()),
    ("8b", curve_worlds.chain_fails, "contradicted", set()),
    ("2b", curve_worlds.random_learns, "supported", {"2b-eventually"}),
    ("2b", curve_worlds.random_fails, "contradicted", {"2b-eventually"}),
    ("2c", curve_worlds.random_learns, "supported", set()),
    ("2c", curve_worlds.random_opposite, "contradicted", set()),
    ("9a", curve_worlds.random_learns, "supported", set()),
    ("9a", curve_worlds.random_opposite, "contradicted", {"9a-default-99"}),
    ("9b", curve_worlds.random_jekyll_learns, "supported", set()),
    ("9b", curve_worlds.random_jekyll_opposite, "contradicted", set()),
    ("9c", curve_worlds.long_learns, "supported", {"9c-no-winner"}),
    ("9c", curve_worlds.long_stalls, "contradicted", set()),
    ("9d", curve_worlds.long_learns, "supported", set()),
    ("10a", time_worlds.off_policiness(-2.0), "supported", {"10a-half"}),
    ("10a", time_worlds.off_policiness(0.05), "contradicted", {"10a-half"}),
    ("10b", time_worlds.off_policiness(0.2), "supported", {"10b-half"}),
    ("10b", time_worlds.off_policiness(0.1), "supported", set()),
    ("10b", time_worlds.off_policiness(-1.0), "contradicted", set()),
    ("11a", time_worlds.eta_chain, "supported", set()),
    (
        "11a",
        time_worlds.eta_chain_opposite,
        "contradicted",
        {"11a-numerical", "11a-breaks", "11a-default"},
    ),
    ("11b", time_worlds.eta_random, "supported", {"11b-default"}),
    ("11b", time_worlds.eta_random_opposite, "contradicted", {"11b-default", "11b-too-fast"}),
    ("12a", time_worlds.critic_chain, "supported", set()),
    ("12a", time_worlds.critic_chain_opposite, "contradicted", set()),
    ("12b", time_worlds.critic_random, "supported", {"12b-steadier"}),
    ("12b", time_worlds.critic_random_opposite, "contradicted", {"12b-steadier", "12b-risk"}),
    ("13a", curve_worlds.tuned, "supported", set()),
    ("13b", curve_worlds.tuned, "supported", set()),
    ("13b", curve_worlds.tuned_well, "contradicted", set()),
    ("14a", time_worlds.sizes, "supported", set()),
    ("14a", time_worlds.sizes_opposite, "contradicted", set()),
    ("14b", time_worlds.betas, "supported", set()),
    ("14b", time_worlds.betas_opposite, "contradicted", set()),
    ("15a", time_worlds.optimism, "supported", set()),
    ("15a", time_worlds.optimism_opposite, "contradicted", {"15a-strong"}),
    ("15b", lambda label, x: 5000 * (1 + 0.2 * x), "supported", set()),
    ("16a", time_worlds.exploration, "supported", set()),
    ("16a", time_worlds.exploration_opposite, "contradicted", {"16a-little"}),
    ("16a-jekyll", time_worlds.exploration, "supported", set()),
    ("16a-jekyll", time_worlds.exploration_opposite, "contradicted", set()),
    (
        "16b",
        lambda label, x: np.where(x == 1, 110_000.0, 30_000 * (1 + 0.2 * x)),
        "supported",
        set(),
    ),
    (
        "16b-jekyll",
        time_worlds.exploration_random,
        "supported",
        {"16b-jekyll-slightly", "16b-jekyll-hyde"},
    ),
    (
        "16b-jekyll",
        time_worlds.exploration_random_opposite,
        "contradicted",
        {"16b-jekyll-slightly"},
    ),
]


@pytest.mark.parametrize(
    ("name", "world", "expected", "but"),
    CASES,
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_a_made_up_world_gets_its_verdicts(
    name: str, world: World, expected: str, but: set[str]
) -> None:
    verdicts = {
        key: verdict
        for key, verdict in verdicts_of(make(PANELS[name], world)).items()
        if key not in but and verdict != "not testable"
    }
    assert verdicts
    assert verdicts == dict.fromkeys(verdicts, expected)


ALONE: list[tuple[str, World, str]] = [
    ("2b-eventually", lambda label, x: 0.99 + 0.0 * x, "supported"),
    ("2b-eventually", curve_worlds.random_learns, "partly"),
    ("2b-eventually", lambda label, x: 0.9 - 0.5 * x / x[-1], "contradicted"),
    (
        "5d-ability",
        lambda label, x: np.where((x > 1) & (x < 10), time_worlds.CAP, 100.0),
        "contradicted",
    ),
    ("5d-faster", lambda label, x: 10 + x, "contradicted"),
    ("5d-infinite", lambda label, x: 100 + 0.0 * x, "partly"),
    ("6d-small", lambda label, x: 1000 * (1 + 10 * x), "contradicted"),
    ("7a-stagnate", lambda label, x: 0.99 + 0.0 * x, "supported"),
    ("7a-stagnate", lambda label, x: 0.999 + 0.0 * x, "contradicted"),
    ("7a-stagnate", lambda label, x: 0.99 * x / x[-1], "contradicted"),
    ("9a-default-99", curve_worlds.random_fails, "contradicted"),
    ("9c-no-winner", curve_worlds.long_learns, "contradicted"),
    ("9d-risk", lambda label, x: (0.9 if "o=0.5" in label else 0.99) + 0.0 * x, "contradicted"),
    ("10a-half", time_worlds.flat, "supported"),
    ("10a-half", time_worlds.off_policiness(-2.0), "contradicted"),
    ("10b-half", time_worlds.off_policiness(-2.0), "contradicted"),
    ("11a-default", lambda label, x: 5000 * (1 + np.log10(x) ** 2), "contradicted"),
    ("11a-breaks", lambda label, x: 5000 / x, "partly"),
    ("11b-default", lambda label, x: (9000 if "J&H" in label else 5000) + 0.0 * x, "supported"),
    ("11b-default", lambda label, x: (5000 if "J&H" in label else 9000) + 0.0 * x, "contradicted"),
    ("11b-too-fast", lambda label, x: 5000 / x, "contradicted"),
    ("12b-risk", lambda label, x: 5000 / x**0.1, "contradicted"),
    ("13a-well", lambda label, x: 0.5 + 0.0 * x, "contradicted"),
    ("13a-99", curve_worlds.tuned_well, "contradicted"),
    ("13a-999", curve_worlds.tuned_well, "contradicted"),
    (
        "15a-strong",
        lambda label, x: 5000 * (1 + (1.0 if "o=0.5" in label else 0.1) * x),
        "contradicted",
    ),
    ("15b-slightly", lambda label, x: 5000 * (1 - 0.5 * x), "contradicted"),
    ("15b-slightly", lambda label, x: 5000 * (1 + x), "contradicted"),
    ("16a-little", lambda label, x: np.where(x < 0.5, time_worlds.CAP, 5000.0), "contradicted"),
    ("16b-slightly", time_worlds.exploration_random, "contradicted"),
    ("16b-one", time_worlds.flat, "contradicted"),
    ("16b-jekyll-slightly", time_worlds.exploration_random_opposite, "supported"),
    ("16b-jekyll-slightly", time_worlds.exploration_random, "contradicted"),
    ("16b-jekyll-hyde", lambda label, x: np.where(x == 0, 90_000.0, 5000.0), "supported"),
    ("16b-jekyll-hyde", time_worlds.exploration_random, "partly"),
]


@pytest.mark.parametrize(
    ("id", "world", "expected"), ALONE, ids=lambda case: case if isinstance(case, str) else ""
)
def test_a_claim_in_a_world_of_its_own(id: str, world: World, expected: str) -> None:
    panel, claim = next(
        (panel, claim) for panel in PANELS.values() for claim in panel.claims if claim.id == id
    )
    assert claim.test(make(panel, world, runs=100))[0] == expected


@pytest.mark.parametrize(
    ("below", "above", "expected"), [(0.01, 0.3, "supported"), (0.3, 0.01, "contradicted")]
)
def test_steadiness_is_the_spread_between_runs(below: float, above: float, expected: str) -> None:
    x = axis_of(PANELS["12b"])
    curves = make(PANELS["12b"], time_worlds.flat, runs=60, noise=np.where(x < 0.025, below, above))
    assert verdicts_of(curves)["12b-steadier"] == expected


def test_there_is_no_winner_where_nothing_differs() -> None:
    curves = make(PANELS["9c"], lambda label, x: 0.9 + 0.0 * x, noise=0.0)
    assert verdicts_of(curves)["9c-no-winner"] == "supported"


def test_runs_that_diverge_are_a_matter_of_numerical_stability() -> None:
    curves = make(PANELS["11a"], time_worlds.eta_chain)
    assert (
        verdicts_of(replace(curves, failures=dict.fromkeys(curves.failures, 2)))["11a-numerical"]
        == "contradicted"
    )


@pytest.mark.parametrize("panel", PANELS.values(), ids=PANELS.keys())
@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize("length", [1.0, 0.01])
def test_claims_stand_thin_axes_few_runs_short_runs_and_missing_numbers(
    panel: Panel, runs: int, length: float
) -> None:
    """They say what cannot be told, and two runs never support a claim about chance."""
    panel = replace(panel, experiment=panel.experiment.scaled(runs=runs, points=3, length=length))
    x = axis_of(panel) if panel.kind == "time" else np.linspace(0.0, panel.cap, 5)
    top = 0.7 * panel.cap if panel.kind == "time" else 0.97
    for holes in (False, True):
        curves = make(panel, lambda label, x: top * (len(label) % 7 + 1) / 8 + 0.0 * x, runs, x=x)
        if holes:
            next(iter(curves.samples.values()))[0, 0] = np.nan
        claims = judge(curves)
        verdicts = {claim["verdict"] for claim in claims}
        assert verdicts <= VERDICTS
        assert all(claim["measured"] for claim in claims)
        if length < 1:
            assert verdicts == {"not testable"}
        elif not panel.exact:
            assert "supported" not in verdicts


def test_every_panel_has_claims_and_their_ids_are_unique_and_tell_the_panel() -> None:
    ids = [claim.id for panel in PANELS.values() for claim in panel.claims]
    assert len(set(ids)) == len(ids) >= 110
    for panel in PANELS.values():
        assert panel.claims
        assert all(claim.id.startswith(f"{panel.name}-") for claim in panel.claims)
        assert all(claim.text.endswith(".") for claim in panel.claims)


def test_a_series_that_is_not_there_is_said() -> None:
    panel = replace(PANELS["2a"], series=("PG",))
    claims = {claim["id"]: claim for claim in judge(make(panel, curve_worlds.chain_learns))}
    assert claims["2a-jh"]["verdict"] == "not testable"
    assert "J&H eps=100/t o=0.5" in claims["2a-jh"]["measured"]


def test_noise_that_hides_a_difference_leaves_it_open() -> None:
    """The same small difference is told with little noise and not with much."""
    world: World = lambda label, x: 5000 * (1 + 0.02 * x)  # noqa: E731
    assert verdicts_of(make(PANELS["15b"], world, noise=0.001))["15b-slightly"] == "supported"
    assert verdicts_of(make(PANELS["15b"], world, noise=3.0))["15b-slightly"] == "partly"


def test_a_series_that_never_arrives_compares_with_nothing() -> None:
    """With eps=0.1 the global return stays below 0.95: its flat line of caps must not count for
    or against anything.
    """

    def world(label: str, x: Floats) -> Floats:
        arrives = time_worlds.off_policiness(0.2)
        return (time_worlds.never if label.endswith("0.1") else arrives)(label, x)

    claims = {claim["id"]: claim for claim in judge(make(PANELS["10b"], world))}
    assert claims["10b-lower"]["verdict"] == claims["10b-slightly"]["verdict"] == "supported"
    assert "eps=0.1" not in claims["10b-lower"]["measured"]
    nowhere = verdicts_of(make(PANELS["10b"], time_worlds.never))
    assert set(nowhere.values()) == {"not testable"}


def test_times_at_the_cap_are_not_taken_for_times() -> None:
    """Most runs with entropy never get there: their mean is near the cap, and says nothing about
    when they would.
    """
    claims = {claim["id"]: claim for claim in judge(make(PANELS["14a"], time_worlds.never))}
    assert claims["14a-entropy"]["verdict"] == "not testable"
    assert "150000" in claims["14a-entropy"]["measured"]


GOLDEN = json.loads((Path(__file__).parent / "golden-claims.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", PANELS)
def test_claims_read_as_in_version_0_1(name: str) -> None:
    """Sentences, verdicts and what was measured, to the last character."""
    assert [list(claim.values()) for claim in judge(random_world(PANELS[name]))] == GOLDEN[name]

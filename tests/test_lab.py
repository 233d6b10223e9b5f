"""The planning panels: what they run, and what their claims say."""

from __future__ import annotations

import numpy as np
import pytest

import jekyllhyde as jh
from jekyllhyde.lab.claims import CLAIMS, judge
from jekyllhyde.lab.panels import PANELS, run_panel, summarize


def test_panel_5b_has_the_published_integers() -> None:
    curves = run_panel("5b")
    at = {int(size): i for i, size in enumerate(curves.x)}
    assert curves.y["PG"][at[6]] == 205
    assert curves.y["undiscounted"][at[6]] == 204
    assert curves.y["o=0.5"][at[10]] == 668
    assert curves.y["uniform"][at[10]] == 361
    assert curves.y["PG"][at[7]] == 15_000
    assert curves.censored["PG"][at[7]] == 1.0
    verdicts = {one["id"]: one["verdict"] for one in judge(curves)}
    assert verdicts["5b-seven"] == "supported"


def test_a_panel_is_its_plan_runs() -> None:
    curves = run_panel("6a")
    run = jh.plan(jh.chain(10, 0.95), parametrization="softmax", density="undiscounted", eta=10.0, lam=0.1, updates=9999)
    np.testing.assert_array_equal(curves.y["undiscounted lam=0.1"], run.J_norm)


def test_random_panels_average_over_mdps() -> None:
    curves = run_panel("7c", runs=6)
    runs = [
        jh.plan(jh.garnet(50, 4, 2, seed=i), parametrization="softmax", density="pg", eta=10.0, updates=5000).J_norm
        for i in range(6)
    ]
    np.testing.assert_allclose(curves.y["PG"], np.mean(runs, axis=0)[::5], atol=1e-12)
    assert (curves.lo["PG"][1:] <= curves.y["PG"][1:] + 1e-6).all()
    assert (curves.hi["PG"][1:] >= curves.y["PG"][1:] - 1e-6).all()
    assert all(one["measured"] for one in judge(curves))


def test_every_claim_belongs_to_a_panel_and_ids_are_unique() -> None:
    assert {claim.panel for claim in CLAIMS} == set(PANELS)
    assert len({claim.id for claim in CLAIMS}) == len(CLAIMS)


def test_bootstrap_interval_covers_the_mean_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        _, lo, hi = summarize(rng.normal(size=(40, 1)), "mean", draws=200)
        covered += bool(lo[0] <= 0.0 <= hi[0])
    assert 0.88 <= covered / 200 <= 0.99


def test_decile_interval_covers_the_decile_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    _, lo, hi = summarize(rng.random((100, 1000)), "decile")
    assert 0.93 <= np.mean((lo <= 0.1) & (hi >= 0.1)) <= 0.995


@pytest.mark.parametrize("statistic", ["mean", "decile"])
def test_one_run_has_no_interval(statistic: str) -> None:
    y, lo, hi = summarize(np.array([[1.0, 2.0]]), statistic)
    np.testing.assert_array_equal(y, [1.0, 2.0])
    np.testing.assert_array_equal(lo, hi)

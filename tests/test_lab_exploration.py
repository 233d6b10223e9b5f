"""The exploration experiments: their numbers against what was put in, and against a plain run."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jekyllhyde as jh
from jekyllhyde.lab import Store, engine, exploration
from jekyllhyde.lab.exploration import Times
from jekyllhyde.lab.yardsticks import YARDSTICKS


def times(task: str, agent: str, steps: list[float]) -> Times:
    values = np.array(steps)
    return Times(task, agent, 100, values / 2, values / 2, values, values, values)


def test_growth_recovers_a_power_law() -> None:
    sizes, rng = (10, 20, 40, 80), np.random.default_rng(0)
    samples = [3.0 * n**1.5 * np.exp(0.1 * rng.standard_normal(60)) for n in sizes]
    exponent = exploration.growth(sizes, samples)
    assert exponent.lo < 1.5 < exponent.hi
    assert exponent.hi - exponent.lo < 0.1


def test_a_median_of_runs_that_never_arrive_is_never() -> None:
    middle = exploration.median(np.array([10.0, np.inf, np.inf]))
    assert middle.y == np.inf
    assert middle.hi == np.inf
    assert exploration.median(np.array([10.0, 11.0, 12.0, np.inf])).y < np.inf


def test_a_profile_counts_runs_within_a_factor_of_the_best_agent() -> None:
    table = [
        times("easy", "A", [10, 10, 10, 30]),
        times("easy", "B", [20, 20, np.inf, np.inf]),
        times("hard", "A", [400, 400, 400, 400]),
        times("hard", "B", [100, 100, 100, 100]),
    ]
    shares = exploration.profile(table, np.array([1.0, 2.0, 4.0]))
    assert shares["A"].tolist() == [0.375, 0.375, 1.0]  # (3/4, 3/4, 1) on easy, (0, 0, 1) on hard
    assert shares["B"].tolist() == [0.5, 0.75, 0.75]


def test_budgets_are_those_that_were_promised() -> None:
    recommended, model_free, _ = exploration.AGENTS
    for n in (10, 20, 30, 50, 100):
        assert exploration.budget(f"deep_sea_{n}", recommended) == 20 * n
        assert exploration.budget(f"deep_sea_{n}", model_free) == n * n // 2
    for ablation in exploration.ABLATIONS:  # their Hyde may be another, not their budget
        assert exploration.budget("deep_sea_20", ablation) == 400


def test_what_the_store_has_is_what_the_agent_did(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store", create=True)
    agents: Any = (*exploration.AGENTS[:2], {"label": "lost", "agent": "tabular_on_policy"})
    experiment = exploration.experiment("deep_sea_10", agents, runs=4)
    assert exploration.times(experiment, store) == []
    engine.run([experiment], store, workers=1)
    table = exploration.times(experiment, store)
    assert [row.agent for row in table] == ["J&H", "J&H, model-free", "lost"]
    plain = jh.learn(
        YARDSTICKS["deep_sea_10"].make(),
        jh.TabularJekyllHyde(),
        trajectories=200,
        runs=4,
        seed=experiment.cells[0].stream,
        horizon=YARDSTICKS["deep_sea_10"].horizon,
        target=0.99,
        target_on="jekyll",
    )
    for level, name in ((0.95, "95"), (0.99, "99")):
        first = plain.reached(level, "jekyll").argmax(axis=1)
        assert (getattr(table[0], f"time_{name}") == plain.trajectories[first]).all()
        assert (getattr(table[0], f"steps_{name}") == plain.steps[range(4), first]).all()
    regret = [np.nansum(1.0 - row) for row in plain.J_norm]  # every trajectory is evaluated
    assert table[0].regret == pytest.approx(regret)
    assert table[0].solved.y == 1.0
    assert (table[2].time_99 == np.inf).all()
    assert table[2].solved.y == 0.0

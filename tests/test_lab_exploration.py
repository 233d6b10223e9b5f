"""The exploration experiments: their numbers against what was put in, and against a plain run."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jekyllhyde as jh
from jekyllhyde.lab import Store, engine
from jekyllhyde.lab.exploration import arrival, experiments, tuned_peers
from jekyllhyde.lab.exploration.arrival import Times
from jekyllhyde.lab.yardsticks import YARDSTICKS


def times(task: str, agent: str, steps: list[float]) -> Times:
    values = np.array(steps)
    return Times(
        task, agent, 100, values / 2, values / 2, values, values, values.clip(max=1e4), values
    )


def test_growth_recovers_a_power_law() -> None:
    sizes, rng = (10, 20, 40, 80), np.random.default_rng(0)
    samples = [3.0 * n**1.5 * np.exp(0.1 * rng.standard_normal(60)) for n in sizes]
    exponent = arrival.growth(sizes, samples)
    assert exponent.lo < 1.5 < exponent.hi
    assert exponent.hi - exponent.lo < 0.1


def test_a_median_of_runs_that_never_arrive_is_never() -> None:
    middle = arrival.median(np.array([10.0, np.inf, np.inf]))
    assert middle.y == np.inf
    assert middle.hi == np.inf
    assert arrival.median(np.array([10.0, 11.0, 12.0, np.inf])).y < np.inf


def test_a_profile_counts_runs_within_a_factor_of_the_best_agent() -> None:
    table = [
        times("easy", "A", [10, 10, 10, 30]),
        times("easy", "B", [20, 20, np.inf, np.inf]),
        times("hard", "A", [400, 400, 400, 400]),
        times("hard", "B", [100, 100, 100, 100]),
    ]
    shares = arrival.profile(table, np.array([1.0, 2.0, 4.0]))
    assert shares["A"].tolist() == [0.375, 0.375, 1.0]  # (3/4, 3/4, 1) on easy, (0, 0, 1) on hard
    assert shares["B"].tolist() == [0.5, 0.75, 0.75]


def test_budgets_are_those_that_were_promised() -> None:
    recommended, model_free, _ = experiments.AGENTS
    for n in (10, 20, 30, 50, 100):
        assert experiments.budget(f"deep_sea_{n}", recommended) == 20 * n
        assert experiments.budget(f"deep_sea_{n}", model_free) == n * n // 2
    for ablation in experiments.ABLATIONS:  # their Hyde may be another, not their budget
        assert experiments.budget("deep_sea_20", ablation) == 400


def test_what_the_store_has_is_what_the_agent_did(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store", create=True)
    agents: Any = (*experiments.AGENTS[:2], {"label": "lost", "agent": "tabular_on_policy"})
    experiment = experiments.experiment("deep_sea_10", agents, runs=4)
    assert arrival.times(experiment, store) == []
    engine.run([experiment], store, workers=1)
    table = arrival.times(experiment, store)
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
    assert table[0].solved().y == 1.0
    late = table[0]._replace(steps_99=np.full(4, 400_000.0))
    assert late.solved().y == 1.0  # of a sea its trajectories count
    assert late._replace(task="river_swim_6").solved().y == 0.0
    assert (table[2].time_99 == np.inf).all()
    assert table[2].solved().y == 0.0
    assert (table[2].steps == 2000).all()


def test_all_problems_of_an_agent_count_together(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store", create=True)
    settings = {"label": "J&H", "convention": "recommended", "trajectories": 200}
    several = experiments.experiment("locks_6", [settings], 1, problems=[7, 8, 9])
    engine.run([several], store, workers=1)
    (together,) = arrival.times(several, store)
    apart = [
        arrival.times(experiments.experiment("locks_6", [settings], 1, problems=[seed]), store)[0]
        for seed in (7, 8, 9)
    ]
    assert together.steps_99.tolist() == [row.steps_99[0] for row in apart]
    assert together.budget == 200


def test_the_setting_with_the_fewest_steps_is_chosen() -> None:
    grid = tuned_peers.GRIDS["tabular_ucbvi"]
    table = [times("garnet", str(i), [100.0, 100.0]) for i in range(len(grid))]
    table[3] = times("garnet", "3", [90.0, 100.0])
    table[5] = times("garnet", "5", [10.0, np.inf])  # a run that is lost counts twice its steps
    assert tuned_peers.chosen("tabular_ucbvi", table) == grid[3]
    assert len(grid) >= 20


@pytest.mark.parametrize("task", tuned_peers.tuned())
def test_what_is_in_use_was_tried(task: str) -> None:
    settings = tuned_peers.tuned()[task]
    assert list(settings) == list(tuned_peers.PEERS)
    for peer, chosen in settings.items():
        assert chosen in tuned_peers.GRIDS[peer]
        assert len(tuned_peers.GRIDS[peer]) >= 20
    labels = [series["label"] for series in tuned_peers.comparison(task, settings).series]
    assert labels == ["J&H", "Q-learning", "UCB-H", "UCBVI", "PSRL"]


def test_what_was_tuned_is_found_again() -> None:
    # digests of the cells that the published table was tuned on
    def digest(task: str, peer: str, i: int) -> str:
        return tuned_peers.tuning(task, peer, 5).cells[i].digest

    assert digest("taxi", "tabular_q_learning", 0) == "df015d7c3aead506"
    assert digest("garnet", "tabular_psrl", 3) == "3ce9fed233c41541"
    fresh = tuned_peers.comparison("garnet", tuned_peers.tuned()["garnet"])
    tried = tuned_peers.tuning("garnet", "tabular_psrl", 5)
    assert fresh.seed != tried.seed
    assert not {cell.digest for cell in fresh.cells} & {cell.digest for cell in tried.cells}

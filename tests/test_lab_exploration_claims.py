"""The claims about exploration on made-up runs: supported in a world in which they hold,
contradicted in its opposite, neither where there are too few runs to tell; and the panels made from
a store.
"""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from claim_worlds import World, make
from jekyllhyde.cli import main
from jekyllhyde.errors import InputError
from jekyllhyde.lab import Store, engine, judge, read
from jekyllhyde.lab.exploration import panels
from jekyllhyde.lab.exploration.arrival import times
from jekyllhyde.lab.exploration.claim_estimates import performance_profile
from jekyllhyde.lab.exploration.experiments import AGENTS, RECOMMENDED, experiment
from jekyllhyde.lab.panel import Curves
from jekyllhyde.lab.suite import Suite
from jekyllhyde.lab.yardsticks import YARDSTICKS
from mdps import Floats

CAP = 1e9  # above every cap


def world(ours: float, others: float, **known: float) -> World:
    """The same times at every place: of J&H, of series with these words in their labels, of all
    others.
    """

    def time_of(label: str, x: Floats) -> Floats:
        by_word = [time for word, time in known.items() if word in label.lower()]
        return np.full(len(x), ours if label == "J&H" else [*by_word, others][0])

    return time_of


def grows(ours: float, free: float) -> World:
    """Times of J&H, and without a model, that grow with the size to these powers."""
    return lambda label, x: 2.0 * x**ours if label == "J&H" else 0.4 * x**free


FASTER, SLOWER = world(100, 200), world(200, 100)
LOST = world(CAP, 100)
CASES: list[tuple[str, World, str, set[str]]] = [
    ("yardsticks", FASTER, "supported", set()),
    ("yardsticks", LOST, "contradicted", set()),
    ("growth", grows(1.0, 1.8), "supported", set()),
    ("growth", lambda label, x: 21 * x + x**2 / 2, "contradicted", {"growth-exponent"}),
    (
        "growth",
        lambda label, x: 0.1 * x**2.2,
        "contradicted",
        {"growth-model-based", "growth-model-free"},
    ),
    ("conventions", world(100, CAP, free=200), "supported", set()),
    ("conventions", SLOWER, "contradicted", set()),
    ("parts", world(1000, 2000, **{"o ": 1010}), "supported", set()),
    ("parts", world(1000, 500), "contradicted", set()),
    ("peers", FASTER, "supported", set()),
    ("peers", LOST, "contradicted", set()),
    ("peers", SLOWER, "contradicted", {"peers-solved"}),
    ("regret", FASTER, "supported", set()),
    ("regret", SLOWER, "contradicted", set()),
    ("profile", world(100, CAP), "supported", set()),
    ("profile", LOST, "contradicted", set()),
]


def invented(name: str, told: World, runs: int = 100, noise: float = 0.01) -> Curves:
    panel = panels.PANELS[f"exploration-{name}"]
    curves = make(panel, told, runs=runs, noise=noise)
    return panel.view(curves) if panel.view else curves


@pytest.mark.parametrize(("name", "told", "verdict", "apart"), CASES)
def test_a_world_decides_its_claims(name: str, told: World, verdict: str, apart: set[str]) -> None:
    verdicts = {claim.id: claim.verdict for claim in judge(invented(name, told))}
    assert apart < verdicts.keys()
    assert {verdicts[id] for id in verdicts.keys() - apart} == {verdict}


@pytest.mark.parametrize("name", panels.PANELS)
def test_few_runs_decide_nothing(name: str) -> None:
    curves = invented(name.removeprefix("exploration-"), FASTER, runs=5)
    assert {claim.verdict for claim in judge(curves)} == {"undecided"}


def test_times_that_spread_decide_nothing() -> None:
    curves = invented("peers", world(100, 90), noise=0.9)
    verdicts = {claim.id: claim.verdict for claim in judge(curves)}
    assert verdicts["peers-each"] == "undecided"


def test_four_of_five_tasks_are_counted() -> None:
    def slow_on(tasks: int) -> World:
        return lambda label, x: np.where((label == "J&H") & (x < tasks), 200.0, 100.0)

    def verdict(tasks: int) -> str:
        claims = {claim.id: claim.verdict for claim in judge(invented("peers", slow_on(tasks)))}
        return claims["peers-close"]

    fifth = len(panels.PANELS["exploration-peers"].words or []) // 5
    assert verdict(fifth) == "supported"
    assert verdict(fifth + 1) == "contradicted"


def test_a_peer_that_is_fast_now_and_then_is_not_the_best() -> None:
    curves = invented("peers", world(100, 150))
    hasty = curves.samples["ucbvi"]
    hasty[:] = 10.0
    assert "contradicted" in {claim.verdict for claim in judge(curves)}
    hasty[: len(hasty) // 4] = curves.cap  # now a quarter of its runs is lost
    assert {claim.verdict for claim in judge(curves)} == {"supported"}


def test_a_profile_counts_runs_within_a_factor_of_the_fastest_agent() -> None:
    panel = panels.PANELS["exploration-profile"]
    assert isinstance(panel.experiment, Suite)
    panel = replace(panel, experiment=panel.experiment.only("garnet", "taxi"))
    curves = make(panel, FASTER, runs=4, noise=0.0)
    for tag in curves.samples:
        curves.samples[tag][:] = curves.cap
    curves.samples["jh"][:] = [[10, 400], [10, 400], [10, 400], [30, 400]]
    curves.samples["psrl"][:] = [[20, 100], [20, 100], [curves.cap, 100], [curves.cap, 100]]
    shown = performance_profile(curves)

    def shares(tag: str) -> list[float]:
        return [float(shown.y[tag][np.searchsorted(shown.x, x)]) for x in (1.0, 2.0, 4.0)]

    assert shares("jh") == [0.375, 0.375, 1.0]  # (3/4, 3/4, 1) on one task, (0, 0, 1) on the other
    assert shares("psrl") == [0.5, 0.75, 0.75]
    assert shares("ucbvi") == [0.0, 0.0, 0.0]


def test_a_suite_has_the_cells_of_its_experiments() -> None:
    each = {task: experiment(task, AGENTS, 3) for task in ("chain", "locks_6", "deep_sea_10")}
    suite = Suite("some", "task", each, few=("chain", "deep_sea_10"))
    digests = [cell.digest for one in each.values() for cell in one.cells]
    assert [cell.digest for cell in suite.cells] == digests
    assert suite.axes == {"task": list(each)}
    assert suite.runs == 3
    small = suite.scaled(runs=2, points=11)
    assert list(small.experiments) == ["chain", "deep_sea_10"]
    assert small.runs == 2
    assert suite.scaled(runs=2).axes == suite.axes
    assert {cell.digest for cell in suite.only("locks_6").cells} < set(digests)
    with pytest.raises(InputError, match="2 kinds of experiments"):
        Suite("mixed", "task", each | {"garnet": experiment("garnet", AGENTS[:1], 3)})


def test_every_yardstick_is_shown_and_quick_ones_are_few() -> None:
    shown = panels.PANELS["exploration-yardsticks"].experiment
    assert isinstance(shown, Suite)
    assert list(shown.experiments) == list(YARDSTICKS)
    for panel in panels.PANELS.values():
        assert 1 < len(panel.experiment.scaled(runs=1, points=11).axes[panel.xlabel]) < 9


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with four runs on two seas."""
    folder = tmp_path_factory.mktemp("exploration") / "store"
    engine.run([small_suite()], Store.open(folder, create=True), workers=1)
    return folder


def small_suite() -> Suite:
    lost = {"label": "lost", "agent": "tabular_on_policy", "trajectories": 30}
    tasks = ("deep_sea_10", "locks_6")
    return Suite(
        "small", "task", {task: experiment(task, (RECOMMENDED, lost), 4) for task in tasks}
    )


def test_a_panel_reads_steps_and_regret(filled: Path) -> None:
    store = Store.open(filled)
    panel = panels.panel("small", "", small_suite())
    curves = read(panel, store)
    table = [row for each in small_suite().experiments.values() for row in times(each, store)]
    assert curves.panel.words == ["deep_sea_10", "locks_6"]
    assert (curves.samples["jh"] == np.array([table[0].steps_99, table[2].steps_99]).T).all()
    assert (curves.samples["lost"] == panel.cap).all()
    assert (curves.censored["lost"] == 1.0).all()
    assert (curves.y["jh"] == np.median(curves.samples["jh"], axis=0)).all()
    tight = read(replace(panel, most=int(curves.samples["jh"].max()) - 1), store)
    assert tight.censored["jh"].max() > 0
    regret = read(replace(panel, quantity="regret"), store)
    assert (regret.samples["jh"] == np.array([table[0].regret, table[2].regret]).T).all()


def test_the_command_makes_exploration_panels(
    filled: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = {
        f"exploration-{name}": panels.panel(name, "a sea and a lock", small_suite(), **look)
        for name, look in LOOKS.items()
    }
    monkeypatch.setattr(panels, "PANELS", made)
    asked = ["figure", "exploration", "--store", str(filled), "--out", str(tmp_path), "--json"]
    assert main(asked) == 0
    report = json.loads(capsys.readouterr().out)
    assert list(report) == list(made)
    for name in made:
        for ending in ("png", "pdf"):
            assert (tmp_path / f"{name}.{ending}").stat().st_size > 1000
    with (tmp_path / "exploration-steps.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["x"] for row in rows] == ["deep_sea_10", "locks_6"] * 2
    page = tmp_path / "report.html"
    assert main(["report", "exploration", "--store", str(filled), "--out", str(page)]) == 0
    assert "Exploration: how long until Jekyll" in page.read_text()
    assert main(["figure", "explore"]) == 2
    assert "exploration" in capsys.readouterr().err


LOOKS: dict[str, dict[str, object]] = {
    "steps": {},
    "regret": {"quantity": "regret", "statistic": "mean"},
    "profile": {"view": performance_profile},
}

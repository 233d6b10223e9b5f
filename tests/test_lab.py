"""The laboratory from one end to the other: the paper's panels in small, their files, and the
commands.
"""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import jekyllhyde as jh
from jekyllhyde.cli import main
from jekyllhyde.lab import engine
from jekyllhyde.lab.draw import styles, write_panel
from jekyllhyde.lab.figures import PANELS
from jekyllhyde.lab.figures.drawings import DRAWINGS
from jekyllhyde.lab.judgement import judge
from jekyllhyde.lab.panel import Panel, panel_of, read
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.store import Store
from jekyllhyde.lab.stored_numbers import COLUMNS
from jekyllhyde.lab.verdicts import VERDICTS

PROTOCOL = """2a 2b 2c 5a 5b 5c 5d 6a 6b 6c 6d 7a 7b 7c 7d 8a 8b 9a 9b 9c 9d 10a 10b 11a 11b 12a 12b
    13a 13b 14a 14b 15a 15b 16a 16b"""


QUICK = [name for name, panel in PANELS.items() if panel.method.extra is None]
DEEP = [name for name in PANELS if name not in QUICK]


def in_small(panel: Panel) -> Panel:
    """The panel with two runs of a two-hundredth of the length at three points of each axis.

    Exact times need their length, and are quick; networks take long to compile, so there is only
    one of the deep agents.
    """
    method = panel.experiment.method
    length = 1.0 if method == "plan" and panel.kind == "time" else 0.005
    experiment = panel.experiment.scaled(
        runs=min(2, panel.experiment.runs), points=3, length=0.04 if method == "deep" else length
    )
    if method == "deep" and isinstance(experiment, Experiment):
        experiment = replace(experiment, series=experiment.series[1:2])
    return replace(panel, experiment=experiment)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store with the testing size of every panel without networks."""
    return filled(tmp_path_factory, QUICK)


@pytest.fixture(scope="module")
def deep_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    pytest.importorskip("jax")
    return filled(tmp_path_factory, DEEP)


def filled(factory: pytest.TempPathFactory, names: list[str]) -> Store:
    opened = Store.open(factory.mktemp("lab") / "store", create=True)
    panels = [in_small(PANELS[name]) for name in names]
    engine.run(list({panel.experiment.name: panel.experiment for panel in panels}.values()), opened)
    return opened


def test_every_panel_of_the_protocol_is_there() -> None:
    assert set(PROTOCOL.split()) <= set(PANELS)


@pytest.mark.parametrize("name", QUICK)
def test_a_panel_in_small_is_drawn_and_judged(name: str, store: Store, tmp_path: Path) -> None:
    check_panel(name, store, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", DEEP)
def test_a_panel_with_networks_is_drawn_and_judged(
    name: str, deep_store: Store, tmp_path: Path
) -> None:
    check_panel(name, deep_store, tmp_path)


def check_panel(name: str, store: Store, tmp_path: Path) -> None:
    curves = read(in_small(PANELS[name]), store)
    assert curves.runs == (1 if PANELS[name].exact else 2)
    assert list(curves.y) == list(in_small(PANELS[name]).labels)
    paths = write_panel(curves, tmp_path, judge(curves))
    assert [path.name for path in paths] == [
        f"{name}.png",
        f"{name}.pdf",
        f"{name}.csv",
        f"{name}.claims.json",
    ]
    rows = list(csv.DictReader(paths[2].read_text().splitlines()))
    assert list(rows[0]) == list(COLUMNS)
    assert len(rows) == len(curves.x) * len(curves.y)
    assert all(
        float(row["lo"]) <= float(row["y"]) + 1e-9 <= float(row["hi"]) + 2e-9 for row in rows
    )
    claims = json.loads(paths[3].read_text())
    assert len(claims) == len(PANELS[name].claims)
    assert all(
        {"id", "claim", "verdict", "measured", "parts"} < set(claim)
        and claim["verdict"] in VERDICTS
        for claim in claims
    )
    assert all(claim["measured"] for claim in claims)


def test_panel_5b_has_the_published_integers(tmp_path: Path) -> None:
    panel = PANELS["5b"]
    assert isinstance(panel.experiment, Experiment)
    panel = replace(panel, experiment=replace(panel.experiment, vary={"n_states": [6, 7, 10]}))
    opened = Store.open(tmp_path / "store", create=True)
    engine.run([panel.experiment], opened)
    curves = read(panel, opened)
    np.testing.assert_array_equal(curves.y["pg"][:2], [205, 15_000])
    assert curves.y["undiscounted"][0] == 204
    assert curves.y["o0.5"][2] == 668
    assert curves.y["uniform"][2] == 361
    np.testing.assert_array_equal(curves.censored["pg"], [0, 1, 1])


def test_a_curve_is_its_plan_run(store: Store) -> None:
    panel = in_small(PANELS["6a"])
    curves = read(panel, store)
    run = jh.plan(
        jh.chain(10, 0.95),
        parametrization="softmax",
        density="undiscounted",
        eta=10.0,
        lam=0.1,
        updates=panel.cap,
    )
    np.testing.assert_array_equal(curves.y["undiscounted-lam0.1"], run.J_norm[curves.x.astype(int)])


def test_random_mdps_are_the_same_for_every_series(store: Store) -> None:
    curves = read(in_small(PANELS["7c"]), store)
    runs = [
        jh.plan(
            jh.garnet(50, 4, 2, seed=i),
            parametrization="softmax",
            density="pg",
            eta=10.0,
            updates=25,
        ).J_norm
        for i in range(2)
    ]
    np.testing.assert_array_equal(curves.samples["pg"], np.array(runs)[:, curves.x.astype(int)])


def test_a_time_panel_is_its_learn_run(store: Store) -> None:
    panel = in_small(PANELS["14b"])
    curves = read(panel, store)
    cell = next(
        one
        for one in panel.experiment.cells
        if one.series == "J&H eps=100/t o=0.5" and one.x == 0.0
    )
    agent = jh.TabularJekyllHyde(convention="published", epsilon="100/t", o=0.5)
    out = jh.learn(
        jh.chain(10, beta=0.0), agent, trajectories=panel.cap, runs=2, seed=cell.stream, target=0.5
    )
    np.testing.assert_array_equal(curves.samples[cell.tag][:, 0], out.time_to(0.5))


def test_series_look_different_within_a_panel() -> None:
    for panel in PANELS.values():
        looks = list(styles(list(panel.labels)).values())
        assert len(set(looks)) == len(looks), panel.name


@pytest.mark.parametrize("name", DRAWINGS)
def test_the_domains_are_drawn(name: str, tmp_path: Path) -> None:
    DRAWINGS[name](tmp_path / "it.png")
    assert (tmp_path / "it.png").stat().st_size > 5000


# The commands.


def test_figure_command_uses_what_is_stored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [
        "figure",
        "1",
        "5a",
        "--store",
        str(tmp_path / "store"),
        "--out",
        str(tmp_path / "out"),
        "--json",
    ]
    assert main(arguments) == 0
    first = json.loads(capsys.readouterr().out)
    parts = sorted((tmp_path / "store" / "parts").iterdir())
    assert main(arguments) == 0
    second = json.loads(capsys.readouterr().out)
    assert sorted((tmp_path / "store" / "parts").iterdir()) == parts
    assert first["5a"]["claims"] == second["5a"]["claims"]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "1.png",
        "1.pdf",
        "5a.png",
        "5a.pdf",
        "5a.csv",
        "5a.claims.json",
    }


def test_dry_run_says_what_is_missing_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [
        "figure",
        "8a",
        "--preset",
        "quick",
        "--runs",
        "1",
        "--store",
        str(tmp_path / "store"),
        "--out",
        str(tmp_path / "out"),
    ]
    assert main([*arguments, "--dry-run"]) == 0
    assert "0 of 11 runs are stored; 11 runs in 1 tasks" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()
    assert not list((tmp_path / "store" / "parts").iterdir())


SWEEP = """
name = "mine"
method = "plan"
[problem]
name = "chain"
n_states = 6
[settings]
updates = 300
target = 0.5
parametrization = "direct"
[vary]
beta = [0.1, 0.9]
eta = [1.0, 2.0]
[[series]]
label = "PG"
[[series]]
label = "uniform"
density = "uniform"
"""


def test_sweep_and_store_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, place = tmp_path / "mine.toml", str(tmp_path / "store")
    file.write_text(SWEEP)
    assert main(["sweep", str(file), "--store", place, "--out", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {(row["series"], row["beta"]) for row in found["points"]} == {
        (f"{series} eta={eta}", beta)
        for series in ("PG", "uniform")
        for eta in (1, 2)
        for beta in (0.1, 0.9)
    }
    assert main(["store", "ls", "--store", place, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"experiment": "mine", "cells": 8, "runs": 8, "failed": 0}
    ]
    assert main(["store", "show", "mine/beta=0.1/eta=1/pg", "--store", place, "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert about["settings"]["problem"]["beta"] == 0.1
    assert about["made"][0]["version"] == jh.__version__
    assert main(["store", "verify", "--store", place]) == 0
    part = next((tmp_path / "store" / "parts").iterdir())
    part.write_bytes(part.read_bytes()[:-100])
    assert main(["store", "verify", "--store", place]) == 1
    assert main(["sweep", str(file), "--store", place, "--out", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["points"] == found["points"]
    assert main(["store", "verify", "--store", place]) == 0


def test_merge_takes_over_what_is_new(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(SWEEP)
    for name in ("a", "b"):
        assert (
            main(["sweep", str(file), "--store", str(tmp_path / name), "--out", str(tmp_path)]) == 0
        )
    file.write_text(SWEEP.replace("0.9", "0.8"))
    assert main(["sweep", str(file), "--store", str(tmp_path / "b"), "--out", str(tmp_path)]) == 0
    capsys.readouterr()
    assert main(["store", "merge", str(tmp_path / "b"), "--store", str(tmp_path / "a")]) == 0
    assert capsys.readouterr().out == "1 parts taken over\n"
    assert Store.open(tmp_path / "a").verify() == {}
    assert (
        len(
            Store.open(tmp_path / "a").table(
                cell.digest for cell in Experiment.from_toml(file).cells
            )
        )
        == 8
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["figure", "99"], "figure is '99'"),
        (["figure", "2a", "--preset", "huge"], "preset is 'huge'"),
        (["figure", "2a", "--engine", "abacus"], "engine is 'abacus'"),
        (["figure", "2a", "--runs", "0"], "runs is 0"),
        (["sweep", "nowhere.toml"], "nowhere.toml cannot be read"),
        (["store", "ls", "--store", "nowhere"], "there is no store"),
        (["store", "dance", "--store", "nowhere"], "action is 'dance'"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("jh: ")
    assert sentence in error
    assert error.count("\n") == 1


def test_an_experiment_without_axes_is_a_curve_and_with_words_has_them_as_ticks(
    tmp_path: Path,
) -> None:
    experiment = Experiment(
        name="words",
        method="plan",
        problem={"name": "chain", "n_states": 5},
        settings={"updates": 20, "density": "mixture"},
        vary={"o": [0.5, "10/t"]},
        series=[{"label": "mixture"}],
    )
    curves = jh.lab.run(experiment, tmp_path / "store")
    assert curves.panel.kind == "end"
    np.testing.assert_array_equal(curves.x, [0, 1])
    jh.lab.draw(curves, tmp_path / "it.png")
    assert panel_of(replace(experiment, vary={}, settings={"updates": 20})).kind == "curve"
    assert judge(curves) == []

"""The laboratory's method `train`: any agent in any environment, stored, resumed, drawn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jekyllhyde import lab
from jekyllhyde.cli import main
from jekyllhyde.errors import InputError

SWEEP = """
name = "lakes"
method = "train"
runs = 2

[problem]
name = "FrozenLake-v1"
is_slippery = false

[settings]
steps = 400
eval_every = 200
eval_episodes = 2

[[series]]
label = "tables"
agent = "tabular_jekyll_hyde"

[[series]]
label = "networks"
agent = "ddqn"
hidden = [8]
batch = 8
"""


def experiment(**more: Any) -> lab.Experiment:
    given: dict[str, Any] = {
        "name": "lakes",
        "method": "train",
        "problem": {"name": "FrozenLake-v1", "is_slippery": False},
        "settings": {"steps": 400, "eval_every": 200, "eval_episodes": 2},
        "series": [{"label": "J&H", "agent": "tabular_jekyll_hyde"}],
        "runs": 3,
    }
    return lab.Experiment(**(given | more))


def test_a_sweep_of_trainings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, store = tmp_path / "sweep.toml", tmp_path / "store"
    file.write_text(SWEEP)
    out = ["--out", str(tmp_path / "out")]
    assert main(["sweep", str(file), "--store", str(store), *out, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["runs"] == 2
    assert report["failed"] == 0
    assert [(row["series"], row["environment steps"]) for row in report["points"]] == [
        ("tables", 400.0),
        ("networks", 400.0),
    ]
    assert {Path(path).suffix for path in report["files"]} == {".png", ".pdf", ".csv"}
    page = tmp_path / "page.html"
    assert main(["report", str(file), "--store", str(store), "--out", str(page)]) == 0
    assert "undiscounted return of the greedy policy" in page.read_text()


def test_runs_are_those_of_their_number_alone(tmp_path: Path) -> None:
    few, all_runs = experiment(runs=1), experiment()
    alone = lab.run(few, tmp_path / "a")
    together = lab.run(all_runs, tmp_path / "b")
    tag = next(iter(together.labels))
    assert together.samples[tag].shape == (3, 2)
    assert alone.samples[tag].tolist() == together.samples[tag][:1].tolist()
    assert together.x.tolist() == [200.0, 400.0]
    # what is stored is not computed again
    before = sorted((tmp_path / "b" / "parts").iterdir())
    lab.run(all_runs, tmp_path / "b")
    assert sorted((tmp_path / "b" / "parts").iterdir()) == before


def test_a_target_ends_a_run(tmp_path: Path) -> None:
    settings = {"steps": 20_000, "eval_every": 500, "eval_episodes": 5}
    curves = lab.run(experiment(settings=settings | {"target": 0.8}, runs=2), tmp_path / "a")
    (times,) = curves.samples.values()
    assert (times < 20_000).all()
    assert curves.panel.ylabel == "steps to a return of the greedy policy of 0.8"
    hopeless = {"steps": 600, "target": 2.0, "eval_every": 300}
    never = lab.run(experiment(settings=hopeless, runs=1), tmp_path / "b")
    assert next(iter(never.censored.values())).tolist() == [1.0]


def test_what_varies_is_the_agents_or_the_environments() -> None:
    one = experiment(vary={"is_slippery": [True, False]})
    assert [cell.problem["is_slippery"] for cell in one.cells] == [True, False]
    other = experiment(vary={"gamma": [0.9, 0.99]})
    assert [cell.settings["gamma"] for cell in other.cells] == [0.9, 0.99]
    assert len({cell.digest for cell in other.cells} | {cell.digest for cell in one.cells}) == 4


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"problem": {"name": "NoSuch-v0"}}, "cannot make the environment"),
        ({"settings": {"steps": 100, "eval_every": 200}}, "eval_every is 200"),
        ({"settings": {"agent": "ddqn", "etta": 1.0}}, "etta is not a setting of"),
        ({"settings": {"envs": 2}}, "takes one environment"),
    ],
)
def test_what_does_not_fit_is_refused_before_any_work(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        _ = experiment(**change).digest


def test_a_run_that_fails_counts_as_the_lowest(tmp_path: Path) -> None:
    from jekyllhyde.lab.panel import panel_of

    store = lab.Store.open(tmp_path / "store", create=True)
    given = experiment(problem={"name": "CliffWalking-v1"}, runs=3)
    rows = [
        {"run": 0, "end": 400, "at": [200, 400], "return": [-90.0, -13.0], "return_end": -13.0},
        {"run": 1, "end": 400, "at": [200, 400], "return": [-50.0, -17.0], "return_end": -17.0},
        {"run": 2, "failure": "it broke"},
    ]
    store.add([(given.cells[0], rows)], 1.0)
    (samples,) = lab.read(panel_of(given), store).samples.values()
    assert samples.tolist() == [[-90.0, -13.0], [-50.0, -17.0], [-90.0, -90.0]]

"""What users bring in files of their own: a figure, a domain, a density; and what is left out where
an extra is not installed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jekyllhyde as jh
from jekyllhyde import errors
from jekyllhyde.cli import main
from jekyllhyde.errors import InputError
from jekyllhyde.lab import panel as panels
from jekyllhyde.lab.figures import PANELS
from jekyllhyde.lab.methods import METHODS
from jekyllhyde.lab.panel import panel_of, read
from jekyllhyde.lab.problems import problem_for_run
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.store import Store
from jekyllhyde.parallel import count_threads

OWN = """
import numpy as np
from scipy import sparse
import jekyllhyde as jh
from jekyllhyde.lab import estimates
from jekyllhyde.lab.claims import compare
from jekyllhyde.lab.panel import Claim, Panel
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.verdicts import HIGHER

def coin(reward: float = 1.0, gamma: float = 0.9, seed: int = 0):
    P = sparse.csr_array(np.array([[0, 1.0], [0, 1.0], [0, 0], [0, 0]]))
    r = np.array([[0.0, reward], [0.0, 0.0]])
    return jh.FiniteMDP(P, r, gamma=gamma, terminal=[1], J_low=0.0, name=f"coin {seed}")

def density(t, mdp, pi, evaluation):
    return np.ones(mdp.n_states)

experiment = Experiment(
    name="own", method="plan", problem={"name": "own.py:coin", "seed": 3}, settings={"updates": 5},
    series=[{"label": "A & B", "tag": "a", "density": "own.py:density"}, {"label": "PG"}],
)
claim = Claim("rises", "It rises.", (compare(estimates.mean, ["a"], HIGHER),))
FIGURE = (Panel("one", "first", experiment, "updates", exact=True, claims=(claim,)),
          Panel("two", "second", experiment, "updates", series=("a",)))
ONE = FIGURE[0]
NONE = ()
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.py"
    path.write_text(OWN)
    return path


def figure(own: Path, name: str, *more: str) -> list[str]:
    store, out = str(own.parent / "store"), str(own.parent / "out")
    return ["figure", f"{own}:{name}", "--store", store, "--out", out, *more]


def test_a_figure_of_ones_own_is_drawn_judged_and_stored(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(figure(own, "FIGURE", "--json")) == 0
    report = json.loads(capsys.readouterr().out)
    assert list(report) == ["one", "two"]
    assert [claim["verdict"] for claim in report["one"]["claims"]] == ["supported"]
    lines = (own.parent / "out" / "two.csv").read_text().splitlines()
    assert len(lines) == 7
    assert all(line.startswith("A & B,") for line in lines[1:])
    assert sorted(path.name for path in (own.parent / "out").glob("one.*")) == [
        "one.claims.json",
        "one.csv",
        "one.pdf",
        "one.png",
    ]
    parts = sorted((own.parent / "store" / "parts").iterdir())
    assert main(figure(own, "ONE", "--json")) == 0
    assert sorted((own.parent / "store" / "parts").iterdir()) == parts
    out = str(own.parent / "r.html")
    store = str(own.parent / "store")
    capsys.readouterr()
    assert main(["report", f"{own}:FIGURE", "--store", store, "--out", out]) == 0
    assert "panels: one, two" in capsys.readouterr().out


def test_an_edited_file_is_computed_again(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first: list[Any] = []
    second: list[Any] = []
    for results in (first, second):
        assert main(figure(own, "ONE", "--json")) == 0
        results.append(json.loads(capsys.readouterr().out))
        own.write_text(OWN.replace("np.ones(mdp.n_states)", "np.array([0.5, 0.0])"))
    assert len(list((own.parent / "store" / "parts").iterdir())) == 2
    assert first[0]["one"]["claims"] != second[0]["one"]["claims"]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("NOTHING", "that file has no Panel (or tuple of Panels) NOTHING; it has FIGURE, ONE"),
        ("density", "that file has no Panel (or tuple of Panels) density"),
        ("NONE", "that file has no Panel (or tuple of Panels) NONE"),
    ],
)
def test_a_figure_that_is_none(
    own: Path, name: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(figure(own, name)) == 2
    assert sentence in capsys.readouterr().err


def domain(own: Path, **more: Any) -> Experiment:
    given: dict[str, Any] = {
        "name": "coins",
        "method": "learn",
        "problem": {"name": "own.py:coin"},
        "settings": {"trajectories": 20},
        "series": [{"label": "J&H"}],
        "runs": 3,
        "folder": own.parent,
    }
    return Experiment(**(given | more))


def test_a_domain_of_ones_own(own: Path, tmp_path: Path) -> None:
    experiment = domain(own, vary={"reward": [1.0, 2.0]})
    cell = experiment.cells[0]
    assert cell.complete["problem"]["name"].startswith("coin@")
    assert cell.complete["problem"]["seed"] == "run"
    assert [problem_for_run(cell.problem, run).name for run in range(2)] == ["coin 0", "coin 1"]
    curves = jh.lab.run(experiment, tmp_path / "store", workers=1)
    assert curves.failures == {"jh": 0}
    np.testing.assert_array_equal(curves.x, [1.0, 2.0])
    own.write_text(OWN.replace("{seed}", "number {seed}"))
    assert domain(own, vary={"reward": [1.0, 2.0]}).digest != experiment.digest
    assert problem_for_run(cell.problem, 0).name == "coin number 0"


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (
            {"name": "own.py:none"},
            r"problem is '.*own\.py:none', but that file has no function none",
        ),
        ({"name": "own.py:coin", "size": 3}, r"does not take size; it takes reward, gamma, seed"),
        ({"name": "own.py:coin", "reward": "x"}, r"reward is 'x'; it must be a number"),
    ],
)
def test_a_domain_that_does_not_fit(own: Path, problem: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        _ = domain(own, problem=problem).digest


def test_an_edited_npz_is_another_problem(tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    names = []
    for n_states in (4, 5):
        jh.chain(n_states).save(path)
        names.append(problem_for_run({"name": str(path)}, 0).n_states)
    assert names == [4, 5]


# Tags.


def test_tags_name_series_and_labels_are_shown(tmp_path: Path) -> None:
    experiment = Experiment(
        name="tags",
        method="plan",
        problem={"name": "chain", "n_states": 4},
        settings={"updates": 3},
        series=[
            {"label": "PG, as published", "tag": "pg"},
            {"label": "even", "density": "uniform"},
        ],
        vary={"beta": [0.1, 0.9], "eta": [1.0, 2.0]},
    )
    assert [cell.tag for cell in experiment.cells[:4]] == [
        "pg-eta1",
        "even-eta1",
        "pg-eta2",
        "even-eta2",
    ]
    assert experiment.cells[0].id == "tags/beta=0.1/eta=1/pg-as-published"
    curves = jh.lab.run(experiment, tmp_path / "store", workers=1)
    assert curves.labels["pg-eta2"] == "PG, as published eta=2"
    shown = panels.Panel("p", "", experiment, "beta", "J_norm_end", series=("pg-eta2",))
    assert list(read(shown, Store.open(tmp_path / "store")).y) == ["pg-eta2"]


@pytest.mark.parametrize(
    ("series", "message"),
    [
        ([{"label": "a", "tag": "x y"}], r"series 1 has the tag 'x y'; it must be made of small"),
        ([{"label": "a", "tag": 3}], r"series 1 has the tag 3"),
        (
            [{"label": "a", "tag": "x"}, {"label": "b", "tag": "x"}],
            r"series 2 has the label 'b', too much like 'a'; labels and tags must differ",
        ),
    ],
)
def test_tags_that_do_not_fit(series: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Experiment(name="a", method="plan", problem={"name": "chain"}, series=series)


# Extras that are not installed.


def test_all_leaves_out_what_needs_an_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(errors.EXTRAS, "deep", ("no_such_module",))
    small = {name: PANELS[name] for name in ("3a", "5a")}
    monkeypatch.setattr("jekyllhyde.lab.figures.PANELS", small)
    place = ["--store", str(tmp_path / "store")]
    assert main(["figure", "all", *place, "--out", str(tmp_path / "out"), "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == "left out, for lack of no_such_module: 3a\n"
    assert "5a" in json.loads(captured.out)
    assert main(["figure", "3a", *place]) == 2
    assert "needs no_such_module; install jekyllhyde[deep]" in capsys.readouterr().err
    assert main(["report", *place, "--out", str(tmp_path / "r.html")]) == 0
    assert "panels: 5a\nnot made, for lack of no_such_module: 3a\n" in capsys.readouterr().out
    assert "Not made, for lack of no_such_module: 3a." in (tmp_path / "r.html").read_text()


def test_pictures_are_asked_for_before_anything_is_computed(
    own: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(errors.EXTRAS, "plot", ("no_such_module",))
    assert main(figure(own, "ONE")) == 2
    assert "install jekyllhyde[plot]" in capsys.readouterr().err
    assert not (own.parent / "store").exists()


def test_the_obvious_panel_follows_the_method() -> None:
    for name, quantity, xlabel in (
        ("plan", "J_norm", "updates"),
        ("learn", "J_norm", "trajectories"),
        ("deep", "exact_score", "training episodes"),
    ):
        experiment = Experiment(
            name="a", method=name, problem={"name": "chain"}, series=[{"label": "a"}]
        )
        panel = panel_of(experiment)
        assert (panel.quantity, panel.xlabel, panel.unit) == (quantity, xlabel, METHODS[name].unit)


# Agents and choices, from TOML.

CHOICES = """
from typing import NamedTuple
import jekyllhyde as jh

class Mine(NamedTuple):
    scale: float = 1.0
    def value(self, visits, log_count):
        return self.scale / (1.0 + visits)

class Bold(jh.TabularJekyllHyde):
    def __init__(self, env=None, *, epsilon=0.5, **settings):
        super().__init__(env, epsilon=epsilon, **settings)

class Other:
    pass
"""
SWEEP = """
name = "own"
method = "learn"
problem = {name = "chain", n_states = 4}
settings = {trajectories = 30, points = 5}
series = [
    {label = "plain"},
    {label = "bonus", bonus = "choices.py:Mine(scale=2)"},
    {label = "bold", agent = "choices.py:Bold"},
]
"""


def test_choices_and_agents_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "choices.py").write_text(CHOICES)
    (tmp_path / "sweep.toml").write_text(SWEEP)
    experiment = Experiment.from_toml(tmp_path / "sweep.toml", trust=True)
    settings = [cell.complete["settings"] for cell in experiment.cells]
    assert [chosen["agent"].partition("@")[0] for chosen in settings] == [
        "jekyll-hyde",
        "jekyll-hyde",
        "Bold",
    ]
    assert settings[1]["bonus"].startswith("Mine(scale=2)@")
    assert settings[2]["epsilon"] == "0.5"
    curves = jh.lab.run(experiment, tmp_path / "store", workers=1)
    assert curves.failures == {"plain": 0, "bonus": 0, "bold": 0}
    assert not np.array_equal(curves.y["plain"], curves.y["bonus"])
    (tmp_path / "choices.py").write_text(CHOICES.replace("1.0 + visits", "2.0 + visits"))
    edited = Experiment.from_toml(tmp_path / "sweep.toml", trust=True)
    changed = [a.digest != b.digest for a, b in zip(edited.cells, experiment.cells, strict=True)]
    assert changed == [False, True, True]
    again = jh.lab.run(edited, tmp_path / "store", workers=1)
    assert not np.array_equal(again.samples["bonus"], curves.samples["bonus"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("choices.py:Bold", "choices.py:Other", r"must be a subclass of jekyllhyde\.Agent"),
        ("choices.py:Bold", "choices.py:None_", r"that file has no function None_"),
        ("Mine(scale=2)", "Mine(size=2)", r"bonus is .*Mine\(size=2\)'; .*takes \(scale"),
    ],
)
def test_choices_that_do_not_fit(tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "choices.py").write_text(CHOICES)
    (tmp_path / "sweep.toml").write_text(SWEEP.replace(old, new))
    with pytest.raises(InputError, match=message):
        Experiment.from_toml(tmp_path / "sweep.toml", trust=True)


@pytest.mark.parametrize("command", ["figure", "sweep"])
def test_help_shows_the_values_in_force(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "None" not in text
    assert f"--workers INT Tasks at a time. (default: {count_threads(None)}, one per core)" in text

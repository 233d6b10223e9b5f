"""Specifications: digests that never change, grids, and one clear sentence for everything that does
not fit.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jekyllhyde as jh
from jekyllhyde.errors import InputError
from jekyllhyde.lab.cell_settings import MOST, axis, canonical, slug
from jekyllhyde.lab.figures import PANELS
from jekyllhyde.lab.methods import METHODS, complete
from jekyllhyde.lab.problems import complete_problem, problem_for_run
from jekyllhyde.lab.spec import Cell, Experiment
from lab_sweeps import planned, small


def test_a_digest_is_of_the_complete_settings() -> None:
    cell = small().cells[0]
    assert canonical(cell.complete) == cell.text
    written_out = Cell(
        cell.experiment,
        cell.series,
        cell.values,
        "learn",
        {**cell.complete["problem"]},
        dict(cell.complete["settings"]),
        cell.seed,
    )
    assert written_out.digest == cell.digest
    assert cell.complete["settings"]["eta_c"] == 0.1
    assert cell.complete["problem"]["seed"] == "run"


def test_the_seeds_of_random_mdps_can_begin_anywhere() -> None:
    problem = {"name": "garnet", "n_states": 20}
    later = {**problem, "seed": "run+1000"}
    for run in (0, 3):
        meant = problem_for_run({**problem, "seed": 1000 + run}, run)
        assert problem_for_run(later, run).P.data.tolist() == meant.P.data.tolist()
        assert problem_for_run(later, run).P.data.tolist() != (
            problem_for_run(problem, run).P.data.tolist()
        )
    assert problem_for_run({**problem, "seed": "run+0"}, 2) is problem_for_run(problem, 2)

    def digest(seed: str) -> str:
        given = {**problem, "seed": seed}
        return Experiment("e", "plan", given, [{"label": "PG"}], {"updates": 5}).cells[0].digest

    assert len({digest("run"), digest("run+7"), digest("run+8")}) == 3
    for seed in ("run+", "run-1", "run+x", "runs"):
        with pytest.raises(InputError, match="it must be an integer"):
            digest(seed)


def test_equal_settings_have_equal_digests_and_others_do_not() -> None:
    base = planned().cells[0]

    def digest(**changes: Any) -> str:
        settings = {**base.settings, **changes.pop("settings", {})}
        problem = {**base.problem, **changes.pop("problem", {})}
        return Cell("name", "label", {}, "plan", problem, settings, changes.get("seed", 0)).digest

    assert digest() == base.digest
    assert (
        digest(settings={"eta": 1})
        == digest(settings={"eta": 1.0})
        == digest(settings={"eta": np.float64(1)})
        == base.digest
    )
    assert digest(settings={"density": "pg"}) == base.digest
    different = [
        digest(settings={"eta": 1.5}),
        digest(settings={"updates": 301}),
        digest(settings={"convention": "paper"}),
        digest(seed=1),
        digest(problem={"beta": 0.9}),
        digest(problem={"n_states": 4}),
        digest(settings={"eta": "1/t"}),
        base.digest,
    ]
    assert len(set(different)) == len(different)


def test_remembering_completions_changes_nothing() -> None:
    for experiment in (small(), planned()):
        for cell in experiment.cells:
            problem, settings = complete(cell.method, cell.problem, cell.settings)
            mdp = problem_for_run(cell.problem, 0)
            assert problem == canonical(complete_problem(cell.problem))
            assert settings == canonical(METHODS[cell.method].complete(mdp, cell.settings))


@pytest.mark.parametrize("first", [1, 1.0])
def test_remembered_numbers_do_not_let_booleans_pass(first: float) -> None:
    complete("plan", {"name": "chain"}, {"updates": first})
    with pytest.raises(InputError, match="updates is True; it must be an integer of at least 0"):
        complete("plan", {"name": "chain"}, {"updates": True})


def test_the_number_of_runs_is_not_part_of_it() -> None:
    assert small(3).digest == small(300).digest
    assert small(3).digest != small(3, seed=1).digest


def test_ids_are_readable() -> None:
    series = [{"label": "J&H eps=100/t o=0.5", "o": 0.5}]
    experiment = small(
        name="fig11a", series=series, vary={"eta": {"from": 1, "to": 10, "per_decade": 5}}
    )
    assert experiment.cells[4].id == "fig11a/eta=6.31/jh-100t-o0.5"
    assert len({cell.id for panel in PANELS.values() for cell in panel.experiment.cells}) > 1000


def test_a_coordinate_belongs_to_the_problem_if_it_can() -> None:
    cells = small(vary={"n_states": [10, 20], "eta": [0.1]}).cells
    assert [(cell.problem["n_states"], cell.settings["eta"], cell.x) for cell in cells] == [
        (10, 0.1, 10.0)
    ] * 2 + [(20, 0.1, 20.0)] * 2
    assert planned(vary={"density": ["pg", "uniform"]}, series=[{"label": "a"}]).cells[0].x is None


# Grids.

numbers = st.floats(-1e6, 1e6).map(lambda x: float(f"{x:.6g}"))


@given(numbers, st.floats(1e-3, 1e3).map(lambda x: float(f"{x:.4g}")), st.integers(0, 200))
def test_steps_reach_from_end_to_end(low: float, step: float, count: int) -> None:
    found = axis("x", {"from": low, "to": low + count * step, "step": step})
    assert len(found) == count + 1
    np.testing.assert_allclose(
        found,
        low + step * np.arange(count + 1),
        rtol=0,
        atol=1e-9 * max(1.0, abs(low), count * step),
    )
    assert found == sorted(found)


@given(st.integers(-6, 6), st.integers(0, 4), st.integers(1, 20))
def test_decades_hold_every_power(exponent: int, decades: int, per_decade: int) -> None:
    found = axis(
        "x", {"from": 10.0**exponent, "to": 10.0 ** (exponent + decades), "per_decade": per_decade}
    )
    assert len(found) == decades * per_decade + 1
    np.testing.assert_allclose(
        np.log10(found), exponent + np.arange(len(found)) / per_decade, atol=1e-11
    )
    assert all(float(10.0 ** (exponent + k)) in found for k in range(decades + 1))


@given(
    st.lists(
        st.one_of(st.integers(), st.floats(allow_nan=False), st.text(), st.booleans()),
        min_size=1,
        max_size=8,
    )
)
def test_a_list_is_taken_as_it_is_or_refused_for_a_repetition(values: list[Any]) -> None:
    if len({canonical(value) for value in values}) == len(values):
        assert axis("x", values) == values
        assert [type(value) for value in axis("x", values)] == [type(value) for value in values]
    else:
        with pytest.raises(InputError, match=r"vary\.x has a value twice"):
            axis("x", values)


def test_arrays_are_lists() -> None:
    assert axis("x", np.array([0.5, 1.0])) == [0.5, 1.0]
    assert type(axis("x", np.arange(2))[0]) is int


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], r"vary\.x has no values"),
        ([1, 1.0], r"vary\.x has a value twice"),
        ([math.nan], r"vary\.x has the value nan"),
        ([None], r"vary\.x has the value None"),
        ([[1]], r"vary\.x has the value \[1\]"),
        (
            0.5,
            r"vary\.x is 0\.5; it must be a list, \{from, to, step\} or \{from, to, per_decade\}",
        ),
        ("0.5", r"vary\.x is '0\.5'; it must be a list"),
        ({"from": 1, "to": 2}, r"it must be a list, \{from, to, step\}"),
        (
            {"from": 1, "to": 2, "step": 1, "per_decade": 1},
            r"it must be a list, \{from, to, step\}",
        ),
        ({"from": 1, "too": 2, "step": 1}, r"it must be a list, \{from, to, step\}"),
        ({"from": 2, "to": 1, "step": 1}, r"it must rise from `from` to `to`"),
        ({"from": 1, "to": 2, "step": 0}, r"it must rise"),
        ({"from": 1, "to": 2, "step": -1}, r"it must rise"),
        ({"from": 0, "to": 2, "per_decade": 1}, r"above 0 for per_decade"),
        ({"from": 2, "to": 3, "per_decade": 1}, r"has no values"),
        ({"from": "a", "to": 2, "step": 1}, r"vary\.x\.from is 'a'; it must be a finite number"),
        ({"from": 1, "to": math.inf, "step": 1}, r"vary\.x\.to is inf; it must be a finite number"),
        ({"from": 1, "to": math.nan, "step": 1}, r"vary\.x\.to is nan"),
        ({"from": True, "to": 2, "step": 1}, r"vary\.x\.from is True"),
        ({"from": 0, "to": 1, "step": 1e-15}, r"more than 1,000,000 values"),
        ({"from": 1e-300, "to": 1e300, "per_decade": 1e9}, r"more than 1,000,000 values"),
    ],
)
def test_impossible_grids(values: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        axis("x", values)


def test_a_grid_of_too_many_cells() -> None:
    side = {"from": 1, "to": 1000, "step": 1}
    with pytest.raises(
        InputError,
        match=rf"vary and series make 2,000,000 cells; an experiment has at most {MOST:,}",
    ):
        small(vary={"eta": side, "eta_c": side})


# Texts.

plain = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(plain)
def test_canonical_text_is_the_value(value: Any) -> None:
    assert json.loads(canonical(value)) == value


@given(st.dictionaries(st.text(max_size=4), plain, max_size=6), st.randoms(use_true_random=False))
def test_canonical_text_does_not_depend_on_order_or_number_types(
    value: dict[str, Any], shuffle: Any
) -> None:
    items = list(value.items())
    shuffle.shuffle(items)

    def other_types(one: Any) -> Any:
        if isinstance(one, dict):
            return {key: other_types(inner) for key, inner in one.items()}
        if isinstance(one, list):
            return tuple(other_types(inner) for inner in one)
        if isinstance(one, float):
            return np.float64(one)
        return (
            float(one)
            if isinstance(one, int) and not isinstance(one, bool) and abs(one) < 2**53
            else one
        )

    assert canonical({key: other_types(one) for key, one in items}) == canonical(value)


@given(plain, plain)
def test_other_values_have_other_texts(a: Any, b: Any) -> None:
    if canonical(a) == canonical(b):
        assert a == b


def test_canonical_refuses_what_is_not_plain() -> None:
    with pytest.raises(InputError, match="cannot be a setting"):
        canonical({"a": object()})


@given(st.text())
def test_slugs_are_safe_parts_of_ids(label: str) -> None:
    found = slug(label)
    assert "/" not in found
    assert not any(one.isspace() for one in found)
    assert (
        found == slug(found) or "eps" in label.lower() or "jh" in found or "sqrt" in label.lower()
    )


@pytest.mark.parametrize(
    ("label", "found"),
    [
        ("J&H eps=100/t o=0.5", "jh-100t-o0.5"),
        ("PG nu=1", "pg-nu1"),
        ("o=10/sqrt(t)", "o10sqrtt"),
        ("o=10/t", "o10t"),
        ("ε → 0", "ε-0"),
    ],
)
def test_slugs(label: str, found: str) -> None:
    assert slug(label) == found


# Errors.

GOOD = """
name = "mine"
method = "learn"
runs = 3
[problem]
name = "garnet"
n_states = 30
[settings]
trajectories = 100
[vary]
o = [0.1, 0.5]
[[series]]
label = "J&H"
epsilon = "100/t"
[[series]]
label = "uniform Hyde"
hyde = "uniform"
"""


def test_a_file_is_the_dataclass(tmp_path: Path) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text(GOOD)
    series = [{"label": "J&H", "epsilon": "100/t"}, {"label": "uniform Hyde", "hyde": "uniform"}]
    same = Experiment(
        name="mine",
        method="learn",
        runs=3,
        problem={"name": "garnet", "n_states": 30},
        settings={"trajectories": 100},
        vary={"o": [0.1, 0.5]},
        series=series,
    )
    assert Experiment.from_toml(path) == same
    assert Experiment.from_toml(path).digest == same.digest


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "runs = 3",
            "rns = 3",
            r"unknown key 'rns'; it takes name, method, problem, series, settings, vary, runs",
        ),
        ("runs = 3", "runs = 0", r"runs is 0; it must be an integer of at least 1"),
        ("runs = 3", "runs = 'many'", r"runs is 'many'; it must be an integer"),
        ("runs = 3", "runs = true", r"runs is True"),
        ("runs = 3", "runs = 1.5", r"runs is 1\.5"),
        ("runs = 3", "seed = -1", r"seed is -1; it must be an integer of at least 0"),
        ("runs = 3", "title = 3", r"title is 3; it must be a text"),
        ("runs = 3", "folder = '/'", r"unknown key 'folder'"),
        ("runs = 3", "runs = = 3", r"is not TOML: .*line 4"),
        (
            'name = "mine"',
            'name = "my sweep"',
            r"name is 'my sweep'; it must be made of letters, digits and",
        ),
        ('name = "mine"', "name = 3", r"name is 3; it must be made of"),
        ('name = "mine"', "", r"name is missing; the keys are name, method"),
        ('"learn"', '"lern"', r"method is 'lern'; it must be one of plan, learn"),
        ('"learn"', "[1]", r"method is \[1\]; it must be one of plan, learn"),
        (
            'name = "garnet"',
            'name = "grnet"',
            r"problem is 'grnet'; it must be one of chain, garnet, four_rooms, deep_sea",
        ),
        ('name = "garnet"', 'name = "none.npz"', r"none\.npz"),
        ('name = "garnet"', "", r"problem has no name; it must be a domain"),
        (
            "n_states = 30",
            "nstates = 30",
            r"problem garnet does not take nstates; it takes n_states, n_actions, connectivity",
        ),
        ("n_states = 30", 'n_states = "many"', r"n_states is 'many'; it must be an integer"),
        ("n_states = 30", "n_states = 30.5", r"n_states is 30\.5; it must be an integer"),
        ("n_states = 30", "n_states = true", r"n_states is True; it must be an integer"),
        ("n_states = 30", "n_states = [30]", r"n_states is \[30\]; it must be an integer"),
        ("n_states = 30", "gamma = nan", r"gamma is nan; a garnet takes one in \(0, 1\)"),
        ("n_states = 30", 'gamma = "0.9"', r"gamma is '0\.9'; it must be a number"),
        ("n_states = 30", 'seed = "each"', r"seed is 'each'; it must be an integer"),
        (
            "n_states = 30",
            "connectivity = 90",
            r"connectivity is 90; it cannot exceed the 50 states",
        ),
        (
            "trajectories = 100",
            "trajektories = 100",
            r"mine/o=0\.1/jh: trajektories is not a setting of tabular_jekyll_hyde; it takes agent",
        ),
        (
            "trajectories = 100",
            "trajectories = 0",
            r"trajectories is 0; it must be an integer of at least 1",
        ),
        ("trajectories = 100", 'trajectories = "1"', r"trajectories is '1'; it must be an integer"),
        ("trajectories = 100", "points = 0", r"points is 0"),
        ("trajectories = 100", "horizon = 0", r"horizon is 0; it must be an integer of at least 1"),
        ("trajectories = 100", 'horizon = "long"', r"horizon is 'long'; it must be an integer"),
        ("trajectories = 100", "target = nan", r"target is nan; it must be a normalized return"),
        (
            "trajectories = 100",
            'target = "0.5"',
            r"target is '0\.5'; it must be a normalized return",
        ),
        (
            "trajectories = 100",
            'target_on = "any"',
            r"target_on is 'any'; it must be one of both, global, jekyll",
        ),
        ("trajectories = 100", "eta = nan", r"eta is nan; it must be a positive number"),
        ("trajectories = 100", 'eta = "fast"', r"eta is 'fast'; it must be a number"),
        ("trajectories = 100", "eta = [1.0]", r"eta is \[1\.0\]; it must be a number"),
        ("trajectories = 100", "eta = {a = 1}", r"eta is \{'a': 1\}; it must be a number"),
        (
            "trajectories = 100",
            "eta = 2020-01-01",
            r"eta is datetime\.date\(2020, 1, 1\); it must be a number",
        ),
        (
            "trajectories = 100",
            'hyde_clip = "high"',
            r"hyde_clip is 'high'; it must be a number or nothing",
        ),
        (
            "trajectories = 100",
            'critic = "sarsa"',
            r"critic is 'sarsa'; it must be one of expected_sarsa, q_learning",
        ),
        ("trajectories = 100", "critic = 7", r"critic is 7; it must be one of expected_sarsa"),
        (
            "trajectories = 100",
            'agent = "sac"',
            r"agent is 'sac'; it must be one of tabular_jekyll_hyde, .*tabular_psrl, or file",
        ),
        (
            "trajectories = 100",
            "agent = [1]",
            r"agent is \[1\]; it must be a text",
        ),
        ("trajectories = 100", "seed = 3", r"seed is not a setting of tabular_jekyll_hyde"),
        (
            'epsilon = "100/t"',
            'epsilom = "100/t"',
            r"mine/o=0\.1/jh: epsilom is not a setting of tabular_jekyll_hyde; .*epsilon, o, hyde",
        ),
        ('epsilon = "100/t"', 'epsilon = "t/100"', r"epsilon 't/100' is not a schedule"),
        ('epsilon = "100/t"', "epsilon = 2", r"epsilon is 2; a constant epsilon is a probability"),
        ('epsilon = "100/t"', "epsilon = nan", r"epsilon nan is not a schedule"),
        ('epsilon = "100/t"', "o = 0.3", r"series 'J&H' sets o, which vary sets too"),
        ('epsilon = "100/t"', 'agent = "on-policy"', r"o is not a setting of tabular_on_policy"),
        ('hyde = "uniform"', "lam = 0.1", r"lam is not a setting of tabular_jekyll_hyde"),
        (
            'label = "J&H"',
            "",
            r"series 1 has the label None; it must be a text with a letter or a digit",
        ),
        ('label = "J&H"', "label = 3", r"series 1 has the label 3"),
        ('label = "J&H"', 'label = ""', r"series 1 has the label ''"),
        (
            'label = "J&H"',
            'label = "&&"',
            r"series 1 has the label '&&'; it must be a text with a letter or a digit",
        ),
        (
            'label = "J&H"',
            'label = "uniform Hyde"',
            r"series 2 has the label 'uniform Hyde', too much like 'uniform Hyde'",
        ),
        (
            'label = "J&H"',
            'label = "uniform/Hyde"',
            r"series 2 has the label 'uniform Hyde', too much like 'uniform/Hyde'",
        ),
        ("o = [0.1, 0.5]", "o = []", r"vary\.o has no values"),
        ("o = [0.1, 0.5]", "o = [0.1, nan]", r"vary\.o has the value nan"),
        (
            "o = [0.1, 0.5]",
            "o = [0.1, 2]",
            r"mine/o=2/jh: o is 2; a constant o is a probability in \[0, 1\]",
        ),
        (
            "o = [0.1, 0.5]",
            "oo = [0.1]",
            r"mine/oo=0\.1/jh: oo is not a setting of tabular_jekyll_hyde",
        ),
        ("o = [0.1, 0.5]", "o = 2020-01-01", r"vary\.o is datetime"),
        ("[vary]", "[[vary]]", r"vary is \[.*\]; it must be a table of settings"),
        ("[settings]", "[[settings]]", r"settings is \[.*\]; it must be a table of settings"),
    ],
)
def test_a_misspelt_or_impossible_file_is_one_sentence(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = tmp_path / "sweep.toml"
    assert old in GOOD
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(InputError, match=message) as caught:
        Experiment.from_toml(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "series",
    ["series = []", "series = 3", "series = 'PG'", "series = [1]", "[series]\nlabel = 'PG'"],
)
def test_series_must_be_tables(tmp_path: Path, series: str) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text(
        f"{series}\n" + GOOD[: GOOD.index("[[series]]")]
        if "[" != series[0]
        else GOOD[: GOOD.index("[[series]]")] + series
    )
    with pytest.raises(
        InputError,
        match=r"series is .*; it must be one or more tables, each with a label",
    ):
        Experiment.from_toml(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"none\.toml cannot be read \(No such file or directory\)"
    ):
        Experiment.from_toml(tmp_path / "none.toml")
    with pytest.raises(InputError, match=r"cannot be read \(it is not a plain file\)"):
        Experiment.from_toml(tmp_path)
    (tmp_path / "latin.toml").write_bytes('name = "Zoë"'.encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.toml cannot be read"):
        Experiment.from_toml(tmp_path / "latin.toml")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"updates": -1}, r"updates is -1; it must be an integer of at least 0"),
        (
            {"denstiy": "pg"},
            r"denstiy is not a setting of plan; it takes parametrization, density, o, eta, lam",
        ),
        (
            {"density": "pgg"},
            r"density is 'pgg'; it must be one of pg, undiscounted, uniform, mixture",
        ),
        ({"density": "mixture"}, r'density "mixture" needs o'),
        ({"density": [1.0, 2.0]}, r"density has shape \(2,\); it must be \[3\]"),
        ({"lam": math.nan}, r"lam is nan"),
        ({"target": math.inf}, r"target is inf"),
        ({"parametrization": "linear"}, r"parametrization is 'linear'"),
        ({"eta": 0}, r"eta is 0; it must be positive"),
    ],
)
def test_wrong_settings_of_plan(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=rf"planned/n_states=3/pg: {message}"):
        _ = planned(settings=settings).digest


def test_a_bool_option_is_not_a_text() -> None:
    with pytest.raises(InputError, match=r"replay is 'yes'; it must be true or false"):
        _ = small(series=[{"label": "PG", "agent": "on-policy", "replay": "yes"}]).digest


# Own functions and files.


@pytest.mark.parametrize(
    ("content", "reference", "message"),
    [
        (
            None,
            "own.py:f",
            r"density is '.*own\.py:f', but that file cannot be read \(No such file or directory\)",
        ),
        (
            "def g(): pass",
            "own.py:f",
            r"density is '.*own\.py:f', but that file has no function f; it has g",
        ),
        ("f = 3", "own.py:f", r"has no function f; it has none"),
        ("def f(:", "own.py:f", r"density is '.*', but that file cannot be loaded \(SyntaxError"),
        ("raise KeyError('x')", "own.py:f", r"cannot be loaded \(KeyError: 'x'\)"),
        ("raise SystemExit(3)", "own.py:f", r"cannot be loaded \(SystemExit: 3\)"),
        ("import nothing_of_that_name", "own.py:f", r"cannot be loaded \(ModuleNotFoundError"),
        ("def f(): pass", "own.py", r"density is 'own\.py'; it must be one of pg"),
    ],
)
def test_own_functions_that_are_not_there(
    tmp_path: Path, content: str | None, reference: str, message: str
) -> None:
    if content is not None:
        (tmp_path / "own.py").write_text(content)
    path = tmp_path / "sweep.toml"
    path.write_text(
        'name = "a"\nmethod = "plan"\nproblem = {name = "chain"}\n'
        f'series = [{{label = "mine", density = "{reference}"}}]'
    )
    with pytest.raises(InputError, match=message) as caught:
        Experiment.from_toml(path, trust=True)
    assert str(caught.value).startswith(f"{path}: a/mine: ")


OWN = """
from __future__ import annotations
from dataclasses import dataclass

@dataclass
class Weights:
    factor: float

def density(t, mdp, pi, evaluation):
    return Weights(2.0).factor * evaluation.density(mdp.gamma)
"""


def test_own_files_are_found_beside_the_specification_and_known_by_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = []
    text = 'name = "a"\nmethod = "plan"\nproblem = {name = "%s"}\n'
    text += 'series = [{label = "mine", density = "own.py:density"}]'
    for folder, change in (("one", ""), ("two", ""), ("three", "# edited")):
        place = tmp_path / folder
        place.mkdir()
        (place / "own.py").write_text(OWN + change)
        jh.chain(5).save(place / "problem.npz")
        (place / "sweep.toml").write_text(text % "problem.npz")
        monkeypatch.chdir(place if folder == "two" else tmp_path)
        path = Path("sweep.toml") if folder == "two" else place / "sweep.toml"
        experiment = Experiment.from_toml(path, trust=True)
        digests.append(experiment.digest)
        monkeypatch.chdir(tmp_path)
        row = METHODS["plan"].run_block(
            experiment.cells[0].problem,
            experiment.cells[0].settings,
            0,
            range(1),
            lambda count: None,
        )[0]
        assert "failure" not in row
    assert digests[0] == digests[1] != digests[2]


def test_an_edited_function_is_another_cell(tmp_path: Path) -> None:
    digests = set()
    for factor in ("2.0", "3.0"):
        (tmp_path / "own.py").write_text(OWN.replace("2.0", factor))
        digests.add(
            planned(series=[{"label": "mine", "density": "own.py:density"}], folder=tmp_path).digest
        )
    assert len(digests) == 2

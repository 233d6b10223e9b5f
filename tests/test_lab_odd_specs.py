"""Odd experiments: impossible, enormous or malicious files are one sentence before any work; odd
labels are text wherever they are shown.
"""

from __future__ import annotations

import csv
import importlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jekyllhyde import plotting
from jekyllhyde.cli import main
from jekyllhyde.errors import InputError, plain
from jekyllhyde.lab import engine, problems
from jekyllhyde.lab.methods import METHODS
from jekyllhyde.lab.methods import plan as plan_method
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.store import Store
from jekyllhyde.mdp.finite import FiniteMDP
from lab_sweeps import small

draw: Any = importlib.import_module("jekyllhyde.lab.draw")  # not the function of this name
BASE = {
    "name": '"x"',
    "method": '"plan"',
    "problem": '{name = "chain", n_states = 4}',
    "series": '[{label = "PG"}]',
    "settings": "{updates = 5}",
}
LEARN = {"method": '"learn"', "settings": "{trajectories = 5}"}


def text(**changes: str) -> str:
    return "".join(f"{key} = {value}\n" for key, value in (BASE | changes).items())


def read(path: Path, content: str) -> Experiment:
    path.write_text(content)
    return Experiment.from_toml(path)


def problem(name: str, **options: str) -> str:
    given = "".join(f", {key} = {value}" for key, value in options.items())
    return text(problem=f'{{name = "{name}"{given}}}')


ODD = {
    "runs": [text(runs=v) for v in ("1000000000000", "1e400", "nan", "true", "0", "2000000000")],
    "seed": [text(seed=v) for v in ("-1", "1e400", "[]", "0.5")],
    "at most": [
        problem("chain", n_states="10_000_000_000"),
        problem("garnet", n_states="100_000"),
        problem("garnet", n_states="10", n_actions="100_000_000"),
        problem("four_rooms", size="100_001"),
        problem("deep_sea", n="100_000"),
        problem("river_swim", n="100_000_000"),
        problem("locks", length="100_000_000"),
        problem("maze", rooms="100_000"),
        text(settings="{updates = 99999999999}"),
        text(name=f'"{"n" * 300}"'),
        text(name=f'"{"é" * 150}"'),
    ],
    "problem|MDP|NoSuch": [
        text(problem=v)
        for v in ("[]", "{}", '"chain"', "{name = 3}", "{name = 1979-05-27}", '{name = ""}')
    ]
    + [problem(name) for name in ("\\u0000", "/", ".", "/dev/zero", "NoSuch-v9")],
    "n_states": [problem("chain", n_states=v) for v in ("1e400", "nan", "-4", "1979-05-27")],
    "gamma": [problem("chain", gamma=v) for v in ("nan", "inf", '"x"')],
    "series": [text(series=v) for v in ("[]", "[{}]", "[1]", "3", '[{label = "\\u001b[2J"}]')],
    "eta": [text(settings=f"{{eta = {v}}}") for v in ("nan", '"9**9**9"', "{a = 1}", "[[1]]")],
    "vary": [
        text(vary=f"{{eta = {v}}}")
        for v in (
            "[]",
            "[1, 1]",
            "[nan]",
            "1",
            "[[1]]",
            "{from = 0, to = 1e400, step = 1}",
            "{from = 0, to = 1e9, step = 1}",
            "{from = 0, to = 1, step = 5e-324}",
            "{from = 1e-300, to = 1e300, per_decade = 1e300}",
        )
    ],
    "nested|TOML|Expected|missing": [
        "[" * 5000,
        "a = " + "[" * 5000,
        "a = " + "{a = " * 3000,
        "",
        "\0",
    ],
    "hyde": [
        text(**LEARN | {"settings": f'{{hyde = "{v}"}}'}) for v in ("(" * 3000, "count(a=9**9**9)")
    ],
}


@pytest.mark.parametrize(
    ("message", "content"), [(key, content) for key, each in ODD.items() for content in each]
)
def test_an_odd_file_is_one_sentence(tmp_path: Path, message: str, content: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path / "x.toml", content)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 10_000


def test_memory_is_estimated_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = read(tmp_path / "x.toml", text(settings="{updates = 2000000000}"))
    monkeypatch.setattr(engine, "machine_memory", lambda: 1e10)
    monkeypatch.setattr(plan_method, "plan", lambda *a, **k: pytest.fail("it has begun"))
    store = Store.open(tmp_path / "store", create=True)
    for work in (engine.run, engine.calibrate):
        with pytest.raises(InputError, match=r"x/pg: \d+ such runs at once may take \d+ GiB"):
            work([long], store, workers=1)


def test_making_problems_is_part_of_the_estimate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.open(tmp_path / "store", create=True)
    own, shared = small(40), small(40, problem={"name": "garnet", "n_states": 12, "seed": 3})
    monkeypatch.setattr(engine, "_seconds_per_unit", lambda cell: 0.0)
    kind = problems.MODELS._replace(making=lambda problem: (10.0, problems.making(problem)[1]))
    monkeypatch.setattr(engine, "METHODS", {"learn": replace(METHODS["learn"], problems=kind)})
    assert engine.calibrate([own], store, workers=1)[1] == 400.0
    assert engine.calibrate([shared], store, workers=1)[1] == 10.0
    assert problems.making({"name": "garnet", "n_states": 50})[0] > 0.0


# Labels.

LABELS = ["cost $_$", "PG [/b]", "J&H [o=0.5]", "_hidden", "<b>bold</b>", "$5", "l" * 300]


def sweep(tmp_path: Path, *more: str, **changes: str) -> int:
    (tmp_path / "x.toml").write_text(text(**changes))
    folders = ["--store", str(tmp_path / "store"), "--out", str(tmp_path / "out")]
    return main(["sweep", str(tmp_path / "x.toml"), *folders, *more])


def numbers(tmp_path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((tmp_path / "out" / "x.csv").read_text().splitlines()))


def labelled(labels: list[str]) -> str:
    series = ", ".join(
        f"{{label = {json.dumps(label)}, eta = {i + 1}}}" for i, label in enumerate(labels)
    )
    return f"[{series}]"


def test_labels_are_text_in_every_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    shown: list[str] = []
    save = draw.save_figure

    def look(figure: Any, *paths: Path) -> None:
        save(figure, *paths)
        shown.extend(item.get_text() for item in figure.axes[0].get_legend().get_texts())

    monkeypatch.setattr(draw, "save_figure", look)
    title = '"100 $ [red] \\u001b[2J"'
    assert sweep(tmp_path, title=title, series=labelled(LABELS)) == 0
    printed = capsys.readouterr().out
    assert all(label in printed for label in LABELS)
    assert [label.strip().replace("\\$", "$")[:80] for label in shown] == [x[:80] for x in LABELS]
    rows = numbers(tmp_path)
    assert {row["series"] for row in rows} == set(LABELS)
    assert (tmp_path / "out" / "x.png").stat().st_size > 1000


def test_text_for_matplotlib_is_never_a_formula() -> None:
    cbook = pytest.importorskip("matplotlib.cbook")
    for label in LABELS:
        assert not cbook.is_math_text(plotting.as_text(label))
        assert not plotting.as_text(label).startswith("_")


FAILING = "def density(t, mdp, pi, evaluation):\n    raise ValueError('no \\x1b[31mluck')\n"


def test_a_series_whose_runs_all_fail_is_drawn_as_zero(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(FAILING)
    series = '[{label = "bad", density = "own.py:density"}, {label = "PG"}]'
    assert sweep(tmp_path, "--trust", series=series) == 0
    rows = numbers(tmp_path)
    assert {float(row["y"]) for row in rows if row["series"] == "bad"} == {0.0}
    assert len([row for row in rows if row["series"] == "PG"]) == 6


def test_where_all_runs_fail_the_reason_is_said_and_harmless(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own.py").write_text(FAILING)
    series = '[{label = "bad", density = "own.py:density"}]'
    assert sweep(tmp_path, "--trust", series=series) == 2
    written = capsys.readouterr().err
    assert "jh: panel x: all runs failed (ValueError: no \\x1b[31mluck)" in written
    assert "\x1b" not in written


def test_series_of_different_lengths_are_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    series = '[{label = "PG"}, {label = "long", updates = 9}]'
    assert sweep(tmp_path, series=series) == 2
    assert "give all of them the same updates and points" in capsys.readouterr().err


def test_numbers_are_written_before_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: Any) -> None:
        raise InputError("no picture")

    monkeypatch.setattr(draw, "save_figure", fail)
    assert sweep(tmp_path) == 2
    assert (tmp_path / "out" / "x.csv").read_text().startswith("series,x,y,lo,hi")


@pytest.mark.parametrize(
    "evil", ["\x1b[2J", "\x07", "\x9b31m", "\u202egnp.exe", "a\nb", "\r\x08", "\ud800"]
)
def test_what_is_shown_is_printable(evil: str) -> None:
    assert plain(evil).isprintable()
    assert plain("Zoë 结果 ∞") == "Zoë 结果 ∞"


def test_the_name_of_an_mdp_is_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mdp = FiniteMDP(
        np.ones((2, 2, 1)) * [0.0, 1.0], [[1, 2], [0, 0]], terminal=[1], name="\x1b[2J[b]"
    )
    mdp.save(tmp_path / "x.npz")
    assert main(["plan", str(tmp_path / "x.npz"), "--updates", "3", "--check"]) == 0
    printed = capsys.readouterr().out
    assert "\\x1b[2J[b]: 2 states" in printed
    assert all(c.isprintable() or c == "\n" for c in printed)


# Code.


@pytest.mark.parametrize(
    "changes",
    [
        {"series": '[{label = "a", density = "own.py:density"}]'},
        {"problem": '{name = "own.py:density"}'},
        {"problem": '{name = "own:Env-v0"}'},
        {"vary": '{density = ["pg", "own.py:density"]}'},
        {"settings": '{density = "own.py:density(a=1)"}'},
    ],
)
@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_reading_a_file_runs_no_code_of_others(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, str],
    dry: list[str],
) -> None:
    (tmp_path / "own.py").write_text("import pathlib\npathlib.Path('ran').touch()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert sweep(tmp_path, *dry, **changes) == 2
    assert not (tmp_path / "ran").exists()
    assert "it runs code of others, own" in capsys.readouterr().err

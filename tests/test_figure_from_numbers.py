"""Panels drawn again from their numbers (`jh figure P --numbers FOLDER`), without any run."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jekyllhyde.cli import main
from jekyllhyde.errors import EXTRAS
from jekyllhyde.lab import engine, stored_numbers
from jekyllhyde.lab.draw import note
from jekyllhyde.lab.exploration.panels import PANELS as EXPLORATION
from jekyllhyde.lab.figures import PANELS
from jekyllhyde.lab.panel import panel_of, read
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.store import Store
from jekyllhyde.lab.stored_numbers import COLUMNS, numbers_text, read_numbers

RESULTS = Path(__file__).resolve().parent.parent / "docs" / "results"
ENDINGS = ("png", "pdf", "csv", "claims.json")
OWN = """
from jekyllhyde.lab import Claim, Experiment, Panel, estimates
from jekyllhyde.lab.claims import compare
from jekyllhyde.lab.verdicts import HIGHER

series = [{"label": "J&H, größer → ∞"}, {"label": "PG", "epsilon": 0.0}]
shown = {"name": "own", "method": "learn", "series": series, "runs": 3}
chain = {"name": "chain", "n_states": 5}
curve = Experiment(problem=chain, settings={"trajectories": 30}, **shown)
words = Experiment(problem=chain, settings={"trajectories": 100, "target": 0.5},
                   vary={"o": [0.5, "10/t", 1.0]}, **shown)
claim = Claim("ahead", "PG \\u00e4hnelt ihm.", (compare(estimates.mean, ["pg"], HIGHER),))
PANELS = (Panel("curve", "a curve", curve, "trajectories", claims=(claim,)),
          Panel("words", "an axis of words", words, "o", quantity="time"))
"""
Change = Callable[[Path], object]


@pytest.fixture(autouse=True)
def nothing_is_computed(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder of its own; unless the test makes runs, no store is opened."""
    monkeypatch.chdir(tmp_path)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a store was opened")

    if "own" not in request.fixturenames:
        monkeypatch.setattr(Store, "open", refuse)


@pytest.fixture
def own(tmp_path: Path) -> str:
    """A file with panels of one's own."""
    (tmp_path / "own.py").write_text(OWN)
    return "own.py:PANELS"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the numbers of one panel."""
    path = tmp_path / "numbers"
    path.mkdir()
    for ending in ENDINGS[2:]:
        shutil.copy(RESULTS / f"5b.{ending}", path)
    return path


def files(*names: str) -> set[str]:
    return {f"{name}.{ending}" for name in names for ending in ENDINGS}


def there(path: Path) -> set[str]:
    return {file.name for file in path.iterdir()}


def draw(*names: str, numbers: Path, out: str = "out") -> int:
    return main(["figure", *names, "--numbers", str(numbers), "--out", out])


def test_panels_are_drawn_from_the_results_without_a_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert draw("5a", "11b", "3a-weights", "1", numbers=RESULTS) == 0
    out = tmp_path / "out"
    assert there(out) == files("5a", "11b", "3a-weights") | {"1.png", "1.pdf"}
    assert there(tmp_path) == {"out"}
    printed = capsys.readouterr().out
    for name in ("5a", "11b", "3a-weights"):
        assert (out / f"{name}.csv").read_bytes() == (RESULTS / f"{name}.csv").read_bytes()
        claims = json.loads((out / f"{name}.claims.json").read_text())
        assert [claim["id"] for claim in claims] == [claim.id for claim in PANELS[name].claims]
        stored = json.loads((RESULTS / f"{name}.claims.json").read_text())
        verdicts = {record["id"]: record["verdict"] for record in stored}
        for claim in claims:
            assert claim["verdict"] == verdicts[claim["id"]]
            assert claim["id"] in printed
        assert f"panel {name}: " in printed
    assert "beside the paper: 420 points, 100 % within noise" in printed
    assert "claims hold" in printed
    assert "earlier settings" not in printed


@pytest.mark.long
def test_every_panel_is_drawn_from_the_results(tmp_path: Path) -> None:
    assert draw("all", "exploration", numbers=RESULTS) == 0
    drawings = {f"{name}.{ending}" for name in "14" for ending in ENDINGS[:2]}
    assert there(tmp_path / "out") == files(*PANELS, *EXPLORATION) | drawings
    assert there(tmp_path) == {"out"}


def test_what_jh_figure_wrote_is_drawn_again(
    own: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same numbers byte for byte, the same claims, and the same picture."""
    asked = ["figure", own, "--json"]
    assert main([*asked, "--store", "store", "--out", "first"]) == 0
    first = json.loads(capsys.readouterr().out)
    shutil.rmtree("store")
    for source, target in (("first", "second"), ("second", "third"), ("third", "third")):
        assert main([*asked, "--numbers", source, "--out", target]) == 0
        again = json.loads(capsys.readouterr().out)
        assert there(tmp_path / target) == files("curve", "words")
        for name in ("curve", "words"):
            for key in ("runs", "claims", "published"):
                assert again[name][key] == first[name][key]
            for ending in ("png", "csv", "claims.json"):
                file = f"{name}.{ending}"
                assert Path(target, file).read_bytes() == Path("first", file).read_bytes()
    assert not Path("store").exists()
    assert "größer → ∞" in Path("third", "curve.csv").read_text()


def test_failed_runs_and_missing_places_of_an_axis_of_words_are_kept(
    own: str, tmp_path: Path
) -> None:
    experiment = Experiment(
        name="own",
        method="learn",
        problem={"name": "chain", "n_states": 5},
        series=[{"label": "J&H"}, {"label": "PG", "epsilon": 0.0}],
        settings={"trajectories": 50, "target": 0.5},
        vary={"o": [0.5, "10/t", "1/t"]},
        runs=2,
    )
    store, whole = Store.open("store", create=True), panel_of(experiment)
    engine.run([experiment], store, workers=1)
    fewer = replace(whole, experiment=replace(experiment, vary={"o": ["10/t", "1/t"]}))
    curves = read(fewer, store)
    curves = replace(curves, failures=dict(zip(curves.labels, (1, 0), strict=True)))
    (tmp_path / "own.csv").write_text(numbers_text(curves))
    (tmp_path / "own.claims.json").write_text("[]")
    again = read_numbers({"own": whole}, tmp_path)["own"].curves
    assert again.panel.words == ["10/t", "1/t"]
    assert again.x.tolist() == [0.0, 1.0]
    assert note(again) == note(curves) == "2 runs, 1 failed, 95 % intervals"
    for tag in curves.labels:
        assert np.allclose(again.y[tag], curves.y[tag])
        assert (again.censored[tag] == curves.censored[tag]).all()


def test_numbers_of_earlier_versions_are_drawn() -> None:
    """Those of exploration say no runs; one panel shows a view, another some of its tasks."""
    names = ("exploration-profile", "exploration-parts")
    old = ["series,x,y,lo,hi\nJ&H,1,2,1,3\nJ&H,2,3,2,4\n"] * 2
    old[1] = "series,x,y,lo,hi\nJ&H,garnet,2,1,3\nJ&H,locks_12,3,2,4\n"
    Path("old").mkdir()
    for name, text in zip(names, old, strict=True):
        Path("old", f"{name}.csv").write_text(text)
        shutil.copy(RESULTS / f"{name}.claims.json", "old")
    read_ = read_numbers(EXPLORATION, Path("old"))
    profile, parts = (read_[name].curves for name in names)
    assert profile.panel.quantity == "profile"
    assert profile.panel.ylabel == "share of runs"
    assert parts.panel.words == ["locks_12", "garnet"]
    assert parts.x.tolist() == [1.0, 0.0]
    assert note(parts) == "runs not stated, 95 % intervals"
    assert draw(*names, numbers=Path("old")) == 0
    assert there(Path("out")) == files(*names)


@pytest.mark.parametrize(("digest", "said"), [("0123", True), (None, False), ("present", False)])
def test_numbers_of_earlier_settings_say_so(
    folder: Path, capsys: pytest.CaptureFixture[str], digest: str | None, said: bool
) -> None:
    if digest is not None:
        present = PANELS["5b"].experiment.digest
        made = {"5b": present if digest == "present" else digest}
        (folder / "made.json").write_text(json.dumps(made))
    assert draw("5b", numbers=folder) == 0
    assert ("earlier settings" in capsys.readouterr().out) == said
    assert main(["figure", "5b", "--numbers", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["5b"]["earlier_settings"] == said


def test_a_claim_that_came_later_is_not_judged(folder: Path) -> None:
    path = folder / "5b.claims.json"
    first, *others = json.loads(path.read_text())
    path.write_text(json.dumps([*others, {**first, "id": "gone"}]))
    assert draw("5b", numbers=folder) == 0
    claims = json.loads(Path("out", "5b.claims.json").read_text())
    assert [claim["id"] for claim in claims] == [claim.id for claim in PANELS["5b"].claims]
    assert claims[0]["verdict"] == "undecided"
    assert claims[0]["measured"] == "not run yet"
    assert claims[0]["place"] == PANELS["5b"].claims[0].place


def test_panels_with_networks_are_drawn_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXTRAS, "deep", ("no_such_module",))
    assert draw("3a-weights", numbers=RESULTS) == 0
    assert there(Path("out")) == files("3a-weights")


def refused(capsys: pytest.CaptureFixture[str]) -> str:
    """The one sentence of a refusal, after which nothing was written."""
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("jh: ")
    assert not Path("out").exists()
    return line


def test_panels_without_numbers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert draw("5b", "6a", numbers=folder) == 2
    assert refused(capsys) == f"jh: numbers is {str(folder)!r}; it has no numbers of 6a"
    assert draw("6", numbers=folder) == 2
    assert "it has no numbers of 6a, 6b, " in refused(capsys)
    assert draw("5b", numbers=folder / "none") == 2
    assert refused(capsys).endswith("none'; it cannot be read: No such file or directory")
    assert draw("5b", numbers=folder / "5b.csv") == 2
    assert "Not a directory" in refused(capsys)
    (folder / "5b.claims.json").unlink()
    assert draw("5", numbers=folder) == 2
    assert "5b.claims.json cannot be read (No such file or directory)" in refused(capsys)


def test_a_figure_is_drawn_without_those_of_its_panels_that_have_no_numbers(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert draw("5", numbers=folder) == 0
    assert there(Path("out")) == files("5b")
    said = capsys.readouterr().err
    others = [name for name in PANELS if name.startswith("5") and name != "5b"]
    assert said == f"left out, for lack of numbers: {', '.join(others)}\n"


@pytest.mark.parametrize(
    "flags",
    [
        ["--store", "s"],
        ["--engine", "ray"],
        ["--workers", "2"],
        ["--address", "auto"],
        ["--dry-run"],
        ["--runs", "3"],
        ["--preset", "quick"],
    ],
)
def test_flags_about_runs_are_refused(
    folder: Path, flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["figure", "5b", "--numbers", str(folder), "--out", "out"]
    assert main([*asked, *flags]) == 2
    assert refused(capsys).endswith(f"what is there is only drawn; leave out {flags[0]}")


HEAD = ",".join(COLUMNS)


def text(*lines: str) -> Change:
    return lambda path: path.write_text("\n".join(lines))


def pg(**entries: str) -> str:
    """A line of the CSV, some entries of which are other ones."""
    usual = dict.fromkeys(COLUMNS, "1") | {"series": "PG", "censored": "0", "failed": "0"}
    return ",".join((usual | entries).values())


def as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def as_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


WRONG_NUMBERS: dict[str, tuple[Change, str]] = {
    "empty": (text(), "it is empty"),
    "head": (text(HEAD), "it has no line below its head"),
    "column": (text("series,x,y", "PG,6,1"), "it has no column lo, hi; its columns must be"),
    "nan": (text(HEAD, pg(y="nan"), pg(x="2", y="nan")), "its y has no number"),
    "infinite": (text(HEAD, pg(y="inf")), "its y has no number"),
    "series": (text(HEAD, pg(series="größer")), "it has the series 'größer'; panel 5b has PG, "),
    "hidden": (text(HEAD, pg(series="\x1b[2J")), r"it has the series '\x1b[2J'; panel 5b"),
    "number": (text(HEAD, pg(), pg(lo="low")), "line 3: lo is 'low'; it must be a number"),
    "place": (text(HEAD, pg(x="inf")), "series 'PG': x must be finite"),
    "no place": (text(HEAD, pg(x="nan")), "series 'PG': x must be finite"),
    "share": (text(HEAD, pg(censored="1.5")), "series 'PG': censored must be a share"),
    "runs": (text(HEAD, pg(runs="-1")), "series 'PG': runs and failed are counts"),
    "part": (text(HEAD, pg(runs="1.5")), "series 'PG': runs and failed are counts"),
    "endless": (text(HEAD, pg(failed="inf")), "series 'PG': runs and failed are counts"),
    "ragged": (text(HEAD, pg(), "PG,1"), f"line 3 has 2 entries; it must have {len(COLUMNS)}"),
    "places": (text(HEAD, pg(), pg(series="uniform", x="2")), "values at different places"),
    "fewer": (text(HEAD, pg(), pg(x="2"), pg(series="uniform")), "values at different places"),
    "quote": (text(HEAD, '"PG,1'), "cannot be read (unexpected end of data)"),
    "bytes": (lambda path: path.write_bytes(b"series\xff"), "cannot be read ('utf-8' codec"),
    "zeros": (lambda path: path.write_bytes(bytes(100)), "it has no column series, x, y, lo, hi"),
    "field": (text(HEAD, pg(series="P" * 200_000)), "cannot be read (field larger than"),
    "size": (text(HEAD, *[pg()] * 20_000), "bytes, and may have 300,000)"),
    "huge": (text(HEAD, pg(hi="-1e200")), "series 'PG': a number is too large to be drawn"),
    "folder": (as_folder, "cannot be read ("),
    "pipe": (as_pipe, "cannot be read (it is not a plain file)"),
}
LIST = "it must be a list of claims with id, measured, parts and verdict, which is one of supported"
WRONG_CLAIMS: dict[str, tuple[Change, str]] = {
    "empty": (text(), "cannot be read (Expecting value"),
    "object": (text("{}"), LIST),
    "numbers": (text("[1, 2]"), LIST),
    "verdict": (text('[{"id": "a", "measured": "", "verdict": "true", "parts": []}]'), LIST),
    "list": (text('[{"id": "a", "measured": "", "verdict": ["partly"], "parts": []}]'), LIST),
    "parts": (text('[{"id": "a", "measured": "", "verdict": "partly", "parts": [{}]}]'), LIST),
    "nan": (text("[NaN]"), "5b.claims.json has the number NaN"),
    "deep": (text("[" * 100_000), "is nested too deep"),
    "digits": (text(f"[{'1' * 5000}]"), "cannot be read (Exceeds the limit"),
}


@pytest.mark.parametrize(("change", "sentence"), WRONG_NUMBERS.values(), ids=WRONG_NUMBERS)
def test_wrong_numbers_are_one_sentence(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    change: Change,
    sentence: str,
) -> None:
    """And no other panel is drawn then."""
    change(folder / "5b.csv")
    (folder / "5a.csv").write_text(f"{HEAD}\n{pg()}\n")
    (folder / "5a.claims.json").write_text("[]")
    monkeypatch.setattr(stored_numbers, "MOST", 300_000)
    assert draw("5a", "5b", numbers=folder) == 2
    line = refused(capsys)
    assert line.startswith(f"jh: {folder / '5b.csv'}")
    assert sentence in line


@pytest.mark.parametrize(("change", "sentence"), WRONG_CLAIMS.values(), ids=WRONG_CLAIMS)
def test_wrong_claims_are_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], change: Change, sentence: str
) -> None:
    change(folder / "5b.claims.json")
    assert draw("5b", numbers=folder) == 2
    line = refused(capsys)
    assert str(folder / "5b.claims.json") in line
    assert sentence in line


@pytest.mark.parametrize("content", ["[]", "[1", '{"5b": '])
def test_wrong_digests_are_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], content: str
) -> None:
    (folder / "made.json").write_text(content)
    assert draw("5b", numbers=folder) == 2
    assert "made.json" in refused(capsys)


def test_a_curve_goes_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "5a.csv").write_text(f"{HEAD}\n{pg(x='2')}\n{pg()}\n")
    (folder / "5a.claims.json").write_text("[]")
    assert draw("5a", numbers=folder) == 2
    assert refused(capsys).endswith("5a.csv: its x goes down")


def test_odd_but_whole_files_are_drawn(folder: Path) -> None:
    """A mark of the byte order, empty lines, other columns, values that are not finite."""
    entries = [pg(x="6"), pg(x="7", y="nan", lo="nan", hi="nan"), pg(x="8", y="inf", hi="inf")]
    lines = [f"{line},more" for line in entries]
    text("\ufeff" + HEAD + ",other", *lines, "", "")(folder / "5b.csv")
    (folder / "5b.claims.json").write_text("[]")
    assert draw("5b", numbers=folder) == 0
    assert there(Path("out")) == files("5b")

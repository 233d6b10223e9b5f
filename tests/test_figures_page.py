"""The pages figures.md and claims.md are what docs/results says, and short enough to be read."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from jekyllhyde.lab.agreement import compare_with_published, worst_first
from jekyllhyde.lab.interval_drawing import decisive, in_words, interval_svg

DOCS = Path(__file__).resolve().parent.parent / "docs"
FIGURES, CLAIMS = ((DOCS / f"{name}.md").read_text() for name in ("figures", "claims"))


@pytest.fixture(scope="module")
def page() -> Any:
    """The module that writes the pages."""
    spec = importlib.util.spec_from_file_location("page", DOCS / "figures" / "page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["page"] = module  # dataclasses look for it
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def results(page: Any) -> dict[str, Any]:
    return dict(page.read_results())


def test_the_pages_are_those_that_the_results_give(page: Any, results: dict[str, Any]) -> None:
    assert page.figures_page(results) == FIGURES
    assert page.claims_page(results) == CLAIMS
    assert page.runs_table(results) == (DOCS / "results" / "runs.md").read_text()
    assert page.readings_table(results) == (DOCS / "results" / "readings.md").read_text()


def test_readings_that_were_changed_name_their_way(page: Any, results: dict[str, Any]) -> None:
    """Nine were softened and five hardened when the rules were first written anew."""
    lines = page.readings_table(results).splitlines()
    assert lines[0].startswith("The first time 9 softer and 5 harder, the second time ")
    assert all(line.count(" | ") == 6 for line in lines[4:])


def test_the_figures_page_is_short() -> None:
    assert len(FIGURES.split()) < 4000


def test_every_panel_has_its_picture_and_its_computed_line(results: dict[str, Any]) -> None:
    for name, result in results.items():
        assert (DOCS / "_static" / f"figure-{name}.png").is_file()
        assert f"![Panel {name}](_static/figure-{name}.png)" in FIGURES
        assert result.agreement == compare_with_published(result.curves)
    order = re.findall(r"^\|\[([\w-]+)\]\(#panel-[\w-]+\)\|\d+\|", FIGURES, flags=re.MULTILINE)
    compared = {name: one.agreement for name, one in results.items() if one.agreement.points}
    assert order == list(worst_first(compared))


def test_every_claim_is_there_once_with_its_drawing(results: dict[str, Any]) -> None:
    claims = [claim for result in results.values() for claim in result.claims]
    assert len({claim["id"] for claim in claims}) == len(claims) > 100
    drawn = {path.stem for path in (DOCS / "_static" / "claims").glob("*.svg")}
    assert drawn == {claim["id"] for claim in claims if interval_svg(claim.get("parts", ()))}
    for claim in claims:
        mark = "" if "parts" in claim else "*"
        link = f"|[{claim['id']}](#claim-{claim['id']})<br>{mark}{claim['verdict']}{mark}|"
        assert FIGURES.count(link) == 1
        assert CLAIMS.count(f"(claim-{claim['id']})=") == 1


def test_numbers_follow_the_results(page: Any, results: dict[str, Any]) -> None:
    """Moved curves move the line, and another verdict the table."""
    curves = results["2a"].curves
    moved = replace(curves, y={tag: line + 0.5 for tag, line in curves.y.items()})
    claim = {**results["2a"].claims[0], "verdict": "contradicted", "parts": [PART]}
    other = replace(
        results["2a"], curves=moved, agreement=compare_with_published(moved), claims=[claim]
    )
    text = page.figures_page(results | {"2a": other})
    assert other.agreement.text in text
    assert results["2a"].agreement.text not in text
    row = f"|**contradicted**|[{claim['id']}](#panel-2a)|0.5 [0.4, 0.6], stated below 0.3|"
    assert row in text


def test_runs_of_earlier_settings_say_so(page: Any, results: dict[str, Any]) -> None:
    sentence = "The runs are of an earlier version's settings."
    assert sentence in page.section("2a", replace(results["2a"], is_current=False))
    assert sentence not in page.section("2a", replace(results["2a"], is_current=True))
    made = json.loads((DOCS / "results" / "made.json").read_text())
    assert set(made) == set(results)


# The drawing of a claim.

PART = {
    "what": "ratio",
    "name": "PG <b> & J",
    "y": 0.5,
    "lo": 0.4,
    "hi": 0.6,
    "low": None,
    "high": 0.3,
    "decides": True,
    "holds": False,
}


def rows_of(parts: list[dict[str, Any]]) -> list[dict[str, str]]:
    """The dots of a drawing, from above."""
    image = ElementTree.fromstring(interval_svg(parts))
    return [dict(dot.attrib) for dot in image.iter("{http://www.w3.org/2000/svg}circle")]


def test_failing_parts_come_first_and_colours_tell() -> None:
    parts = [
        PART | {"holds": True, "y": 0.2},
        PART | {"holds": None, "y": 0.3},
        PART,
        PART | {"decides": False, "y": 0.45},
    ]
    dots = rows_of(parts)
    assert [dot["fill"] for dot in dots] == ["#D55E00", "#595959", "#009E73"]
    places = [float(dot["cx"]) for dot in dots]
    assert places == sorted(places, reverse=True)  # one scale for one quantity
    assert decisive(parts) is PART
    assert decisive([]) is None


def test_bars_and_bands_reach_the_edge_where_there_is_no_limit() -> None:
    text = interval_svg([PART | {"lo": None, "hi": None}])
    assert re.findall(r"M([\d.]+) [\d.]+H([\d.]+)", text)[1] == ("0", "150")
    band = re.findall(r"M([\d.]+) [\d.]+H([\d.]+)", text)[0]
    assert band[0] == "0"
    assert 0 < float(band[1]) < 150
    assert interval_svg([PART | {"decides": False}]) == ""
    assert interval_svg([PART | {"y": None}]) == ""


def test_a_drawing_says_its_numbers_and_is_safe() -> None:
    image = ElementTree.fromstring(interval_svg([PART]))
    title = image.find("{http://www.w3.org/2000/svg}title")
    assert title is not None
    assert title.text == in_words(PART) == "PG <b> & J 0.5 [0.4, 0.6], below 0.3 stated"
    exact = PART | {"lo": 0.5, "hi": 0.5, "low": 0.1, "high": 0.2, "name": ""}
    assert in_words(exact) == "0.5, 0.1 to 0.2 stated"
    assert len(rows_of([PART] * 20)) == 8

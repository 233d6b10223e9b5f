"""The pages figures.md and claims.md are what docs/results says, and short enough to be read."""

from __future__ import annotations

import importlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from jekyllhyde.lab.agreement import compare_with_published, worst_first
from jekyllhyde.lab.exploration import panels as exploration
from jekyllhyde.lab.interval_drawing import (
    MOST,
    WIDTH,
    decisive,
    in_words,
    interval_svg,
    number_of,
)

DOCS = Path(__file__).resolve().parent.parent / "docs"
FIGURES, CLAIMS = ((DOCS / f"{name}.md").read_text() for name in ("figures", "claims"))


WITHOUT_RUNS = {"11b-levels"}  # what is said of two groups of series tells them not apart


@pytest.fixture(scope="module")
def page() -> Any:
    """The module that writes the pages."""
    return script("page")


def script(name: str) -> Any:
    """A module beside the one that writes the pages."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS / "figures"))
        return importlib.import_module(name)


@pytest.fixture(scope="module")
def results(page: Any) -> dict[str, Any]:
    return dict(page.read_results())


def test_the_pages_are_those_that_the_results_give(page: Any, results: dict[str, Any]) -> None:
    assert page.figures_page(results) == FIGURES
    assert page.claims_page(results) == CLAIMS
    assert page.runs_table(results) == (DOCS / "results" / "runs.md").read_text()
    assert page.readings_table(results) == (DOCS / "results" / "readings.md").read_text()


def test_the_verdicts_are_those_that_the_readings_of_today_give(results: dict[str, Any]) -> None:
    """Of the estimates that are kept; so no part is of an earlier reading, and none is missing."""
    again = script("judge_again")
    way = again.curves_from((), results)
    for name, result in results.items():
        for claim, record in zip(result.curves.panel.claims, result.claims, strict=True):
            if claim.id not in WITHOUT_RUNS:
                judged, _ = again.judge_one(name, claim, way)
                assert judged.verdict == record["verdict"], claim.id
                assert (claim.text, claim.place) == (record["claim"], record["place"])
                parts = [part.record() for part in judged.parts]
                assert [rounded(part) for part in parts] == [
                    rounded(part) for part in record["parts"]
                ], claim.id


def rounded(part: dict[str, Any]) -> dict[str, Any]:
    """A part with as many digits as the places of an axis have in docs/results."""
    return {
        key: float(f"{value:.5g}") if isinstance(value, float) else value
        for key, value in part.items()
    }


def test_no_part_waits_for_a_panel_that_is_there(results: dict[str, Any]) -> None:
    for result in results.values():
        for claim in result.claims:
            for panel in re.findall(r"it needs (?:runs of )?panel ([\w-]+)", claim["reason"]):
                assert panel not in results, f"{claim['id']}: {claim['reason']}"


def test_the_tables_of_the_deep_page_are_those_that_the_results_give(
    page: Any, results: dict[str, Any]
) -> None:
    for name, text in {
        "figure3": page.figure3_table(page.read("figure3")),
        "figure3-claims": page.claims_of_figure3(results),
        "deep-sweeps": page.sweeps_table(page.read("sweeps")),
    }.items():
        assert text == (DOCS / "results" / f"{name}.md").read_text()
        assert f"```{{include}} results/{name}.md" in (DOCS / "deep.md").read_text()
    verdicts = {claim["verdict"] for claim in results["3a"].claims}
    assert verdicts
    table = (DOCS / "results" / "figure3-claims.md").read_text()
    assert all(f"**{verdict}**" in table for verdict in verdicts)


def test_readings_that_were_changed_name_their_way(page: Any, results: dict[str, Any]) -> None:
    """Nine were softened and five hardened when the rules were first written anew."""
    lines = page.readings_table(results).splitlines()
    assert lines[0].startswith("The first time 9 softer and 5 harder, the second time ")
    assert ", the third time " in lines[0]
    assert all(line.count(" | ") == 6 for line in lines[4:])


def test_the_figures_page_is_short() -> None:
    assert len(FIGURES.split()) < 4000


def test_every_panel_has_its_picture_and_its_computed_line(results: dict[str, Any]) -> None:
    for name, result in results.items():
        assert (DOCS / "_static" / f"figure-{name}.png").is_file()
        assert f"![panel-{name}](_static/figure-{name}.png)" in FIGURES
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
        link = f"|[{claim['id']}](#claim-{claim['id']})<br>{mark}{claim['verdict']}{mark}<br>"
        assert FIGURES.count(link) == 1
        assert (f"|{{drawing}}`{claim['id']}`|" in FIGURES) == (claim["id"] in drawn)
        assert CLAIMS.count(f"(claim-{claim['id']})=") == 1


def test_every_claim_names_its_place(results: dict[str, Any]) -> None:
    """In few signs beside the verdict, and in full with the numbers."""
    places = {"App. E.2, par. 1": "§E.2¶1", "Sec. 5, par. 2": "§5¶2", "Fig. 8": "Fig. 8"}
    short_place = script("figures_page").short_place
    assert {place: short_place(place) for place in places} == places
    for claim in (claim for result in results.values() for claim in result.claims):
        row = next(line for line in FIGURES.splitlines() if f"(#claim-{claim['id']})" in line)
        assert f"<br>{short_place(claim['place'])}|" in row
        assert f"**{claim['id']}**, {claim['verdict']} ({claim['place']}). " in CLAIMS


def test_numbers_follow_the_results(page: Any, results: dict[str, Any]) -> None:
    """Moved curves move the line, and another verdict the table."""
    curves = results["2a"].curves
    moved = replace(curves, y={tag: line + 0.5 for tag, line in curves.y.items()})
    claim = {**results["2a"].claims[0], "verdict": "contradicted", "parts": [PART]}
    other = replace(
        results["2a"], curves=moved, agreement=compare_with_published(moved), claims=[claim]
    )
    text = page.figures_page(results | {"2a": other})
    assert other.agreement.text.replace(" %", "&nbsp;%") in text
    assert results["2a"].agreement.text.replace(" %", "&nbsp;%") not in text
    link = f"[{claim['id']}](#panel-2a)"
    assert f"|{link}|ratio: 0.5 [0.4, 0.6]|&lt;&nbsp;0.3|" in text


def test_runs_of_earlier_settings_say_so(results: dict[str, Any]) -> None:
    sentence = "Runs of earlier settings."
    section = script("figures_page").section
    assert sentence in section("2a", replace(results["2a"], is_current=False))
    assert sentence not in section("2a", replace(results["2a"], is_current=True))
    made = json.loads((DOCS / "results" / "made.json").read_text())
    assert set(made) == set(results)


def test_the_head_of_the_exploration_page_speaks_of_the_panels_that_it_shows() -> None:
    statistics = script("exploration_page").statistics
    panels = list(exploration.PANELS.values())
    medians = [replace(panel, statistic="median") for panel in panels]
    assert statistics(medians) == "medians"
    means = [replace(panel, statistic="mean") for panel in panels[:2]]
    names = " and ".join(panel.name for panel in means)
    assert statistics([*medians[2:], *means]) == f"medians (means in {names})"
    text = (DOCS / "exploration-figures.md").read_text()
    profile = replace(exploration.PANELS["exploration-profile"], statistic="mean")  # of shares
    shown = [panel for panel in (*panels[:-1], profile) if f"## {panel.name}:" in text]
    assert f"lines are {statistics(shown)} over runs" in text


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
    assert re.findall(r"M([\d.]+) [\d.]+H([\d.]+)", text)[1] == ("0", f"{WIDTH:g}")
    band = re.findall(r"M([\d.]+) [\d.]+H([\d.]+)", text)[0]
    assert band[0] == "0"
    assert 0 < float(band[1]) < WIDTH
    assert interval_svg([PART | {"decides": False}]) == ""
    assert interval_svg([PART | {"y": None}]) == ""


SVG = "{http://www.w3.org/2000/svg}"
NUMBERS = {
    "0.5 [0.4, 0.6]": {},
    "0.4 or more": {"hi": None},
    "0.6 or less": {"lo": None},
    "0.5, no interval": {"lo": None, "hi": None},
    "120,000 [99,999, 123,456]": {"y": 120_000.0, "lo": 99_999.0, "hi": 123_456.0},
    "0.000557": {"y": 0.00055678, "lo": 0.00055678, "hi": 0.00055678},
}


@pytest.mark.parametrize(("text", "numbers"), NUMBERS.items())
def test_a_drawing_has_its_numbers_beside_it(text: str, numbers: dict[str, float | None]) -> None:
    part = PART | numbers
    assert number_of(part) == text
    image = ElementTree.fromstring(interval_svg([part]))
    assert [entry.text for entry in image.iter(f"{SVG}text")] == [text]
    assert float(image.attrib["width"]) > WIDTH + 5.5 * len(text)  # a digit's width


def test_a_row_of_a_drawing_tells_its_part_where_the_pointer_rests() -> None:
    parts = [PART | {"name": name} for name in ("PG", "J&H")]
    image = ElementTree.fromstring(interval_svg(parts))
    rows = [row.findtext(f"{SVG}title") for row in image.findall(f"{SVG}g")]
    assert rows == [in_words(part) for part in parts]
    many = ElementTree.fromstring(interval_svg([PART] * 20))
    assert [entry.text for entry in many.iter(f"{SVG}text")][-1] == "and 12 more"


def test_a_drawing_says_its_numbers_and_is_safe() -> None:
    image = ElementTree.fromstring(interval_svg([PART]))
    title = image.find(f"{SVG}title")
    assert title is not None
    assert title.text == in_words(PART) == "PG <b> & J 0.5 [0.4, 0.6], below 0.3 stated"
    exact = PART | {"lo": 0.5, "hi": 0.5, "low": 0.1, "high": 0.2, "name": ""}
    assert in_words(exact) == "0.5, 0.1 to 0.2 stated"
    assert len(rows_of([PART] * 20)) == MOST


def test_the_page_of_settings_says_how_near_the_fit_is(results: dict[str, Any]) -> None:
    """Its table follows the curves: one that is moved is as far away as it was moved."""
    fit_table = script("results_tables").fit_table
    assert (DOCS / "results" / "fit.md").read_text() == fit_table(results)
    curves = results["9c"].curves
    moved = replace(curves, y={tag: line - 0.5 for tag, line in curves.y.items()})
    rows = fit_table(results | {"9c": replace(results["9c"], curves=moved)}).splitlines()[2:]
    for row in (row for row in rows if row.startswith("|9c|")):
        left, published = (float(cell) for cell in row.split("|")[5:7])
        assert 0.5 < left < 0.502
        assert published < 0.001

"""The report in a real browser: it opens in peace and by itself, series and claims can be chosen,
and it fits a phone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import jekyllhyde as jh
from chromium import PROGRAM, Chromium
from jekyllhyde.agent import find_agent
from jekyllhyde.cli.flags import settings_of
from jekyllhyde.cli.training_folder import TrainingFolder
from jekyllhyde.cli.training_page import write_page as write_training_page
from jekyllhyde.lab.html_page import WORST_FIRST, write_page
from jekyllhyde.lab.interval_drawing import interval_svg
from jekyllhyde.lab.judgement import among, judge
from jekyllhyde.lab.panel import Curves
from reports import HOSTILE, SKIPPED, made, own_panel, paper_panels

pytestmark = pytest.mark.skipif(
    PROGRAM is None,
    reason="there is no Chromium on this machine; Debian's package chromium has one",
)
DRAWN = (
    "[...document.querySelectorAll('.panel')]"
    ".filter(panel => panel.querySelector('.main-svg')).length"
)
VISIBLE = (
    "document.querySelector('#panel-8a .chart').data"
    ".map(trace => [trace.meta, trace.fill || 'line', trace.visible])"
)
ROWS = (
    "[...document.querySelectorAll('#claims tbody tr')].filter(row => row.offsetHeight)"
    ".map(row => [row.dataset.verdict, row.dataset.group])"
)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Curves]]:
    folder = tmp_path_factory.mktemp("browser")
    store, curves = made(folder / "store", [*paper_panels(), own_panel()])
    return write_page(curves, folder / "report.html", store, SKIPPED), curves


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def page(browser: Chromium, written: tuple[Path, list[Curves]]) -> Chromium:
    browser.open(written[0].as_uri())
    return browser


def draw_all(page: Chromium) -> None:
    """Go down the page as a reader does."""
    count = page.evaluate("document.querySelectorAll('.panel').length")
    for i in range(count):
        page.evaluate(
            f"document.querySelectorAll('.panel')[{i}].scrollIntoView({{behavior: 'instant'}})"
        )
        page.wait_for(
            f"document.querySelectorAll('.panel')[{i}].querySelector('.main-svg') !== null"
        )
    assert page.evaluate(DRAWN) == count


def complaints(page: Chromium) -> list[Any]:
    """Errors and warnings of the console, and exceptions that nobody caught."""
    page.evaluate("new Promise(done => setTimeout(done, 100))")
    kinds = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
    return [one["params"] for one in page.events if one["method"] in kinds]


def requests(page: Chromium) -> list[str]:
    """What was asked of a file or a network."""
    found = [
        one["params"]["request"]["url"]
        for one in page.events
        if one["method"] == "Network.requestWillBeSent"
    ]
    return [url for url in found if not url.startswith(("data:", "blob:"))]


def test_opens_without_complaints_and_without_a_network(
    page: Chromium, written: tuple[Path, list[Curves]]
) -> None:
    draw_all(page)
    assert complaints(page) == []
    assert requests(page) == [written[0].as_uri()]


def test_the_page_forbids_a_network_and_the_test_would_see_one(page: Chromium) -> None:
    assert (
        page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'fetched', () => 'refused')")
        == "refused"
    )
    assert any("Content Security Policy" in json.dumps(one) for one in complaints(page))


def test_the_page_of_a_training(browser: Chromium, tmp_path: Path) -> None:
    """Curves, who led, what both believe of a grid, settings; by itself, and on a phone."""
    agent = jh.TabularJekyllHyde("FrozenLake-v1", seed=0).learn(300, eval_every=100)
    record = find_agent("tabular-jekyll-hyde")
    TrainingFolder(tmp_path, 1, record).write_config(["FrozenLake-v1"], settings_of(agent.settings))
    path = Path(write_training_page(tmp_path / "report.html", {tmp_path: [agent]}))
    browser.open(path.as_uri(), width=390, height=800)
    drawn = "[...document.querySelectorAll('figure')].filter(one => one.querySelector('.main-svg'))"
    browser.wait_for(f"{drawn}.length === 5")
    headings = browser.evaluate("[...document.querySelectorAll('h2')].map(each => each.innerText)")
    assert headings[:2] == ["Returns", "Who led when"]
    assert [text.partition(" (")[0] for text in headings[2:5]] == [
        "Jekyll's value",
        "Hyde's value",
        "visits, log10(1 + n)",
    ]
    assert complaints(browser) == []
    assert requests(browser) == [path.as_uri()]
    assert browser.evaluate("document.documentElement.scrollWidth") <= 390


def test_charts_are_drawn_when_they_come_into_view(page: Chromium) -> None:
    page.open(page.evaluate("location.href"), width=900, height=400)
    assert page.evaluate(DRAWN) == 0
    page.evaluate("document.querySelector('.panel').scrollIntoView({behavior: 'instant'})")
    page.wait_for(f"{DRAWN} > 0")
    assert page.evaluate(DRAWN) < page.evaluate("document.querySelectorAll('.panel').length")


def test_a_button_hides_line_and_band(page: Chromium) -> None:
    draw_all(page)
    button = "#panel-8a [data-series='1']"
    drawn = "document.querySelectorAll('#panel-8a .scatterlayer .trace').length"
    before, count = page.evaluate(VISIBLE), page.evaluate(drawn)
    assert [kind for meta, kind, _ in before if meta == 1] == ["toself", "line"]
    assert all(visible for _, _, visible in before)
    page.click(button)
    page.wait_for(f"{drawn} === {count - 2}")
    assert page.evaluate(VISIBLE) == [[meta, kind, meta != 1] for meta, kind, _ in before]
    assert (
        page.evaluate(f'document.querySelector("{button}").getAttribute("aria-pressed")') == "false"
    )
    page.evaluate(f'document.querySelector("{button}").focus()')
    page.press("Enter", "\r")
    page.wait_for(f"{drawn} === {count}")
    assert page.evaluate(VISIBLE) == before


def test_the_papers_curves_come_and_go_with_one_button(page: Chromium) -> None:
    draw_all(page)
    before = page.evaluate(VISIBLE)
    count = 1 + max(meta for meta, kind, _ in before if kind == "toself")
    assert sum(meta == count for meta, _, _ in before) == count  # one for each series
    page.click(f"#panel-8a [data-series='{count}']")
    page.wait_for(f"{VISIBLE}.every(([meta, kind, visible]) => visible === (meta !== {count}))")
    page.click("#panel-8a [data-all]")
    page.wait_for(f"{VISIBLE}.every(([meta, kind, visible]) => visible)")


def test_double_click_leaves_one_and_all_brings_them_back(page: Chromium) -> None:
    draw_all(page)
    page.evaluate(
        "document.querySelector(\"#panel-8a [data-series='2']\")"
        ".dispatchEvent(new MouseEvent('dblclick', {bubbles: true}))"
    )
    page.wait_for(f"{VISIBLE}.every(([meta, kind, visible]) => visible === (meta === 2))")
    page.click("#panel-8a [data-all]")
    page.wait_for(f"{VISIBLE}.every(([meta, kind, visible]) => visible)")
    page.click("#panel-8a [data-all]")
    page.wait_for(f"{VISIBLE}.every(([meta, kind, visible]) => !visible)")


def test_names_are_shown_as_they_are(page: Chromium) -> None:
    draw_all(page)
    assert (
        page.evaluate("document.querySelector(\"#panel-own [data-series='0'] span\").textContent")
        == HOSTILE
    )
    chart = "document.querySelector('#panel-own .chart')"
    line = page.evaluate(f"{chart}.data.findIndex(trace => trace.meta === 0 && !trace.fill)")
    page.evaluate(f"Plotly.Fx.hover({chart}, [{{curveNumber: {line}, pointNumber: 1}}])")
    page.wait_for(f"{chart}.querySelector('.hoverlayer .hovertext') !== null")
    text = page.evaluate(f"{chart}.querySelector('.hoverlayer').textContent")
    assert HOSTILE in text
    assert "o 10/t" in text
    assert "median" in text
    assert "censored" in text
    assert "broken" not in page.evaluate("document.title")


def test_the_mouse_on_a_line_tells_its_value(
    page: Chromium, written: tuple[Path, list[Curves]]
) -> None:
    draw_all(page)
    curves = written[1][0]
    chart = "document.querySelector('#panel-5b .chart')"
    page.middle("#panel-5b .chart")
    x, y = page.evaluate(
        "(chart => { const {xaxis, yaxis} = chart._fullLayout;"
        " const box = chart.getBoundingClientRect();"
        " const k = chart.data.findIndex(trace => trace.meta === 2);"
        " return [box.x + xaxis._offset + xaxis.d2p(chart.data[k].x[4]),"
        " box.y + yaxis._offset + yaxis.d2p(chart.data[k].y[4])]; })"
        f"({chart})"
    )
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x - 1, y=y)
    page.wait_for(f"{chart}.querySelector('.hoverlayer .hovertext') !== null")
    text = page.evaluate(f"{chart}.querySelector('.hoverlayer').textContent")
    assert text == f"uniform|S| {curves.x[4]:g}{curves.y['uniform'][4]:,.0f}"


def test_claims_filter_by_verdict_figure_and_text(
    page: Chromium, written: tuple[Path, list[Curves]]
) -> None:
    claims = sorted(
        (
            claim.record() | {"panel": one.panel.name}
            for one in written[1]
            for claim in judge(one, among(written[1]))
        ),
        key=lambda claim: WORST_FIRST.index(claim["verdict"]),
    )
    assert len(page.evaluate(ROWS)) == len(claims)
    for verdict in sorted({claim["verdict"] for claim in claims}):
        page.click(f".filters [data-verdict='{verdict}']")
        expected = [claim for claim in claims if claim["verdict"] == verdict]
        rows = page.evaluate(ROWS)
        assert [row[0] for row in rows] == [verdict] * len(expected)
        assert (
            page.evaluate(
                f"document.querySelector(\".filters [data-verdict='{verdict}']\").innerText"
            )
            == f"{verdict} ({len(expected)})"
        )
        assert (
            page.evaluate("document.querySelector('#shown').innerText")
            == f"{len(expected)} of {len(claims)} claims"
        )
    page.click(".filters [data-verdict='']")
    choose = (
        "(value => { const list = document.querySelector('.filters select'); list.value = value; "
    )
    choose += "list.dispatchEvent(new Event('change')); })"
    page.evaluate(f"{choose}('Figure 8')")
    assert page.evaluate(ROWS) == [
        [claim["verdict"], "Figure 8"] for claim in claims if claim["panel"] == "8a"
    ]
    page.evaluate(f"{choose}('')")
    page.evaluate("document.querySelector('.filters input').focus()")
    page.call("Input.insertText", text="CHAINS of 7")
    found = [
        claim
        for claim in claims
        if all(word in row_text(claim).lower() for word in ("chains", "of", "7"))
    ]
    assert 0 < len(found) < len(claims)
    assert len(page.evaluate(ROWS)) == len(found)


def row_text(claim: dict[str, Any]) -> str:
    """What the row of a claim has in it, the texts of its drawing too."""
    names = ("panel", "claim", "place", "verdict", "measured")
    drawing = re.sub("<[^>]*>", " ", interval_svg(claim["parts"]))
    return " ".join([*(claim[name] for name in names), "numbers", drawing])


def test_fits_a_phone(page: Chromium, written: tuple[Path, list[Curves]]) -> None:
    page.open(written[0].as_uri(), width=360, height=740)
    draw_all(page)
    assert page.evaluate(
        "[innerWidth, document.documentElement.scrollWidth, document.body.scrollWidth]"
    ) == [360, 360, 360]
    widths = page.evaluate(
        "[...document.querySelectorAll('.chart .main-svg')]"
        ".map(svg => svg.getBoundingClientRect().right)"
    )
    assert widths
    assert max(widths) <= 360
    boxes = page.evaluate(
        "[...document.querySelectorAll('.box')]"
        ".map(box => [box.getBoundingClientRect().right, box.scrollWidth])"
    )
    assert all(right <= 360 for right, _ in boxes)
    assert max(width for _, width in boxes) > 360  # wide tables scroll within their box
    below = page.evaluate(
        "[...document.querySelectorAll('.panel')]"
        ".map(panel => panel.querySelector('.legend').getBoundingClientRect().top"
        " >= panel.querySelector('.chart').getBoundingClientRect().bottom - 1)"
    )
    assert all(below)
    assert complaints(page) == []

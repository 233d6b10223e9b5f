"""The report as a file: what is in it, that names cannot break it, and that its numbers are those
of the store.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from jekyllhyde import errors
from jekyllhyde.cli.figure import Report
from jekyllhyde.errors import InputError
from jekyllhyde.lab import engine, html_page
from jekyllhyde.lab.agreement import compare_with_published, published, worst_first
from jekyllhyde.lab.cell_settings import slug
from jekyllhyde.lab.figures import PANELS
from jekyllhyde.lab.html_page import WORST_FIRST, provenance
from jekyllhyde.lab.interval_drawing import interval_svg
from jekyllhyde.lab.judgement import among, judge
from jekyllhyde.lab.panel import Curves, panel_of
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.store import Store
from jekyllhyde.lab.verdicts import JudgedClaim
from reports import HOSTILE, SKIPPED, made, own_panel, paper_panels

Made = tuple[Store, list[Curves]]
OWN = """
import numpy as np

def breaks(t, mdp, pi, evaluation):
    return np.full(mdp.n_states, np.nan if mdp.n_states == 5 else 1.0)
"""


class Page(HTMLParser):
    """The elements of a page with their attributes, and the text outside of scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        (self.scripts if self.cdata_elem else self.texts).append(data)

    def values(self, attribute: str) -> list[str | None]:
        return [attributes[attribute] for _, attributes in self.elements if attribute in attributes]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return made(tmp_path_factory.mktemp("report") / "store", [*paper_panels(), own_panel()])


@pytest.fixture(scope="module")
def html(mixed: Made, tmp_path_factory: pytest.TempPathFactory) -> str:
    store, curves = mixed
    return html_page.write_page(
        curves, tmp_path_factory.mktemp("out") / "new" / "report.html", store, SKIPPED
    ).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


# The page.


def test_names_are_shown_as_they_are(page: Page) -> None:
    assert page.texts.count(HOSTILE) == 1  # its button
    assert any(text.endswith(f"{HOSTILE} as a title") for text in page.texts)
    assert any("<i>2c</i>" in text for text in page.texts)
    assert (
        sum(tag == "script" for tag, _ in page.elements) == 3 + 2
    )  # the data of three charts, Plotly, ours
    assert not any(tag == "i" and attributes for tag, attributes in page.elements)


def test_a_label_in_the_data_is_the_label(page: Page, mixed: Made) -> None:
    data = [json.loads(script) for script in page.scripts if script.startswith('{"xlabel"')]
    assert [[series["label"] for series in one["series"]] for one in data] == [
        list(one.panel.labels.values()) for one in mixed[1]
    ]


def test_nothing_is_fetched(page: Page) -> None:
    policies = [
        a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policies == [
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
        "img-src data: blob:"
    ]
    assert page.values("src") == []
    links = [str(link) for link in page.values("href")]
    assert links
    assert all(link.startswith("#") or link == "data:," for link in links)
    ids = page.values("id")
    assert all(link[1:] in ids for link in links if link.startswith("#"))
    assert len(ids) == len(set(ids))


def test_every_placeholder_is_filled(html: str, page: Page) -> None:
    assert re.findall(r"\{\{\w+\}\}", "".join(page.texts).replace(HOSTILE, "")) == []
    assert len(html.encode()) < 15e6


def test_every_claim_is_in_the_table_and_below_its_panel(page: Page, mixed: Made) -> None:
    claims = judged(mixed)
    assert len(claims) > 5
    assert len({claim.verdict for claim in claims}) > 1
    for claim in claims:
        assert page.texts.count(claim.measured) == 2 * sum(
            other.measured == claim.measured for other in claims
        )
    rows = [
        str(attributes["data-verdict"])
        for tag, attributes in page.elements
        if tag == "tr" and "data-verdict" in attributes
    ]
    assert rows == sorted((claim.verdict for claim in claims), key=WORST_FIRST.index)
    drawings = [interval_svg(claim.record()["parts"]) for claim in claims]
    drawn = [attributes for tag, attributes in page.elements if tag == "circle"]
    assert len(drawn) == 2 * "".join(drawings).count("<circle") > 0


def judged(mixed: Made) -> list[JudgedClaim]:
    return [claim for one in mixed[1] for claim in judge(one, among(mixed[1]))]


def test_every_panel_of_the_paper_says_how_it_agrees(page: Page, mixed: Made) -> None:
    agreements = {
        one.panel.name: compare_with_published(one) for one in mixed[1] if one.panel.published
    }
    assert len(agreements) == len(mixed[1]) - 1
    for agreement in agreements.values():
        assert f"Beside the paper: {agreement.text}." in page.texts
    table = page.texts[page.texts.index("mean deviation") :]
    names = [text for text in table[: table.index("Figure 5")] if text in agreements]
    assert names == list(worst_first(agreements))
    assert html_page.chart(mixed[1][-1])["published"] == []
    lines = html_page.chart(mixed[1][0])["published"]
    assert [line["label"] for line in lines] == list(published("5b"))
    assert lines[0]["y"] == published("5b")["PG"][1].tolist()


def test_summary_counts_what_is_there(page: Page, mixed: Made) -> None:
    text = " ".join("".join(page.texts).split())
    curves = mixed[1]
    runs = sum(
        len(one.y) * (len(one.x) if one.panel.kind == "time" else 1) * one.runs for one in curves
    )
    assert f"3 panels{runs} runs0 failed runs" in text
    supported = sum(claim.verdict == "supported" for claim in judged(mixed))
    assert f"{supported} supported" in text
    assert "Not made, for lack of runs: 2b, <i>2c</i>." in text


def test_own_experiments_alone_say_nothing_of_the_paper(tmp_path: Path, mixed: Made) -> None:
    store, curves = mixed
    page = Page(
        html_page.write_page(curves[-1:], tmp_path / "r.html", store).read_text(encoding="utf-8")
    )
    ids = page.values("id")
    assert "own-experiments" in ids
    assert "provenance" in ids
    assert "claims" not in ids
    assert "differences" not in ids


def test_same_store_same_file(tmp_path: Path, mixed: Made, html: str) -> None:
    store, curves = mixed
    again = html_page.write_page(
        curves, tmp_path / "report.html", Store.open(store.folder), SKIPPED
    )
    assert again.read_text(encoding="utf-8") == html
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


# Charts.


def test_chart_of_times(mixed: Made) -> None:
    curves = mixed[1][2]
    chart = html_page.chart(curves)
    assert chart["words"] == ["0.5", "10/t", "1"]
    assert chart["x"] == [0, 1, 2]
    assert chart["cap"] == 300
    for one in chart["series"]:
        tag = slug(one["label"])
        samples = curves.samples[tag]
        np.testing.assert_allclose(one["y"], samples.mean(axis=0), rtol=1e-4)
        np.testing.assert_allclose(one["median"], np.median(samples, axis=0), rtol=1e-4)
        np.testing.assert_allclose(one["censored"], curves.censored[tag], rtol=1e-4)
        assert all(lo <= y <= hi for lo, y, hi in zip(one["lo"], one["y"], one["hi"], strict=True))


def test_chart_of_an_exact_panel_has_no_intervals(mixed: Made) -> None:
    chart = html_page.chart(mixed[1][0])
    assert chart["exact"]
    assert chart["words"] is None
    assert all("lo" not in one and "hi" not in one for one in chart["series"])
    assert chart["x"] == list(mixed[1][0].x)


def test_chart_of_curves_has_no_cap(mixed: Made) -> None:
    chart = html_page.chart(mixed[1][1])
    assert chart["cap"] is None
    assert all("median" not in one and len(one["lo"]) == len(chart["x"]) for one in chart["series"])


def test_rounding() -> None:
    assert html_page.rounded([0.123456789, 150000.0, 123456.7, np.nan, np.inf, 0.0]) == [
        0.12346,
        150000,
        123460,
        None,
        None,
        0,
    ]
    assert json.dumps(html_page.rounded([150000.0, 0.5])) == "[150000, 0.5]"


@pytest.mark.parametrize("logarithmic", [False, True])
def test_points_that_are_drawn_lie_close(logarithmic: bool) -> None:
    x = np.arange(1.0, 100_001.0)
    shown = x[html_page.visible(x, logarithmic)]
    assert len(shown) <= html_page.MOST_POINTS
    assert (shown[0], shown[-1]) == (1.0, 100_000.0)
    along = np.log(shown) if logarithmic else shown
    crowded = np.diff(along)[
        shown[1:] > 1000
    ]  # below, a logarithmic axis has no more points than it shows
    assert crowded.max() < 2.5 * (along[-1] - along[0]) / html_page.MOST_POINTS
    assert html_page.visible(x[:20], logarithmic).tolist() == list(range(20))


def test_a_panel_says_what_its_lines_are(mixed: Made, tmp_path: Path) -> None:
    store, curves = mixed
    decile = replace(curves[1], panel=replace(curves[1].panel, statistic="decile"))
    assert html_page.chart(decile)["statistic"] == "lowest decile"
    page = Page(
        html_page.write_page([curves[0], curves[1], decile], tmp_path / "r.html", store).read_text(
            encoding="utf-8"
        )
    )
    said = [text for text in page.texts if text == "exact" or text.startswith("6 runs")]
    assert said == [
        "exact",
        "6 runs, 95 % intervals, mean",
        "6 runs, 95 % intervals, lowest decile",
    ]


def test_embedded_data_cannot_end_its_element(page: Page) -> None:
    data = [script for script in page.scripts if script.startswith('{"xlabel"')]
    assert any(HOSTILE in json.loads(text)["series"][0]["label"] for text in data)
    assert not any(set("<>&") & set(text) for text in data)


# Provenance.


def test_provenance_adds_up(mixed: Made) -> None:
    store, curves = mixed
    panels = [one.panel for one in curves]
    found = provenance(panels, store)
    parts = [store.provenance(name) for name in store.parts]
    for panel in panels[::2]:
        assert found.panels[panel.name].runs == len(panel.experiment.cells) * panel.experiment.runs
    assert (
        found.total.runs
        == sum(held.last - held.first for some in store.parts.values() for held in some) - 3 * 6
    )  # nu is not in 8a
    assert found.total.seconds == pytest.approx(sum(one.seconds for one in found.makers.values()))
    everything = provenance([replace(panel, series=()) for panel in panels], store).total
    assert everything.seconds == pytest.approx(sum(part["seconds"] for part in parts))
    assert [maker[0] for maker in found.makers] == [parts[0]["version"]]
    assert found.total.days == parts[0]["time"][:10]


def test_runs_that_two_panels_share_count_once(mixed: Made) -> None:
    store, curves = mixed
    panel = curves[1].panel
    found = provenance([panel, replace(panel, name="8b")], store)
    assert found.panels["8a"] == found.panels["8b"]
    assert found.total == found.panels["8a"]


def test_failed_runs_are_counted(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    experiment = Experiment(
        name="fails",
        method="plan",
        problem={"name": "chain"},
        series=[{"label": "mine", "density": "own.py:breaks"}],
        settings={"updates": 30, "target": 0.5},
        vary={"n_states": [4, 5, 6]},
        folder=tmp_path,
    )
    store, curves = made(tmp_path / "store", [panel_of(experiment)])
    found = provenance([curves[0].panel], store)
    assert (found.total.runs, found.total.failed) == (3, 1)
    page = Page(
        html_page.write_page(curves, tmp_path / "r.html", store).read_text(encoding="utf-8")
    )
    assert "1 failed runs" in " ".join(" ".join(page.texts).split())


# The differences.


def test_differences_come_from_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_page, "files", lambda package: tmp_path)
    assert html_page.differences() == ""
    (tmp_path / "differences.md").write_text(
        "# Title\n\ntext\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n"
    )
    assert html_page.differences().startswith("<p>text</p>\n<div class='box wide'")


def test_without_differences_there_is_no_section(
    mixed: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, curves = mixed
    for text, there in (("", False), ("<p>a difference</p>", True)):
        monkeypatch.setattr(html_page, "differences", lambda text=text: text)
        html = html_page.write_page(curves[:1], tmp_path / "r.html", store).read_text(
            encoding="utf-8"
        )
        assert ("id='differences'" in html, "<p>a difference</p>" in html) == (there, there)


# Bad input, and the command.


def test_bad_input(mixed: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, curves = mixed
    with pytest.raises(InputError, match="no panel to report on"):
        html_page.write_page([], tmp_path / "r.html", store)
    with pytest.raises(InputError, match=r"cannot write .*: Is a directory"):
        html_page.write_page(curves[:1], tmp_path, store)
    assert not [
        path for path in tmp_path.parent.iterdir() if path.name.startswith(f".{tmp_path.name}")
    ]
    monkeypatch.setitem(errors.EXTRAS, "plot", ("matplotlib", "no_such_module"))
    with pytest.raises(InputError, match=r"install jekyllhyde\[plot\]"):
        html_page.write_page(curves[:1], tmp_path / "r.html", store)


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paper") / "store"
    engine.run([PANELS["5b"].experiment], Store.open(folder, create=True), workers=1)
    return folder


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[[Report], str]:
    def run(command: Report) -> str:
        command.run()
        return capsys.readouterr().out

    return run


def test_command_reports_what_is_there(
    paper: Path, tmp_path: Path, said: Callable[[Report], str]
) -> None:
    out = tmp_path / "r.html"
    text = said(Report(store=paper, out=out))
    assert text.startswith("panels: 5b\nnot made, for lack of runs: 2a, 2b")
    assert text.endswith(f"\n{out}\n")
    page = Page(out.read_text(encoding="utf-8"))
    assert [id for id in page.values("id") if str(id).startswith("panel-")] == ["panel-5b"]
    assert "differences" in page.values("id")


def test_command_for_some_panels_as_json(
    paper: Path, tmp_path: Path, said: Callable[[Report], str]
) -> None:
    out = tmp_path / "r.html"
    found = json.loads(said(Report(("5",), store=paper, out=out, json=True)))
    others = [name for name in PANELS if name[0] == "5" and name != "5b"]
    assert found == {"file": str(out), "runs": {"5b": 1}, "not_made": others}


def test_command_with_bad_input(paper: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'99z'"):
        Report(("99z",), store=paper, out=tmp_path / "r.html").run()
    with pytest.raises(InputError, match="it lacks runs for 5a, make some with jh figure"):
        Report(("5a",), store=paper, out=tmp_path / "r.html").run()
    with pytest.raises(InputError, match="there is no store"):
        Report(store=tmp_path / "none", out=tmp_path / "r.html").run()
    assert list(tmp_path.iterdir()) == []

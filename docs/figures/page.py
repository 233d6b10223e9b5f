"""Write the pages docs/figures.md and docs/claims.md, and their pictures, from docs/results alone.

python docs/figures/page.py

`docs/figures/paper.py` fills docs/results from stores of runs. Nothing on the pages is typed by
hand but the plain words about each figure, which have no numbers in them.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from jekyllhyde.lab.agreement import (
    ENOUGH,
    FEW,
    QUANTILE,
    Agreement,
    compare_with_published,
    worst_first,
)
from jekyllhyde.lab.draw import draw, note
from jekyllhyde.lab.figures import PANELS
from jekyllhyde.lab.figures.drawings import DRAWINGS
from jekyllhyde.lab.html_page import WORST_FIRST
from jekyllhyde.lab.interval_drawing import decisive, interval_svg, number_of, stated
from jekyllhyde.lab.panel import Curves, Panel

DOCS = Path(__file__).resolve().parent.parent
RESULTS, PICTURES = DOCS / "results", DOCS / "_static"
MADE = RESULTS / "made.json"  # by panel, the digest of the experiment that its numbers come from
OPENLY = ("contradicted", "undecided")
HEAD = """# Figures

The paper's figures, made anew: its own curves in grey, ours with 95 % intervals over runs, and a verdict on what it says about them.
`docs/figures/page.py` writes this page from `docs/results`; {{doc}}`reproducing` says how those are made, {{doc}}`claims` has every number, and {{doc}}`differences` what the paper leaves open.

## Claims by verdict

A claim is made of parts, each decided by its whole 95 % interval. Drawings show the stated range as a band and each estimate as a dot with its interval: green holds, red fails, grey is open.

{claims}

## Panels beside the published curves, worst first

A published point is within noise where it differs from ours by at most {errors:g} standard errors of the difference, both sides' runs counted. A panel of {few} points or more matches if {enough:.0%} are.

{panels}
"""  # noqa: E501
PLAIN_WORDS = {
    2: "Agents that learn from samples. On the chain on-policy updates stay with the low-hanging "
    "fruit, and J&H leaves it; on random MDPs, where nothing tricks them, all are about as fast, "
    "but for large exploration bonuses.",
    3: "Networks on Four Rooms. There are no published numbers; the seeds and configurations are "
    "those of the page {doc}`deep`.",
    5: "Exact updates on the chain with the direct parametrization: where a policy never goes, "
    "on-policy updates hardly move it, and a constant share of uniform updates does.",
    6: "The same with softmax. Nothing converges completely, and entropy moves the fixed point "
    "instead of finding the way out.",
    7: "Exact updates on random MDPs, without anything that deceives: densities matter less, and "
    "mostly for the slowest tenth of the problems.",
    8: "The runs of 2a again: the mixture that acts, and Jekyll alone. What exploration costs is "
    "in the mixture only.",
    9: "The runs of 2b again, and ten times longer ones. The settings behind them were never "
    "released; {doc}`reproducing` says how ours were found.",
    10: "How much of the learning is off-policy, held constant.",
    11: "The actor's step size. Times are heavy-tailed where steps are large.",
    12: "The critic's step size.",
    13: "Random MDPs with steps chosen for speed.",
    14: "Longer chains and sweeter fruit.",
    15: "Optimism of the first value.",
    16: "How often Hyde leads, held constant: by the global return and Jekyll's, as published, "
    "and by Jekyll's alone, of which the text speaks.",
}


@dataclass(frozen=True)
class Result:
    """What docs/results has of a panel: its curves, how they agree, and the claims' records."""

    curves: Curves
    agreement: Agreement
    claims: Sequence[Mapping[str, Any]]
    is_current: bool  # its runs are those that `jh figure` would make


def main() -> None:
    results = read_results()
    write_pictures(results)
    (DOCS / "figures.md").write_text(figures_page(results))
    (DOCS / "claims.md").write_text(claims_page(results))
    (RESULTS / "runs.md").write_text(runs_table(results))
    (RESULTS / "speed-settings.md").write_text(speed_table())
    (RESULTS / "readings.md").write_text(readings_table(results))


def readings_table(results: Mapping[str, Result]) -> str:
    """Every reading that was changed after numbers had been seen, with the verdict of today."""
    verdicts = {c["id"]: c["verdict"] for result in results.values() for c in result.claims}
    with (RESULTS / "readings.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    ways = Counter((row["when"], row["way"]) for row in rows)
    first, second = (
        f"{ways[when, 'softer']} softer and {ways[when, 'harder']} harder"
        for when in ("first", "second")
    )
    columns = ("claim", "when", "way", "before", "after", "moved")
    table = [
        f"The first time {first}, the second time {second}.",
        "",
        "| claim | time | way | before | after | verdict then | verdict today |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(
            f"| {' | '.join(row[name] for name in columns)} | {verdicts.get(row['claim'], '-')} |"
            for row in rows
        ),
    ]
    return "\n".join(table) + "\n"


def read_results() -> dict[str, Result]:
    """Every panel that docs/results has, in the paper's order."""
    found, made = {}, json.loads(MADE.read_text())
    for name, panel in PANELS.items():
        if (RESULTS / f"{name}.csv").is_file():
            curves = read_curves(panel)
            known = {claim.id for claim in panel.claims}
            records = json.loads((RESULTS / f"{name}.claims.json").read_text())
            claims = [record for record in records if record["id"] in known]
            is_current = made.get(name) == panel.experiment.digest
            found[name] = Result(curves, compare_with_published(curves), claims, is_current)
    return found


def read_curves(panel: Panel) -> Curves:
    """A panel's curves from its CSV, those of its series that are there."""
    with (RESULTS / f"{panel.name}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = ("x", "y", "lo", "hi", "censored")
    columns = {
        tag: np.array(
            [[float(row[name]) for name in names] for row in rows if row["series"] == label]
        ).T
        for tag, label in panel.labels.items()
        if label in {row["series"] for row in rows}
    }
    x, y, lo, hi, censored = (
        {tag: lines[i] for tag, lines in columns.items()} for i in range(len(names))
    )
    return Curves(
        panel=replace(panel, series=tuple(columns)),
        x=next(iter(x.values())),
        samples={},
        y=y,
        lo=lo,
        hi=hi,
        censored=censored,
        failures={},
        runs=min(int(row["runs"]) for row in rows),
    )


def write_pictures(results: Mapping[str, Result]) -> None:
    """The panels, the drawings of the domains, and the small drawings of the claims."""
    for name, drawing in DRAWINGS.items():
        drawing(PICTURES / f"figure-{name}.png")
    folder = PICTURES / "claims"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    for name, result in results.items():
        draw(result.curves, PICTURES / f"figure-{name}.png")
        for claim in result.claims:
            if svg := interval_svg(claim.get("parts", ())):
                (folder / f"{claim['id']}.svg").write_text(svg + "\n")


# The page of the figures.


def figures_page(results: Mapping[str, Result]) -> str:
    claims = [(name, claim) for name, result in results.items() for claim in result.claims]
    head = HEAD.format(
        claims=verdict_table(claims),
        panels=agreement_table(results),
        errors=QUANTILE,
        few=FEW,
        enough=ENOUGH,
    )
    parts = [head]
    for number, group in groupby(results.items(), lambda item: figure_of(item[0])):
        panels = dict(group)
        parts.append(f"## Figure {number}\n\n{PLAIN_WORDS[number]}\n")
        parts += [section(name, result) for name, result in panels.items()]
        parts.append(claims_table([claim for one in panels.values() for claim in one.claims]))
    return "\n".join(parts)


def figure_of(name: str) -> int:
    return int(re.sub(r"\D.*", "", name))


def verdict_table(claims: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """What is not so or cannot be told in a table, each claim with its number and linked to its
    panel; the others folded.
    """
    counts = Counter(claim["verdict"] for _, claim in claims)
    rows, folded = [], []
    for verdict in WORST_FIRST:
        entries = [
            (f"[{claim['id']}](#panel-{name})", headline(claim))
            for name, claim in claims
            if claim["verdict"] == verdict
        ]
        if verdict in OPENLY:
            rows += [(f"**{verdict}**", *entry) for entry in entries]
        elif entries:
            listed = ", ".join(" ".join(entry).strip() for entry in entries)
            folded.append(fold(f"{counts[verdict]} {verdict}", listed))
    said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in WORST_FIRST if counts[verdict])
    earlier = sum(not is_judged(claim) for _, claim in claims)
    note = f" {earlier} of them, in italics below, by the rules of version 0.4." if earlier else ""
    return "\n\n".join(
        [
            f"{said}, {len(claims)} in all.{note}",
            table(("verdict", "claim", "measured"), rows),
            *folded,
        ]
    )


def is_judged(claim: Mapping[str, Any]) -> bool:
    """By the rules of today; records of version 0.4 have no parts."""
    return "parts" in claim


def fold(summary: str, text: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"


def headline(claim: Mapping[str, Any]) -> str:
    """The number that decides a claim, and what it was said to be where that fails."""
    part = decisive(claim.get("parts", ()))
    if part is None:
        return ""
    if claim["verdict"] in OPENLY:
        return f"{number_of(part)}, stated {stated(part)}"
    return f"{part['y']:.3g}"


def agreement_table(results: Mapping[str, Result]) -> str:
    agreements = worst_first({name: result.agreement for name, result in results.items()})
    rows = [
        (
            f"[{name}](#panel-{name})",
            results[name].curves.runs,
            agreement.points,
            agreement.share_text.replace(" ", "&nbsp;"),
            agreement.deviation_text.replace(" ", "&nbsp;"),
            agreement.verdict + ("" if results[name].is_current else ", earlier settings"),
        )
        for name, agreement in agreements.items()
        if agreement.points
    ]
    others = ", ".join(
        f"[{name}](#panel-{name})" for name, agreement in agreements.items() if not agreement.points
    )
    head = ("panel", "runs", "points", "within noise", "mean deviation", "verdict")
    return f"{table(head, rows)}\n\nWithout a published curve: {others}."


def section(name: str, result: Result) -> str:
    """A panel: its picture, and how it agrees."""
    panel = result.curves.panel
    runs = "exact" if panel.exact else f"{result.curves.runs} runs"
    lines = [
        f"(panel-{name})=\n### {name}: {escaped(panel.title)} ({runs})",
        f"![Panel {name}](_static/figure-{name}.png)",
        f"{result.agreement.text.capitalize()}."
        + ("" if result.is_current else " The runs are of an earlier version's settings."),
    ]
    return "\n\n".join(lines) + "\n"


def claims_table(claims: Sequence[Mapping[str, Any]]) -> str:
    """A row per claim: its name, the verdict, the sentence, and a drawing of what was measured."""
    rows = [
        (
            f"[{claim['id']}](#claim-{claim['id']})<br>"
            + (claim["verdict"] if is_judged(claim) else f"*{claim['verdict']}*"),
            escaped(claim["claim"]),
            f"![](_static/claims/{claim['id']}.svg)"
            if interval_svg(claim.get("parts", ()))
            else "",
        )
        for claim in claims
    ]
    return table(("claim", "what the paper says", "measured"), rows) + "\n"


# The page of the claims.


def claims_page(results: Mapping[str, Result]) -> str:
    parts = [
        "# Every claim and its numbers\n\nWhat stands behind the verdicts of the page "
        "{doc}`figures`: per claim every part with its estimate and 95 % interval, and per panel "
        "how each series agrees with the published one. Written by `docs/figures/page.py`.\n"
    ]
    for name, result in results.items():
        panel = result.curves.panel
        lines = [f"## {name}: {escaped(panel.title)} ({note(result.curves)})"]
        if result.agreement.series:
            lines.append(fold("Agreement by series", by_series(result)))
        lines += [detail(claim) for claim in result.claims]
        parts.append("\n\n".join(lines) + "\n")
    return "\n".join(parts)


# The tables of other pages.


def speed_table() -> str:
    """The settings tried for panels 2b, 2c and 9, by series, the closest first."""
    with (RESULTS / "speed-settings.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    places = [name.removeprefix("at ") for name in rows[0] if name.startswith("at ")]
    lines = []
    for agent, group in groupby(sorted(rows, key=lambda row: row["series"]), itemgetter("series")):
        tried = sorted(group, key=lambda row: float(row["distance"]))
        theirs = [tried[0][f"published {place}"] for place in places]
        lines.append((escaped(agent), "**published**", "", *theirs, "", ""))
        for row in tried:
            ours = [row[f"at {place}"] for place in places]
            share = f"{100 * float(row['within noise']):.0f} %"
            setting = escaped(row["setting"])
            lines.append((escaped(agent), setting, row["runs"], *ours, share, row["distance"]))
    return table(("series", "setting", "runs", *places, "within noise", "distance"), lines) + "\n"


def runs_table(results: Mapping[str, Result]) -> str:
    """What each panel was run on: method, runs, seeds, and the digest of all settings."""
    made = json.loads(MADE.read_text())
    rows = []
    for name, result in results.items():
        experiment = PANELS[name].experiment
        own = experiment.problem.get("seed", "run")
        is_random = experiment.problem["name"] == "garnet"
        seeds = (own if result.is_current else "run") if is_random else ""
        verdict = f"{result.agreement.share_text} {result.agreement.verdict}".strip()
        asked = "" if result.curves.panel.exact else experiment.runs
        ran = "exact" if result.curves.panel.exact else result.curves.runs
        rows.append((name, experiment.method, ran, asked, seeds, f"`{made[name]}`", verdict))
    head = ("panel", "method", "runs", "asked for", "MDP seeds", "settings", "beside the paper")
    return table(head, rows) + "\n"


def by_series(result: Result) -> str:
    return table(
        ("series", "points", "within noise", "mean deviation", "verdict"),
        [
            (
                escaped(label),
                agreement.points,
                agreement.share_text,
                agreement.deviation_text,
                agreement.verdict,
            )
            for label, agreement in result.agreement.series.items()
        ],
    )


def detail(claim: Mapping[str, Any]) -> str:
    return (
        f"(claim-{claim['id']})=\n**{claim['id']}**, {claim['verdict']}. "
        f"{escaped(claim['claim'])}\n\n> {escaped(claim['measured'] or 'no number')}"
    )


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table without spaces beside the bars."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"|{'|'.join(map(str, line))}|" for line in lines)


def escaped(text: str) -> str:
    for sign in ("\\", "|", "*", "~", "_", "$"):
        text = text.replace(sign, f"\\{sign}")
    return text.replace("<", "&lt;")


if __name__ == "__main__":
    main()

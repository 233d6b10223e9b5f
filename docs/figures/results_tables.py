"""The tables of docs/results that other pages include: runs, changed readings, settings tried."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping
from itertools import groupby
from operator import itemgetter

import numpy as np
from markdown_tables import escaped, table
from stored_results import MADE, RESULTS, Result

from jekyllhyde.lab.agreement import ours_beside, published
from jekyllhyde.lab.figures import PANELS


def readings_table(results: Mapping[str, Result]) -> str:
    """Every reading that was changed after numbers had been seen, with the verdict of today."""
    verdicts = {c["id"]: c["verdict"] for result in results.values() for c in result.claims}
    with (RESULTS / "readings.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    ways = Counter((row["when"], row["way"]) for row in rows)
    counts = [
        f"the {when} time {ways[when, 'softer']} softer and {ways[when, 'harder']} harder"
        for when in dict.fromkeys(row["when"] for row in rows)
    ]
    columns = ("claim", "when", "way", "before", "after", "moved")
    table = [
        f"T{', '.join(counts)[1:]}.",
        "",
        "| claim | time | way | before | after | verdict then | verdict today |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(
            f"| {' | '.join(row[name] for name in columns)} | {verdicts.get(row['claim'], '-')} |"
            for row in rows
        ),
    ]
    return "\n".join(table) + "\n"


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


def fit_table(results: Mapping[str, Result]) -> str:
    """How near 2b and 9c are to the published series: where each is farthest from it in standard
    errors, and the distance to the optimum that both have left at the end.
    """
    rows = []
    for name in ("2b", "9c"):
        curves = results[name].curves
        for tag, label in curves.labels.items():
            if label not in published(name):
                continue
            x, theirs = published(name)[label]
            ours, error = ours_beside(curves, tag, x)
            far = (ours - theirs) / np.maximum(error, 1e-12)
            far[(x == x[0]) | ~np.isfinite(far)] = 0.0  # nothing was learned yet
            at = int(np.abs(far).argmax())
            left = [1 - values[np.isfinite(ours)][-1] for values in (ours, theirs)]
            fell = [
                1 - values[np.isfinite(ours) & (x >= x[-1] / 10)][0] for values in (ours, theirs)
            ]
            rows.append(
                (
                    name,
                    escaped(label),
                    f"{ours[at] - theirs[at]:+.4f} ({far[at]:+.1f})",
                    f"{x[at]:,.0f}",
                    *(f"{end:.4f}" for end in left),
                    f"{left[0] / left[1]:.1f}",
                    *(f"{start / end:.1f}" for start, end in zip(fell, left, strict=True)),
                )
            )
    head = ("panel", "series", "farthest (standard errors)", "at", "left, ours", "left, published")
    ends = ("ratio", "last decade, ours", "last decade, published")
    return table((*head, *ends), rows) + "\n"


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

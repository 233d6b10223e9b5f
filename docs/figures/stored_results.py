"""What docs/results has of the panels: curves, agreement with the published ones, and claims."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from jekyllhyde.lab.agreement import Agreement, compare_with_published
from jekyllhyde.lab.figures import PANELS
from jekyllhyde.lab.panel import Curves, Panel

DOCS = Path(__file__).resolve().parent.parent
RESULTS, PICTURES = DOCS / "results", DOCS / "_static"
MADE = RESULTS / "made.json"  # by panel, the digest of the experiment that its numbers come from

# of a claim that came after the runs of its panel
NOT_RUN = {"verdict": "undecided", "measured": "not run yet", "parts": []}


@dataclass(frozen=True)
class Result:
    """What docs/results has of a panel: its curves, how they agree, and the claims' records."""

    curves: Curves
    agreement: Agreement
    claims: Sequence[Mapping[str, Any]]
    is_current: bool  # its runs are those that `jh figure` would make


def read_results() -> dict[str, Result]:
    """Every panel that docs/results has, in the paper's order."""
    found, made = {}, json.loads(MADE.read_text())
    for name, panel in PANELS.items():
        if (RESULTS / f"{name}.csv").is_file():
            curves = read_curves(panel)
            text = (RESULTS / f"{name}.claims.json").read_text()
            records = {record["id"]: record for record in json.loads(text)}
            claims = [
                {
                    **records.get(claim.id, NOT_RUN),
                    "id": claim.id,
                    "claim": claim.text,
                    "place": claim.place,
                }
                for claim in panel.claims
            ]
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

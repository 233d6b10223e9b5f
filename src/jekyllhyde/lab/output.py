"""A panel's files: the picture (PNG and PDF), the plotted numbers (CSV) and the verdicts (JSON)."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from jekyllhyde.lab.draw import draw
from jekyllhyde.lab.panel import Curves, judge


def write(curves: Curves, folder: Path) -> list[Path]:
    """Write P.png, P.pdf, P.csv (series,x,y,lo,hi) and P.claims.json for the panel P; returns the
    paths.
    """
    paths = [
        folder / f"{curves.panel.name}{ending}"
        for ending in (".png", ".pdf", ".csv", ".claims.json")
    ]
    draw(curves, *paths[:2])
    write_csv(curves, paths[2])
    paths[3].write_text(json.dumps(judge(curves), indent=1) + "\n")
    return paths


def write_csv(curves: Curves, path: Path) -> None:
    """The plotted curves, one row per series and x."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["series", "x", "y", "lo", "hi"])
        for label in curves.y:
            columns = (curves.x, curves.y[label], curves.lo[label], curves.hi[label])
            writer.writerows(
                [label, *(f"{value:.10g}" for value in row)] for row in zip(*columns, strict=True)
            )

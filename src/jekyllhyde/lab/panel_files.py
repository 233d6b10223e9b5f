"""A panel's files: the picture (PNG and PDF), the plotted numbers (CSV) and the verdicts (JSON)."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from jekyllhyde.files import write_json, write_text
from jekyllhyde.lab.draw import draw
from jekyllhyde.lab.panel import Curves


def write_panel(
    curves: Curves, folder: Path, claims: Sequence[dict[str, str]] | None = None
) -> list[Path]:
    """Write P.png, P.pdf and P.csv (series,x,y,lo,hi) for the panel P, and P.claims.json where
    claims were judged; returns the paths.
    """
    endings = (".png", ".pdf", ".csv", *([] if claims is None else [".claims.json"]))
    paths = [folder / f"{curves.panel.name}{ending}" for ending in endings]
    draw(curves, *paths[:2])
    write_text(paths[2], csv_text(curves))
    if claims is not None:
        write_json(paths[3], claims)
    return paths


def csv_text(curves: Curves) -> str:
    """The plotted curves, one row per series and x."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["series", "x", "y", "lo", "hi"])
    for tag, label in curves.labels.items():
        columns = (curves.x, curves.y[tag], curves.lo[tag], curves.hi[tag])
        writer.writerows(
            [label, *(f"{value:.10g}" for value in row)] for row in zip(*columns, strict=True)
        )
    return file.getvalue()

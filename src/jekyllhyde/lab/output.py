"""A panel's files: the picture (PNG and PDF), the plotted numbers (CSV) and the verdicts (JSON)."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np

from jekyllhyde.errors import InputError
from jekyllhyde.lab.claims import judge
from jekyllhyde.lab.panels import CAP, Curves
from jekyllhyde.planning.output import COLOURS, DASHES

MOST_POINTS = 1000


def write(curves: Curves, folder: Path) -> list[Path]:
    """Write P.png, P.pdf, P.csv (series,x,y,lo,hi) and P.claims.json for the panel P; returns the paths."""
    name = curves.panel.name
    paths = [folder / f"{name}{ending}" for ending in (".png", ".pdf", ".csv", ".claims.json")]
    draw(curves, paths[0], paths[1])
    with paths[2].open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["series", "x", "y", "lo", "hi"])
        for label in curves.y:
            columns = (curves.x, curves.y[label], curves.lo[label], curves.hi[label])
            writer.writerows([label, *(f"{value:.10g}" for value in row)] for row in zip(*columns, strict=True))
    paths[3].write_text(json.dumps(judge(curves), indent=1) + "\n")
    return paths


def draw(curves: Curves, *paths: Path) -> None:
    """The panel: one line per series, a band for its interval, the cap marked where a time panel has one."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("the picture needs matplotlib; install jekyllhyde[plot]") from None
    panel = curves.panel
    figure = Figure(figsize=(6.4, 3.4), dpi=200, layout="constrained")
    axes = figure.subplots()
    shown = np.unique(np.linspace(0, len(curves.x) - 1, MOST_POINTS).astype(int))
    x = curves.x[shown]
    for i, label in enumerate(curves.y):
        colour, marker = COLOURS[i % 7], "x" if "lam" in label else ""
        axes.plot(
            x, curves.y[label][shown], label=label, color=colour, linestyle=DASHES[i % 7], linewidth=1.3,
            marker=marker, markersize=4, markevery=0.1,
        )  # fmt: skip
        if curves.runs > 1:
            axes.fill_between(x, curves.lo[label][shown], curves.hi[label][shown], color=colour, alpha=0.15, linewidth=0)
    if panel.logx:
        axes.set_xscale("log")
    if panel.kind == "time":
        axes.set_yscale("log")
        axes.axhline(CAP, color="0.7", linewidth=0.8, zorder=0)
    elif panel.sample > 1:
        axes.set_ylim(0.9, 1.002)
    axes.set_xlabel(panel.xlabel)
    axes.set_ylabel("updates to a normalized return of 0.5" if panel.kind == "time" else "normalized return")
    note = f"{curves.runs} random MDPs, 95 % intervals" if curves.runs > 1 else "exact"
    axes.set_title(f"{panel.name}   {panel.title}   ({note})", fontsize="small", loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="x-small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    for path in paths:
        figure.savefig(path)

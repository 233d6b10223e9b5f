"""A panel as a picture: a line per series, a band for its 95 % interval; colours safe for the
colour-blind, dashes for print.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jekyllhyde.errors import InputError
from jekyllhyde.lab.panel import Curves
from jekyllhyde.plotting import COLOURS

BLUE, RED, GREEN, PINK, ORANGE, SKY, BLACK = COLOURS
DASHES = ("solid", "dash", "dashdot", "dot", "longdash")
_PATTERNS: dict[str, Any] = {
    "solid": "-",
    "dash": (0, (5, 2)),
    "dashdot": "-.",
    "dot": (0, (1, 1.2)),
    "longdash": (0, (9, 2)),
}
_KNOWN = {
    "PG": (RED, "solid"),
    "undiscounted": (PINK, "dash"),
    "uniform": (GREEN, "solid"),
    "o=0.5": (BLUE, "solid"),
    "o=0.1": (SKY, "dash"),
    "o=10/sqrt(t)": (ORANGE, "dashdot"),
    "o=10/t": (BLACK, "dot"),
    "J&H eps=100/t o=0.5": (BLUE, "solid"),
    "J&H eps=10/sqrt(t) o=0.5": (SKY, "solid"),
    "J&H eps=100/t o=10/sqrt(t)": (GREEN, "dash"),
    "J&H eps=10/sqrt(t) o=10/sqrt(t)": (ORANGE, "dash"),
    "J&H eps=100/t": (BLUE, "solid"),
    "J&H eps=10/sqrt(t)": (GREEN, "dash"),
    "J&H eps=0.1": (ORANGE, "dashdot"),
    "J&H o=0.5": (BLUE, "solid"),
    "J&H o=10/sqrt(t)": (GREEN, "dash"),
    "J&H": (BLUE, "solid"),
    "J&H recommended": (BLACK, "solid"),
    "J&H paper": (SKY, "dash"),
    "DDQN": (GREEN, "dash"),
    "DDQN+RND": (GREEN, "solid"),
    "SAC": (RED, "dash"),
    "SAC+RND": (RED, "solid"),
    "PG nu=1": (BLACK, "solid"),
    "PG nu=0.1": (BLACK, "dash"),
    "PG nu=0.01": (BLACK, "dot"),
}
MOST_POINTS = 1000


class Style(NamedTuple):
    """How a series looks: colour, one of `DASHES`, width, marker ("" or "x")."""

    colour: str
    dash: str
    width: float
    marker: str


def styles(labels: list[str]) -> dict[str, Style]:
    """The look of each series: the same in every panel for those of the paper; a user's own take
    turns.
    """
    free = count()
    found = {}
    for label in labels:
        name, _, variant = label.partition(" batch=")
        name, _, entropy = name.partition(" lam=")
        if name in _KNOWN:
            colour, dash = _KNOWN[name]
        else:
            i = next(free)
            colour, dash = COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)]
        if variant:
            dash = (
                "longdash"
                if "eta=" in variant or dash == "dot"
                else {"solid": "dot", "dash": "dashdot"}.get(dash, dash)
            )
        found[label] = Style(colour, dash, 0.9 if variant else 1.4, "x" if entropy else "")
    return found


def new_figure(width: float, height: float) -> Any:
    """An empty figure of so many inches, or one sentence on how to get one."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("the picture needs matplotlib; install jekyllhyde[plot]") from None
    return Figure(figsize=(width, height), dpi=200, layout="constrained")


def note(curves: Curves) -> str:
    """What the numbers rest on."""
    if curves.panel.exact:
        return "exact"
    failed = sum(curves.failures.values())
    lost = f", {failed} failed" if failed else ""
    return f"{curves.runs} runs{lost}" + (", 95 % intervals" if curves.runs > 1 else "")


def draw(curves: Curves, *paths: Path) -> None:
    """Write the panel to `paths`, by their endings; the cap is marked where a time panel has one."""
    panel = curves.panel
    figure = new_figure(6.8, max(3.4, 0.17 * len(curves.y) + 0.8))
    axes = figure.subplots()
    shown = np.unique(np.linspace(0, len(curves.x) - 1, MOST_POINTS).astype(int))
    x = curves.x[shown]
    for order, (label, style) in enumerate(styles(list(curves.y)).items()):
        axes.plot(
            x,
            curves.y[label][shown],
            label=label,
            color=style.colour,
            linestyle=_PATTERNS[style.dash],
            linewidth=style.width,
            marker=style.marker or None,
            markersize=4,
            markevery=0.12,
            zorder=3 + order / 100,
        )
        if curves.runs > 1:
            axes.fill_between(
                x,
                curves.lo[label][shown],
                curves.hi[label][shown],
                color=style.colour,
                alpha=0.15,
                linewidth=0,
            )
    if panel.logx:
        axes.set_xscale("log")
    if panel.kind == "time":
        axes.set_yscale("log")
        axes.axhline(curves.cap, color="0.6", linewidth=0.8, zorder=0)
        axes.annotate(
            "cap",
            (1.0, curves.cap),
            xycoords=("axes fraction", "data"),
            xytext=(-2, 2),
            textcoords="offset points",
            ha="right",
            fontsize="x-small",
            color="0.4",
        )
    if panel.ylim is not None:
        axes.set_ylim(*panel.ylim)
    words = next(iter(panel.experiment.axes.values()), [])
    if any(isinstance(word, str) for word in words):
        axes.set_xticks(range(len(words)), [str(word) for word in words])
    axes.set_xlabel(panel.xlabel)
    axes.set_ylabel(panel.ylabel, fontsize="small" if len(panel.ylabel) > 40 else None)
    axes.set_title(f"{panel.name}   {panel.title}   ({note(curves)})", fontsize="small", loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="x-small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    for path in paths:
        figure.savefig(path)

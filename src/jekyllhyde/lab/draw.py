"""A panel's files: the picture (PNG and PDF), a line per series and a band for its 95 % interval,
colours safe for the colour-blind and dashes for print; the plotted numbers (CSV); the verdicts
(JSON).
"""

import re
from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jekyllhyde.files import write_json, write_text
from jekyllhyde.lab.agreement import NOT_PUBLISHED, compare_with_published, published
from jekyllhyde.lab.panel import Curves
from jekyllhyde.lab.stored_numbers import numbers_text
from jekyllhyde.lab.verdicts import JudgedClaim
from jekyllhyde.plotting import (
    BLACK,
    BLUE,
    COLOURS,
    GREEN,
    ORANGE,
    PINK,
    RED,
    SKY,
    as_text,
    new_figure,
    save_figure,
)

DASHES: dict[str, tuple[Any, str]] = {  # for Matplotlib, and for SVG
    "solid": ("-", ""),
    "dash": ((0, (5, 2)), "7 4"),
    "dashdot": ("-.", "7 3 2 3"),
    "dot": ((0, (1, 1.2)), "2 3"),
    "longdash": ((0, (9, 2)), "11 4"),
}
MARKERS, FEW = "os^vD*Px<>dh8p", 8
_KNOWN = {
    "pg": (RED, "solid"),
    "undiscounted": (PINK, "dash"),
    "uniform": (GREEN, "solid"),
    "o0.5": (BLUE, "solid"),
    "o0.1": (SKY, "dash"),
    "o10sqrtt": (ORANGE, "dashdot"),
    "o10t": (BLACK, "dot"),
    "jh-100t-o0.5": (BLUE, "solid"),
    "jh-10sqrtt-o0.5": (SKY, "solid"),
    "jh-100t-o10sqrtt": (GREEN, "dash"),
    "jh-10sqrtt-o10sqrtt": (ORANGE, "dash"),
    "jh-100t": (BLUE, "solid"),
    "jh-10sqrtt": (GREEN, "dash"),
    "jh-0.1": (ORANGE, "dashdot"),
    "jh-o0.5": (BLUE, "solid"),
    "jh-o10sqrtt": (GREEN, "dash"),
    "jh": (BLUE, "solid"),
    "jh-model-free": (SKY, "dash"),
    "jh-published": (BLACK, "dashdot"),
    "q-learning": (ORANGE, "dash"),
    "ucb-h": (PINK, "dashdot"),
    "ucbvi": (GREEN, "longdash"),
    "psrl": (RED, "dot"),
    "jh-recommended": (BLACK, "solid"),
    "jh-paper": (SKY, "dash"),
    "ddqn": (GREEN, "dash"),
    "ddqn+rnd": (GREEN, "solid"),
    "sac": (RED, "dash"),
    "sac+rnd": (RED, "solid"),
    "pg-nu1": (BLACK, "solid"),
    "pg-nu0.1": (BLACK, "dash"),
    "pg-nu0.01": (BLACK, "dot"),
}


_IN_BATCH = {"solid": "dot", "dash": "dashdot", "dot": "longdash"}


class Style(NamedTuple):
    """How a series looks: colour, one of `DASHES`, width, marker ("" or "x")."""

    colour: str
    dash: str
    width: float
    marker: str


def styles(tags: list[str]) -> dict[str, Style]:
    """The look of each series by its tag: the same in every panel for those of the paper; others
    take turns. A cross marks an entropy term, thin lines a variant in the batch.
    """
    others = zip(cycle(COLOURS), cycle(DASHES))
    looks = {}
    for tag in tags:
        name, *variant = re.split(r"-(?=batch|divided)", tag, maxsplit=1)
        name, _, entropy = name.partition("-lam")
        colour, dash = _KNOWN.get(name) or next(others)
        if variant:
            dash = "longdash" if variant == ["divided"] else _IN_BATCH.get(dash, dash)
        looks[tag] = Style(colour, dash, 0.9 if variant else 1.4, "x" if entropy else "")
    return looks


def note(curves: Curves) -> str:
    """What the numbers rest on."""
    if curves.panel.exact:
        return "exact"
    failed = sum(curves.failures.values())
    return (
        (f"{curves.runs} runs" if curves.runs else "runs not stated")
        + (f", {failed} failed" if failed else "")
        + (", 95 % intervals" if curves.runs != 1 else "")
    )


def draw(curves: Curves, *paths: str | Path) -> None:
    """Write the picture of a panel to `paths`: PNG, PDF or SVG by their endings.

    The panel's groups of series, if it has some, stand side by side.
    """
    panel, looks = curves.panel, styles(list(curves.y))
    groups = panel.groups or {"": tuple(curves.y)}
    is_alone = len(groups) == 1
    size = (
        (6.8, max(3.4, 0.17 * len(curves.y) + 0.8)) if is_alone else (2.5 * len(groups) + 0.6, 4.2)
    )
    figure, sides = new_figure(len(groups), size, share=True)
    for (name, tags), axes in zip(groups.items(), sides, strict=True):
        chosen = {tag: looks[tag] for tag in tags if tag in looks}
        (_draw_points if panel.words or len(curves.x) == 1 else _draw_series)(curves, axes, chosen)
        _dress(curves, axes)
        if is_alone:
            place = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
        else:
            axes.set_title(as_text(name), fontsize="small")
            place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.2)}
        axes.legend(frameon=False, fontsize="x-small", **place)
    sides[0].set_ylabel(panel.ylabel, fontsize="small" if len(panel.ylabel) > 40 else None)
    title = f"{as_text(panel.name)}   {as_text(panel.title)}   ({note(curves)})"
    if is_alone:
        sides[0].set_title(title, fontsize="small", loc="left")
    else:
        figure.suptitle(title, fontsize="small")
    agreement = compare_with_published(curves)
    if agreement.verdict != NOT_PUBLISHED:
        figure.supxlabel(agreement.text, fontsize="x-small", color="0.35")
    save_figure(figure, *map(Path, paths))


def _draw_series(curves: Curves, axes: Any, looks: Mapping[str, Style]) -> None:
    # Lines with their bands, and the paper's own curves, thin and grey behind them.
    shown = np.unique(np.linspace(0, len(curves.x) - 1, 1000).astype(int))
    x = curves.x[shown]
    for order, (tag, style) in enumerate(looks.items()):
        axes.plot(
            x,
            curves.y[tag][shown],
            label=as_text(curves.labels[tag]),
            color=style.colour,
            linestyle=DASHES[style.dash][0],
            linewidth=style.width,
            marker=style.marker or ("." if len(x) <= FEW else None),
            markersize=4,
            markevery=0.12 if len(x) > FEW else None,
            zorder=3 + order / 100,
        )
        if curves.runs != 1:
            axes.fill_between(
                x,
                curves.lo[tag][shown],
                curves.hi[tag][shown],
                color=style.colour,
                alpha=0.15,
                linewidth=0,
            )
    if curves.panel.logx:
        axes.set_xscale("log")
    is_swept = curves.panel.kind != "curve"
    if len(x) <= FEW and (is_swept or curves.panel.logx):
        axes.set_xticks(x, [f"{place:g}" for place in x])
        axes.minorticks_off()
    elif is_swept and (x == x.round()).all() and not curves.panel.logx:
        axes.xaxis.get_major_locator().set_params(integer=True)  # no half states
    limits, known = curves.panel.xlim or axes.get_xlim(), published(curves.panel.published)
    lines = [known[curves.labels[tag]] for tag in looks if curves.labels[tag] in known]
    for i, line in enumerate(lines):
        name = {"label": "published"} if i == 0 else {}
        axes.plot(*line, color="0.55", linewidth=0.7, marker=".", ms=2.0, zorder=2.5, **name)
    axes.set_xlim(limits)


def _dress(curves: Curves, axes: Any) -> None:
    # Axes, their limits and labels, and the cap of a time.
    panel = curves.panel
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
    if panel.quantity == "regret":
        axes.set_yscale("symlog")
        axes.autoscale(axis="y")  # the margins of before were linear
    if words := panel.words:
        slant = {"rotation": 30, "ha": "right"} if len("".join(words)) > 50 else {}
        axes.set_xticks(range(len(words)), list(map(as_text, words)), fontsize="small", **slant)
    axes.set_xlabel(as_text(panel.xlabel))
    axes.spines[["top", "right"]].set_visible(False)


def _draw_points(curves: Curves, axes: Any, looks: Mapping[str, Style]) -> None:
    # Where the axis has words or a single place: the series of a place side by side, with bars for
    # their intervals.
    for order, (tag, style) in enumerate(looks.items()):
        y = curves.y[tag]
        axes.errorbar(
            curves.x + 0.7 * ((order + 0.5) / len(looks) - 0.5),
            y,
            [(y - curves.lo[tag]).clip(min=0), (curves.hi[tag] - y).clip(min=0)],
            label=as_text(curves.labels[tag]),
            color=style.colour,
            fmt=MARKERS[order % len(MARKERS)],
            markersize=3.5,
            linewidth=1.0,
        )
    axes.set_xticks(curves.x, [f"{place:g}" for place in curves.x])
    if len(curves.x) == 1:
        axes.set_xlim(curves.x[0] - 1, curves.x[0] + 1)
    axes.xaxis.grid(visible=True, color="0.93")


def write_panel(
    curves: Curves, folder: Path, claims: Sequence[JudgedClaim] | None = None
) -> list[Path]:
    """Write P.png, P.pdf and P.csv (`stored_numbers.COLUMNS`) for the panel P, and P.claims.json
    where claims were judged; returns the paths.
    """
    records = None if claims is None else [claim.record() for claim in claims]
    return write_files(curves, folder, numbers_text(curves), records)


def write_files(
    curves: Curves,
    folder: Path,
    numbers: str,
    claims: Sequence[Mapping[str, Any]] | None,
) -> list[Path]:
    """The same, with the CSV as a text and the claims as records."""
    endings = ("png", "pdf", "csv", "claims.json")[: 3 if claims is None else 4]
    paths = [folder / f"{curves.panel.name}.{ending}" for ending in endings]
    if claims is not None:
        write_json(paths[3], claims)
    write_text(paths[2], numbers)
    draw(curves, *paths[:2])  # last: the numbers are safe
    return paths

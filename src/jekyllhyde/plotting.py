"""The floor's pictures: one guard for Matplotlib, one palette, one way to make a figure and curves.

Colours are safe for the colour-blind; dashes tell lines apart in print.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.errors import need, plain
from jekyllhyde.files import write_file

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
BLUE, RED, GREEN, PINK, ORANGE, SKY, BLACK = COLOURS
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
MOST_POINTS = 2000
LONGEST = 80  # characters of a label

Line = tuple[NDArray[Any], ...]


def new_figure(
    columns: int = 1,
    size: tuple[float, float] = (5.0, 3.2),
    rows: int = 1,
    share: bool = False,
) -> tuple[Any, list[Any]]:
    """A figure and its axes, row by row, which `share` their scales or not; one sentence where
    Matplotlib is missing.
    """
    need("plot")
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=200, layout="constrained")
    return figure, list(
        figure.subplots(rows, columns, squeeze=False, sharex=share, sharey=share).ravel()
    )


def as_text(label: str) -> str:
    """A label that Matplotlib shows as it is, be it a formula or a name that it would hide."""
    shown = plain(label if len(label) <= LONGEST else f"{label[:LONGEST]}…").replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def finish(axes: Any, xlabel: str, ylabel: str, title: str) -> None:
    """Labels, title, legend; no box around the picture."""
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.set_title(title, fontsize="medium")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small")


def draw_lines(lines: Mapping[str, Line], xlabel: str, ylabel: str, title: str, path: Path) -> None:
    """A line per entry, (x, y) or (x, y, lo, hi) with a band; long lines are thinned."""
    figure, (axes,) = new_figure()
    for i, (label, columns) in enumerate(lines.items()):
        count = len(columns[0])
        shown = np.unique(np.linspace(0, count - 1, min(count, MOST_POINTS)).astype(int))
        x, y, *band = (column[shown] for column in columns)
        look = {"color": COLOURS[i % len(COLOURS)], "linestyle": DASHES[i % len(DASHES)]}
        axes.plot(x, y, label=as_text(label), **look)
        if band:
            axes.fill_between(x, *band, color=look["color"], alpha=0.2, linewidth=0)
    finish(axes, xlabel, ylabel, title)
    save_figure(figure, path)


def save_figure(figure: Any, *paths: Path) -> None:
    """Write a figure to each of these files, in the format of its ending."""
    for path in paths:
        write_file(path, partial(figure.savefig, format=path.suffix.removeprefix(".")))

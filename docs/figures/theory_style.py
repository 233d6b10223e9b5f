"""What the scripts of the theory page share: colours, style, times, saving."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

FOLDER = Path(__file__).resolve().parent.parent / "_static"
BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PURPLE = (
    "#000000",
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#F0E442",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
)
STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.5,
    "figure.constrained_layout.use": True,
}


def log_times(last: int, count: int = 150) -> list[int]:
    """Times spread evenly over the logarithm, with the first thousand and the last doublings."""
    times = {*np.geomspace(1, last, count).astype(int), *range(min(last, 1000) + 1)}
    return sorted(int(t) for t in times | {last // 4, last // 2, last})


def draw_all(figures: dict[str, Callable[[], Figure]], names: list[str]) -> None:
    """Draw these figures, or all of them, into docs/_static/theory-NAME.png."""
    FOLDER.mkdir(exist_ok=True)
    with plt.rc_context(STYLE):
        for name in names or figures:
            figure = figures[name]()
            for axis in figure.axes:
                axis.grid(which="major", linewidth=0.4, alpha=0.5)
            said = "; ".join(axis.get_title(loc="left") for axis in figure.axes)
            figure.savefig(FOLDER / f"theory-{name}.png", dpi=160, metadata={"Description": said})
            plt.close(figure)

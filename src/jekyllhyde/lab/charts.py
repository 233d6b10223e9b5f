"""A panel's chart as data, for the report's page."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.lab.draw import styles
from jekyllhyde.lab.panel import Curves
from jekyllhyde.lab.settings_text import short
from jekyllhyde.mdp.finite import Floats

MOST_POINTS = 500  # about as many as a chart is wide
STATISTICS = {
    "mean": "mean",
    "median": "median",
    "decile": "lowest decile",
    "iqm": "interquartile mean",
}


def chart(curves: Curves) -> dict[str, Any]:
    """A panel's chart: five digits, and no more points than can be seen."""
    panel = curves.panel
    timed, words = panel.kind == "time", _words(curves)
    exact = panel.exact or curves.runs < 2
    x: Floats = np.arange(len(curves.x), dtype=np.float64) if words else curves.x
    shown = visible(x, panel.logx)
    series = []
    for tag, style in styles(list(curves.y)).items():
        lines = {"y": curves.y[tag]}
        if not exact:
            lines |= {"lo": curves.lo[tag], "hi": curves.hi[tag]}
        if timed:
            median = np.median(curves.samples[tag], axis=0)
            lines |= {"median": median, "censored": curves.censored[tag]}
        numbers = {name: rounded(line[shown]) for name, line in lines.items()}
        series.append({"label": curves.labels[tag], **style._asdict(), **numbers})
    return {
        "xlabel": panel.xlabel,
        "ylabel": panel.ylabel,
        "x": rounded(x[shown], 7),
        "words": words,
        "logx": panel.logx and not words,
        "cap": curves.cap if timed else None,
        "ylim": panel.ylim,
        "exact": exact,
        "statistic": STATISTICS[panel.statistic],
        "series": series,
    }


def _words(curves: Curves) -> list[str] | None:
    # The names of the places along an axis that is not one of numbers.
    cells = next(iter(curves.panel.cells.values()))
    if curves.panel.kind == "curve" or all(cell.x is not None for cell in cells):
        return None
    return [short(next(iter(cell.values.values()), "")) for cell in cells]


def visible(x: Floats, logarithmic: bool) -> NDArray[np.int64]:
    """Which points of an axis to draw: of many, those that follow `MOST_POINTS` equally spaced
    places, both ends among them.
    """
    if len(x) <= MOST_POINTS or (np.diff(x) < 0).any():
        return np.arange(len(x))
    along = np.log(x) if logarithmic and x[0] > 0 else x
    places = np.searchsorted(along, np.linspace(along[0], along[-1], MOST_POINTS))
    return np.unique(places.clip(max=len(x) - 1))


def rounded(values: Iterable[float], digits: int = 5) -> list[float | None]:
    """Numbers to so many significant digits, None where they are not finite: JSON has no word for
    that.
    """
    numbers = (float(f"{value:.{digits}g}") for value in values)
    return [
        None if not math.isfinite(value) else int(value) if value.is_integer() else value
        for value in numbers
    ]

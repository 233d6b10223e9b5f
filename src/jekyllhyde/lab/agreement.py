"""A panel beside the paper's own curves: which of the published points lie where ours do.

A published point is compared where our series has a value at its x, or two close by that hardly
differ. It is inside where the two differ by no more than both sides' noise: 1.96 standard errors of
the difference. Ours is read off our interval; the published mean is of so many runs as
`published/runs.csv` says, each taken to vary as ours do (as many as ours, where that is not known).
Numbers without noise must agree to the digits that were drawn. A panel of ten points or more
matches if nine in ten are inside; where half of the points may differ by a lot that is too noisy to
tell, so that nothing matches by having few runs. Returns deviate by a difference, times by a share
of the published time.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from jekyllhyde.intervals import Floats
from jekyllhyde.lab.panel import Curves

MATCHES, DIFFERS, TOO_FEW = "matches", "differs", "too few points"
TOO_NOISY = "too noisy to tell"
NOT_PUBLISHED = "not published"
FEW = 10  # points, with which a panel cannot match
ENOUGH = 0.9  # of the points inside
NOISY_RETURN, NOISY_TIME = 0.05, 0.25  # that the median point may differ by, at most
QUANTILE = 1.96  # half a 95 % interval, in standard errors
CLOSE_RETURN, CLOSE_TIME = 0.02, 0.1  # between neighbours of ours that a point may lie between
DRAWN_RETURN, DRAWN_TIME = 1e-3, 1e-3  # what rounding and drawing may do to a published number


@dataclass(frozen=True)
class Agreement:
    """Published points compared, the share inside both sides' noise, the mean deviation of ours
    (a difference of returns, a share of times), what the median point may deviate by, all by series
    too, and what that comes to.
    """

    points: int
    inside: float
    deviation: float
    noise: float
    relative: bool
    series: "dict[str, Agreement]"

    @property
    def verdict(self) -> str:
        if not self.points:
            return NOT_PUBLISHED
        if self.inside < ENOUGH:
            return DIFFERS
        if self.points < FEW:
            return TOO_FEW
        return (
            MATCHES if self.noise <= (NOISY_TIME if self.relative else NOISY_RETURN) else TOO_NOISY
        )

    @property
    def share_text(self) -> str:
        """The share inside, as it is shown."""
        return f"{100 * self.inside:.0f} %" if self.points else ""

    @property
    def deviation_text(self) -> str:
        """The mean deviation, as it is shown."""
        if not self.points:
            return ""
        return f"{100 * self.deviation:+.1f} %" if self.relative else f"{self.deviation:+.4f}"

    @property
    def text(self) -> str:
        """One line."""
        return f"{self.numbers}: {self.verdict}" if self.points else self.verdict

    @property
    def numbers(self) -> str:
        """The line without what it comes to."""
        return (
            f"{self.points} points, {self.share_text} within noise, deviation {self.deviation_text}"
        )


def compare_with_published(curves: Curves) -> Agreement:
    """The panel's agreement with the paper's own curves, series by series of the same label; one
    that shows the curves of another panel behind other settings is not compared with them.
    """
    panel = curves.panel
    known = published(panel.published) if panel.published == panel.name else {}
    series = {
        label: _compare(curves, tag, *known[label])
        for tag, label in curves.labels.items()
        if label in known
    }
    return _joined(list(series.values()), curves.panel.kind == "time", series)


@cache
def published(name: str) -> dict[str, tuple[Floats, Floats]]:
    """The paper's curves of a panel by the labels of its series, (x, y) each; there may be none."""
    points: dict[str, list[tuple[float, float]]] = {}
    for row in _rows(f"{name}.csv"):
        points.setdefault(row["series"], []).append((float(row["x"]), float(row["y"])))
    lines = {label: np.array(values).T for label, values in points.items()}
    return {label: (line[0], line[1]) for label, line in lines.items()}


@cache
def published_runs(name: str) -> int | None:
    """How many runs are behind the paper's means; None where it is not known."""
    runs = {row["panel"]: row["runs"] for row in _rows("runs.csv")}.get(name)
    return int(runs) if runs else None


def _rows(name: str) -> list[dict[str, str]]:
    file = files("jekyllhyde.lab") / "published" / name
    return list(csv.DictReader(file.read_text().splitlines())) if file.is_file() else []


def _compare(curves: Curves, tag: str, x: Floats, theirs: Floats) -> Agreement:
    is_time = curves.panel.kind == "time"
    ours, error = ours_beside(curves, tag, x)
    noise = QUANTILE * error
    drawn = DRAWN_TIME * theirs if is_time else np.full(len(x), DRAWN_RETURN)
    there = np.isfinite(ours)
    allowed = noise + drawn
    inside = (np.abs(ours - theirs) <= allowed)[there]
    deviation = (ours / theirs - 1.0 if is_time else ours - theirs)[there]
    return Agreement(
        points=len(inside),
        inside=float(inside.mean()) if len(inside) else 0.0,
        deviation=float(deviation.mean()) if len(inside) else 0.0,
        noise=float(np.median((allowed / theirs if is_time else allowed)[there]))
        if len(inside)
        else 0.0,
        relative=is_time,
        series={},
    )


def ours_beside(curves: Curves, tag: str, x: Floats) -> tuple[Floats, Floats]:
    """Our values where the paper has points, nan where our curve does not say, and the standard
    error of a difference, both sides' runs counted.
    """
    ours, error = _ours_at(curves, tag, x, curves.panel.kind == "time")
    runs = published_runs(curves.panel.published) or curves.runs
    return ours, error * np.sqrt(1.0 + (curves.runs / runs if curves.runs else 1.0))


def _ours_at(curves: Curves, tag: str, x: Floats, is_time: bool) -> tuple[Floats, Floats]:
    # Our value and its standard error at each x; nan where our curve does not say.
    y, error = curves.y[tag], (curves.hi[tag] - curves.lo[tag]) / (2 * QUANTILE)
    right = np.searchsorted(curves.x, x).clip(1, max(len(curves.x) - 1, 1))
    left = right - 1
    nearest = np.where(x - curves.x[left] <= curves.x[right] - x, left, right)
    spacing = curves.x[right] - curves.x[left]
    is_there = np.abs(x - curves.x[nearest]) <= 1e-3 * spacing
    between = (x > curves.x[left]) & (x < curves.x[right])
    step = np.abs(y[right] - y[left])
    is_flat = between & (step <= (CLOSE_TIME * y[left] if is_time else CLOSE_RETURN))

    def at(values: Floats) -> Floats:
        line = np.where(is_there, values[nearest], np.interp(x, curves.x, values))
        return np.where(is_there | is_flat, line, np.nan)

    return at(y), at(error)


def _joined(parts: list[Agreement], relative: bool, series: dict[str, Agreement]) -> Agreement:
    points = sum(part.points for part in parts)

    def mean(values: list[Any]) -> float:
        total = sum(part.points * value for part, value in zip(parts, values, strict=True))
        return float(total / points) if points else 0.0

    return Agreement(
        points,
        mean([part.inside for part in parts]),
        mean([part.deviation for part in parts]),
        mean([part.noise for part in parts]),
        relative,
        series,
    )


def worst_first(agreements: Mapping[str, Agreement]) -> dict[str, Agreement]:
    """Panels that differ before those that match, the fewer points inside the earlier; last those
    without published curves.
    """
    order = (DIFFERS, TOO_FEW, TOO_NOISY, MATCHES, NOT_PUBLISHED)
    return dict(
        sorted(
            agreements.items(),
            key=lambda item: (
                order.index(item[1].verdict),
                item[1].inside,
                -abs(item[1].deviation),
            ),
        )
    )

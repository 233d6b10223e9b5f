"""Estimates from a panel's curves: numbers with a 95 % interval, and per run what is so.

A function takes the curves and one or two tags, and what it measures at: a place x on the axis is
the nearest point, and the ends are -inf and inf. Runs that are not finite are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jekyllhyde import intervals
from jekyllhyde.lab.panel import Curves
from jekyllhyde.mdp.finite import Floats

FIRST, LAST = -np.inf, np.inf
FEWEST = 6  # fewer runs that all agree do so by chance with a probability above 5 %
Flags = Callable[..., NDArray[np.bool_]]


class Untestable(Exception):
    """Why the panel cannot decide a claim."""


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval; without limits where there are too few runs for one."""

    y: float
    lo: float
    hi: float

    def __str__(self) -> str:
        bounds = np.isfinite(self.hi - self.lo) and self.hi > self.lo
        return f"{self.y:.4g}" + (f" [{self.lo:.4g}, {self.hi:.4g}]" if bounds else "")


def exactly(y: Any) -> Estimate:
    """A number that has no uncertainty, or is only shown."""
    return Estimate(float(y), float(y), float(y))


def bounded(curves: Curves, interval: tuple[Any, Any, Any], runs: int) -> Estimate:
    """An estimate; without limits if it is not exact and there are fewer runs than can decide
    anything.
    """
    y, lo, hi = (float(value) for value in interval)
    if np.isnan([y, lo, hi]).any() or (runs < FEWEST and not curves.panel.exact):
        lo, hi = -np.inf, np.inf
    return Estimate(y, lo, hi)


def of_means(curves: Curves, function: Callable[..., Any], *samples: Floats) -> Estimate:
    """A function of the means over runs (see `intervals.of_means`), the same runs drawn from every
    series.
    """
    with np.errstate(all="ignore"):  # a ratio to 0 is no number, and has no limits
        return bounded(curves, intervals.of_means(function, *samples), len(samples[0]))


# Places and runs.


def at(curves: Curves, x: float = LAST) -> int:
    """The place nearest to x on the axis, if it is near enough: within 2 % of the axis, or a tenth
    of a decade.
    """
    if np.isinf(x):
        return 0 if x < 0 else len(curves.x) - 1
    if not len(curves.x) or np.isnan(curves.x).any():
        raise Untestable("the axis has no numbers")
    if curves.panel.logx:
        distance, allowed = np.abs(np.log10(curves.x / x)), 0.11
    else:
        distance, allowed = np.abs(curves.x - x), 0.02 * float(max(np.ptp(curves.x), abs(x)))
    i = int(distance.argmin())
    if distance[i] > allowed:
        raise Untestable(
            f"{curves.panel.xlabel} {x:g} is not among the points; the nearest is {curves.x[i]:g}"
        )
    return i


def label_of(curves: Curves, tag: str) -> str:
    """What a series is called where people read of it."""
    return curves.labels.get(tag, tag)


def runs_of(curves: Curves, *tags: str) -> list[Floats]:
    """The samples [runs, X] of these series, without the runs that are not finite in one of
    them.
    """
    missing = [label_of(curves, tag) for tag in tags if tag not in curves.samples]
    if missing:
        raise Untestable(f"the panel has no series {', '.join(missing)}")
    samples = [np.asarray(curves.samples[tag], dtype=np.float64) for tag in tags]
    finite = np.logical_and.reduce([np.isfinite(values).all(axis=1) for values in samples])
    if not finite.any():
        names = ", ".join(label_of(curves, tag) for tag in tags)
        raise Untestable(f"no run of {names} is finite throughout")
    return [values[finite] for values in samples]


def ends_of(curves: Curves, *tags: str) -> list[Floats]:
    """The last values [runs] of these series."""
    return [samples[:, -1] for samples in runs_of(curves, *tags)]


def mean_over_runs(curves: Curves, tag: str) -> Floats:
    """The mean of the runs at every place [X]."""
    return runs_of(curves, tag)[0].mean(axis=0)


# One or two series at one place.


def mean(curves: Curves, tag: str, x: float = LAST) -> Estimate:
    """The mean over runs."""
    i = at(curves, x)
    return of_means(curves, lambda a: a[..., 0], runs_of(curves, tag)[0][:, i])


def end(curves: Curves, tag: str) -> Estimate:
    """The mean at the end, of runs without chance."""
    return exactly(mean(curves, tag).y)


def decile(curves: Curves, tag: str) -> Estimate:
    """The decile over runs at the end."""
    values = ends_of(curves, tag)[0]
    return bounded(curves, intervals.summarize(values, "decile"), len(values))


def gain(curves: Curves, a: str, b: str, x: float = LAST) -> Estimate:
    """The mean of a less that of b."""
    i = at(curves, x)
    one, other = runs_of(curves, a, b)
    return of_means(curves, lambda m: m[..., 0], one[:, i] - other[:, i])


def average_gain(curves: Curves, a: str, b: str) -> Estimate:
    """The mean of a less that of b, on average over the run."""
    one, other = runs_of(curves, a, b)
    return of_means(curves, lambda m: m[..., 0], (one - other).mean(axis=1))


def decile_gain(curves: Curves, a: str, b: str) -> Estimate:
    """The decile at the end of a less that of b, the same runs drawn from both."""
    one, other = ends_of(curves, a, b)
    return bounded(curves, intervals.difference(one, other, "decile"), len(one))


def gap_ratio(curves: Curves, a: str, b: str) -> Estimate:
    """How much farther from the optimum a ends than b: (1 - mean of a) / (1 - mean of b)."""
    return of_means(
        curves, lambda x, y: (1.0 - x[..., 0]) / (1.0 - y[..., 0]), *ends_of(curves, a, b)
    )


def spread(curves: Curves, *tags: str) -> Estimate:
    """The best less the worst mean at the end."""
    return of_means(curves, lambda *m: np.ptp(m, axis=0)[..., 0], *ends_of(curves, *tags))


def ratio(curves: Curves, one: Floats, other: Floats) -> Estimate:
    """The mean of one value per run relative to that of another."""
    return of_means(curves, lambda x, y: x[..., 0] / y[..., 0], one, other)


def crossing(curves: Curves, tag: str, level: float) -> Floats:
    """Per run of a curve panel the first count above the level (at least 1), the last if there is
    none.
    """
    above_level = np.nan_to_num(curves.samples[tag], nan=-np.inf) > level
    return np.maximum(
        np.where(above_level.any(axis=1), curves.x[above_level.argmax(axis=1)], curves.x[-1]), 1.0
    )


def crossing_ratio(curves: Curves, a: str, b: str, level: float) -> Estimate:
    """The mean time to a level of a relative to that of b, in a curve panel."""
    runs_of(curves, a, b)
    return ratio(curves, crossing(curves, a, level), crossing(curves, b, level))


# What is so in a run.


def ends_above(curves: Curves, tag: str, level: float) -> NDArray[np.bool_]:
    """Which runs end above a level [runs]."""
    return np.asarray(ends_of(curves, tag)[0] > level)


def share(curves: Curves, tag: str, flags: Flags, *args: Any) -> Estimate:
    """The share of runs for which it is so, with its exact interval."""
    values = flags(curves, tag, *args)
    return bounded(curves, intervals.share(values), len(values))


def fraction(curves: Curves, tag: str, flags: Flags, *args: Any) -> Estimate:
    """The share of runs and places for which it is so, without an interval."""
    return exactly(flags(curves, tag, *args).mean())

"""Estimates from a panel's curves: numbers with a 95 % interval, and per run what is so.

A function takes the curves, one or two tags, and what it measures at: a place x on the axis is the
nearest point, and -inf and inf are its ends. Runs that are not finite are left out.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from jekyllhyde import intervals
from jekyllhyde.lab.panel import Curves

FIRST, LAST = -np.inf, np.inf
ABOUT = 1.25
FEWEST = 6  # fewer runs that all agree do so by chance with a probability above 5 %
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Untestable(Exception):
    """Why the panel cannot decide a claim."""


def require(condition: Any, reason: str) -> None:
    # Untestable for this reason unless the condition holds.
    if not condition:
        raise Untestable(reason)


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval; without limits where there are too few runs for one."""

    y: float
    lo: float
    hi: float

    def __str__(self) -> str:
        limits = f" [{self.lo:.4g}, {self.hi:.4g}]"
        return f"{self.y:.4g}" + (limits if 0 < self.hi - self.lo < np.inf else "")


def exactly(y: Any) -> Estimate:
    # A number that has no uncertainty, or is only shown; an estimate stays what it is.
    return y if isinstance(y, Estimate) else Estimate(float(y), float(y), float(y))


def bounded(curves: Curves, interval: tuple[Any, Any, Any], runs: int) -> Estimate:
    # An estimate; without limits if it is not exact and there are fewer runs than can decide
    # anything.
    y, lo, hi = (float(value) for value in interval)
    if np.isnan([y, lo, hi]).any() or (runs < FEWEST and not curves.panel.exact):
        lo, hi = -np.inf, np.inf
    return Estimate(y, lo, hi)


def of_means(curves: Curves, function: Callable[..., Any], *samples: Floats) -> Estimate:
    # A function of the means over runs (see `intervals.of_means`), the same runs drawn from every
    # series.
    with np.errstate(all="ignore"):  # a ratio to 0 is no number, and has no limits
        return bounded(curves, intervals.of_means(function, *samples), len(samples[0]))


# Places and runs.


def at(curves: Curves, x: float) -> int:
    # The place nearest to x on the axis, if it is near enough: within 2 % of the axis, or a tenth
    # of a decade.
    if np.isinf(x):
        return 0 if x < 0 else len(curves.x) - 1
    require(len(curves.x) and not np.isnan(curves.x).any(), "the axis has no numbers")
    if curves.panel.logx:
        distance, allowed = np.abs(np.log10(curves.x / x)), 0.11
    else:
        distance, allowed = np.abs(curves.x - x), 0.02 * float(max(np.ptp(curves.x), abs(x)))
    i = int(distance.argmin())
    require(
        distance[i] <= allowed,
        f"{curves.panel.xlabel} {x:g} is not among the points; the nearest is {curves.x[i]:g}",
    )
    return i


def label_of(curves: Curves, tag: str) -> str:
    # What a series is called where people read of it.
    return curves.labels.get(tag) or next(
        (cell.label for cell in curves.panel.experiment.cells if cell.tag == tag), tag
    )


def runs_of(curves: Curves, *tags: str) -> list[Floats]:
    # The samples [runs, X] of these series, without the runs that are not finite in one of
    # them.
    names = [label_of(curves, tag) for tag in tags]
    missing = [name for name, tag in zip(names, tags, strict=True) if tag not in curves.samples]
    require(not missing, f"the panel has no series {', '.join(missing)}")
    samples = [np.asarray(curves.samples[tag], dtype=np.float64) for tag in tags]
    finite = np.logical_and.reduce([np.isfinite(values).all(axis=1) for values in samples])
    require(finite.any(), f"no run of {', '.join(names)} is finite throughout")
    return [values[finite] for values in samples]


def values_at(curves: Curves, x: float, *tags: str) -> list[Floats]:
    # The values [runs] of these series at one place.
    i = at(curves, x)
    return [samples[:, i] for samples in runs_of(curves, *tags)]


def half_and_end(curves: Curves, tag: str) -> Floats:
    # The values [runs, 2] at half time and at the end.
    half = at(curves, curves.x[-1] / 2)
    return runs_of(curves, tag)[0][:, [half, -1]]


def average(curves: Curves, tag: str) -> Floats:
    # The mean of the runs at every place [X].
    return runs_of(curves, tag)[0].mean(axis=0)


# Means and deciles, by default at the end.


def _only(m: Floats) -> Any:
    return m[..., 0]


def _ratio(a: Floats, b: Floats) -> Any:
    return a[..., 0] / b[..., 0]


def mean(curves: Curves, tag: str, x: float = LAST) -> Estimate:
    # The mean over runs.
    return of_means(curves, _only, *values_at(curves, x, tag))


def decile(curves: Curves, tag: str) -> Estimate:
    # The decile over runs.
    values = values_at(curves, LAST, tag)[0]
    return bounded(curves, intervals.summarize(values, "decile"), len(values))


def gain(curves: Curves, a: str, b: str, x: float = LAST) -> Estimate:
    # The mean of a less that of b.
    return of_means(curves, _only, np.subtract(*values_at(curves, x, a, b)))


def average_gain(curves: Curves, a: str, b: str) -> Estimate:
    # The mean of a less that of b, on average over the run.
    return of_means(curves, _only, np.subtract(*runs_of(curves, a, b)).mean(axis=1))


def decile_gain(curves: Curves, a: str, b: str) -> Estimate:
    # The decile of a less that of b, the same runs drawn from both.
    first, second = values_at(curves, LAST, a, b)
    return bounded(curves, intervals.difference(first, second, "decile"), len(first))


def gap_ratio(curves: Curves, a: str, b: str) -> Estimate:
    # How much farther from the optimum a is than b: (1 - mean of a) / (1 - mean of b).
    return of_means(curves, lambda x, y: _ratio(1.0 - x, 1.0 - y), *values_at(curves, LAST, a, b))


def spread(curves: Curves, *tags: str) -> Estimate:
    # The best less the worst mean.
    return of_means(curves, lambda *m: _only(np.ptp(m, axis=0)), *values_at(curves, LAST, *tags))


def crossing(curves: Curves, tag: str, level: float) -> Floats:
    # Per run of a curve panel the first count above the level (at least 1), the last if there is
    # none.
    above = np.nan_to_num(curves.samples[tag], nan=-np.inf) > level
    return np.where(above.any(axis=1), curves.x[above.argmax(axis=1)], curves.x[-1]).clip(min=1.0)


def crossing_ratio(curves: Curves, a: str, b: str, level: float) -> Estimate:
    # The mean time to a level of a relative to that of b, in a curve panel.
    runs_of(curves, a, b)
    return of_means(curves, _ratio, crossing(curves, a, level), crossing(curves, b, level))


# What is so in a run.


def ends_above(curves: Curves, tag: str, level: float) -> Bools:
    # Which runs end above a level [runs].
    return np.asarray(values_at(curves, LAST, tag)[0] > level)


def arrived(curves: Curves, tag: str, x: float | None = None) -> Bools:
    # Which runs of a time panel reached the target [runs, X], or those at one place [runs].
    where = slice(None) if x is None else at(curves, x)
    return np.asarray(runs_of(curves, tag)[0][:, where] < curves.cap)


def lost(curves: Curves, tag: str, x: float) -> Bools:
    # Which runs of a time panel did not reach the target at a place [runs].
    return ~arrived(curves, tag, x)


def solved(curves: Curves, tag: str, low: float = FIRST, high: float = LAST) -> Bools:
    # At which of the places between low and high every run reached the target.
    runs_of(curves, tag)
    return np.asarray(curves.censored[tag] == 0)[(curves.x >= low) & (curves.x <= high)]


def share(curves: Curves, tag: str, flags: Callable[..., Bools], *args: Any) -> Estimate:
    # The share of runs for which it is so, with its exact interval.
    values = flags(curves, tag, *args)
    return bounded(curves, intervals.share(values), len(values))


# Times, at a place and along the axis.


def time_ratio(curves: Curves, a: str, b: str, x: float = LAST) -> Estimate:
    # The mean time of a relative to that of b at one place.
    return of_means(curves, _ratio, *values_at(curves, x, a, b))


def average_time_ratio(curves: Curves, a: str, b: str, where: Any = slice(None)) -> Estimate:
    # The mean time of a relative to that of b, on average over these places.
    return of_means(
        curves, _ratio, *(samples[:, where].mean(axis=1) for samples in runs_of(curves, a, b))
    )


def change(curves: Curves, tag: str, low: float, high: float) -> Estimate:
    # The mean time at the higher place relative to that at the lower.
    i, j = at(curves, low), at(curves, high)
    samples = runs_of(curves, tag)[0]
    return of_means(curves, _ratio, samples[:, j], samples[:, i])


def slowdown(curves: Curves, tag: str, x: float) -> Estimate:
    # The mean time at one place relative to the shortest along the axis.
    i = at(curves, x)
    return of_means(curves, lambda a: a[..., i] / a.min(axis=-1), *runs_of(curves, tag))


def largest(curves: Curves, tag: str) -> Estimate:
    # The largest x at which every run reached the target; nan if there is none.
    there = curves.x[solved(curves, tag)]
    return exactly(there.max() if len(there) else np.nan)


def reaching(curves: Curves, tags: Iterable[str]) -> tuple[str, ...]:
    # Those of the series that reach the target somewhere; where all times are the cap, they
    # compare with nothing.
    series = tuple(tag for tag in tags if arrived(curves, tag).any())
    require(series, "none of the series in question reaches the target anywhere")
    return series


def best(curves: Curves, tag: str) -> Estimate:
    # Where the mean time is shortest.
    require(
        arrived(curves, tag).any(),
        f"{label_of(curves, tag)} reaches the target nowhere, "
        f"so it has no best {curves.panel.xlabel}",
    )
    return of_means(curves, lambda a: curves.x[a.argmin(axis=-1)], *runs_of(curves, tag))


def step(curves: Curves) -> float:
    # The largest factor between neighbours on a logarithmic axis, at least the one that `about`
    # allows.
    return max(ABOUT, 1.001 * float((curves.x[1:] / curves.x[:-1]).max(initial=0.0)))


def trend(curves: Curves, tag: str, low: float = FIRST, high: float = LAST) -> Estimate:
    # Spearman's correlation of the mean time with x, between low and high.
    chosen = (curves.x >= low) & (curves.x <= high)
    require(chosen.sum() > 2, f"fewer than three points of {curves.panel.xlabel} are in question")
    x = stats.rankdata(curves.x[chosen])
    x = (x - x.mean()) / x.std()

    def correlation(a: Floats) -> Floats:
        ranks = stats.rankdata(a, axis=-1)
        covariance = ((ranks - ranks.mean(axis=-1, keepdims=True)) * x).mean(axis=-1)
        return np.asarray(covariance / ranks.std(axis=-1))

    return of_means(curves, correlation, runs_of(curves, tag)[0][:, chosen])

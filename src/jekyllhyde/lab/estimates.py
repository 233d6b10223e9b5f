"""Estimates from a panel's curves: numbers with a 95 % interval, and per run what is so.

A function takes the curves, the tags of one or more series, and what it measures at: a place x on
the axis is the nearest point, and -inf and inf are its ends. Its first line is what is shown of it.
Runs that are not finite are left out. What the curves do not have raises `Undecided`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jekyllhyde import intervals
from jekyllhyde.lab.panel import Curves
from jekyllhyde.lab.recalled import Recalled
from jekyllhyde.lab.verdicts import FOUND, RARELY, Estimate, Undecided

FIRST, LAST = -np.inf, np.inf
FEWEST = 10  # a bootstrap of fewer runs is too narrow to decide anything
ALL = 36  # so many runs without an exception leave fewer than one in ten
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Flags = Callable[..., Bools]


def require(condition: Any, reason: str) -> None:
    """Undecided for this reason unless the condition holds."""
    if not condition:
        raise Undecided(reason)


def exactly(y: Any) -> Estimate:
    """A number that has no uncertainty."""
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
    """A function of the means over runs, the same runs drawn from every series."""
    with np.errstate(all="ignore"):  # a ratio to 0 is no number, and has no limits
        return bounded(curves, intervals.of_means(function, *samples), len(samples[0]))


def of_runs(curves: Curves, function: Callable[..., Any], *samples: Floats) -> Estimate:
    """Any function of the runs, resampled likewise."""
    with np.errstate(all="ignore"):
        return bounded(curves, intervals.jointly(function, *samples), len(samples[0]))


# Places and runs.


def at(curves: Curves, x: float) -> int:
    """The place nearest to x on the axis, if it is near enough: within 2 % of the axis, or a tenth
    of a decade.
    """
    if np.isinf(x):
        return 0 if x < 0 else len(curves.x) - 1
    require(len(curves.x) and not np.isnan(curves.x).any(), "the axis has no numbers")
    if curves.panel.logx and curves.panel.kind != "curve":
        distance, allowed = np.abs(np.log10(curves.x / x)), 0.11
    else:
        distance, allowed = np.abs(curves.x - x), 0.02 * float(max(np.ptp(curves.x), abs(x)))
    i = int(distance.argmin())
    require(
        distance[i] <= allowed,
        f"{curves.panel.xlabel} {x:g} is not among the points; the nearest is {curves.x[i]:g}",
    )
    return i


def between(curves: Curves, low: float, high: float, least: int = 1) -> Bools:
    """Which places lie from low to high; there must be enough of them."""
    chosen = (curves.x >= low - 1e-9) & (curves.x <= high + 1e-9)
    require(
        chosen.sum() >= least,
        f"the panel has {chosen.sum()} points of {curves.panel.xlabel} from {low:g} to {high:g}, "
        f"{least} are needed",
    )
    return chosen


def label_of(curves: Curves, tag: str) -> str:
    """What a series is called where people read of it."""
    return curves.labels.get(tag) or next(
        (cell.label for cell in curves.panel.experiment.cells if cell.tag == tag), tag
    )


def runs_of(curves: Curves, *tags: str) -> list[Floats]:
    """The samples [runs, X] of these series, without the runs that are not finite in one of
    them.
    """
    names = [label_of(curves, tag) for tag in tags]
    missing = [name for name, tag in zip(names, tags, strict=True) if tag not in curves.samples]
    require(not missing, f"the panel has no series {', '.join(missing)}")
    samples = [np.asarray(curves.samples[tag], dtype=np.float64) for tag in tags]
    finite = np.logical_and.reduce([np.isfinite(values).all(axis=1) for values in samples])
    require(finite.any(), f"no run of {', '.join(names)} is finite throughout")
    return [values[finite] for values in samples]


def values_at(curves: Curves, x: float, *tags: str) -> list[Floats]:
    """The values [runs] of these series at one place."""
    i = at(curves, x)
    return [samples[:, i] for samples in runs_of(curves, *tags)]


# Returns, by default at the end.


def _only(m: Floats) -> Any:
    return m[..., 0]


def ratio_of(a: Floats, b: Floats) -> Any:
    """The ratio of two means."""
    return a[..., 0] / b[..., 0]


def mean(curves: Curves, tag: str, x: float = LAST) -> Estimate:
    """Mean."""
    if isinstance(curves, Recalled) and tag not in curves.samples:
        return curves.drawn(tag, at(curves, x))
    return of_means(curves, _only, *values_at(curves, x, tag))


def mean_over(curves: Curves, tag: str, low: float, high: float) -> Estimate:
    """Mean."""
    chosen = between(curves, low, high)
    return of_means(curves, _only, runs_of(curves, tag)[0][:, chosen].mean(axis=1))


def gap(curves: Curves, tag: str, goal: float = 1.0) -> Estimate:
    """Distance to {goal} at the end."""
    return of_means(curves, lambda m: np.abs(goal - _only(m)), *values_at(curves, LAST, tag))


def decile(curves: Curves, tag: str) -> Estimate:
    """Decile at the end."""
    values = values_at(curves, LAST, tag)[0]
    return bounded(curves, intervals.summarize(values, "decile"), len(values))


def gain(curves: Curves, a: str, b: str, x: float = LAST) -> Estimate:
    """Difference of means."""
    return of_means(curves, _only, np.subtract(*values_at(curves, x, a, b)))


def gain_since(curves: Curves, a: str, b: str, since: float) -> Estimate:
    """Difference of means at the end less that at {since}."""
    ends = (np.subtract(*values_at(curves, x, a, b)) for x in (LAST, since))
    return of_means(curves, _only, np.subtract(*ends))


def average_gain(curves: Curves, a: str, b: str) -> Estimate:
    """Difference of means, on average over the run."""
    return of_means(curves, _only, np.subtract(*runs_of(curves, a, b)).mean(axis=1))


def decile_gain(curves: Curves, a: str, b: str) -> Estimate:
    """Difference of deciles at the end."""
    first, second = values_at(curves, LAST, a, b)
    return bounded(curves, intervals.difference(first, second, "decile"), len(first))


def significance(curves: Curves, a: str, b: str, runs: int) -> Estimate:
    """Difference of means at the end in half widths of its interval, with {runs} runs or more.

    Below 1 it is not significant, which only so many runs can show.
    """
    difference = gain(curves, a, b)
    width = (difference.hi - difference.lo) / 2
    y = abs(difference.y) / width if width > 0 else 0.0 if difference.y == 0 else np.inf
    return Estimate(y, y, y if curves.runs >= runs else np.inf)


def gap_ratio(curves: Curves, a: str, b: str) -> Estimate:
    """Distance to the optimum at the end, ratio."""
    return of_means(curves, lambda x, y: ratio_of(1 - x, 1 - y), *values_at(curves, LAST, a, b))


def gap_change(
    curves: Curves, tag: str, early: float | None = None, late: float = LAST
) -> Estimate:
    """Distance to the optimum at {late}, relative to that at {early}."""
    places = [at(curves, x) for x in (curves.x[-1] / 2 if early is None else early, late)]
    return of_means(
        curves, lambda m: (1 - m[..., 1]) / (1 - m[..., 0]), runs_of(curves, tag)[0][:, places]
    )


def gap_exponent(curves: Curves, tag: str, low: float, high: float) -> Estimate:
    """Exponent of the distance to the optimum."""
    chosen = between(curves, low, high, 3)
    x = np.log(curves.x[chosen])
    x = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    return of_means(
        curves, lambda m: np.log(np.maximum(1 - m, 1e-300)) @ x, runs_of(curves, tag)[0][:, chosen]
    )


def spread(curves: Curves, *tags: str) -> Estimate:
    """Best less worst mean at the end."""
    if isinstance(curves, Recalled) and not curves.samples:  # all that the intervals allow
        y, lo, hi = np.array([(m.y, m.lo, m.hi) for m in (mean(curves, tag) for tag in tags)]).T
        return Estimate(float(np.ptp(y)), max(lo.max() - hi.min(), 0.0), hi.max() - lo.min())
    return of_means(curves, lambda *m: _only(np.ptp(m, axis=0)), *values_at(curves, LAST, *tags))


def crossings(curves: Curves, level: float, *tags: str) -> list[Floats]:
    """Per run of these series of a curve panel the first count above the level (at least 1), the
    last if there is none.
    """
    above = [samples > level for samples in runs_of(curves, *tags)]
    return [
        np.where(runs.any(axis=1), curves.x[runs.argmax(axis=1)], curves.x[-1]).clip(min=1.0)
        for runs in above
    ]


def crossing_mean(curves: Curves, tag: str, level: float = FOUND) -> Estimate:
    """Mean time to {level}."""
    (times,) = crossings(curves, level, tag)
    return bound_by_cap(of_means(curves, _only, times), times < curves.x[-1])


def crossing_ratio(curves: Curves, a: str, b: str, level: float = FOUND) -> Estimate:
    """Mean time to {level}, ratio."""
    times = crossings(curves, level, a, b)
    return bound_by_cap(of_means(curves, ratio_of, *times), *(t < curves.x[-1] for t in times))


def bound_by_cap(value: Estimate, known: Bools, beside: Bools | None = None) -> Estimate:
    """A mean time is only a bound unless nearly all runs have one, and so is its ratio to another.

    known : which runs get there.  beside : the same of the time that it is relative to.
    """
    lo = value.lo if beside is None or nearly_all(beside.ravel()) else -np.inf
    return Estimate(value.y, lo, value.hi if nearly_all(known.ravel()) else np.inf)


def nearly_all(known: Bools) -> Any:
    """Whether a mean over runs [runs, ...] rests on times that were reached: no more than one run
    in ten is at the cap.
    """
    return (~known).mean(axis=0) <= RARELY.high


# What is so in a run, or at a place of an exact panel.


def ends_above(curves: Curves, tag: str, level: float) -> Bools:
    """End above {level}."""
    return np.asarray(values_at(curves, LAST, tag)[0] > level)


def ends_below(curves: Curves, tag: str, level: float) -> Bools:
    """End below {level}."""
    return ~ends_above(curves, tag, level)


def count(curves: Curves, tag: str, flags: Flags, **where: Any) -> Estimate:
    """Number that {flags}.

    Where it is so in no run, few runs do not show that it never is.
    """
    values = flags(curves, tag, **where)
    number, enough = float(values.sum()), curves.panel.exact or len(values) >= ALL
    return Estimate(number, number, number if number or enough else np.inf)


def share(curves: Curves, tag: str, flags: Flags, **where: Any) -> Estimate:
    """Share that {flags}.

    Of runs with the exact interval; over several places, that of a bootstrap.
    """
    values = flags(curves, tag, **where)
    if curves.panel.exact:
        return exactly(values.mean())
    if values.ndim > 1:
        return of_means(curves, _only, values.mean(axis=1))
    return bounded(curves, intervals.share(values), len(values))


def diverged(curves: Curves, tag: str) -> Estimate:
    """Number that left the finite numbers."""
    failures = float(curves.failures.get(tag, 0))
    return Estimate(failures, failures, failures if failures or curves.runs >= ALL else np.inf)

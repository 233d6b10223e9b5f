"""Estimates from a time panel: the count at which a run first exceeds its target, the cap where it
never does, at a place and along the axis.

Means are over all runs with the cap for those that never get there, as the paper has them. Where
more than one run in ten is at the cap a mean is a bound, and no more (`estimates.bound_by_cap`).
What is said of the times along an axis is judged where nearly all runs get there, and is open
unless that is most of the axis.
"""

from typing import Any

import numpy as np
from scipy import stats

from jekyllhyde import intervals
from jekyllhyde.lab import estimates as of
from jekyllhyde.lab.estimates import FIRST, LAST, Bools, Floats, bound_by_cap, of_means, ratio_of
from jekyllhyde.lab.panel import Curves
from jekyllhyde.lab.verdicts import MOST, Estimate, Range, about

# What is so in a run [runs, X], or at one place [runs].


def arrive(curves: Curves, tag: str, low: float = FIRST, high: float = LAST) -> Bools:
    """Get there."""
    return np.asarray(of.runs_of(curves, tag)[0][:, of.between(curves, low, high)] < curves.cap)


def fail(curves: Curves, tag: str, low: float = FIRST, high: float = LAST) -> Bools:
    """Fail."""
    return ~arrive(curves, tag, low, high)


def arrive_at(curves: Curves, tag: str, x: float) -> Bools:
    """Get there."""
    return np.asarray(of.values_at(curves, x, tag)[0] < curves.cap)


def fail_at(curves: Curves, tag: str, x: float) -> Bools:
    """Fail."""
    return ~arrive_at(curves, tag, x)


def lowest_share(curves: Curves, tag: str) -> Estimate:
    """Share that get there at the worst {xlabel}."""
    values = arrive(curves, tag)
    worst = values[:, values.mean(axis=0).argmin()]
    return of.bounded(curves, intervals.share(worst), len(values))


def reached(curves: Curves, tag: str, low: float = FIRST, high: float = LAST) -> Bools:
    """Which places [X] from low to high nearly all runs get to."""
    (samples,) = of.runs_of(curves, tag)
    return np.asarray(of.between(curves, low, high) & of.nearly_all(samples < curves.cap))


# Mean times.


def mean_time(curves: Curves, tag: str, x: float) -> Estimate:
    """Mean time."""
    (times,) = of.values_at(curves, x, tag)
    return bound_by_cap(of.mean(curves, tag, x), times < curves.cap)


def time_ratio(curves: Curves, a: str, b: str, x: float = LAST) -> Estimate:
    """Mean time, ratio."""
    times = of.values_at(curves, x, a, b)
    return bound_by_cap(of_means(curves, ratio_of, *times), *(t < curves.cap for t in times))


def average_time_ratio(
    curves: Curves, a: str, b: str, low: float = FIRST, high: float = LAST
) -> Estimate:
    """Mean time over the axis, where nearly all runs of either get there, ratio."""
    chosen = reached(curves, a, low, high) | reached(curves, b, low, high)
    of.require(chosen.any(), "neither series gets there at any of these places")
    times = [samples[:, chosen] for samples in of.runs_of(curves, a, b)]
    ratio = of_means(curves, ratio_of, *(t.mean(axis=1) for t in times))
    return bound_by_cap(ratio, *(t < curves.cap for t in times))


def change(curves: Curves, tag: str, x: float, base: float) -> Estimate:
    """Mean time, relative to that at {base}."""
    times = [of.values_at(curves, place, tag)[0] for place in (x, base)]
    return bound_by_cap(of_means(curves, ratio_of, *times), *(t < curves.cap for t in times))


def along(curves: Curves, tag: str, low: float = FIRST, high: float = LAST) -> Estimate:
    """Mean time at the last {xlabel} that nearly all runs reach, relative to the first."""
    return of_means(curves, ratio_of, *_ends(curves, tag, low, high))


def factor(curves: Curves, tag: str, low: float = FIRST, high: float = LAST) -> Estimate:
    """Factor between mean times at the ends of what nearly all runs reach."""
    ends = _ends(curves, tag, low, high)
    return of_means(curves, lambda a, b: np.exp(np.abs(np.log(ratio_of(a, b)))), *ends)


def _ends(curves: Curves, tag: str, low: float, high: float) -> tuple[Floats, Floats]:
    # The times [runs] at the last and the first place that nearly all runs reach, if they reach
    # most of them.
    chosen, asked = reached(curves, tag, low, high), of.between(curves, low, high, 2)
    of.require(
        chosen.sum() > MOST.low * asked.sum(),
        f"more than one run in ten of {of.label_of(curves, tag)} is at the cap at "
        f"{asked.sum() - chosen.sum()} of {asked.sum()} {curves.panel.xlabel}",
    )
    samples = of.runs_of(curves, tag)[0][:, chosen]
    return samples[:, -1], samples[:, 0]


def slowdown(curves: Curves, tag: str, x: float) -> Estimate:
    """Mean time, relative to the shortest elsewhere."""
    i, (samples,) = of.at(curves, x), of.runs_of(curves, tag)
    of.between(curves, FIRST, LAST, 2)
    others = np.delete(samples, i, axis=1)
    shortest = others[:, others.mean(axis=0).argmin()]
    ratio = of_means(curves, lambda m: m[..., i] / np.delete(m, i, axis=-1).min(axis=-1), samples)
    return bound_by_cap(ratio, samples[:, i] < curves.cap, shortest < curves.cap)


def longest_to_shortest(curves: Curves, *tags: str) -> Estimate:
    """Longest to shortest mean time along {xlabel}.

    Of a first series relative to that of a second.
    """

    def span(m: Floats, *others: Floats) -> Any:
        own = m.max(axis=-1) / m.min(axis=-1)
        return own / span(*others) if others else own

    series = of.runs_of(curves, *tags)
    longest = [samples[:, samples.mean(axis=0).argmax()] for samples in series]
    return bound_by_cap(of_means(curves, span, *series), *(time < curves.cap for time in longest))


def best(curves: Curves, tag: str) -> Estimate:
    """Best {xlabel}."""
    (samples,) = of.runs_of(curves, tag)
    return of_means(curves, lambda m: curves.x[m.argmin(axis=-1)], samples)


def place_about(stated: float) -> Any:
    """About a place on a logarithmic axis: within one step of the point nearest to it, or the
    factor that "about" allows.
    """

    def stated_range(curves: Curves) -> Range:
        x, wide = curves.x, about(stated)
        i = int(np.abs(np.log(x / stated)).argmin())
        low, high = x[max(i - 1, 0)] / 1.001, x[min(i + 1, len(x) - 1)] * 1.001
        return Range(min(wide.low, float(low)), max(wide.high, float(high)))

    return stated_range


def trend(curves: Curves, tag: str, low: float = FIRST, high: float = LAST) -> Estimate:
    """Rank correlation of the mean time with {xlabel}."""
    chosen = of.between(curves, low, high, 3)
    x = stats.zscore(stats.rankdata(curves.x[chosen]))

    def correlation(m: Floats) -> Floats:
        return np.asarray((stats.zscore(stats.rankdata(m, axis=-1), axis=-1) * x).mean(axis=-1))

    return of_means(curves, correlation, of.runs_of(curves, tag)[0][:, chosen])

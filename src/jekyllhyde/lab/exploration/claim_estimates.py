"""Estimates that the claims about exploration are made of, per place of a panel's axis: a task, or
a size. Runs that never arrive have the time of the cap.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from jekyllhyde import intervals
from jekyllhyde.lab.estimates import Floats, bounded, label_of, require, runs_of
from jekyllhyde.lab.exploration.arrival import growth
from jekyllhyde.lab.panel import Curves, Others, Test
from jekyllhyde.lab.verdicts import ROUNDING, Estimate, Part, Range

Estimates = Callable[[Curves], dict[str, Estimate]]
Tags = tuple[str, ...]
RELIABLE = 0.95  # of the runs of a peer that counts as the best
FACTORS = np.geomspace(1.0, 100.0, 121)


def at_least(bound: float) -> Range:
    """The bound or above."""
    return Range(low=bound - ROUNDING)


def at_most(bound: float) -> Range:
    """The bound or below."""
    return Range(high=bound + ROUNDING)


def each_of(what: str, estimates: Estimates, stated: Range) -> Test:
    """All of these estimates, held against what is stated."""

    def test(curves: Curves, others: Others) -> list[Part]:
        return [Part(what, name, value, stated) for name, value in estimates(curves).items()]

    return test


def places(curves: Curves) -> list[str]:
    """What the places along the axis are called."""
    return curves.panel.words or [f"{x:g}" for x in curves.x]


def arrivals(tag: str, limits: Mapping[str, float] | None = None) -> Estimates:
    """The share of runs that arrive at each place, within its limit where there are limits."""

    def estimates(curves: Curves) -> dict[str, Estimate]:
        samples = runs_of(curves, tag)[0]
        bounds = dict.fromkeys(places(curves), np.inf) if limits is None else limits
        shares = {
            place: intervals.share((samples[:, i] < curves.cap) & (samples[:, i] <= bounds[place]))
            for i, place in enumerate(places(curves))
            if place in bounds
        }
        require(shares, f"none of {', '.join(bounds)} is in the panel")
        return {place: bounded(curves, value, len(samples)) for place, value in shares.items()}

    return estimates


def _ratios(cap: float, tried: Floats, *others: Floats) -> Floats:
    # Median time relative to the fastest of the others, of those that are reliable where one is.
    times, arrived = np.median(others, axis=1), (np.array(others) < cap).mean(axis=1)
    reliable = arrived >= RELIABLE
    best = np.where(reliable | ~reliable.any(axis=0), times, np.inf).min(axis=0)
    return np.asarray(np.median(tried, axis=0) / best)


def _jointly(curves: Curves, function: Any, *tags: str) -> tuple[Floats, Floats, Floats]:
    # A function of the samples of these series; without limits where there are too few runs.
    samples = runs_of(curves, *tags)
    y, lo, hi = intervals.jointly(function, *samples)
    few = bounded(curves, (0.0, 0.0, 0.0), len(samples[0])).hi
    return y, lo - few, hi + few


def _by_place(curves: Curves, values: tuple[Floats, ...], only: Tags = ()) -> dict[str, Estimate]:
    shown = {
        place: Estimate(*(float(value[i]) for value in values))
        for i, place in enumerate(places(curves))
        if not only or place in only
    }
    require(shown, f"none of {', '.join(only)} is in the panel")
    return shown


def ratios(tag: str, others: Tags, only: Tags = ()) -> Estimates:
    """The median time of a series relative to the fastest other one, per place."""

    def estimates(curves: Curves) -> dict[str, Estimate]:
        values = _jointly(curves, lambda *s: _ratios(curves.cap, *s), tag, *others)
        return _by_place(curves, values, only)

    return estimates


def close_places(tag: str, others: Tags, factor: float) -> Estimates:
    """The share of places at which a series takes at most `factor` times the fastest other one."""

    def estimates(curves: Curves) -> dict[str, Estimate]:
        values = _jointly(
            curves, lambda *s: np.mean(_ratios(curves.cap, *s) <= factor), tag, *others
        )
        return {"": Estimate(*map(float, values))}

    return estimates


def extreme_ratios(tag: str, others: Tags, extreme: Any) -> Estimates:
    """Per other series, an extreme over all places of its median time relative to that of `tag`:
    `np.max`, `np.min`, `distance`.
    """

    def estimates(curves: Curves) -> dict[str, Estimate]:
        def ratio(tried: Floats, default: Floats) -> Any:
            return extreme(np.median(tried, axis=0) / np.median(default, axis=0))

        return {
            label_of(curves, other): Estimate(*map(float, _jointly(curves, ratio, other, tag)))
            for other in others
        }

    return estimates


def distance(ratios: Floats) -> Any:
    """The ratio that is farthest from 1, in whichever direction, as a factor."""
    return np.max(np.maximum(ratios, 1.0 / ratios))


def differences(tag: str, others: Tags) -> Estimates:
    """The mean of a series less the least mean of the others, per place."""

    def least(tried: Floats, *rest: Floats) -> Floats:
        return np.asarray(tried.mean(axis=0) - np.mean(rest, axis=1).min(axis=0))

    return lambda curves: _by_place(curves, _jointly(curves, least, tag, *others))


def exponents(tags: Tags) -> Estimates:
    """The exponent of the power law of median times against a numeric axis."""

    def estimates(curves: Curves) -> dict[str, Estimate]:
        require(len(curves.x) > 2, f"{len(curves.x)} sizes are too few for an exponent")
        values = {}
        for tag in tags:
            samples = runs_of(curves, tag)[0]
            label = label_of(curves, tag)
            require(
                (np.median(samples, axis=0) < curves.cap).all(),
                f"{label} does not arrive at every {curves.panel.xlabel}",
            )
            fit = growth(list(curves.x), list(samples.T))
            values[label] = bounded(curves, (fit.y, fit.lo, fit.hi), len(samples))
        return values

    return estimates


def performance_profile(curves: Curves) -> Curves:
    """Per series the share of runs, each task counting alike, whose time is at most each factor
    times the least median of any series on the task (Dolan and More, 2002).
    """
    best = np.min([np.median(samples, axis=0) for samples in curves.samples.values()], axis=0)
    samples = {
        tag: (
            (values[..., None] <= FACTORS * best[:, None]) & (values[..., None] < curves.cap)
        ).mean(axis=1)
        for tag, values in curves.samples.items()
    }
    summaries = {tag: intervals.summarize(values, "mean") for tag, values in samples.items()}
    y, lo, hi = ({tag: ends[i] for tag, ends in summaries.items()} for i in range(3))
    panel = replace(
        curves.panel,
        quantity="profile",
        statistic="mean",
        xlabel="times the median of the fastest agent",
        logx=True,
        view=None,
    )
    nothing = {tag: np.zeros(len(FACTORS)) for tag in samples}
    return replace(
        curves, panel=panel, x=FACTORS, samples=samples, y=y, lo=lo, hi=hi, censored=nothing
    )

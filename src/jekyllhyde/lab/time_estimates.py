"""Estimates from a time panel: which runs reached the target, when, and how that changes along the
axis.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from jekyllhyde.lab.estimates import (
    FIRST,
    LAST,
    Estimate,
    Untestable,
    at,
    exactly,
    label_of,
    mean_over_runs,
    of_means,
    ratio,
    runs_of,
)
from jekyllhyde.lab.panel import Curves
from jekyllhyde.mdp.finite import Floats

ABOUT = 1.25


def arrived(curves: Curves, tag: str, x: float | None = None) -> NDArray[np.bool_]:
    """Which runs of a time panel reached the target [runs, X], or those at one place [runs]."""
    where = slice(None) if x is None else at(curves, x)
    return np.asarray(runs_of(curves, tag)[0][:, where] < curves.cap)


def lost(curves: Curves, tag: str, x: float) -> NDArray[np.bool_]:
    """Which runs of a time panel did not reach the target at a place [runs]."""
    return ~arrived(curves, tag, x)


def solved(curves: Curves, tag: str, low: float = FIRST, high: float = LAST) -> NDArray[np.bool_]:
    """At which of the places between low and high every run reached the target."""
    runs_of(curves, tag)
    return np.asarray(curves.censored[tag] == 0)[(curves.x >= low) & (curves.x <= high)]


def time_at(curves: Curves, tag: str, x: float = LAST) -> Estimate:
    """The time at a place, of runs without chance."""
    i = at(curves, x)
    return exactly(mean_over_runs(curves, tag)[i])


def time_ratio(curves: Curves, a: str, b: str, x: float = LAST) -> Estimate:
    """The mean time of a relative to that of b at one place."""
    i = at(curves, x)
    one, other = runs_of(curves, a, b)
    return ratio(curves, one[:, i], other[:, i])


def mean_time_ratio(curves: Curves, a: str, b: str, where: Any = slice(None)) -> Estimate:
    """The mean time of a relative to that of b, on average over these places."""
    one, other = (samples[:, where].mean(axis=1) for samples in runs_of(curves, a, b))
    return ratio(curves, one, other)


def largest(curves: Curves, tag: str) -> Estimate:
    """The largest x at which every run reached the target; nan if there is none."""
    there = curves.x[solved(curves, tag)]
    return exactly(there.max() if len(there) else np.nan)


def reaching(curves: Curves, tags: Iterable[str]) -> tuple[str, ...]:
    """Those of the series that reach the target somewhere; where all times are the cap, they
    compare with nothing.
    """
    series = tuple(tag for tag in tags if arrived(curves, tag).any())
    if not series:
        raise Untestable("none of the series in question reaches the target anywhere")
    return series


def best(curves: Curves, tag: str) -> Estimate:
    """Where the mean time is shortest."""
    if not arrived(curves, tag).any():
        raise Untestable(
            f"{label_of(curves, tag)} reaches the target nowhere, "
            f"so it has no best {curves.panel.xlabel}"
        )
    return of_means(curves, lambda a: curves.x[a.argmin(axis=-1)], runs_of(curves, tag)[0])


def step(curves: Curves) -> float:
    """The largest factor between neighbours on a logarithmic axis, at least the one that `about`
    allows.
    """
    if len(curves.x) < 2:
        return ABOUT
    return max(ABOUT, 1.001 * float((curves.x[1:] / curves.x[:-1]).max()))


def slowdown(curves: Curves, tag: str, x: float) -> Estimate:
    """The mean time at one place relative to the shortest along the axis."""
    i = at(curves, x)
    return of_means(curves, lambda a: a[..., i] / a.min(axis=-1), runs_of(curves, tag)[0])


def change(curves: Curves, tag: str, low: float, high: float) -> Estimate:
    """The mean time at the higher place relative to that at the lower."""
    i, j = at(curves, low), at(curves, high)
    samples = runs_of(curves, tag)[0]
    return ratio(curves, samples[:, j], samples[:, i])


def trend(curves: Curves, tag: str, low: float = FIRST, high: float = LAST) -> Estimate:
    """Spearman's correlation of the mean time with x, between low and high."""
    chosen = (curves.x >= low) & (curves.x <= high)
    if chosen.sum() < 3:
        raise Untestable(f"fewer than three points of {curves.panel.xlabel} are in question")
    x = stats.rankdata(curves.x[chosen])
    x = (x - x.mean()) / x.std()

    def correlation(a: Floats) -> Floats:
        ranks = stats.rankdata(a, axis=-1)
        centred = ranks - ranks.mean(axis=-1, keepdims=True)
        return np.asarray((centred * x).mean(axis=-1) / ranks.std(axis=-1))

    return of_means(curves, correlation, runs_of(curves, tag)[0][:, chosen])

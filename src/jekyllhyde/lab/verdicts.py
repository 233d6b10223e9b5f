"""What the figures' claims share: places on an axis, estimates with their intervals, and how parts
make a verdict.

A claim is made of parts, each True, False or None. A comparison is True or False where its 95 %
interval lies on one side, and None where it does not: it cannot be told from these runs. All True
is `supported`, all False `contradicted`, anything else `partly`. Where the sentence needs what the
panel does not have, a test raises `Untestable` with the reason: `not testable`.

How loose words are read, for every figure alike: "about x" is within a factor 1.25 (or one step of
the axis, where x is a place on it), and partly within the square of that; "around 0.99" rounds to
it; "as fast", "comparable", "no worse" allow 10 %; "much" is a factor 2, and partly anything in
that direction; "slightly" is below a factor 1.5; returns are "almost equal" within 0.01. What "all
runs" or "never" say, one run refutes; what is said of an axis or of an algorithm without such a
word holds partly if it does so in half of the cases. A run has found the optimal policy above 0.5
and has solved the problem above 0.95, the paper's marks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from jekyllhyde import intervals
from jekyllhyde.lab.panel import Claim, Curves, Outcome
from jekyllhyde.mdp.finite import Floats

FOUND, SOLVED = 0.5, 0.95
ABOUT, ALIKE, MUCH, SLIGHT, EQUAL = 1.25, 1.1, 2.0, 1.5, 0.01
FEWEST = 6  # fewer runs that all agree do so by chance with a probability above 5 %
Part = bool | None
Test = Callable[[Curves], Outcome]


class Untestable(Exception):
    """Why the panel cannot decide a claim."""


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval; without limits where there are too few runs for one."""

    y: float
    lo: float
    hi: float

    def __str__(self) -> str:
        interval = (
            f" [{self.lo:.4g}, {self.hi:.4g}]"
            if np.isfinite(self.hi - self.lo) and self.hi > self.lo
            else ""
        )
        return f"{self.y:.4g}{interval}"


# Claims and verdicts.


def claims(horizon: int, *entries: tuple[str, str, Test]) -> tuple[Claim, ...]:
    """Claims (id, text, test) about runs of `horizon` updates or trajectories; shorter runs cannot
    decide them.
    """
    return tuple(Claim(id, text, _guarded(test, horizon)) for id, text, test in entries)


def _guarded(test: Test, horizon: int) -> Test:
    def guarded(curves: Curves) -> Outcome:
        if curves.cap < horizon:
            return (
                "not testable",
                f"the sentence is about {horizon} {curves.panel.unit}, these runs have {curves.cap}",
            )
        try:
            return test(curves)
        except Untestable as reason:
            return "not testable", str(reason)

    return guarded


def untestable(reason: str) -> Test:
    """The test of a sentence that no panel's runs can decide."""

    def test(curves: Curves) -> Outcome:
        raise Untestable(reason)

    return test


def verdict(*parts: Part) -> str:
    """All True, all False, or something between."""
    if not parts:
        raise Untestable("there is nothing to compare")
    return (
        "supported"
        if all(parts)
        else "contradicted"
        if not any(part or part is None for part in parts)
        else "partly"
    )


def outcome(curves: Curves, parts: Iterable[Part], measured: str) -> Outcome:
    """The verdict with what was measured; says how many parts are neither so nor not so."""
    found = list(parts)
    between = sum(part is None for part in found)
    why = (
        "hold halfway"
        if curves.panel.exact
        else f"hold halfway or cannot be told ({curves.runs} runs)"
    )
    return verdict(*found), measured + (
        f"; {between} of {len(found)} parts {why}" if between else ""
    )


def say(values: Mapping[str, Any]) -> str:
    """Names with their numbers."""
    return ", ".join(
        f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
        for key, value in values.items()
    )


# Parts.


def below(estimate: Estimate, bound: float) -> Part:
    """Is it below the bound?"""
    return True if estimate.hi < bound else False if estimate.lo >= bound else None


def above(estimate: Estimate, bound: float) -> Part:
    """Is it above the bound?"""
    return True if estimate.lo > bound else False if estimate.hi <= bound else None


def much_below(estimate: Estimate) -> Part:
    """Is a ratio below one half? None where it is anywhere below 1, or may be."""
    return True if estimate.hi < 1 / MUCH else False if estimate.lo >= 1 else None


def much_above(estimate: Estimate) -> Part:
    """Is a ratio above 2? None where it is anywhere above 1, or may be."""
    return True if estimate.lo > MUCH else False if estimate.hi <= 1 else None


def mostly(share: float) -> Part:
    """Is it so in all cases? None in at least half of them."""
    return True if share == 1 else None if share >= 0.5 else False


def within(estimate: Estimate, low: float, high: float) -> Part:
    """Is it between the two?"""
    if low <= estimate.lo and estimate.hi <= high:
        return True
    return False if estimate.hi < low or estimate.lo > high else None


def about(estimate: Estimate, stated: float, factor: float = ABOUT) -> Part:
    """Is it about the number stated: within the factor, and not too uncertain for that? None up to
    the square of the factor.
    """
    if not estimate.y * stated > 0:
        return False if np.isfinite(estimate.y) else None
    wide = factor**2
    low, high = sorted((stated / factor, stated * factor))
    if low <= estimate.y <= high:
        return within(estimate, *sorted((stated / wide, stated * wide)))
    return (
        None
        if max(estimate.y / stated, stated / estimate.y) <= wide
        or within(estimate, low, high) is not False
        else False
    )


def rounds_to(estimate: Estimate, stated: float, digits: int) -> Part:
    """Does a return round to the number stated? None where its distance to the optimum is within a
    factor 2 of that stated.
    """
    half = 0.5 * 10.0**-digits
    if abs(estimate.y - stated) <= half:
        return True if estimate.hi - estimate.lo < 4 * half else None
    gap = (1.0 - estimate.y) / (1.0 - stated)
    return (
        None
        if 1 / MUCH <= gap <= MUCH or within(estimate, stated - half, stated + half) is not False
        else False
    )


def both(*parts: Part) -> Part:
    """Are they all so? One that is not decides."""
    return (
        False
        if any(part is not None and not part for part in parts)
        else None
        if None in parts
        else True
    )


def every(curves: Curves, flags: ArrayLike) -> Part:
    """Is it so in every run? One that is not decides; few that are do not."""
    if not np.all(flags):
        return False
    return True if curves.panel.exact or curves.runs >= FEWEST else None


def most(curves: Curves, flags: ArrayLike) -> Part:
    """Is it so in every run? None in at least half of them."""
    return every(curves, flags) if np.all(flags) else mostly(float(np.asarray(flags).mean()))


# Places and runs.


def at(curves: Curves, x: float) -> int:
    """The place nearest to x on the axis, if it is near enough: within 2 % of the axis, or a tenth
    of a decade.
    """
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


def runs_of(curves: Curves, *labels: str) -> list[Floats]:
    """The samples [runs, X] of these series, without the runs that are not finite in one of them."""
    missing = [label for label in labels if label not in curves.samples]
    if missing:
        raise Untestable(f"the panel has no series {', '.join(missing)}")
    found = [np.asarray(curves.samples[label], dtype=np.float64) for label in labels]
    finite = np.logical_and.reduce([np.isfinite(one).all(axis=1) for one in found])
    if not finite.any():
        raise Untestable(f"no run of {', '.join(labels)} is finite throughout")
    return [one[finite] for one in found]


def bounded(curves: Curves, found: tuple[Any, Any, Any], runs: int) -> Estimate:
    """An estimate; without limits if it is not exact and there are fewer runs than can decide
    anything.
    """
    y, lo, hi = (float(one) for one in found)
    if np.isnan([y, lo, hi]).any() or (runs < FEWEST and not curves.panel.exact):
        lo, hi = -np.inf, np.inf
    return Estimate(y, lo, hi)


def of_means(curves: Curves, function: Callable[..., Any], *samples: Floats) -> Estimate:
    """A function of the means over runs (see `intervals.of_means`), the same runs drawn from every
    series.
    """
    with np.errstate(all="ignore"):  # a ratio to 0 is no number, and has no limits
        return bounded(curves, intervals.of_means(function, *samples), len(samples[0]))


def mean(curves: Curves, label: str, i: int = -1) -> Estimate:
    """The mean over runs at one place, the last by default."""
    return of_means(curves, lambda a: a[..., 0], runs_of(curves, label)[0][:, i])


def means(curves: Curves, labels: Iterable[str], i: int = -1) -> dict[str, Estimate]:
    """The means of several series at one place."""
    return {label: mean(curves, label, i) for label in labels}


def gain(curves: Curves, a: str, b: str, i: int = -1) -> Estimate:
    """The mean of a less that of b at one place."""
    one, other = runs_of(curves, a, b)
    return of_means(curves, lambda x: x[..., 0], one[:, i] - other[:, i])


def gap_ratio(curves: Curves, a: str, b: str, i: int = -1) -> Estimate:
    """How much farther from the optimum a is than b: (1 - mean of a) / (1 - mean of b)."""
    one, other = runs_of(curves, a, b)
    return of_means(
        curves, lambda x, y: (1.0 - x[..., 0]) / (1.0 - y[..., 0]), one[:, i], other[:, i]
    )


def time_ratio(curves: Curves, a: str, b: str, i: int, j: int | None = None) -> Estimate:
    """Mean time of a at place i relative to that of b at place j (or i)."""
    one, other = runs_of(curves, a, b)
    return of_means(
        curves, lambda x, y: x[..., 0] / y[..., 0], one[:, i], other[:, i if j is None else j]
    )


def crossing(curves: Curves, label: str, level: float) -> Floats:
    """Per run of a curve panel the first count above the level (at least 1), the last one if there
    is none.
    """
    above_level = np.nan_to_num(curves.samples[label], nan=-np.inf) > level
    return np.maximum(
        np.where(above_level.any(axis=1), curves.x[above_level.argmax(axis=1)], curves.x[-1]), 1.0
    )


def crossing_ratio(curves: Curves, a: str, b: str, level: float) -> Estimate:
    """Mean time to a level of a relative to that of b, in a curve panel."""
    runs_of(curves, a, b)
    return of_means(
        curves,
        lambda x, y: x[..., 0] / y[..., 0],
        crossing(curves, a, level),
        crossing(curves, b, level),
    )


# Along the axis of a time panel.


def arrived(curves: Curves, label: str) -> NDArray[np.bool_]:
    """Which runs reached the target [runs, X]."""
    return np.asarray(runs_of(curves, label)[0] < curves.cap)


def solved(curves: Curves, label: str) -> NDArray[np.bool_]:
    """At which places every run reached the target [X]."""
    runs_of(curves, label)
    return np.asarray(curves.censored[label] == 0)


def largest(curves: Curves, label: str) -> float:
    """The largest x at which every run reached the target; nan if there is none."""
    there = curves.x[solved(curves, label)]
    return float(there.max()) if len(there) else np.nan


def reaching(curves: Curves, labels: Iterable[str]) -> tuple[str, ...]:
    """Those of the series that reach the target somewhere; where all times are the cap, they
    compare with nothing.
    """
    found = tuple(label for label in labels if arrived(curves, label).any())
    if not found:
        raise Untestable("none of the series in question reaches the target anywhere")
    return found


def best(curves: Curves, label: str) -> Estimate:
    """Where the mean time is shortest."""
    if not arrived(curves, label).any():
        raise Untestable(
            f"{label} reaches the target nowhere, so it has no best {curves.panel.xlabel}"
        )
    return of_means(curves, lambda a: curves.x[a.argmin(axis=-1)], runs_of(curves, label)[0])


def step(curves: Curves) -> float:
    """The largest factor between neighbours on a logarithmic axis, at least the one that `about`
    allows.
    """
    return (
        max(ABOUT, 1.001 * float((curves.x[1:] / curves.x[:-1]).max()))
        if len(curves.x) > 1
        else ABOUT
    )


def slowdown(curves: Curves, label: str, i: int) -> Estimate:
    """Mean time at one place relative to the shortest along the axis."""
    return of_means(curves, lambda a: a[..., i] / a.min(axis=-1), runs_of(curves, label)[0])


def trend(curves: Curves, label: str, low: float = -np.inf, high: float = np.inf) -> Estimate:
    """Spearman's correlation of the mean time with x, between low and high."""
    chosen = (curves.x >= low) & (curves.x <= high)
    if chosen.sum() < 3:
        raise Untestable(f"fewer than three points of {curves.panel.xlabel} are in question")
    x = stats.rankdata(curves.x[chosen])
    x = (x - x.mean()) / x.std()

    def correlation(a: Floats) -> Floats:
        ranks = stats.rankdata(a, axis=-1)
        return np.asarray(
            ((ranks - ranks.mean(axis=-1, keepdims=True)) * x).mean(axis=-1) / ranks.std(axis=-1)
        )

    return of_means(curves, correlation, runs_of(curves, label)[0][:, chosen])

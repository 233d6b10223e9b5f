"""The measures that claims of several figures share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jekyllhyde.lab.claim_tests import (
    Estimates,
    Measure,
    Pairs,
    Tags,
    compare,
    each,
    each_pair,
    each_reaching,
    fill,
    in_runs,
    join,
    show,
)
from jekyllhyde.lab.estimates import (
    FIRST,
    LAST,
    Estimate,
    crossing_ratio,
    decile_gain,
    ends_above,
    exactly,
    fraction,
    gain,
    mean,
    of_means,
    runs_of,
    share,
)
from jekyllhyde.lab.panel import Curves
from jekyllhyde.lab.time_estimates import arrived, best, change, step, trend
from jekyllhyde.lab.verdicts import SLIGHT, Part, about, above, below, both, every, most, none
from jekyllhyde.mdp.finite import Floats

Samples = Callable[[Curves], list[Floats]]


def against(tag: str, others: Tags) -> Pairs:
    """The pairs of one series with each of the others."""
    return tuple((tag, other) for other in others)


# Returns.


def mean_above(level: float, tags: Tags) -> Measure:
    """The mean of each series ends above the level."""
    return compare("mean at the end: {}", each(mean, tags), above, level)


def mean_below(level: float, tags: Tags) -> Measure:
    """The mean of each series ends below the level."""
    return compare("mean at the end: {}", each(mean, tags), below, level)


def all_above(level: float, tags: Tags) -> Measure:
    """Every run of these series ends above the level."""
    return join(in_runs(every, ends_above, tags, level), _shares_above(level, tags))


def none_above(level: float, tags: Tags) -> Measure:
    """No run of these series ends above the level."""
    return join(in_runs(none, ends_above, tags, level), _shares_above(level, tags))


def _shares_above(level: float, tags: Tags) -> Measure:
    shares = each(share, tags, ends_above, level)
    return show(f"share of runs above {level:g} at the end: {{}}", shares)


def ends_higher(pairs: Pairs) -> Measure:
    """At the end the first of each pair has the higher mean."""
    gains = each_pair(gain, pairs, name="{a} less {b}")
    return compare("difference of means at the end: {}", gains, above, 0.0)


def crosses_sooner(level: float, pairs: Pairs, factor: float = 1.0) -> Measure:
    """The first of each pair needs less than `factor` times the time to the level."""
    ratios = each_pair(crossing_ratio, pairs, level)
    return compare(f"ratio of mean times to {level:g}: {{}}", ratios, below, factor)


def decile_higher(label: str, pairs: Pairs) -> Measure:
    """At the end the first series, with this label, has a higher decile than the others."""
    gains = each_pair(decile_gain, pairs, name="{b}")
    return compare(f"decile of {label} at the end, less that of {{}}", gains, above, 0.0)


# Times to a target along an axis.


def all_arrive(tags: Tags) -> Measure:
    """The runs of these series reach the target at every x."""
    return join(
        in_runs(most, arrived, tags),
        show("share of runs that reach the target: {}", each(_reached, tags, np.mean)),
        show("at the worst {xlabel}: {}", each(_reached, tags, np.max)),
    )


def _reached(curves: Curves, tag: str, of_places: Callable[[Floats], float]) -> Estimate:
    return exactly(1 - of_places(curves.censored[tag]))


def none_arrive(tags: Tags, x: float | None = None) -> Measure:
    """No run of these series reaches the target, at a place or at any."""
    shares = each(fraction, tags, arrived, x)
    return join(
        in_runs(none, arrived, tags, x), show("share of runs that reach the target: {}", shares)
    )


def best_about(stated: float, tags: Tags) -> Measure:
    """The best place is about the one stated, within one step of the axis."""
    by_median = each_reaching(_best_by_median, tags)
    return join(
        compare("best {xlabel}: {}", each_reaching(best, tags), about, stated, step),
        show("by the median, which tails do not move: {}", by_median),
    )


def _best_by_median(curves: Curves, tag: str) -> Estimate:
    return exactly(curves.x[np.median(runs_of(curves, tag)[0], axis=0).argmin()])


def rises_slightly(
    texts: tuple[str, str], tags: Tags, low: float, high: float, until: float = LAST
) -> Measure:
    """Times rise along the axis (`until` a place), from low to high by less than half."""

    def measure(curves: Curves) -> tuple[list[Part], str]:
        rises = each(change, tags, low, high)(curves)
        slopes = each(trend, tags, FIRST, until)(curves)
        parts = [both(above(slopes[key], 0.0), below(rises[key], SLIGHT)) for key in slopes]
        return parts, f"{fill(texts[0], curves, slopes)}; {fill(texts[1], curves, rises)}"

    return measure


def factors(samples: Samples, logs: Callable[..., tuple[Floats, Floats]]) -> Estimates:
    """By which factors o and eps change the mean time, and the ratio of the two; `logs` takes the
    means and gives the logarithms of both.
    """
    functions: dict[str, Callable[..., Floats]] = {
        "with o": lambda *m: np.exp(logs(*m)[0]),
        "with eps": lambda *m: np.exp(logs(*m)[1]),
        "ratio": lambda *m: np.exp(logs(*m)[0] - logs(*m)[1]),
    }
    return lambda curves: {
        name: of_means(curves, function, *samples(curves)) for name, function in functions.items()
    }

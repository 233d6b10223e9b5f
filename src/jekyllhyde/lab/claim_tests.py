"""The few tests that the figures' claims are made of.

A claim is a row: id, sentence, and one or more measures. A measure takes a panel's curves and gives
parts and what was measured: `compare` holds estimates of series against a bound, `in_runs` looks
at the runs one by one, `show` only reports. In a text {} stands for the estimates with their
names, {x[0.5]} for the point of the axis that is nearest to 0.5, {first} and {last} for its ends,
{points} for their number, {xlabel} for its name and {cap} for the length of the runs.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from jekyllhyde.lab.estimates import (
    Estimate,
    Floats,
    Untestable,
    arrived,
    at,
    best,
    change,
    crossing_ratio,
    decile_gain,
    ends_above,
    exactly,
    gain,
    label_of,
    mean,
    of_means,
    reaching,
    runs_of,
    share,
    step,
    trend,
)
from jekyllhyde.lab.panel import Claim
from jekyllhyde.lab.panel import Curves as Curves  # noqa: PLC0414 (what a measure takes)
from jekyllhyde.lab.verdicts import SLIGHT, Part, about, above, below, both, most, none, outcome

Tags = tuple[str, ...]
Pairs = tuple[tuple[str, str], ...]
Measured = tuple[list[Part], str]
Measure = Callable[[Curves], Measured]
Estimates = Callable[[Curves], Mapping[str, Estimate]]
Row = tuple[str, str, *tuple[Measure, ...]]
EVERY, FIRST_ONLY, LAST_ONLY = slice(None), slice(1), slice(-1, None)


def claims(horizon: int, *rows: Row) -> tuple[Claim, ...]:
    # Claims about runs of `horizon` updates or trajectories; shorter runs cannot decide them.
    return tuple(
        Claim(id, text, partial(outcome, horizon, join(*measures))) for id, text, *measures in rows
    )


# Measures.


def listing(
    text: str, function: Callable[..., Measured], items: tuple[Any, ...], separator: str = "; "
) -> Measure:
    # function(curves, item) for every item: all parts, and the texts as a list in {}.
    def measure(curves: Curves) -> Measured:
        results = [function(curves, item) for item in items]
        return [part for parts, _ in results for part in parts], text.format(
            separator.join(words for _, words in results if words)
        )

    return measure


def join(*measures: Measure) -> Measure:
    # Several measures as one: all their parts, their texts behind each other.
    return listing("{}", lambda curves, measure: measure(curves), measures)


def compare(
    text: str,
    estimates: Estimates,
    part: Callable[..., Part],
    *bounds: float | Callable[[Curves], float],
    deciding: slice = EVERY,
) -> Measure:
    # Every estimate (or the `deciding` ones) as a part: part(estimate, *bounds). A bound may
    # depend on the curves.
    def measure(curves: Curves) -> Measured:
        values = estimates(curves)
        limits = [bound(curves) if callable(bound) else bound for bound in bounds]
        return [part(value, *limits) for value in list(values.values())[deciding]], fill(
            text, curves, values
        )

    return measure


def show(text: str, estimates: Estimates) -> Measure:
    # Estimates that are only reported.
    return lambda curves: ([], fill(text, curves, estimates(curves)))


def in_runs(rule: Callable[..., Part], flags: Any, tags: Tags, *args: Any) -> Measure:
    # A part for every series: whether the flags hold in its runs, by the rule `every`, `most` or
    # `none`.
    return lambda curves: ([rule(curves, flags(curves, tag, *args)) for tag in tags], "")


def holds(parts: Callable[[Curves], Iterable[Any]]) -> Measure:
    # Parts alone, of what is so or not.
    return lambda curves: (list(parts(curves)), "")


def untestable(reason: str) -> Measure:
    # The measure of a sentence that no panel's runs can decide.
    def measure(curves: Curves) -> Measured:
        raise Untestable(reason)

    return measure


# Texts.


def fill(text: str, curves: Curves, values: Mapping[str, Any]) -> str:
    # The text with the values, and with what it says about the panel.
    x = curves.x
    return text.format(
        say(values),
        x={key: x[at(curves, float(key))] for key in re.findall(r"x\[(.+?)\]", text)},
        first=x[0],
        last=x[-1],
        points=len(x),
        xlabel=curves.panel.xlabel,
        cap=curves.cap,
    )


def say(values: Mapping[str, Any]) -> str:
    # Names with their numbers.
    return ", ".join(f"{key} {value}".strip() for key, value in values.items())


# Estimates by the names that a text shows. A function may give a plain number.


def each(function: Callable[..., Any], tags: Tags, *args: Any) -> Estimates:
    # function(curves, tag, *args) for every series.
    return lambda curves: {
        label_of(curves, tag): exactly(function(curves, tag, *args)) for tag in tags
    }


def each_reaching(function: Callable[..., Any], tags: Tags, *args: Any) -> Estimates:
    # The same for the series that reach the target somewhere.
    return lambda curves: each(function, reaching(curves, tags), *args)(curves)


def each_pair(
    function: Callable[..., Any], pairs: Pairs, *args: Any, name: str = "{a} to {b}"
) -> Estimates:
    # function(curves, a, b, *args) for every pair of series, named by their labels.
    return lambda curves: {
        name.format(a=label_of(curves, a), b=label_of(curves, b)): exactly(
            function(curves, a, b, *args)
        )
        for a, b in pairs
    }


def single(function: Callable[..., Estimate], *args: Any) -> Estimates:
    # function(curves, *args), which needs no name.
    return lambda curves: {"": function(curves, *args)}


# Measures that several figures share.


def against(tag: str, others: Tags) -> Pairs:
    # The pairs of one series with each of the others.
    return tuple((tag, other) for other in others)


def end_means(part: Callable[..., Part], level: float, tags: Tags) -> Measure:
    # The mean of each series at the end, held against a level.
    return compare("mean at the end: {}", each(mean, tags), part, level)


def runs_above(rule: Callable[..., Part], level: float, tags: Tags) -> Measure:
    # The runs of these series, `every` or `none`, end above the level.
    return join(
        in_runs(rule, ends_above, tags, level),
        show(
            f"share of runs above {level:g} at the end: {{}}", each(share, tags, ends_above, level)
        ),
    )


def ends_higher(pairs: Pairs) -> Measure:
    # At the end the first of each pair has the higher mean.
    return compare(
        "difference of means at the end: {}",
        each_pair(gain, pairs, name="{a} less {b}"),
        above,
        0.0,
    )


def crosses_sooner(level: float, pairs: Pairs, factor: float = 1.0) -> Measure:
    # The first of each pair needs less than `factor` times the time to the level.
    return compare(
        f"ratio of mean times to {level:g}: {{}}",
        each_pair(crossing_ratio, pairs, level),
        below,
        factor,
    )


def decile_higher(label: str, pairs: Pairs) -> Measure:
    # At the end the first series, with this label, has a higher decile than the others.
    return compare(
        f"decile of {label} at the end, less that of {{}}",
        each_pair(decile_gain, pairs, name="{b}"),
        above,
        0.0,
    )


def all_arrive(tags: Tags) -> Measure:
    # The runs of these series reach the target at every x.
    return join(
        in_runs(most, arrived, tags),
        show(
            "share of runs that reach the target: {}",
            each(lambda curves, tag: 1 - np.mean(curves.censored[tag]), tags),
        ),
        show(
            "at the worst {xlabel}: {}",
            each(lambda curves, tag: 1 - np.max(curves.censored[tag]), tags),
        ),
    )


def none_arrive(tags: Tags, x: float | None = None) -> Measure:
    # No run of these series reaches the target, at a place or at any.
    return join(
        in_runs(none, arrived, tags, x),
        show(
            "share of runs that reach the target: {}",
            each(lambda curves, tag: arrived(curves, tag, x).mean(), tags),
        ),
    )


def best_about(stated: float, tags: Tags) -> Measure:
    # The best place is about the one stated, within one step of the axis.
    return join(
        compare("best {xlabel}: {}", each_reaching(best, tags), about, stated, step),
        show(
            "by the median, which tails do not move: {}",
            each_reaching(lambda c, tag: c.x[np.median(runs_of(c, tag)[0], axis=0).argmin()], tags),
        ),
    )


def o_matters_more(
    text: str,
    samples: Callable[[Curves], list[Floats]],
    logs: Callable[..., tuple[Floats, Floats]],
) -> Measure:
    # The mean time changes by a larger factor with o than with eps; `logs` takes the means of the
    # samples and gives the logarithms of both.
    functions: dict[str, Callable[..., Floats]] = {
        "with o": lambda *m: np.exp(logs(*m)[0]),
        "with eps": lambda *m: np.exp(logs(*m)[1]),
        "ratio": lambda *m: np.exp(logs(*m)[0] - logs(*m)[1]),
    }
    return compare(
        text,
        lambda curves: {key: of_means(curves, f, *samples(curves)) for key, f in functions.items()},
        above,
        1.0,
        deciding=LAST_ONLY,
    )


def rises_slightly(
    texts: tuple[str, str], tags: Tags, low: float, high: float, until: float = np.inf
) -> Measure:
    # Times rise along the axis (`until` a place), from low to high by less than half.
    def measure(curves: Curves) -> Measured:
        rises = each(change, tags, low, high)(curves)
        slopes = each(trend, tags, -np.inf, until)(curves)
        return [both(above(slopes[key], 0.0), below(rises[key], SLIGHT)) for key in slopes], (
            f"{fill(texts[0], curves, slopes)}; {fill(texts[1], curves, rises)}"
        )

    return measure

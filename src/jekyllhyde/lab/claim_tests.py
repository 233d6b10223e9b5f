"""The few tests that the figures' claims are made of.

A claim is a row: id, sentence, and one or more measures. A measure takes a panel's curves and gives
parts and what was measured: `compare` holds estimates of series against a bound, `in_runs` looks
at the runs one by one, `show` only reports. In a text {} stands for the estimates with their
names, {x[0.5]} for the point of the axis that is nearest to 0.5, {first} and {last} for its ends,
{points} for their number, {xlabel} for its name and {cap} for the length of the runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from jekyllhyde.lab.estimates import (
    Estimate,
    Flags,
    Untestable,
    at,
    label_of,
)
from jekyllhyde.lab.panel import Claim, Curves, Outcome
from jekyllhyde.lab.time_estimates import reaching
from jekyllhyde.lab.verdicts import Part, verdict

Tags = tuple[str, ...]
Pairs = tuple[tuple[str, str], ...]
Measure = Callable[[Curves], tuple[list[Part], str]]
Estimates = Callable[[Curves], Mapping[str, Estimate]]
Row = tuple[str, str, *tuple[Measure, ...]]
EVERY, FIRST_ONLY, LAST_ONLY = slice(None), slice(1), slice(-1, None)


def claims(horizon: int, *rows: Row) -> tuple[Claim, ...]:
    """Claims about runs of `horizon` updates or trajectories; shorter runs cannot decide them."""
    return tuple(Claim(id, text, _test(horizon, join(*rest))) for id, text, *rest in rows)


def _test(horizon: int, measure: Measure) -> Callable[[Curves], Outcome]:
    def test(curves: Curves) -> Outcome:
        if curves.cap < horizon:
            unit = curves.panel.unit
            reason = f"the sentence is about {horizon} {unit}, these runs have {curves.cap}"
            return "not testable", reason
        try:
            parts, text = measure(curves)
            return verdict(*parts), text + _undecided(curves, parts)
        except Untestable as reason:
            return "not testable", str(reason)

    return test


def _undecided(curves: Curves, parts: list[Part]) -> str:
    count = sum(part is None for part in parts)
    why = "" if curves.panel.exact else f" or cannot be told ({curves.runs} runs)"
    return f"; {count} of {len(parts)} parts hold halfway{why}" if count else ""


# Measures.


def join(*measures: Measure) -> Measure:
    """Several measures as one: all their parts, their texts behind each other."""

    def joined(curves: Curves) -> tuple[list[Part], str]:
        results = [measure(curves) for measure in measures]
        parts = [part for some, _ in results for part in some]
        return parts, "; ".join(text for _, text in results if text)

    return joined


def compare(
    text: str,
    estimates: Estimates,
    part: Callable[..., Part],
    *bounds: float | Callable[[Curves], float],
    deciding: slice = EVERY,
) -> Measure:
    """Every estimate (or the `deciding` ones) as a part: part(estimate, *bounds). A bound may
    depend on the curves.
    """

    def measure(curves: Curves) -> tuple[list[Part], str]:
        values = estimates(curves)
        limits = [bound(curves) if callable(bound) else bound for bound in bounds]
        parts = [part(value, *limits) for value in list(values.values())[deciding]]
        return parts, fill(text, curves, values)

    return measure


def show(text: str, estimates: Estimates) -> Measure:
    """Estimates that are only reported."""
    return lambda curves: ([], fill(text, curves, estimates(curves)))


def in_runs(rule: Callable[..., Part], flags: Flags, tags: Iterable[str], *args: Any) -> Measure:
    """A part for every series: whether the flags hold in its runs, by the rule `every`, `most` or
    `none`.
    """
    return lambda curves: ([rule(curves, flags(curves, tag, *args)) for tag in tags], "")


def holds(parts: Callable[[Curves], Iterable[Part]]) -> Measure:
    """Parts alone."""
    return lambda curves: (list(parts(curves)), "")


def untestable(reason: str) -> Measure:
    """The measure of a sentence that no panel's runs can decide."""

    def measure(curves: Curves) -> tuple[list[Part], str]:
        raise Untestable(reason)

    return measure


# Texts.


class _Axis:
    def __init__(self, curves: Curves) -> None:
        self.curves = curves

    def __getitem__(self, x: str) -> float:
        return float(self.curves.x[at(self.curves, float(x))])


def fill(text: str, curves: Curves, values: Mapping[str, Any]) -> str:
    """The text with the values, and with what it says about the panel."""
    x = curves.x
    places = {"x": _Axis(curves), "first": x[0], "last": x[-1], "points": len(x)}
    return text.format(say(values), **places, xlabel=curves.panel.xlabel, cap=curves.cap)


def say(values: Mapping[str, Any]) -> str:
    """Names with their numbers."""
    return ", ".join(f"{key} {value}" if key else f"{value}" for key, value in values.items())


# Estimates by the names that a text shows.


def each(function: Callable[..., Estimate], tags: Iterable[str], *args: Any) -> Estimates:
    """function(curves, tag, *args) for every series."""
    return lambda curves: {label_of(curves, tag): function(curves, tag, *args) for tag in tags}


def each_reaching(function: Callable[..., Estimate], tags: Tags, *args: Any) -> Estimates:
    """The same for the series that reach the target somewhere."""
    return lambda curves: each(function, reaching(curves, tags), *args)(curves)


def each_pair(
    function: Callable[..., Estimate], pairs: Pairs, *args: Any, name: str = "{a} to {b}"
) -> Estimates:
    """function(curves, a, b, *args) for every pair of series, named by their labels."""
    return lambda curves: {
        name.format(a=label_of(curves, a), b=label_of(curves, b)): function(curves, a, b, *args)
        for a, b in pairs
    }


def single(function: Callable[..., Estimate], *args: Any) -> Estimates:
    """function(curves, *args), which needs no name."""
    return lambda curves: {"": function(curves, *args)}

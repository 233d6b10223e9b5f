"""The tests that the figures' claims are made of.

`compare` holds a quantity of each series (or of each pair) against what is stated, `never` counts
the runs in which something is so, `relative` and `apart` set panels beside each other, and `show`
only reports. What is known of curves without a run (`recalled`) is not measured anew.

Quantities are in `estimates` and `times`, the readings of words in `verdicts`, the sentences in
`figures/sentences.toml`.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from jekyllhyde.lab import estimates as of
from jekyllhyde.lab import times
from jekyllhyde.lab.panel import Claim, Curves, Others, Test
from jekyllhyde.lab.recalled import recalled
from jekyllhyde.lab.sentences import SENTENCES
from jekyllhyde.lab.verdicts import NO_EXCEPTION, Estimate, Part, Range, Untestable

Item = str | tuple[str, ...]
Quantity = Callable[..., Estimate]
Place = tuple[str, str, Mapping[str, Any]]
END = "the end"
Tests = Mapping[str, Test | tuple[Test, ...]]


def claims(horizon: int, tests: Tests) -> tuple[Claim, ...]:
    """The claims with these ids, about runs of `horizon` updates or trajectories; shorter runs
    cannot decide them.
    """
    return tuple(
        Claim(
            id,
            SENTENCES[id].text,
            test if isinstance(test, tuple) else (test,),
            horizon,
            SENTENCES[id].place,
        )
        for id, test in tests.items()
    )


def compare(
    quantity: Quantity,
    series: Iterable[Item],
    *stated: Range | Callable[[Curves], Range] | None,
    panel: str = "",
    reaching: bool = False,
    **where: Any,
) -> Test:
    """quantity(curves, *tags, **where) of every series or pair, held against all that is stated.

    panel : take the curves of this panel instead.
    reaching : leave out series that reach the target of a time panel nowhere.
    """

    def test(curves: Curves, others: Others) -> list[Part]:
        curves = others(panel) if panel else curves
        what = describe(quantity, curves, where)
        items = list(series)
        known = [item for item in items if recalled(curves, what, _name(curves, item))]
        chosen = (known or _reaching(curves, items)) if reaching else items
        values = {_name(curves, item): _value(quantity, curves, item, where) for item in chosen}
        what += f" in {panel}" if panel else ""
        return [
            Part(what, name, value, claimed(curves) if callable(claimed) else claimed)
            for claimed in stated
            for name, value in values.items()
        ]

    return test


def show(quantity: Quantity, series: Iterable[Item], **where: Any) -> Test:
    """Estimates that decide nothing."""
    return compare(quantity, series, None, **where)


def never(flags: of.Flags, tags: Iterable[str], panel: str = "", **where: Any) -> Test:
    """In no run (at no place, where the panel is exact) it is so; one in which it is refutes."""
    return compare(of.count, tags, NO_EXCEPTION, panel=panel, flags=flags, **where)


def relative(
    quantity: Quantity, series: Iterable[Item], panel: str, *stated: Range, **where: Any
) -> Test:
    """A quantity relative to the same in another panel, with all that both intervals allow."""

    def test(curves: Curves, others: Others) -> list[Part]:
        beside = others(panel)
        what = f"{describe(quantity, curves, where)}, relative to panel {panel}"
        values = {
            name: recalled(curves, what, name)
            or _ratio(*(_value(quantity, c, item, where) for c in (curves, beside)))
            for item in series
            for name in [_name(curves, item)]
        }
        return [
            Part(what, name, value, claimed) for claimed in stated for name, value in values.items()
        ]

    return test


def apart(quantity: Quantity, first: Place, second: Place, *stated: Range) -> Test:
    """A quantity of a series in one panel less that of another series in another; they share no
    run, so that their errors add up as those of independent numbers do.

    first, second : the panel ("" for the claim's own), the series, and where.
    """

    def test(curves: Curves, others: Others) -> list[Part]:
        words, names, values = [], [], []
        for panel, tag, where in (first, second):
            seen = others(panel) if panel else curves
            words.append(describe(quantity, seen, where) + (f" in {panel}" if panel else ""))
            names.append(_name(seen, tag))
            values.append(_value(quantity, seen, tag, where))
        what, name = " less ".join(words), " against ".join(names)
        value = recalled(curves, what, name) or _difference(*values)
        return [Part(what, name, value, claimed) for claimed in stated]

    return test


def untestable(reason: str) -> Test:
    """The test of a sentence that no run can decide."""

    def test(curves: Curves, others: Others) -> list[Part]:
        raise Untestable(reason)

    return test


def crossed(firsts: Iterable[str], seconds: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The pairs of each of the first series with each of the second."""
    return tuple((a, b) for a in firsts for b in seconds)


def swapped(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The pairs the other way round."""
    return tuple((b, a) for a, b in pairs)


def describe(quantity: Callable[..., Any], curves: Curves, where: Mapping[str, Any]) -> str:
    """What is measured, in words: the first line of the quantity's text, and the place."""
    parameters = inspect.signature(quantity).parameters.values()
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    values = {key: _in_words(curves, value, where) for key, value in {**defaults, **where}.items()}
    line = (quantity.__doc__ or quantity.__name__).partition("\n")[0].rstrip(".")
    xlabel, places = curves.panel.xlabel, {**defaults, **where}
    text = line[0].lower() + line[1:].format(**values, xlabel=xlabel)
    if "flags" in where:
        return text
    if "x" in places:
        text += f" at {values['x']}" if values["x"] == END else f" at {xlabel}={values['x']}"
    low, high = (np.isfinite(places.get(key, np.inf)) for key in ("low", "high"))
    if low or high:
        first = f"from {xlabel}={values['low']}" if low else ""
        last = f"to {values['high']}" if low else f"up to {xlabel}={values['high']}"
        text = " ".join([text, first, last] if low and high else [text, first or last])
    return text


def _value(quantity: Quantity, curves: Curves, item: Item, where: Mapping[str, Any]) -> Estimate:
    # As it is known of the curves, or as it is measured.
    known = recalled(curves, describe(quantity, curves, where), _name(curves, item))
    return known or quantity(curves, *_tags(item), **where)


def _in_words(curves: Curves, value: Any, where: Mapping[str, Any]) -> str:
    if callable(value):
        return describe(value, curves, {k: v for k, v in where.items() if k != "flags"})
    if value is None:
        return "half time"
    if isinstance(value, float) and np.isinf(value):
        is_end = curves.panel.kind == "curve" and value > 0
        return END if is_end else f"{curves.x[of.at(curves, value)]:g}"
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


def _tags(item: Item) -> tuple[str, ...]:
    return (item,) if isinstance(item, str) else item


def _name(curves: Curves, item: Item) -> str:
    labels = [of.label_of(curves, tag) for tag in _tags(item)]
    return " against ".join(labels) if len(labels) < 3 else f"{len(labels)} series"


def _reaching(curves: Curves, series: Iterable[Item]) -> list[Item]:
    chosen = [
        item for item in series if all(times.arrive(curves, tag).any() for tag in _tags(item))
    ]
    of.require(chosen, "none of the series in question reaches the target anywhere")
    return chosen


def _ratio(a: Estimate, b: Estimate) -> Estimate:
    y = a.y / b.y if b.y else np.nan
    if not b.lo > 0:
        return Estimate(y, -np.inf, np.inf)
    with np.errstate(invalid="ignore"):
        ends = np.divide.outer([a.lo, a.hi], [b.lo, b.hi])
    return Estimate(y, float(np.nanmin(ends)), float(np.nanmax(ends)))


def _difference(a: Estimate, b: Estimate) -> Estimate:
    down, up = np.hypot(a.y - a.lo, b.hi - b.y), np.hypot(a.hi - a.y, b.y - b.lo)
    return Estimate(a.y - b.y, a.y - b.y - float(down), a.y - b.y + float(up))

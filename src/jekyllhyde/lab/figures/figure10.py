"""Figure 10: trajectories to the target against a constant off-policiness o, on the chain (10a) and
on random MDPs (10b).

What the paper says about it, in our words, is from Section 4.3 and Appendix E.
"""

from collections.abc import Callable, Mapping

import numpy as np

from jekyllhyde.lab.claims import (
    ALIKE,
    SLIGHT,
    Curves,
    Estimate,
    Floats,
    Measure,
    Measured,
    Part,
    Row,
    Untestable,
    above,
    at,
    below,
    best,
    between,
    change,
    compare,
    each_reaching,
    join,
    o_matters_more,
    runs_of,
    say,
    slowdown,
    trend,
)
from jekyllhyde.lab.figures.shared_experiments import Series, chain_sweep, random_sweep, tags

SERIES: Series = tuple(
    {"label": f"J&H eps={epsilon}", "agent": "jekyll-hyde", "epsilon": epsilon}
    for epsilon in ("100/t", "10/sqrt(t)", 0.1)
)
TAGS = tags(SERIES)  # the last may never reach a global return of 0.95


def _from_01_to_09(curves: Curves) -> Mapping[str, Estimate]:
    for x in (0.1, 0.9):  # a missing place is said before a missing time
        at(curves, x)
    return each_reaching(change, TAGS, 0.1, 0.9)(curves)


def _less_critical(curves: Curves) -> Measured:
    raise Untestable(
        "it sets this panel beside 10a; "
        f"here the mean time at o=0.9 relative to o=0.1 is {say(_from_01_to_09(curves))}"
    )


def _at_low_half_and_high(curves: Curves) -> list[Floats]:
    places = [at(curves, x) for x in (0.1, 0.5, 0.9)]
    return [samples[:, places] for samples in runs_of(curves, *TAGS)]


def _logs(*m: Floats) -> tuple[Floats, Floats]:
    # From o=0.1 to o=0.9 with eps=100/t, and between the schedules of eps at o=0.5.
    logs = np.log(np.stack(m))
    return np.abs(logs[0, ..., 2] - logs[0, ..., 0]), np.ptp(logs[..., 1], axis=0)


def _better(slope: Callable[..., Part], place: Callable[..., Part], bound: float) -> Measure:
    return join(
        compare(
            "rank correlation of the mean time with o: {}", each_reaching(trend, TAGS), slope, 0.0
        ),
        compare("best o: {}", each_reaching(best, TAGS), place, bound),
    )


def _half_is_best(panel: str) -> Row:
    return (
        f"{panel}-half",
        "As in planning, a constant o of 0.5 is best.",
        compare(
            "time at o=0.5 relative to the shortest: {}",
            each_reaching(slowdown, TAGS, 0.5),
            below,
            ALIKE,
        ),
    )


VARY = {"o": {"from": 0.0, "to": 1.0, "step": 0.01}}

PANELS = (
    chain_sweep(
        "10a",
        VARY,
        (
            "10a-higher",
            "On the chain, the higher the off-policiness the better.",
            _better(below, above, 0.899),
        ),
        _half_is_best("10a"),
        (
            "10a-o-most",
            "The amount of off-policiness matters most, "
            "exploration is needed in a small amount only.",
            o_matters_more("factor in the mean time: {}", _at_low_half_and_high, _logs),
        ),
        series=SERIES,
    ),
    random_sweep(
        "10b",
        VARY,
        (
            "10b-lower",
            "On random MDPs it is the opposite: the lower the off-policiness the better.",
            _better(above, below, 0.101),
        ),
        _half_is_best("10b"),
        (
            "10b-slightly",
            "J&H is slightly worse as o increases.",
            compare(
                "mean time at o=0.9 relative to o=0.1: {}", _from_01_to_09, between, 1.0, SLIGHT
            ),
        ),
        ("10b-less", "Off-policiness is less critical than on the chain.", _less_critical),
        series=SERIES,
    ),
)

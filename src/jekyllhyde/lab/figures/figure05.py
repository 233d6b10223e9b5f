"""Figure 5: exact updates on the chain, direct parametrization; against updates, |S|, beta and eta.

What the paper says about it, in our words, is from Section 4.2 and Appendix D. `5b-end` and
`5d-infinite` show what one more update does to the policy at the end, `5d-beta` the chain that the
footnote is about.
"""

import numpy as np

from jekyllhyde.lab import estimates as of
from jekyllhyde.lab import times
from jekyllhyde.lab.claims import compare, crossed, never, untestable
from jekyllhyde.lab.figures import chain_planning as chain
from jekyllhyde.lab.figures import shared_experiments as shared
from jekyllhyde.lab.figures.shared_experiments import DIRECT, O_HALF, O_T, PLANNED_PLAIN, UNIFORM
from jekyllhyde.lab.panel import Curves
from jekyllhyde.lab.verdicts import (
    EQUAL,
    FOUND,
    MUCH_SHORTER,
    ROUNDING,
    SHORTER,
    Estimate,
    below,
)

ETAS = {"from": 0.01, "to": 100, "per_decade": 10}


def settling(curves: Curves, tag: str) -> Estimate:
    """Updates until it stays where it ends, relative to the first that finds the optimum."""
    (y,) = of.runs_of(curves, tag)[0]
    away = np.flatnonzero(np.abs(y - y[-1]) >= EQUAL.high)
    settled = curves.x[min(away[-1] + 1, len(y) - 1) if len(away) else 0]
    return of.exactly(settled / np.min(of.crossings(curves, FOUND, *chain.C4)))


def once_found(curves: Curves, tag: str) -> Estimate:
    """Updates from 0.5 to the optimum, relative to those to 0.5."""
    found, done = (of.crossings(curves, level, tag)[0][0] for level in (FOUND, 1 - ROUNDING))
    ratio = float((done - found) / found)
    return Estimate(ratio, ratio, np.inf if done == curves.x[-1] else ratio)


def exponential(curves: Curves, tag: str) -> Estimate:
    """Residual of the log time as a line in |S|, relative to that as a line in log |S|.

    The interval is what leaving out a size in turn gives.
    """
    there = times.arrive(curves, tag)[0]
    of.require(there.sum() > 4, f"o=10/t solves {there.sum()} of these chains; five are needed")
    y, sizes = np.log(of.runs_of(curves, tag)[0][0][there].clip(min=1.0)), curves.x[there]

    def ratio(y: of.Floats, sizes: of.Floats) -> float:
        fits = (np.polyval(np.polyfit(x, y, 1), x) for x in (sizes, np.log(sizes)))
        line, power = (float(((y - fit) ** 2).mean()) ** 0.5 for fit in fits)
        return line / max(power, 1e-12)

    values = [ratio(np.delete(y, i), np.delete(sizes, i)) for i in range(len(y))]
    return Estimate(ratio(y, sizes), min(ratio(y, sizes), *values), max(ratio(y, sizes), *values))


def move(curves: Curves, tag: str) -> of.Bools:
    """Would change with one more update."""
    return np.asarray(of.runs_of(curves, tag)[0] > 0)


def fall_short(curves: Curves, tag: str) -> of.Bools:
    """Leave a state's policy not greedy."""
    return np.asarray(of.runs_of(curves, tag)[0] < 1)


PANELS = (
    chain.panel(
        "5a",
        "|S|=10, beta=0.95, direct, eta=1",
        {**DIRECT, "updates": 999},
        {},
        {
            "5a-fruit": chain.fruit,
            "5a-fast": compare(settling, PLANNED_PLAIN, SHORTER, MUCH_SHORTER),
            "5a-strong": chain.strong_finds,
            "5a-tight": chain.weak_is_stuck,
            "5a-exact": compare(of.gap, (UNIFORM, O_HALF), below(ROUNDING)),
            "5a-once-found": compare(once_found, (UNIFORM, O_HALF, shared.O_SQRT), SHORTER),
        },
    ),
    chain.panel(
        "5b",
        "beta=0.95, direct, eta=1",
        DIRECT,
        {"n_states": shared.SIZES},
        {
            "5b-seven": chain.seven_is_too_many,
            "5b-never": (
                never(times.arrive, PLANNED_PLAIN, low=7),
                never(move, PLANNED_PLAIN, "5b-end"),
            ),
            "5b-scales": chain.constant_scales,
            "5b-half": (
                never(times.fail_at, (O_HALF,), x=25),
                compare(times.time_ratio, crossed((O_HALF,), PLANNED_PLAIN), MUCH_SHORTER, x=25),
            ),
            "5b-weight": chain.weight_is_speed,
            "5b-tight": chain.tight_is_long,
            "5b-eventually": untestable("no run is long enough to refute it; see the page theory"),
            "5b-exponential": compare(exponential, (O_T,), SHORTER),
            "5b-constant": chain.constant_is_better,
            "5b-sensitive": tuple(
                never(flags, PLANNED_PLAIN, panel, x=x)
                for panel in ("", "5c")
                for flags, x in ((times.fail_at, of.FIRST), (times.arrive_at, of.LAST))
            ),
        },
    ),
    chain.panel(
        "5b-end",
        "beta=0.95, direct, eta=1, after 15,000 updates",
        {**DIRECT, "probe": True},
        {"n_states": shared.SIZES[4:]},
        {},
        series=shared.PLAN[:2],
        quantity="moved",
    ),
    chain.panel(
        "5c",
        "|S|=15, direct, eta=1",
        DIRECT,
        {"beta": shared.BETAS},
        {
            "5c-beta": tuple(chain.ten_times_smaller(panel) for panel in ("", "6c")),
            "5c-reliable": chain.reliable,
        },
        n=15,
    ),
    chain.panel(
        "5d",
        "|S|=10, beta=0.5, direct",
        DIRECT,
        {"eta": ETAS},
        {
            "5d-ability": chain.any_step_size,
            "5d-footnote": never(times.arrive, PLANNED_PLAIN, "5d-beta"),
            "5d-faster": chain.larger_steps,
            "5d-infinite": never(fall_short, shared.PLANNED[:5], "5d-infinite"),
        },
        beta=0.5,
    ),
    chain.panel(
        "5d-beta",
        "|S|=10, beta=0.7, direct",
        DIRECT,
        {"eta": ETAS},
        {},
        series=shared.PLAN[:2],
        beta=0.7,
    ),
    chain.panel(
        "5d-infinite",
        "|S|=10, beta=0.5, direct, eta=1e9",
        {**DIRECT, "eta": 1e9, "updates": 9, "probe": True},
        {"updates": list(range(10))},
        {},
        series=shared.PLAN[:5],
        quantity="greedy",
        beta=0.5,
    ),
)

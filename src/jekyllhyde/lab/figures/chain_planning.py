"""Exact updates on the chain: the experiments of Figures 5 and 6, and what the paper says about the
direct parametrization (Figure 5) and again about softmax (Figure 6).

Runs are without chance, so that a number is what it is; a time at the cap is only a bound.
"""

from typing import Any

import numpy as np

from jekyllhyde.lab import estimates as of
from jekyllhyde.lab import times
from jekyllhyde.lab.claims import Tests, claims, compare, crossed, never, show
from jekyllhyde.lab.figures import shared_experiments as shared
from jekyllhyde.lab.figures.shared_experiments import O_HALF, O_SQRT, O_T, O_TENTH, PLANNED_PLAIN
from jekyllhyde.lab.panel import Curves, Panel, Test
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.verdicts import (
    EQUAL,
    FINDS,
    LONGER,
    MUCH_LONGER,
    NO_EXCEPTION,
    USUALLY,
    Estimate,
)

CONSTANT = (shared.UNIFORM, O_HALF, O_TENTH)
C4 = (*CONSTANT, O_SQRT, O_T)


def panel(
    name: str,
    title: str,
    settings: dict[str, Any],
    vary: dict[str, Any],
    tests: Tests,
    *,
    series: shared.Series = shared.PLAN,
    quantity: str = "",
    n: int = 10,
    beta: float = 0.95,
) -> Panel:
    """The return against updates, or updates to a normalized return of 0.5 against what varies,
    unless another quantity is asked for.
    """
    xlabel = next(iter(vary), "updates")
    varied = {"updates": 15_000} | ({} if quantity else {"target": 0.5})
    settings = {**(varied if vary else {"points": 1000}), **settings}
    return Panel(
        name,
        f"chain, {title}",
        Experiment(
            name=f"fig{name}",
            method="plan",
            problem={"name": "chain", "n_states": n, "beta": beta},
            series=series,
            settings=settings,
            vary=vary,
        ),
        "|S|" if xlabel == "n_states" else xlabel,
        quantity or ("time" if vary else "J_norm"),
        logx=isinstance(vary.get(xlabel), dict) and "per_decade" in vary[xlabel],
        exact=True,
        claims=claims(settings["updates"], tests),
    )


def no_slower(curves: Curves, a: str, b: str) -> Estimate:
    """Share of {xlabel} at which the first is no slower."""
    (first,), (second,) = of.runs_of(curves, a, b)
    known = (first < curves.cap) | (second < curves.cap)  # where both are at the cap nobody knows
    of.require(known.any(), "neither series reaches the target anywhere")
    return of.exactly((first <= second)[known].mean())


def largest(curves: Curves, tag: str) -> Estimate:
    """Largest {xlabel} that is solved."""
    there = curves.x[times.arrive(curves, tag)[0]]
    return of.exactly(there.max() if len(there) else np.nan)


def failing_above(curves: Curves, tag: str) -> Estimate:
    """Number of eta that fail above one that does not."""
    there = times.arrive(curves, tag)[0]
    return of.exactly((~there[there.argmax() :]).sum() if there.any() else 0)


def slower_steps(curves: Curves, tag: str) -> Estimate:
    """Number of steps of eta that make it slower."""
    return of.exactly((np.diff(of.runs_of(curves, tag)[0][0]) > 0).sum())


def where_both_solve(curves: Curves, a: str, b: str) -> Estimate:
    """Mean ratio of times where both solve."""
    (first,), (second,) = of.runs_of(curves, a, b)
    known = (first < curves.cap) & (second < curves.cap)
    of.require(known.any(), "there is no place that both solve")
    return of.exactly((first[known] / second[known]).mean())


# What is said of both parametrizations. Normalized, the low-hanging fruit's return is 0.

fruit = compare(of.mean, PLANNED_PLAIN, EQUAL)
strong_finds = (
    compare(of.mean, (shared.UNIFORM, O_HALF), FINDS),
    show(of.mean, (O_TENTH, O_SQRT)),
)
weak_is_stuck = compare(of.mean, (O_T,), EQUAL)
seven_is_too_many = (
    never(times.arrive, PLANNED_PLAIN, low=7),
    never(times.fail, PLANNED_PLAIN, high=6),
    show(largest, PLANNED_PLAIN),
)
constant_scales = never(times.fail_at, CONSTANT, x=25)
weight_is_speed = compare(no_slower, ((shared.UNIFORM, O_HALF), (O_HALF, O_TENTH)), *USUALLY)
tight_is_long = compare(times.time_ratio, ((O_T, O_HALF),), LONGER, MUCH_LONGER, x=25)
constant_is_better = compare(no_slower, crossed((O_HALF, O_TENTH), (O_SQRT, O_T)), *USUALLY)
any_step_size = compare(failing_above, PLANNED_PLAIN, NO_EXCEPTION)
larger_steps = compare(slower_steps, CONSTANT, NO_EXCEPTION)
reliable = compare(of.share, C4, *USUALLY, flags=times.arrive)


def ten_times_smaller(panel: str) -> Test:
    """Not even so small a fruit lets on-policy updates solve the chain of a panel."""
    return never(times.arrive_at, PLANNED_PLAIN, panel, x=0.1)

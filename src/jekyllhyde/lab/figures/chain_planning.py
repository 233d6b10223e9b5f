"""Exact updates on the chain: the experiments of Figures 5 and 6, and what the paper says about the
direct parametrization (Figure 5) and again about softmax (Figure 6).

Runs are without chance, so that a number is what it is.
"""

from typing import Any

from jekyllhyde.lab.claims import (
    SOLVED,
    Estimate,
    Measure,
    Measured,
    Row,
    above,
    at,
    average,
    claims,
    compare,
    each,
    each_pair,
    every,
    exactly,
    holds,
    in_runs,
    join,
    largest,
    mean,
    mostly,
    near,
    none,
    say,
    show,
    solved,
)
from jekyllhyde.lab.figures.shared_experiments import (
    O_HALF,
    O_SQRT,
    O_T,
    O_TENTH,
    PLAN,
    PLANNED_PLAIN,
    UNIFORM,
    Series,
)
from jekyllhyde.lab.panel import Curves, Panel
from jekyllhyde.lab.spec import Experiment

CONSTANT = (UNIFORM, O_HALF, O_TENTH)
LASTING = (*CONSTANT, O_SQRT)
C4 = (*LASTING, O_T)


def panel(
    name: str,
    title: str,
    settings: dict[str, Any],
    vary: dict[str, Any],
    *rows: Row,
    series: Series = PLAN,
    n: int = 10,
    beta: float = 0.95,
) -> Panel:
    # The return against updates, or updates to a normalized return of 0.5 against what varies.
    xlabel = next(iter(vary), "updates")
    settings = {**({"updates": 15_000, "target": 0.5} if vary else {"points": 1000}), **settings}
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
        "time" if vary else "J_norm",
        logx=xlabel in ("eta", "lam"),
        exact=True,
        claims=claims(settings["updates"], *rows),
    )


# Against updates. Normalized, the low-hanging fruit's return is 0.


def end(curves: Curves, tag: str) -> float:
    # The return at the end.
    return mean(curves, tag).y


_END = "normalized return at the end: {}"
fruit = compare(f"{_END} (0 is the fruit)", each(end, PLANNED_PLAIN), near, 0.0, 0.01)
lasting_reach = compare(_END, each(end, LASTING), above, SOLVED)
weak_is_stuck = compare(f"{_END} (0 is the fruit)", each(end, (O_T,)), near, 0.0, 0.01)


# Against |S|.


def no_slower(curves: Curves, a: str, b: str) -> Estimate:
    # The share of x at which a takes no longer than b.
    return exactly((average(curves, a) <= average(curves, b)).mean())


def half_at_25(curves: Curves) -> Measured:
    # The sentence of the main text, about o=0.5 alone.
    i = at(curves, 25)
    return [bool(solved(curves, O_HALF)[i])], (
        f"updates of o=0.5 at |S|=25: {average(curves, O_HALF)[i]:g}"
    )


def weight_is_speed(curves: Curves) -> Measured:
    # More weight on the uniform density is at least as fast at every x.
    first, second = no_slower(curves, UNIFORM, O_HALF), no_slower(curves, O_HALF, O_TENTH)
    return [mostly(first), mostly(second)], (
        f"share of x: uniform no slower than o=0.5 {first.y:g}, o=0.5 than o=0.1 {second.y:g}"
    )


def _largest_chains(*tags: str) -> Measure:
    return show("largest chain solved within {cap} updates: {}", each(largest, tags))


seven_is_too_many = join(
    in_runs(every, solved, PLANNED_PLAIN, 0, 6),
    in_runs(none, solved, PLANNED_PLAIN, 7),
    _largest_chains(*PLANNED_PLAIN),
)
constant_scales = join(
    in_runs(every, lambda curves, tag: solved(curves, tag)[at(curves, 25)], CONSTANT),
    show(
        "updates at |S|=25: {}",
        each(lambda curves, tag: average(curves, tag)[at(curves, 25)], CONSTANT),
    ),
)
tight_is_long = join(
    holds(lambda curves: [not solved(curves, O_T).all(), solved(curves, O_HALF).all()]),
    _largest_chains(O_T, O_HALF),
)
constant_is_better = compare(
    "share of x where constant o is no slower: {}",
    each_pair(
        no_slower,
        tuple((a, b) for b in (O_SQRT, O_T) for a in (O_HALF, O_TENTH)),
        name="{a} against {b}",
    ),
    mostly,
)

# Against beta.


def ten_times_smaller(curves: Curves) -> Measured:
    # On-policy updates at beta 0.1.
    i = at(curves, 0.1)
    there = [bool(solved(curves, tag)[i]) for tag in PLANNED_PLAIN]
    return [not flag for flag in there], (
        f"solved at beta={curves.x[i]:g}: {there}; "
        f"largest beta solved: {say(each(largest, PLANNED_PLAIN)(curves))}"
    )


reliable = compare(
    "share of betas solved within {cap} updates: {}",
    each(lambda curves, tag: solved(curves, tag).mean(), C4),
    mostly,
)

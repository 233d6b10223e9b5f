"""Figure 6: exact updates on the chain, softmax parametrization; against updates, |S|, beta and the
entropy weight lam.

What the paper says about it, in our words, is from Appendix D. `6d-end` shows where the updates of
6d end that have no target to stop at, `6d-eta` the sweep of step sizes that is not shown.
"""

import numpy as np

from jekyllhyde.lab import estimates as of
from jekyllhyde.lab import times
from jekyllhyde.lab import verdicts as said
from jekyllhyde.lab.claims import compare, crossed, never, relative, show
from jekyllhyde.lab.figures import chain_planning as chain
from jekyllhyde.lab.figures import shared_experiments as shared
from jekyllhyde.lab.figures.shared_experiments import (
    O_HALF,
    PLANNED_ENTROPY,
    PLANNED_PLAIN,
    SOFTMAX,
    UNIFORM,
)
from jekyllhyde.lab.panel import Curves
from jekyllhyde.lab.verdicts import FOUND, LONGER, MUCH_LONGER, ROUNDING, Estimate

BOTH = shared.PLAN + shared.PLAN_ENTROPY
PLAIN = (PLANNED_PLAIN[::-1],)
WITH_ENTROPY = tuple(zip(PLANNED_ENTROPY, PLANNED_PLAIN, strict=True))
BESIDE_HALF = crossed(PLANNED_PLAIN, (O_HALF,))


def distance(curves: Curves, tag: str) -> Estimate:
    """Distance at the end to the optimum, or to the fruit."""
    return of.gap(curves, tag, goal=float(of.mean(curves, tag).y > FOUND))


def more_solved(curves: Curves, a: str, b: str) -> Estimate:
    """Share of {xlabel} that is solved, difference."""
    return of.exactly(times.arrive(curves, a).mean() - times.arrive(curves, b).mean())


def span(curves: Curves, tag: str, high: float) -> Estimate:
    """Longest to shortest time."""
    y = of.runs_of(curves, tag)[0][0][of.between(curves, 0.0, high, 2)]
    ratio = float(y.max() / y.min())
    return Estimate(ratio, ratio, np.inf if y.max() >= curves.cap else ratio)


def limit(curves: Curves, tag: str) -> Estimate:
    """Where {xlabel} becomes too large.

    Between the largest that is solved and the next one.
    """
    there = np.flatnonzero(times.arrive(curves, tag)[0])
    of.require(len(there), f"{of.label_of(curves, tag)} solves nothing")
    low, high = (float(curves.x[i]) if i < len(curves.x) else np.inf for i in there[-1] + [0, 1])
    return Estimate(low, low, high)


def fewer(curves: Curves, a: str, b: str) -> Estimate:
    """Number of {xlabel} that is solved, ratio."""
    solved = [times.arrive(curves, tag).sum() for tag in (a, b)]
    of.require(all(solved), "a series solves nothing")
    return of.exactly(solved[0] / solved[1])


def best_time(curves: Curves, a: str, b: str) -> Estimate:
    """Shortest time along {xlabel}, ratio."""
    shortest = [samples.min() for samples in of.runs_of(curves, a, b)]
    known = [np.array(time < curves.cap) for time in shortest]
    return of.bound_by_cap(of.exactly(shortest[0] / shortest[1]), *known)


def gap_beside_none(curves: Curves, tag: str, x: float) -> Estimate:
    """Distance to the optimum, relative to that at 0."""
    ends = [1.0 - of.values_at(curves, place, tag)[0] for place in (x, 0.0)]
    return of.of_means(curves, of.ratio_of, *ends)


PANELS = (
    chain.panel(
        "6a",
        "|S|=10, beta=0.95, softmax, eta=10",
        {**SOFTMAX, "updates": 9999},
        {},
        {
            "6a-fruit": chain.fruit,
            "6a-strong": chain.strong_finds,
            "6a-tight": chain.weak_is_stuck,
            "6a-never": compare(distance, (UNIFORM, O_HALF, *PLANNED_PLAIN), said.above(ROUNDING)),
            "6a-entropy": (
                compare(
                    of.mean_over, PLANNED_ENTROPY, said.below(said.EQUAL.low), low=500, high=2000
                ),
                compare(of.mean, PLANNED_ENTROPY, said.EQUAL),
            ),
            "6a-entropy-fails": compare(of.mean, PLANNED_ENTROPY, said.below(FOUND)),
            "6a-rate": relative(
                of.crossing_mean, (UNIFORM, O_HALF, shared.O_SQRT), "5a", said.NO_LONGER
            ),
        },
        series=BOTH,
    ),
    chain.panel(
        "6b",
        "beta=0.95, softmax, eta=10",
        SOFTMAX,
        {"n_states": shared.SIZES},
        {
            "6b-seven": chain.seven_is_too_many,
            "6b-scales": chain.constant_scales,
            "6b-weight": chain.weight_is_speed,
            "6b-tight": chain.tight_is_long,
            "6b-entropy": compare(more_solved, WITH_ENTROPY, said.LOWER),
        },
        series=BOTH,
    ),
    chain.panel(
        "6c",
        "|S|=15, softmax, eta=10",
        SOFTMAX,
        {"beta": shared.BETAS},
        {
            "6c-similar": relative(
                of.share, (*PLANNED_PLAIN, *chain.C4), "5c", said.ALIKE, flags=times.arrive
            ),
            "6c-reliable": chain.reliable,
            "6c-entropy": (
                compare(more_solved, WITH_ENTROPY, said.HIGHER),
                never(times.arrive_at, PLANNED_ENTROPY, x=of.LAST),
            ),
            "6c-edge": (
                compare(
                    chain.where_both_solve, PLAIN, said.SLIGHTLY_SHORTER, said.PERCEPTIBLY_SHORTER
                ),
                show(chain.where_both_solve, (PLANNED_ENTROPY[::-1],)),
            ),
            "6c-first": tuple(
                compare(chain.where_both_solve, PLAIN, said.ALIKE, panel=panel)
                for panel in ("5b", "5c", "6b")
            ),
        },
        series=BOTH,
        n=15,
    ),
    chain.panel(
        "6d",
        "|S|=15, beta=0.5, softmax, eta=10",
        SOFTMAX,
        {"lam": {"from": 0.001, "to": 10, "per_decade": 10}},
        {
            "6d-large": compare(limit, (*chain.CONSTANT, *PLANNED_PLAIN), times.place_about(0.25)),
            "6d-small": compare(span, chain.C4, said.NO_LONGER, high=0.25),
            "6d-sweet": (
                compare(fewer, BESIDE_HALF, said.MUCH_SHORTER),
                compare(best_time, BESIDE_HALF, MUCH_LONGER),
            ),
            "6d-eta": tuple(
                compare(quantity, series, said.NO_EXCEPTION, panel="6d-eta")
                for quantity, series in (
                    (chain.failing_above, PLANNED_PLAIN),
                    (chain.slower_steps, chain.CONSTANT),
                )
            ),
            "6d-stochastic": compare(
                gap_beside_none, (UNIFORM, O_HALF), LONGER, MUCH_LONGER, panel="6d-end", x=0.1
            ),
        },
        n=15,
        beta=0.5,
    ),
    chain.panel(
        "6d-eta",
        "|S|=10, beta=0.5, softmax",
        SOFTMAX,
        {"eta": {"from": 0.1, "to": 1000, "per_decade": 10}},
        {},
        beta=0.5,
    ),
    chain.panel(
        "6d-end",
        "|S|=15, beta=0.5, softmax, eta=10, after 15,000 updates",
        SOFTMAX,
        {"lam": [0.0, 0.001, 0.01, 0.1, 0.2]},
        {},
        quantity="J_norm_end",
        n=15,
        beta=0.5,
    ),
)

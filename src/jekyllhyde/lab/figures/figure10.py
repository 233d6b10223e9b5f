"""Figure 10: trajectories to the target against a constant off-policiness o, on the chain (10a) and
on random MDPs (10b).

What the paper says about it, in our words, is from Section 4.3 and Appendix E.
"""

import numpy as np

from jekyllhyde.lab import estimates as of
from jekyllhyde.lab import times
from jekyllhyde.lab import verdicts as said
from jekyllhyde.lab.claims import compare, relative
from jekyllhyde.lab.figures.shared_experiments import (
    BY_O,
    Series,
    chain_sweep,
    random_sweep,
    tags,
)
from jekyllhyde.lab.panel import Curves
from jekyllhyde.lab.verdicts import LONGER, NO_LONGER, Estimate

SERIES: Series = tuple(
    {"label": f"J&H eps={epsilon}", "agent": "jekyll-hyde", "epsilon": epsilon}
    for epsilon in ("100/t", "10/sqrt(t)", 0.1)
)
TAGS = tags(SERIES)  # the last may never reach a global return of 0.95
VARY = {"o": {"from": 0.0, "to": 1.0, "step": 0.01}}
O = ("jh-o0.5", "jh-o10sqrtt")


def o_beside_epsilon(curves: Curves, *tags: str) -> Estimate:
    """Factor that o makes (0.1 to 0.9, eps=100/t), relative to that which eps makes (o=0.5)."""
    places = [of.at(curves, x) for x in (0.1, 0.5, 0.9)]

    def ratio(*m: of.Floats) -> of.Floats:
        logs = np.log(np.stack(m))
        with_o = np.abs(logs[0, ..., 2] - logs[0, ..., 0])
        return np.asarray(np.exp(with_o - np.ptp(logs[..., 1], axis=0)))

    samples = of.runs_of(curves, *tags)
    return of.of_means(curves, ratio, *(values[:, places] for values in samples))


def where_hyde_explores(curves: Curves, a: str, b: str) -> Estimate:
    """Factor that o makes on average over eps 0.05 to 0.95, relative to that which eps makes."""
    chosen = of.between(curves, 0.05, 0.95, 2)
    strong, weak = (values[:, chosen] for values in of.runs_of(curves, a, b))
    return of.of_means(
        curves,
        lambda m, n: np.exp(np.abs(np.log(n / m).mean(axis=-1)) - np.ptp(np.log(m), axis=-1)),
        strong,
        weak,
    )


PANELS = (
    chain_sweep(
        "10a",
        VARY,
        {
            "10a-higher": (
                compare(times.trend, TAGS, said.LOWER, reaching=True),
                compare(times.slowdown, TAGS, NO_LONGER, reaching=True, x=1.0),
            ),
            "10a-half": (  # among constant ones, and beside one that decays
                *(
                    compare(times.slowdown, TAGS, NO_LONGER, panel=panel, reaching=True, x=0.5)
                    for panel in ("", "10b")
                ),
                compare(of.crossing_ratio, BY_O, said.SHORTER, panel="2a"),
                compare(of.crossing_ratio, BY_O, said.SHORTER, panel="9c", level=said.SOLVED),
            ),
            "10a-o-most": (
                compare(o_beside_epsilon, (TAGS,), LONGER),
                compare(where_hyde_explores, (O,), LONGER, panel="16a-jekyll"),
            ),
        },
        series=SERIES,
    ),
    random_sweep(
        "10b",
        VARY,
        {
            "10b-lower": (
                compare(times.trend, TAGS, said.HIGHER, reaching=True),
                compare(times.slowdown, TAGS, NO_LONGER, reaching=True, x=0.0),
            ),
            "10b-slightly": compare(
                times.along, TAGS, said.SLIGHTLY_LONGER, reaching=True, low=0.1, high=0.9
            ),
            "10b-less": relative(times.factor, TAGS[:2], "10a", said.SHORTER, low=0.1, high=0.9),
        },
        series=SERIES,
    ),
)

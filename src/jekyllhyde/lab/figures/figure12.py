"""Figure 12: trajectories to the target against the critic's step size eta_c; Hyde's stays 0.1 (12a
chain, 12b random MDPs).

What the paper says about it, in our words, is from Appendix E.
"""

import numpy as np

from jekyllhyde.lab import estimates as of
from jekyllhyde.lab import times
from jekyllhyde.lab import verdicts as said
from jekyllhyde.lab.claims import compare, crossed, never, show
from jekyllhyde.lab.figures.shared_experiments import (
    BASELINES,
    BRIEF,
    BY_O,
    JH,
    PLAIN,
    chain_sweep,
    random_sweep,
)
from jekyllhyde.lab.panel import Curves
from jekyllhyde.lab.verdicts import LOWER, MUCH_LONGER, MUCH_SHORTER, Estimate

BEST, DEFAULT = 0.025, 0.1
BELOW_DEFAULT = 0.099
ALL = (*JH, *BASELINES)
VARY = {"eta_c": {"from": 0.001, "to": 1, "per_decade": 5}}


def steadiness(curves: Curves, tag: str) -> Estimate:
    """Deviation over mean time below eta_c=0.025 less that above, where nearly all get there."""
    samples, known = of.runs_of(curves, tag)[0], times.reached(curves, tag)
    low, high = known & (curves.x < BEST / 1.01), known & (curves.x > BEST * 1.01)
    of.require(
        low.any() and high.any(),
        f"{of.label_of(curves, tag)} gets there in nearly all runs at no eta_c "
        f"{'above' if low.any() else 'below'} {BEST}",
    )

    def spread(first: of.Floats, second: of.Floats) -> of.Floats:
        deviation = np.sqrt(np.maximum(second / first**2 - 1, 0.0))
        return np.asarray(deviation[..., low].mean(axis=-1) - deviation[..., high].mean(axis=-1))

    return of.of_means(curves, spread, samples, samples**2)


PANELS = (
    chain_sweep(
        "12a",
        VARY,
        {
            "12a-high": compare(times.trend, JH, LOWER),
            "12a-one": compare(times.slowdown, JH, said.NO_LONGER, x=1.0),
            "12a-on-policy": never(times.arrive_at, BASELINES, x=1.0),
            "12a-tolerant": (
                compare(
                    times.average_time_ratio, BY_O, said.SHORTER, MUCH_SHORTER, high=BELOW_DEFAULT
                ),
                show(of.share, JH, flags=times.fail, high=BELOW_DEFAULT),
            ),
        },
        trajectories=100_000,
    ),
    random_sweep(
        "12b",
        VARY,
        {
            "12b-risk": (
                compare(of.share, ALL, said.OFTEN, reaching=True, flags=times.fail_at, x=1.0),
                compare(times.slowdown, ALL, MUCH_LONGER, reaching=True, x=1.0),
            ),
            "12b-small": compare(times.slowdown, ALL, said.LONGER, reaching=True, x=of.FIRST),
            "12b-steadier": compare(steadiness, ALL, LOWER),
            "12b-best": compare(times.slowdown, ALL, said.NO_LONGER, reaching=True, x=BEST),
            "12b-similar": (  # here, and in the end; Hyde's share of the return apart
                compare(times.time_ratio, crossed(JH, PLAIN), said.ALIKE, x=DEFAULT),
                compare(of.spread, ((*BRIEF, *BASELINES),), said.EQUAL, panel="9a"),
            ),
        },
    ),
)

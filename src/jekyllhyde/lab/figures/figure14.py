"""Figure 14: trajectories to 0.5 on the chain against its size (14a) and against beta (14b).

What the paper says about it, in our words, is from Appendix E. `14a-long` gives the smallest chain
ten times the trajectories; in `14a-critic` and `14b-critic` the critic needs no time, it has the
exact values in the model of what was seen.
"""

from typing import Any

import numpy as np

from jekyllhyde import intervals
from jekyllhyde.lab import estimates as of
from jekyllhyde.lab import times
from jekyllhyde.lab import verdicts as said
from jekyllhyde.lab.claims import compare, swapped
from jekyllhyde.lab.figures import shared_experiments as shared
from jekyllhyde.lab.figures.shared_experiments import BY_ENTROPY, BY_O, HALF, JH, PLAIN, chain_sweep
from jekyllhyde.lab.panel import Curves
from jekyllhyde.lab.verdicts import NEARLY_ALL, RARELY, USUALLY, Estimate, about

AT_ONCE: dict[str, Any] = {"series": shared.ON_POLICY[:2], "critic": "mle"}


def median(curves: Curves, tag: str, x: float) -> Estimate:
    """Median time."""
    (run_times,) = of.values_at(curves, x, tag)
    known = intervals.kaplan_meier(run_times, run_times < curves.cap).median
    y, lo, hi = (min(value, curves.cap) for value in known)
    estimate = of.bounded(curves, (y, lo, hi), len(run_times))
    return estimate if np.isfinite(known[2]) else Estimate(y, estimate.lo, np.inf)


def more_solved(curves: Curves, a: str, b: str) -> Estimate:
    """Share of {xlabel} that half of the runs solve, difference."""

    def difference(first: of.Floats, second: of.Floats) -> of.Floats:
        return np.asarray((first >= 0.5).mean(axis=-1) - (second >= 0.5).mean(axis=-1))

    return of.of_means(
        curves, difference, *(times.arrive(curves, tag).astype(float) for tag in (a, b))
    )


PANELS = (
    chain_sweep(
        "14a",
        {"n_states": shared.SIZES},
        {
            "14a-scales": compare(of.share, HALF, *USUALLY, flags=times.arrive),
            "14a-maintained": compare(times.time_ratio, swapped(BY_O), said.LONGER),
            "14a-easiest": compare(of.share, PLAIN, *USUALLY, flags=times.fail_at, x=3),
            "14a-entropy": compare(median, shared.ENTROPY, about(150_000), panel="14a-long", x=3),
            "14a-converged": compare(
                of.share, PLAIN, *USUALLY, panel="14a-critic", flags=times.arrive_at, x=3
            ),
        },
        title="chain, beta=0.8",
    ),
    chain_sweep(
        "14a-long",
        {"n_states": [3]},
        {},
        title="chain, |S|=3, beta=0.8",
        series=shared.ON_POLICY[2:],
        trajectories=1_500_000,
    ),
    chain_sweep(
        "14a-critic",
        {"n_states": list(range(3, 11))},
        {},
        title="chain, beta=0.8, exact critic",
        **AT_ONCE,
    ),
    chain_sweep(
        "14b",
        {"beta": shared.BETAS},
        {
            "14b-small": (
                compare(of.share, PLAIN, NEARLY_ALL, flags=times.arrive_at, x=of.FIRST),
                compare(of.share, PLAIN, RARELY, flags=times.arrive_at, x=of.LAST),
            ),
            "14b-entropy": compare(more_solved, BY_ENTROPY, said.A_LITTLE_MORE),
            "14b-critic": tuple(
                compare(of.share, PLAIN, *USUALLY, panel="14b-critic", flags=times.arrive_at, x=x)
                for x in (0.1, 0.8)
            ),
            "14b-reliable": compare(of.share, JH, *USUALLY, flags=times.arrive),
            "14b-strong": compare(times.average_time_ratio, BY_O, said.SHORTER),
        },
        title="chain, |S|=10",
    ),
    chain_sweep(
        "14b-critic",
        {"beta": {"from": 0.0, "to": 0.9, "step": 0.1}},
        {},
        title="chain, |S|=10, exact critic",
        **AT_ONCE,
    ),
)

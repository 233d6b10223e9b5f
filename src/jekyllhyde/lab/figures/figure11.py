"""Figure 11: trajectories to the target against the actor's step size eta, on the chain (11a) and
on random MDPs (11b).

What the paper says about it, in our words, is from Appendix E. `11a-easy` is a smaller chain with a
lower beta, `11a-direct` the chain of 11a with a policy that is no softmax.
"""

import numpy as np

from jekyllhyde.lab import estimates as of
from jekyllhyde.lab import times
from jekyllhyde.lab import verdicts as said
from jekyllhyde.lab.claims import compare, crossed, never
from jekyllhyde.lab.figures import shared_experiments as shared
from jekyllhyde.lab.figures.shared_experiments import BASELINES, JH, chain_sweep, random_sweep
from jekyllhyde.lab.panel import Curves
from jekyllhyde.lab.verdicts import LONGER, MUCH_LONGER, Estimate, about

ALL = (*JH, *BASELINES)
DECADES = {"eta": {"from": 0.01, "to": 1000, "per_decade": 1}}


def best_eta_ratio(curves: Curves, *tags: str) -> Estimate:
    """Best eta of J&H, relative to that of on-policy updates (geometric means)."""

    def ratio(*m: of.Floats) -> of.Floats:
        places = np.log(np.stack([curves.x[mean.argmin(axis=-1)] for mean in m]))
        return np.asarray(np.exp(places[:4].mean(axis=0) - places[4:].mean(axis=0)))

    return of.of_means(curves, ratio, *of.runs_of(curves, *tags))


def _shortest(*m: of.Floats) -> of.Floats:
    return np.min([mean.min(axis=-1) for mean in m], axis=0)


def best_time(curves: Curves, *tags: str) -> Estimate:
    """Shortest mean time along eta."""
    return of.of_means(curves, _shortest, *of.runs_of(curves, *tags))


def best_time_ratio(curves: Curves, *tags: str) -> Estimate:
    """Shortest mean time of J&H along eta, relative to on-policy updates."""
    return of.of_means(
        curves, lambda *m: _shortest(*m[:4]) / _shortest(*m[4:]), *of.runs_of(curves, *tags)
    )


PANELS = (
    chain_sweep(
        "11a",
        {"eta": {"from": 0.01, "to": 1000, "per_decade": 5}},
        {
            "11a-breaks": (
                compare(times.slowdown, JH, LONGER, x=of.FIRST),
                compare(times.slowdown, JH, MUCH_LONGER, x=of.LAST),
            ),
            "11a-numerical": compare(of.diverged, JH, said.NO_EXCEPTION),
            "11a-softmax": compare(
                times.slowdown, JH, said.below(MUCH_LONGER.low), panel="11a-direct", x=of.LAST
            ),
            "11a-on-policy": never(times.arrive, BASELINES),
            "11a-easier": never(times.arrive, BASELINES, "11a-easy"),
            "11a-default": compare(times.slowdown, JH, LONGER, x=1.0),
            "11a-20": compare(times.slowdown, JH, said.NO_LONGER, x=20.0),
        },
    ),
    chain_sweep(
        "11a-easy",
        DECADES,
        {},
        title="chain, |S|=7, beta=0.5",
        problem={**shared.CHAIN, "n_states": 7, "beta": 0.5},
        series=shared.ON_POLICY,
    ),
    chain_sweep(
        "11a-direct",
        DECADES,
        {},
        title=f"{shared.ON_THE_CHAIN}, direct",
        series=shared.JEKYLL_HYDE,
        parametrization="direct",
    ),
    random_sweep(
        "11b",
        {"eta": {"from": 0.39, "to": 1000, "per_decade": 5}},
        {
            "11b-range": compare(times.best, ALL, said.Range(2, 30), reaching=True),
            "11b-too-fast": compare(times.slowdown, ALL, LONGER, reaching=True, x=of.LAST),
            "11b-tolerant": compare(best_eta_ratio, (ALL,), LONGER),
            "11b-jh-20": compare(times.slowdown, JH, said.NO_LONGER, reaching=True, x=20.0),
            "11b-on-policy-5": compare(
                times.slowdown, BASELINES, said.NO_LONGER, reaching=True, x=5.0
            ),
            "11b-outperforms": compare(best_time_ratio, (ALL,), said.SHORTER),
            "11b-levels": (
                compare(best_time, (JH,), about(2500)),
                compare(best_time, (BASELINES,), about(3500)),
            ),
            "11b-default": compare(times.time_ratio, crossed(JH, shared.PLAIN), LONGER, x=1.0),
        },
    ),
)

"""Figure 12: trajectories to the target against the critic's step size eta_c; Hyde's stays 0.1 (12a
chain, 12b random MDPs).

What the paper says about it, in our words, is from Appendix E.
"""

import numpy as np

from jekyllhyde.lab.claims import (
    ALIKE,
    FIRST,
    Curves,
    Estimate,
    Floats,
    Measured,
    above,
    average_time_ratio,
    below,
    best_about,
    compare,
    decided,
    each,
    each_reaching,
    label_of,
    lost,
    much_above,
    much_below,
    none_arrive,
    of_means,
    require,
    runs_of,
    say,
    share,
    slowdown,
    trend,
)
from jekyllhyde.lab.figures.shared_experiments import BASELINES, BY_O, JH, chain_sweep, random_sweep

DEFAULT, BEST = 0.1, 0.025
ALL = (*JH, *BASELINES)


def _tolerant(curves: Curves) -> Measured:
    # Below the default, o=0.5 takes on average less than half the time of o=10/sqrt(t).
    small = curves.x < DEFAULT / 1.01
    require(small.any(), "no eta_c below the default is among the points")
    ratios = {label_of(curves, a): average_time_ratio(curves, a, b, small) for a, b in BY_O}
    return [much_below(ratio) for ratio in ratios.values()], (
        f"mean time over eta_c from {curves.x[0]:g} to {curves.x[small][-1]:g} "
        f"relative to o=10/sqrt(t): {say(ratios)}; "
        "share at the cap, which draws the ratio towards 1: "
        + say(each(lambda c, tag: c.censored[tag][small].mean(), JH)(curves))
    )


def _steadiness(curves: Curves, tag: str) -> Estimate:
    # The relative spread (deviation over mean) below the stated best eta_c less that above, where
    # most runs get there.
    samples, known = runs_of(curves, tag)[0], curves.censored[tag] < 0.5
    low, high = known & (curves.x < BEST / 1.01), known & (curves.x > BEST * 1.01)
    require(
        low.any() and high.any(),
        f"{label_of(curves, tag)} gets there in most runs at no eta_c "
        f"{'above' if low.any() else 'below'} 0.025",
    )

    def spread(first: Floats, second: Floats) -> Floats:
        relative = np.sqrt(np.maximum(second / first**2 - 1, 0.0))
        return np.asarray(relative[..., low].mean(axis=-1) - relative[..., high].mean(axis=-1))

    return of_means(curves, spread, samples, samples**2)


VARY = {"eta_c": {"from": 0.001, "to": 1, "per_decade": 5}}

PANELS = (
    chain_sweep(
        "12a",
        VARY,
        (
            "12a-high",
            "On the deterministic chain a high critic step is better.",
            compare(
                "rank correlation of the mean time with eta_c: {}", each(trend, JH), below, 0.0
            ),
        ),
        (
            "12a-one",
            "The best critic step is 1.",
            compare(
                "mean time at eta_c=1 relative to the shortest: {}",
                each(slowdown, JH, 1.0),
                below,
                ALIKE,
            ),
        ),
        (
            "12a-on-policy",
            "Even a critic step of 1 does not let on-policy updates, "
            "with entropy or without, solve the chain.",
            none_arrive(BASELINES, 1.0),
        ),
        (
            "12a-tolerant",
            "J&H is much more tolerant to a small critic step when off-policiness stays high.",
            _tolerant,
        ),
        trajectories=100_000,
    ),
    random_sweep(
        "12b",
        VARY,
        (
            "12b-risk",
            "On random MDPs too high a critic step may compromise convergence altogether.",
            compare(
                "share that never gets there at eta_c=1: {}",
                each_reaching(share, ALL, lost, 1.0),
                lambda runs: decided(runs.y > 0, runs.hi < 0.05),
            ),
            compare(
                "time relative to the shortest: {}", each_reaching(slowdown, ALL, 1.0), much_above
            ),
        ),
        (
            "12b-small",
            "A small critic step takes longer.",
            compare(
                "mean time at eta_c={first:g} relative to the shortest: {}",
                each_reaching(slowdown, ALL, FIRST),
                above,
                1.0,
            ),
        ),
        (
            "12b-steadier",
            "A small critic step is steadier.",
            compare(
                "relative spread below eta_c=0.025 less that above: {}",
                each(_steadiness, ALL),
                below,
                0.0,
            ),
        ),
        ("12b-best", "The critic step is best around 0.025.", best_about(BEST, ALL)),
    ),
)

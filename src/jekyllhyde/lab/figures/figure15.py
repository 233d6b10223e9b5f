"""Figure 15: trajectories to the target against the critic's initial value q0, on the chain (15a)
and on random MDPs (15b).

What the paper says about it, in our words, is from Appendix E. The text refers to the figure of the
critic's step here; what it says is about this one.
"""

import numpy as np

from jekyllhyde.lab.claims import (
    Bools,
    Curves,
    Estimate,
    Floats,
    all_arrive,
    arrived,
    below,
    compare,
    each,
    each_pair,
    holds,
    in_runs,
    most,
    none,
    of_means,
    require,
    rises_slightly,
    runs_of,
    show,
)
from jekyllhyde.lab.figures.shared_experiments import BASELINES, BY_O, JH, chain_sweep, random_sweep

FRUIT = 0.8 * 0.99**8  # the value of the low-hanging fruit, beta gamma^(|S|-2)


def _arrived_with_q0(curves: Curves, tag: str, words: str) -> Bools:
    chosen = curves.x > FRUIT if words == "above" else curves.x <= FRUIT
    require(chosen.any(), f"no q0 {words} {FRUIT:.4g} is among the points")
    return arrived(curves, tag)[:, chosen]


def _longest_to_shortest(m: Floats) -> Floats:
    return np.asarray(m.max(axis=-1) / m.min(axis=-1))


def _range_ratio(curves: Curves, a: str, b: str) -> Estimate:
    return of_means(
        curves,
        lambda x, y: _longest_to_shortest(x) / _longest_to_shortest(y),
        *runs_of(curves, a, b),
    )


PANELS = (
    chain_sweep(
        "15a",
        {"q0": {"from": 0.0, "to": 1.0, "step": 0.01}},
        (
            "15a-optimism",
            "With q0 above the low-hanging fruit's value, "
            "on-policy updates find the end of the chain.",
            in_runs(most, _arrived_with_q0, BASELINES, "above"),
            show(
                f"share of runs that reach the target with q0 above {FRUIT:.4g}: {{}}",
                each(lambda curves, tag: _arrived_with_q0(curves, tag, "above").mean(), BASELINES),
            ),
        ),
        (
            "15a-pessimism",
            "Otherwise on-policy updates, with entropy or without, always fail.",
            in_runs(none, _arrived_with_q0, BASELINES, "up to"),
            show(
                f"share of runs that reach the target with q0 up to {FRUIT:.4g}: {{}}",
                each(lambda curves, tag: _arrived_with_q0(curves, tag, "up to").mean(), BASELINES),
            ),
            show(
                "smallest q0 with one: {}",
                each(
                    lambda c, tag: c.x[arrived(c, tag).any(axis=0)].min(initial=np.inf), BASELINES
                ),
            ),
        ),
        (
            "15a-less",
            "J&H is less sensitive to q0.",
            holds(
                lambda curves: [
                    below(_range_ratio(curves, a, b), 1.0) for a in JH for b in BASELINES
                ]
            ),
            show(
                "longest relative to shortest mean time along q0: {}",
                each(
                    lambda c, tag: of_means(c, _longest_to_shortest, *runs_of(c, tag)),
                    (*JH, *BASELINES),
                ),
            ),
        ),
        (
            "15a-strong",
            "It is so in particular when off-policiness is high.",
            compare(
                "that range relative to o=10/sqrt(t): {}",
                each_pair(_range_ratio, BY_O, name="{a}"),
                below,
                1.0,
            ),
        ),
        ("15a-whatever", "J&H is efficient whatever q0.", all_arrive(JH)),
    ),
    random_sweep(
        "15b",
        {"q0": {"from": 0.0, "to": 1.0, "step": 0.02}},
        (
            "15b-slightly",
            "On random MDPs performance slightly decreases with q0 for all algorithms.",
            rises_slightly(
                ("rank correlation of the mean time with q0: {}", "time at 1 relative to 0: {}"),
                (*JH, *BASELINES),
                0.0,
                1.0,
            ),
        ),
    ),
)

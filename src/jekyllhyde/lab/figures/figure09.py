"""Figure 9: random MDPs of 100 states; the runs of panel 2b (9a global, 9b Jekyll), a million
trajectories (9c mean, 9d decile).

What the paper says about it, in our words, is from Section 4.3 and Appendix E. The on-policy series
without `batch=1` are the published ones, which learn from replay.
"""

from typing import Any

import numpy as np

from jekyllhyde.lab.claims import (
    ALIKE,
    EQUAL,
    FEWEST,
    SOLVED,
    about,
    above,
    against,
    at,
    average_gain,
    below,
    between,
    compare,
    crosses_sooner,
    crossing_ratio,
    decile_higher,
    each,
    each_pair,
    end_means,
    ends_higher,
    gain,
    gap_ratio,
    half_and_end,
    of_means,
    require,
    runs_of,
    single,
    spread,
)
from jekyllhyde.lab.estimates import Estimate, Floats
from jekyllhyde.lab.figures.shared_experiments import (
    BASELINES,
    BRIEF,
    BY_ENTROPY,
    BY_O,
    DECAYING,
    ENTROPY,
    HALF,
    JEKYLL_HYDE_4,
    JH,
    LASTING,
    ON_POLICY_1,
    ON_POLICY_4,
    ON_RANDOM_MDPS,
    PLAIN,
    curve_panel,
    learning,
    random_curves,
    random_mdps,
    tags,
)
from jekyllhyde.lab.panel import Curves

CLOSE = (*BRIEF, *PLAIN)


def _gap_ratio(m: Floats) -> Floats:
    # The distance to the optimum at the second place relative to that at the first.
    return np.asarray((1 - m[..., 1]) / (1 - m[..., 0]))


def _exponent(curves: Curves, tag: str) -> Estimate:
    # The slope of the log distance to the optimum against log trajectories, from 10^5 to 10^6.
    chosen = curves.x >= curves.x[at(curves, 1e5)]
    x = np.log(curves.x[chosen])
    x = (x - x.mean()) / ((x - x.mean()) ** 2).sum()

    return of_means(
        curves,
        lambda m: np.log(np.maximum(1 - m, 1e-300)) @ x,
        runs_of(curves, tag)[0][:, chosen],
    )


def _gain_if_enough_runs(curves: Curves, a: str, b: str) -> Estimate:
    require(curves.runs >= FEWEST, f"{curves.runs} runs are too few for an interval")
    return gain(curves, a, b)


LONG = learning(
    "fig9c",
    random_mdps("9c"),
    JEKYLL_HYDE_4 + ON_POLICY_4 + ON_POLICY_1[:2],
    trajectories=1_000_000,
)
SHOWN = tags(JEKYLL_HYDE_4, ON_POLICY_4, ON_POLICY_1)
SIDE_BY_SIDE = {"J&H": JH, "on-policy": BASELINES, "on the transition under way": tags(ON_POLICY_1)}
LATE: dict[str, Any] = {"groups": SIDE_BY_SIDE, "logx": True, "xlim": (1e4, 1e6)}
PANELS = (
    curve_panel(
        "9a",
        f"{ON_RANDOM_MDPS}, global",
        random_curves,
        (
            "9a-keeps-up",
            "J&H (eps=100/t) keeps up with the speed of the true gradient.",
            crosses_sooner(SOLVED, tuple((tag, PLAIN[0]) for tag in BRIEF), ALIKE),
        ),
        (
            "9a-eps",
            "J&H with eps=10/sqrt(t) has a low global return because it goes on exploring.",
            ends_higher(tuple((a, b) for a in PLAIN for b in LASTING)),
        ),
        (
            "9a-entropy-speed",
            "Entropy does not make training faster.",
            compare(
                "mean time to 0.95 relative to that without entropy: {}",
                each_pair(crossing_ratio, BY_ENTROPY, SOLVED, name="{a}"),
                above,
                1 / ALIKE,
            ),
        ),
        (
            "9a-plateau",
            "Entropy biases the objective, and performance plateaus.",
            compare(
                "distance to the optimum at the end relative to half time: {}",
                each(lambda c, tag: of_means(c, _gap_ratio, half_and_end(c, tag)), ENTROPY),
                above,
                1 / ALIKE,
            ),
            compare(
                "relative to no entropy: {}",
                each_pair(gap_ratio, BY_ENTROPY, name="{a}"),
                above,
                1.0,
            ),
        ),
        (
            "9a-half",
            "o=0.5 slows convergence a bit in the first 100,000 trajectories.",
            compare(
                "mean over the run less that with o=10/sqrt(t): {}",
                each_pair(average_gain, BY_O, name="{a}"),
                between,
                -EQUAL,
                0.0,
            ),
        ),
        (
            "9a-default-99",
            "With the default steps 0.99 is reached "
            "(one half of a comparison, the other is 13a-99).",
            end_means(above, 0.99, (*CLOSE, *tags(ON_POLICY_1[:2]))),
        ),
        series=SHOWN,
        groups=SIDE_BY_SIDE,
        ylim=(0.9, 1.002),
        xlim=(1000, 100_000),
        logx=True,
    ),
    curve_panel(
        "9b",
        f"{ON_RANDOM_MDPS}, Jekyll",
        random_curves,
        (
            "9b-mixture",
            "J&H with eps=10/sqrt(t) is worse only because of the mixture: Jekyll alone is not.",
            compare(
                "Jekyll's distance to the optimum relative to eps=100/t: {}",
                each_pair(gap_ratio, tuple(zip(LASTING, BRIEF, strict=True)), name="{a}"),
                below,
                ALIKE,
            ),
        ),
        (
            "9b-comparable",
            "Jekyll alone (eps=10/sqrt(t)) is comparable with plain on-policy updates.",
            compare(
                "ratio of distances to the optimum: {}",
                each_pair(gap_ratio, tuple((a, b) for a in LASTING for b in PLAIN)),
                below,
                ALIKE,
            ),
        ),
        (
            "9b-better",
            "It is even slightly better.",
            ends_higher(tuple((a, b) for a in LASTING for b in PLAIN)),
        ),
        quantity="J_norm_jekyll",
        series=SHOWN,
        groups=SIDE_BY_SIDE,
        ylim=(0.9, 1.002),
        xlim=(1000, 100_000),
        logx=True,
    ),
    curve_panel(
        "9c",
        f"{ON_RANDOM_MDPS}, mean",
        LONG,
        (
            "9c-half",
            "After more trajectories o=0.5 gets better than o=10/sqrt(t).",
            ends_higher(BY_O),
        ),
        (
            "9c-no-winner",
            "The results are not significant enough to elect a winner among the schedules of o.",
            compare(
                "mean at the end less that with o=10/sqrt(t): {}",
                each_pair(_gain_if_enough_runs, BY_O, name="{a}"),
                lambda difference: difference.lo <= 0 <= difference.hi,
            ),
        ),
        (
            "9c-comparable",
            "All perform comparably.",
            compare(
                "best less worst mean at the end, of J&H eps=100/t o=0.5, "
                "J&H eps=100/t o=10/sqrt(t), PG, undiscounted: {}",
                single(spread, *CLOSE),
                below,
                EQUAL,
            ),
        ),
        (
            "9c-ten",
            "With ten times the data the distance to the optimum is ten times smaller.",
            compare(
                "distance to the optimum at {x[1e5]:g} relative to {x[1e6]:g} trajectories: {}",
                each(
                    lambda c, tag: of_means(
                        c, _gap_ratio, runs_of(c, tag)[0][:, [at(c, 1e6), at(c, 1e5)]]
                    ),
                    CLOSE,
                ),
                about,
                10.0,
            ),
        ),
        (
            "9c-rate",
            "The distance to the optimum falls like 1/t.",
            compare(
                "exponent of the distance to the optimum in trajectories, 10^5 to 10^6: {}",
                each(_exponent, CLOSE),
                about,
                -1.0,
            ),
        ),
        ylim=(0.98, 1.0005),
        **LATE,
    ),
    curve_panel(
        "9d",
        f"{ON_RANDOM_MDPS}, decile",
        LONG,
        (
            "9d-risk",
            "Strong off-policiness mitigates the risk: it improves the worst case.",
            decile_higher("J&H eps=100/t o=0.5", against(HALF[0], (DECAYING[0], *PLAIN))),
        ),
        statistic="decile",
        ylim=(0.97, 1.0005),
        **LATE,
    ),
)

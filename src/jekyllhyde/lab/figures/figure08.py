"""Figure 8: the runs of panel 2a again, without UCB: the global return (8a) and Jekyll's alone
(8b).

What the paper says about it, in our words, is from Appendix E.
"""

import numpy as np

from jekyllhyde.lab.claims import (
    FOUND,
    LAST,
    SOLVED,
    Curves,
    Floats,
    above,
    compare,
    crosses_sooner,
    crossing,
    each,
    each_pair,
    end_means,
    every,
    gap_ratio,
    mean,
    much_above,
    none,
    o_matters_more,
    of_means,
    runs_above,
    runs_of,
    show,
    single,
    values_at,
)
from jekyllhyde.lab.figures.shared_experiments import (
    BASELINES,
    BRIEF,
    BY_O,
    JH,
    LASTING,
    ON_THE_CHAIN,
    chain_curves,
    curve_panel,
)


def _times_to_the_optimum(curves: Curves) -> list[Floats]:
    runs_of(curves, *JH)
    return [crossing(curves, tag, FOUND) for tag in JH]


def _logs(*m: Floats) -> tuple[Floats, Floats]:
    a, b, c, d = (np.log(times[..., 0]) for times in m)
    return np.abs((c + d) - (a + b)) / 2, np.abs((b + d) - (a + c)) / 2


PANELS = (
    curve_panel(
        "8a",
        f"{ON_THE_CHAIN}, global",
        chain_curves,
        (
            "8a-better",
            "J&H performs much better than on-policy updates.",
            compare(  # much: at least half the way from the fruit to the optimum
                "worst J&H less best on-policy mean at the end: {}",
                single(
                    lambda curves: of_means(
                        curves,
                        lambda *m: (np.min(m[:4], axis=0) - np.max(m[4:], axis=0))[..., 0],
                        *values_at(curves, LAST, *JH, *BASELINES),
                    )
                ),
                above,
                FOUND,
            ),
        ),
        (
            "8a-all-runs",
            "All variants of J&H find the optimal policy in all runs.",
            runs_above(every, FOUND, JH),
        ),
        (
            "8a-on-policy",
            "On-policy updates, with entropy or without, never do.",
            runs_above(none, FOUND, BASELINES),
        ),
        (
            "8a-off-policy",
            "Off-policiness makes convergence faster: o=0.5 is sooner than o=10/sqrt(t).",
            crosses_sooner(FOUND, BY_O),
        ),
        (
            "8a-o-matters",
            "Off-policiness matters more for speed than the exploration schedule.",
            o_matters_more("factor in the mean time to 0.5: {}", _times_to_the_optimum, _logs),
        ),
        (
            "8a-eps",
            "With eps=10/sqrt(t) exploration keeps the global return "
            "from coming close to the optimum.",
            compare(
                "distance to the optimum relative to eps=100/t: {}",
                each_pair(gap_ratio, tuple(zip(LASTING, BRIEF, strict=True)), name="{a}"),
                much_above,
            ),
            show("means at the end: {}", each(mean, JH)),
        ),
        series=JH + BASELINES,
    ),
    curve_panel(
        "8b",
        f"{ON_THE_CHAIN}, Jekyll",
        chain_curves,
        (
            "8b-jekyll",
            "Jekyll alone converges well to the optimum, with eps=10/sqrt(t) too.",
            end_means(above, SOLVED, JH),
        ),
        (
            "8b-all-runs",
            "All variants of J&H converge to the optimal policy in all runs (Jekyll).",
            runs_above(every, SOLVED, JH),
        ),
        quantity="J_norm_jekyll",
        series=JH + BASELINES,
    ),
)

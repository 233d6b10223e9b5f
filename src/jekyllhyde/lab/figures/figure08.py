"""Figure 8: the runs of panel 2a again, without UCB: the global return (8a) and Jekyll's alone
(8b).

What the paper says about it, in our words, is from Appendix E; what 2a says of the same runs is
not said again.
"""

import numpy as np

from jekyllhyde.lab import estimates as of
from jekyllhyde.lab.agreement import published_runs
from jekyllhyde.lab.claims import compare, crossed, never
from jekyllhyde.lab.figures import shared_experiments as shared
from jekyllhyde.lab.figures.shared_experiments import BASELINES, BRIEF, JH, LASTING
from jekyllhyde.lab.panel import Curves
from jekyllhyde.lab.verdicts import FOUND, LONGER, MUCH_LONGER, SOLVED, SOLVES, Estimate, above


def o_beside_epsilon(curves: Curves, *tags: str) -> Estimate:
    """Factor that o makes in the mean time to 0.5, relative to that which eps makes."""

    def ratio(*m: of.Floats) -> of.Floats:
        a, b, c, d = (np.log(times[..., 0]) for times in m)
        return np.asarray(np.exp((np.abs(c + d - a - b) - np.abs(b + d - a - c)) / 2))

    return of.of_means(curves, ratio, *of.crossings(curves, FOUND, *tags))


def runs_published(curves: Curves) -> Estimate:
    """Number of runs behind the published curves."""
    runs = published_runs(curves.panel.published)
    of.require(runs, "how many runs are behind the published curves is not known")
    return of.exactly(runs)


PANELS = (
    shared.curve_panel(
        "8a",
        f"{shared.ON_THE_CHAIN}, global",
        shared.chain_curves,
        {
            "8a-better": compare(of.gap_ratio, crossed(BASELINES, JH), LONGER, MUCH_LONGER),
            "8a-runs": tuple(
                compare(runs_published, ((),), above(199), panel=panel) for panel in ("", "2a")
            ),
            "8a-o-matters": compare(o_beside_epsilon, (JH,), LONGER),
            "8a-eps": compare(
                of.gap_ratio, tuple(zip(LASTING, BRIEF, strict=True)), LONGER, MUCH_LONGER
            ),
        },
        series=JH + BASELINES,
    ),
    shared.curve_panel(
        "8b",
        f"{shared.ON_THE_CHAIN}, Jekyll",
        shared.chain_curves,
        {
            "8b-jekyll": compare(of.mean, JH, SOLVES),
            "8b-all-runs": never(of.ends_below, JH, level=SOLVED),
        },
        quantity="J_norm_jekyll",
        series=JH + BASELINES,
    ),
)

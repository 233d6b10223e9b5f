"""Figure 2: the tabular agents against trajectories, on the chain (2a) and on random MDPs (2b, 2c
zoomed); what the paper says about it, in our words, is from Section 4.3.
"""

from itertools import chain

import numpy as np

from jekyllhyde.lab import estimates as of
from jekyllhyde.lab import verdicts as said
from jekyllhyde.lab.claims import compare, crossed, never, show, swapped
from jekyllhyde.lab.figures import shared_experiments as shared
from jekyllhyde.lab.figures.shared_experiments import BASELINES, BRIEF, JH, LASTING, PLAIN, tags
from jekyllhyde.lab.panel import Curves
from jekyllhyde.lab.verdicts import FOUND, SOLVED, Estimate

UCB_1, UCB_01, UCB_001 = tags(shared.UCB)
BY_EPSILON = tuple(zip(BRIEF, LASTING, strict=True))
VANILLA = crossed(BRIEF, PLAIN)
SHOWN = tags(shared.JEKYLL_HYDE_4, shared.ON_POLICY_4, shared.UCB)
OTHER_SETTINGS = {
    "J&H": tags(shared.JEKYLL_HYDE_4[:1], shared.RELEASED[:1]),
    "on-policy": tags(shared.ON_POLICY_4[:2], shared.ON_POLICY_1[:2], shared.RELEASED[1:]),
}


def eventually(curves: Curves, tag: str) -> Estimate:
    """Mean at the end, or later."""
    end = of.mean(curves, tag)
    return Estimate(end.y, end.lo, np.inf)


PANELS = (
    shared.curve_panel(
        "2a",
        shared.ON_THE_CHAIN,
        shared.chain_curves,
        {
            "2a-on-policy": never(of.ends_above, BASELINES, level=FOUND),
            "2a-ucb": compare(of.share, (UCB_1,), *said.USUALLY, flags=of.ends_above, level=FOUND),
            "2a-ucb-only": never(of.ends_above, (UCB_01, UCB_001), level=FOUND),
            "2a-jh": never(of.ends_below, JH, level=FOUND),
            "2a-half": compare(of.crossing_ratio, shared.BY_O, said.SHORTER),
            "2a-sufficient": compare(of.mean, BRIEF, said.SOLVES),
            "2a-asymptotic": compare(of.gain, BY_EPSILON, said.HIGHER),
        },
    ),
    shared.curve_panel(
        "2b",
        shared.ON_RANDOM_MDPS,
        shared.random_curves,
        {
            "2b-solve": compare(of.mean, (*JH, *BASELINES, UCB_001), said.SOLVES),
            "2b-ucb": compare(of.mean, (UCB_1, UCB_01), said.below(SOLVED)),
            "2b-eventually": (  # within these runs, the paper says, both may fail
                compare(of.gap_change, (UCB_01,), said.SHORTER),
                show(of.gap_change, (UCB_1,)),
                compare(eventually, (UCB_1, UCB_01), said.SOLVES),
            ),
        },
        series=SHOWN,
        ylim=(-0.25, 1.02),
    ),
    shared.curve_panel(
        "2c",
        f"{shared.ON_RANDOM_MDPS}, zoomed",
        shared.random_curves,
        {
            "2c-bias": compare(of.gain, swapped(shared.BY_ENTROPY), said.HIGHER),
            "2c-off-policy": (
                compare(of.crossing_ratio, VANILLA, said.NO_LONGER, level=SOLVED),
                compare(of.gap_ratio, VANILLA, said.NO_LONGER),
            ),
            "2c-mixture": (
                compare(of.gain, BY_EPSILON, said.HIGHER),
                compare(of.gap_ratio, swapped(BY_EPSILON), said.NO_LONGER, panel="9b"),
            ),
        },
        series=SHOWN,
        groups={
            "J&H": JH,
            "on-policy": BASELINES,
            "PG with a UCB bonus": tags(shared.UCB),
        },
        ylim=(0.9, 1.002),
        xlim=(1000, 100_000),
        logx=True,
    ),
    shared.curve_panel(
        "2b-settings",
        f"{shared.ON_RANDOM_MDPS}, the same with other settings",
        shared.random_curves,
        {},
        series=tuple(chain.from_iterable(OTHER_SETTINGS.values())),
        groups=OTHER_SETTINGS,
        published="2b",
        ylim=(-0.25, 1.02),
        xlim=(100, 100_000),
        logx=True,
    ),
    shared.curve_panel(
        "2b-bonus",
        f"{shared.ON_RANDOM_MDPS}, UCB without replay and with it",
        shared.random_curves,
        {},
        series=tags(shared.UCB, shared.UCB_4),
        ylim=(-0.35, 1.02),
    ),
)

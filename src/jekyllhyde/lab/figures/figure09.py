"""Figure 9: random MDPs of 100 states; the runs of panel 2b (9a global, 9b Jekyll), a million
trajectories (9c mean, 9d decile).

What the paper says about it, in our words, is from Section 4.3, the conclusion and Appendix E.
"""

from typing import Any

import numpy as np

from jekyllhyde.lab import estimates as of
from jekyllhyde.lab import verdicts as said
from jekyllhyde.lab.agreement import published
from jekyllhyde.lab.claims import compare, crossed, show
from jekyllhyde.lab.figures import shared_experiments as shared
from jekyllhyde.lab.figures.shared_experiments import (
    BASELINES,
    BRIEF,
    BY_ENTROPY,
    BY_O,
    HALF,
    JH,
    LASTING,
    PLAIN,
)
from jekyllhyde.lab.panel import Curves
from jekyllhyde.lab.verdicts import HIGHER, NO_LONGER, NO_SHORTER, SOLVED, Estimate, about

CLOSE = (*BRIEF, *PLAIN)
PUBLISHED = (JH[0], *PLAIN)  # the series of which there are the paper's own numbers
COMPETITORS = (*BASELINES, *shared.tags(shared.UCB[:1]))  # on the chain; PG with nu=1 solves it
DEEP = crossed(("jh",), ("ddqn", "sac", "ddqn+rnd", "sac+rnd"))
LONG = shared.learning(
    "fig9c",
    shared.random_mdps("9c"),
    shared.JEKYLL_HYDE_4 + shared.ON_POLICY_4,
    trajectories=1_000_000,
    points=1001,
)
SIDE_BY_SIDE: dict[str, Any] = {"groups": {"J&H": JH, "on-policy": BASELINES}, "logx": True}
EARLY = {**SIDE_BY_SIDE, "series": JH + BASELINES, "xlim": (1e3, 1e5), "ylim": (0.9, 1.002)}
LATE = {**SIDE_BY_SIDE, "xlim": (1e4, 1e6)}


def published_change(curves: Curves, tag: str, early: float, late: float) -> Estimate:
    """Distance of the published curve to the optimum at {late}, relative to that at {early}."""
    first, last = _published_gaps(curves, tag, early, late)
    return of.exactly(last / first)


def published_exponent(curves: Curves, tag: str, low: float, high: float) -> Estimate:
    """Exponent of the distance of the published curve to the optimum."""
    first, last = _published_gaps(curves, tag, low, high)
    return of.exactly(np.log(last / first) / np.log(high / low))


def _published_gaps(curves: Curves, tag: str, *places: float) -> of.Floats:
    known, label = published(curves.panel.published), of.label_of(curves, tag)
    of.require(label in known, f"no curve of {label} was published")
    return 1.0 - np.interp(places, *known[label])


PANELS = (
    shared.curve_panel(
        "9a",
        f"{shared.ON_RANDOM_MDPS}, global",
        shared.random_curves,
        {
            "9a-keeps-up": compare(
                of.crossing_ratio, crossed(BRIEF, PLAIN[:1]), NO_LONGER, level=SOLVED
            ),
            "9a-eps": compare(of.gain, crossed(PLAIN, LASTING), HIGHER),
            "9a-entropy-speed": compare(of.crossing_ratio, BY_ENTROPY, NO_SHORTER, level=SOLVED),
            "9a-plateau": (
                compare(of.gap_change, shared.ENTROPY, NO_SHORTER, panel="9c"),
                compare(of.gap_ratio, BY_ENTROPY, said.LONGER),
            ),
            "9a-half": compare(of.average_gain, BY_O, said.SLIGHTLY_LOWER),
        },
        **EARLY,
    ),
    shared.curve_panel(
        "9b",
        f"{shared.ON_RANDOM_MDPS}, Jekyll",
        shared.random_curves,
        {
            "9b-comparable": compare(of.gap_ratio, crossed(LASTING, PLAIN), NO_LONGER),
            "9b-better": compare(of.gain, crossed(LASTING, PLAIN), HIGHER),
        },
        quantity="J_norm_jekyll",
        **EARLY,
    ),
    shared.curve_panel(
        "9c",
        f"{shared.ON_RANDOM_MDPS}, mean",
        LONG,
        {
            "9c-half": compare(of.gain, BY_O, HIGHER),
            "9c-no-winner": compare(of.significance, BY_O, said.below(1.0), runs=100),
            "9c-comparable": compare(of.spread, (CLOSE,), said.EQUAL),
            "9c-ten": (
                compare(of.gap_change, CLOSE, about(0.1), early=1e5, late=1e6),
                show(published_change, PUBLISHED, early=1e5, late=1e6),
            ),
            "9c-rate": (
                compare(of.gap_exponent, CLOSE, about(-1.0), low=1e5, high=1e6),
                show(published_exponent, PUBLISHED, low=1e5, high=1e6),
            ),
            "9c-conclusion": (
                compare(of.gain, crossed(JH, COMPETITORS), HIGHER, panel="2a"),
                compare(of.gap_ratio, crossed(BRIEF, PLAIN), NO_LONGER),
                *(compare(of.gain, DEEP, HIGHER, panel=panel) for panel in ("3a", "3b")),
            ),
        },
        ylim=(0.98, 1.0005),
        **LATE,
    ),
    shared.curve_panel(
        "9d",
        f"{shared.ON_RANDOM_MDPS}, decile",
        LONG,
        {
            "9d-risk": compare(
                of.decile_gain, crossed(HALF[:1], (shared.DECAYING[0], *PLAIN)), HIGHER
            )
        },
        statistic="decile",
        ylim=(0.97, 1.0005),
        **LATE,
    ),
)

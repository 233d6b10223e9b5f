"""Figure 9: random MDPs of 100 states; the runs of panel 2b (9a global, 9b Jekyll), a million
trajectories (9c mean, 9d decile).

`batch=1` marks the on-policy baselines that learn from the transition under way instead of from
replay, `eta=4` those whose step is not divided by the batch (see Figure 2).
"""

from __future__ import annotations

from jekyllhyde.lab.figures.figure02 import (
    JEKYLL_HYDE_4,
    ON_POLICY_1,
    ON_POLICY_4,
    UNDIVIDED,
    random,
)
from jekyllhyde.lab.figures.figure09.claims import CLAIMS
from jekyllhyde.lab.figures.series import DEFAULTS, RANDOM, labels
from jekyllhyde.lab.panel import Panel
from jekyllhyde.lab.spec import Experiment

long = Experiment(
    name="fig9c",
    method="learn",
    problem=RANDOM,
    series=JEKYLL_HYDE_4 + ON_POLICY_4 + ON_POLICY_1[:2],
    runs=100,
    settings={**DEFAULTS, "trajectories": 1_000_000, "points": 500},
)

_SHOWN = labels(JEKYLL_HYDE_4, ON_POLICY_4, ON_POLICY_1, UNDIVIDED)
_TITLE = "random MDPs, 100 states"
PANELS = (
    Panel(
        "9a",
        f"{_TITLE}, global",
        random,
        "trajectories",
        series=_SHOWN,
        ylim=(0.9, 1.002),
        claims=CLAIMS["9a"],
    ),
    Panel(
        "9b",
        f"{_TITLE}, Jekyll",
        random,
        "trajectories",
        "J_norm_jekyll",
        series=_SHOWN,
        ylim=(0.9, 1.002),
        claims=CLAIMS["9b"],
    ),
    Panel("9c", f"{_TITLE}, mean", long, "trajectories", ylim=(0.98, 1.0005), claims=CLAIMS["9c"]),
    Panel(
        "9d",
        f"{_TITLE}, decile",
        long,
        "trajectories",
        statistic="decile",
        ylim=(0.97, 1.0005),
        claims=CLAIMS["9d"],
    ),
)

"""Figure 13: random MDPs with eta 10 and eta_c 0.025, mean (13a) and decile (13b) of the global
return.
"""

from __future__ import annotations

from jekyllhyde.lab.figures.figure13.claims import CLAIMS
from jekyllhyde.lab.figures.series import JEKYLL_HYDE, ON_POLICY, RANDOM
from jekyllhyde.lab.panel import Panel
from jekyllhyde.lab.spec import Experiment

tuned = Experiment(
    name="fig13a",
    method="learn",
    problem=RANDOM,
    series=JEKYLL_HYDE + ON_POLICY,
    runs=100,
    settings={"eta": 10.0, "eta_c": 0.025, "q0": 0.0, "trajectories": 100_000, "points": 500},
)

_TITLE = "random MDPs, 100 states, eta=10, eta_c=0.025"
PANELS = (
    Panel("13a", f"{_TITLE}, mean", tuned, "trajectories", ylim=(0.9, 1.002), claims=CLAIMS["13a"]),
    Panel(
        "13b",
        f"{_TITLE}, decile",
        tuned,
        "trajectories",
        statistic="decile",
        ylim=(0.8, 1.002),
        claims=CLAIMS["13b"],
    ),
)

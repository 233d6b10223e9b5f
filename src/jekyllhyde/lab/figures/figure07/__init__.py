"""Figure 7: exact updates on 1000 random MDPs of 50 states; mean and decile, direct and softmax."""

from __future__ import annotations

from jekyllhyde.lab.figures.figure05 import DIRECT
from jekyllhyde.lab.figures.figure06 import SOFTMAX
from jekyllhyde.lab.figures.figure07.claims import CLAIMS
from jekyllhyde.lab.figures.series import PLAN, PLAN_ENTROPY, RANDOM
from jekyllhyde.lab.panel import Panel
from jekyllhyde.lab.spec import Experiment

PROBLEM = {**RANDOM, "n_states": 50}
direct = Experiment(
    name="fig7a",
    method="plan",
    problem=PROBLEM,
    series=PLAN,
    settings={**DIRECT, "updates": 5000, "points": 500},
    runs=1000,
)
softmax = Experiment(
    name="fig7c",
    method="plan",
    problem=PROBLEM,
    series=PLAN + PLAN_ENTROPY,
    runs=1000,
    settings={**SOFTMAX, "updates": 5000, "points": 500},
)

PANELS = tuple(
    Panel(
        name,
        f"random MDPs, 50 states, {parametrization}, {statistic}",
        experiment,
        "updates",
        statistic=statistic,
        ylim=(0.9, 1.002),
        claims=CLAIMS[name],
    )
    for name, parametrization, experiment, statistic in (
        ("7a", "direct", direct, "mean"),
        ("7b", "direct", direct, "decile"),
        ("7c", "softmax", softmax, "mean"),
        ("7d", "softmax", softmax, "decile"),
    )
)

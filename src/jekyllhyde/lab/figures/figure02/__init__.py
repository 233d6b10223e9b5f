"""Figure 2: the tabular agents against trajectories, on the chain (2a) and on random MDPs (2b, 2c
zoomed).

On random MDPs the published on-policy baselines learned from a replay of all transitions, four a
step, and those with UCB from the transition under way. Both ways are run for both (`batch=1` and
`batch=4` in the label mark the one that the paper does not show). `eta=4` is the actor's step that
a division by the batch brings back to 1: only with it are the baselines as fast as published.
"""

from __future__ import annotations

from jekyllhyde.lab.figures.figure02.claims import CLAIMS
from jekyllhyde.lab.figures.series import (
    CHAIN,
    DEFAULTS,
    JEKYLL_HYDE,
    ON_POLICY,
    RANDOM,
    UCB,
    Series,
    labels,
)
from jekyllhyde.lab.panel import Panel
from jekyllhyde.lab.spec import Experiment

REPLAY = {"replay": True, "batch": 4}
JEKYLL_HYDE_4: Series = tuple({**one, "batch": 4, "hyde_eta": 1.0} for one in JEKYLL_HYDE)
ON_POLICY_4: Series = tuple({**one, **REPLAY} for one in ON_POLICY)
ON_POLICY_1: Series = tuple({**one, "label": f"{one['label']} batch=1"} for one in ON_POLICY)
UNDIVIDED: Series = tuple(
    {**one, **REPLAY, "eta": 4.0, "label": f"{one['label']} batch=4 eta=4"} for one in ON_POLICY[:2]
)
UCB_4: Series = tuple({**one, **REPLAY, "label": f"{one['label']} batch=4"} for one in UCB)

chain = Experiment(
    name="fig2a",
    method="learn",
    problem=CHAIN,
    series=JEKYLL_HYDE + ON_POLICY + UCB,
    runs=200,
    settings={**DEFAULTS, "trajectories": 100_000, "points": 500},
)
random = Experiment(
    name="fig2b",
    method="learn",
    problem=RANDOM,
    series=JEKYLL_HYDE_4 + ON_POLICY_4 + UCB + ON_POLICY_1 + UCB_4 + UNDIVIDED,
    runs=200,
    settings={**DEFAULTS, "trajectories": 100_000, "points": 500},
)

_TITLE = "random MDPs, 100 states"
PANELS = (
    Panel("2a", "chain, |S|=10, beta=0.8", chain, "trajectories", claims=CLAIMS["2a"]),
    Panel("2b", _TITLE, random, "trajectories", ylim=(-0.25, 1.02), claims=CLAIMS["2b"]),
    Panel(
        "2c",
        f"{_TITLE}, zoomed",
        random,
        "trajectories",
        ylim=(0.9, 1.002),
        claims=CLAIMS["2c"],
        series=labels(JEKYLL_HYDE_4, ON_POLICY_4, UCB, ON_POLICY_1, UNDIVIDED),
    ),
)

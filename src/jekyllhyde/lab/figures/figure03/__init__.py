"""Figure 3: deep agents on Four Rooms, level 1 (3a) and level 2 (3b), score against training
episodes.

`J&H` and the baselines are as published; J&H is also there as the paper's text has it, and as we
recommend it. The score is that of ten greedy episodes after every ten of training; `3a-exact` and
`3b-exact` show the exact score of the same greedy policies.
"""

from jekyllhyde.lab.figures.figure03.claims import CLAIMS
from jekyllhyde.lab.panel import Panel
from jekyllhyde.lab.spec import Experiment

SERIES = (
    {"label": "J&H", "agent": "jekyll_hyde"},
    {"label": "DDQN", "agent": "ddqn"},
    {"label": "SAC", "agent": "sac"},
    {"label": "DDQN+RND", "agent": "ddqn_rnd"},
    {"label": "SAC+RND", "agent": "sac_rnd"},
    {"label": "J&H paper", "agent": "jekyll_hyde", "config": "paper"},
    {"label": "J&H recommended", "agent": "jekyll_hyde", "config": "recommended"},
)


def _level(name: str, level: int) -> Experiment:
    problem = {"name": "four_rooms", "level": level}
    settings = {"config": "published", "episodes": 500}
    return Experiment(
        name=name, method="deep", problem=problem, series=SERIES, settings=settings, runs=10
    )


a, b = _level("fig3a", 1), _level("fig3b", 2)
PANELS = tuple(
    Panel(
        name,
        f"Four Rooms, level {level}" + (", exact" if exact else ""),
        experiment,
        "training episodes",
        "exact_score" if exact else "score",
        "iqm" if exact else "mean",
        ylim=(-12, 93),
        claims=CLAIMS[name],
    )
    for name, level, experiment, exact in (
        ("3a", 1, a, False),
        ("3b", 2, b, False),
        ("3a-exact", 1, a, True),
        ("3b-exact", 2, b, True),
    )
)

"""Figure 5: exact updates on the chain, direct parametrization; against updates, |S|, beta and eta."""

from __future__ import annotations

from typing import Any

from jekyllhyde.lab.figures.figure05.claims import CLAIMS
from jekyllhyde.lab.figures.series import PLAN, Series
from jekyllhyde.lab.panel import Panel
from jekyllhyde.lab.spec import Experiment

CAP = 15_000
DIRECT = {"parametrization": "direct", "eta": 1.0}
SIZES = list(range(3, 26))
BETAS = {"from": 0.0, "to": 0.99, "step": 0.01}


def curve(name: str, series: Series, updates: int, settings: dict[str, Any]) -> Experiment:
    """The return on the chain of 10 states with beta 0.95 against updates."""
    problem = {"name": "chain", "n_states": 10, "beta": 0.95}
    settings = {**settings, "updates": updates, "points": 1000}
    return Experiment(name=name, method="plan", problem=problem, series=series, settings=settings)


def times(
    name: str,
    series: Series,
    settings: dict[str, Any],
    vary: dict[str, Any],
    n: int = 10,
    beta: float = 0.95,
) -> Experiment:
    """Updates to a normalized return of 0.5 on a chain."""
    settings = {**settings, "updates": CAP, "target": 0.5}
    problem = {"name": "chain", "n_states": n, "beta": beta}
    return Experiment(
        name=name, method="plan", problem=problem, series=series, settings=settings, vary=vary
    )


a = curve("fig5a", PLAN, 999, DIRECT)
b = times("fig5b", PLAN, DIRECT, {"n_states": SIZES})
c = times("fig5c", PLAN, DIRECT, {"beta": BETAS}, n=15)
d = times("fig5d", PLAN, DIRECT, {"eta": {"from": 0.01, "to": 100, "per_decade": 10}}, beta=0.5)

PANELS = (
    Panel(
        "5a",
        "chain, |S|=10, beta=0.95, direct, eta=1",
        a,
        "updates",
        exact=True,
        claims=CLAIMS["5a"],
    ),
    Panel(
        "5b", "chain, beta=0.95, direct, eta=1", b, "|S|", "time", exact=True, claims=CLAIMS["5b"]
    ),
    Panel("5c", "chain, |S|=15, direct, eta=1", c, "beta", "time", exact=True, claims=CLAIMS["5c"]),
    Panel(
        "5d",
        "chain, |S|=10, beta=0.5, direct",
        d,
        "eta",
        "time",
        logx=True,
        exact=True,
        claims=CLAIMS["5d"],
    ),
)

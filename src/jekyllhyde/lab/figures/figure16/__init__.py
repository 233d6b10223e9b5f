"""Figure 16: trajectories to the target against a constant epsilon, on the chain (16a) and on
random MDPs (16b).

The published times need the global and Jekyll's return above the target; the text speaks of
Jekyll's alone. `16a` and `16b` show the first, `16a-jekyll` and `16b-jekyll` the second: on the
chain with a target of 0.95, to which the numbers in the text belong. On random MDPs the first is at
the cap from a small epsilon on, since Hyde's share of the return is low, so 21 points show it.
"""

from __future__ import annotations

from typing import Any

from jekyllhyde.lab.figures.figure16.claims import CLAIMS
from jekyllhyde.lab.figures.series import Series, chain_sweep, random_sweep
from jekyllhyde.lab.panel import Panel

SERIES: Series = tuple(
    {"label": f"J&H o={o}", "agent": "jekyll-hyde", "o": o} for o in (0.5, "10/sqrt(t)")
)


def _from_0_to_1(step: float) -> dict[str, Any]:
    return {"epsilon": {"from": 0.0, "to": 1.0, "step": step}}


a = chain_sweep("fig16a", SERIES, cap=100_000, vary=_from_0_to_1(0.01))
b = random_sweep("fig16b", SERIES, vary=_from_0_to_1(0.05))
a_jekyll = chain_sweep(
    "fig16a-jekyll", SERIES, cap=100_000, target=0.95, target_on="jekyll", vary=_from_0_to_1(0.01)
)
b_jekyll = random_sweep("fig16b-jekyll", SERIES, target_on="jekyll", vary=_from_0_to_1(0.02))

_CHAIN, _RANDOM = "chain, |S|=10, beta=0.8", "random MDPs, 100 states"
PANELS = (
    Panel("16a", _CHAIN, a, "epsilon", "time", claims=CLAIMS["16a"]),
    Panel("16b", _RANDOM, b, "epsilon", "time", claims=CLAIMS["16b"]),
    Panel(
        "16a-jekyll",
        f"{_CHAIN}, Jekyll",
        a_jekyll,
        "epsilon",
        "time_jekyll",
        claims=CLAIMS["16a-jekyll"],
    ),
    Panel(
        "16b-jekyll",
        f"{_RANDOM}, Jekyll",
        b_jekyll,
        "epsilon",
        "time_jekyll",
        claims=CLAIMS["16b-jekyll"],
    ),
)

"""Figure 10: trajectories to the target against a constant off-policiness o, on the chain (10a) and
on random MDPs (10b).
"""

from __future__ import annotations

from jekyllhyde.lab.figures.figure10.claims import CLAIMS
from jekyllhyde.lab.figures.series import Series, chain_sweep, random_sweep
from jekyllhyde.lab.panel import Panel

EPSILONS: Series = tuple(
    {"label": f"J&H eps={epsilon}", "agent": "jekyll-hyde", "epsilon": epsilon}
    for epsilon in ("100/t", "10/sqrt(t)", 0.1)
)
VARY = {"o": {"from": 0.0, "to": 1.0, "step": 0.01}}
a = chain_sweep("fig10a", EPSILONS, vary=VARY)
b = random_sweep("fig10b", EPSILONS, vary=VARY)

PANELS = (
    Panel("10a", "chain, |S|=10, beta=0.8", a, "o", "time", claims=CLAIMS["10a"]),
    Panel("10b", "random MDPs, 100 states", b, "o", "time", claims=CLAIMS["10b"]),
)

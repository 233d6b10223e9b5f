"""Figure 15: trajectories to the target against the critic's initial value q0, on the chain (15a)
and on random MDPs (15b).
"""

from __future__ import annotations

from jekyllhyde.lab.figures.figure15.claims import CLAIMS
from jekyllhyde.lab.figures.series import JEKYLL_HYDE, ON_POLICY, chain_sweep, random_sweep
from jekyllhyde.lab.panel import Panel

SERIES = JEKYLL_HYDE + ON_POLICY
a = chain_sweep("fig15a", SERIES, vary={"q0": {"from": 0.0, "to": 1.0, "step": 0.01}})
b = random_sweep("fig15b", SERIES, vary={"q0": {"from": 0.0, "to": 1.0, "step": 0.02}})

PANELS = (
    Panel("15a", "chain, |S|=10, beta=0.8", a, "q0", "time", claims=CLAIMS["15a"]),
    Panel("15b", "random MDPs, 100 states", b, "q0", "time", claims=CLAIMS["15b"]),
)

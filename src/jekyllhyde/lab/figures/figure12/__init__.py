"""Figure 12: trajectories to the target against the critic's step size eta_c; Hyde's stays 0.1 (12a
chain, 12b random MDPs).
"""

from __future__ import annotations

from jekyllhyde.lab.figures.figure12.claims import CLAIMS
from jekyllhyde.lab.figures.series import JEKYLL_HYDE, ON_POLICY, chain_sweep, random_sweep
from jekyllhyde.lab.panel import Panel

SERIES = JEKYLL_HYDE + ON_POLICY
VARY = {"eta_c": {"from": 0.001, "to": 1, "per_decade": 5}}
a = chain_sweep("fig12a", SERIES, cap=100_000, vary=VARY)
b = random_sweep("fig12b", SERIES, vary=VARY)

PANELS = (
    Panel("12a", "chain, |S|=10, beta=0.8", a, "eta_c", "time", logx=True, claims=CLAIMS["12a"]),
    Panel("12b", "random MDPs, 100 states", b, "eta_c", "time", logx=True, claims=CLAIMS["12b"]),
)

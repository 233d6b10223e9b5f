"""Figure 11: trajectories to the target against the actor's step size eta, on the chain (11a) and
on random MDPs (11b).
"""

from __future__ import annotations

from jekyllhyde.lab.figures.figure11.claims import CLAIMS
from jekyllhyde.lab.figures.series import JEKYLL_HYDE, ON_POLICY, chain_sweep, random_sweep
from jekyllhyde.lab.panel import Panel

SERIES = JEKYLL_HYDE + ON_POLICY
a = chain_sweep("fig11a", SERIES, vary={"eta": {"from": 0.01, "to": 1000, "per_decade": 5}})
b = random_sweep("fig11b", SERIES, vary={"eta": {"from": 0.39, "to": 1000, "per_decade": 5}})

PANELS = (
    Panel("11a", "chain, |S|=10, beta=0.8", a, "eta", "time", logx=True, claims=CLAIMS["11a"]),
    Panel("11b", "random MDPs, 100 states", b, "eta", "time", logx=True, claims=CLAIMS["11b"]),
)

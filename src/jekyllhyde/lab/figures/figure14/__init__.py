"""Figure 14: trajectories to 0.5 on the chain against its size (14a) and against beta (14b)."""

from __future__ import annotations

from jekyllhyde.lab.figures.figure05 import BETAS, SIZES
from jekyllhyde.lab.figures.figure14.claims import CLAIMS
from jekyllhyde.lab.figures.series import JEKYLL_HYDE, ON_POLICY, chain_sweep
from jekyllhyde.lab.panel import Panel

SERIES = JEKYLL_HYDE + ON_POLICY
a = chain_sweep("fig14a", SERIES, vary={"n_states": SIZES})
b = chain_sweep("fig14b", SERIES, vary={"beta": BETAS})

PANELS = (
    Panel("14a", "chain, beta=0.8", a, "|S|", "time", claims=CLAIMS["14a"]),
    Panel("14b", "chain, |S|=10", b, "beta", "time", claims=CLAIMS["14b"]),
)

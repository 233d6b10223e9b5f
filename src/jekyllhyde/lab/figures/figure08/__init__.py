"""Figure 8: the runs of panel 2a again, without UCB: the global return (8a) and Jekyll's alone
(8b).
"""

from __future__ import annotations

from jekyllhyde.lab.figures.figure02 import chain
from jekyllhyde.lab.figures.figure08.claims import CLAIMS
from jekyllhyde.lab.figures.series import JEKYLL_HYDE, ON_POLICY, labels
from jekyllhyde.lab.panel import Panel

_SHOWN = labels(JEKYLL_HYDE, ON_POLICY)
PANELS = (
    Panel(
        "8a",
        "chain, |S|=10, beta=0.8, global",
        chain,
        "trajectories",
        series=_SHOWN,
        claims=CLAIMS["8a"],
    ),
    Panel(
        "8b",
        "chain, |S|=10, beta=0.8, Jekyll",
        chain,
        "trajectories",
        "J_norm_jekyll",
        series=_SHOWN,
        claims=CLAIMS["8b"],
    ),
)

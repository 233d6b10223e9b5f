"""Figure 6: exact updates on the chain, softmax parametrization; against updates, |S|, beta and the
entropy weight lam.
"""

from __future__ import annotations

from jekyllhyde.lab.figures.figure05 import BETAS, SIZES, curve, times
from jekyllhyde.lab.figures.figure06.claims import CLAIMS
from jekyllhyde.lab.figures.series import PLAN, PLAN_ENTROPY
from jekyllhyde.lab.panel import Panel

SOFTMAX = {"parametrization": "softmax", "eta": 10.0}
LAMBDAS = {"from": 0.001, "to": 10, "per_decade": 10}

a = curve("fig6a", PLAN + PLAN_ENTROPY, 9999, SOFTMAX)
b = times("fig6b", PLAN + PLAN_ENTROPY, SOFTMAX, {"n_states": SIZES})
c = times("fig6c", PLAN + PLAN_ENTROPY, SOFTMAX, {"beta": BETAS}, n=15)
d = times("fig6d", PLAN, SOFTMAX, {"lam": LAMBDAS}, n=15, beta=0.5)

PANELS = (
    Panel(
        "6a",
        "chain, |S|=10, beta=0.95, softmax, eta=10",
        a,
        "updates",
        exact=True,
        claims=CLAIMS["6a"],
    ),
    Panel(
        "6b", "chain, beta=0.95, softmax, eta=10", b, "|S|", "time", exact=True, claims=CLAIMS["6b"]
    ),
    Panel(
        "6c", "chain, |S|=15, softmax, eta=10", c, "beta", "time", exact=True, claims=CLAIMS["6c"]
    ),
    Panel(
        "6d",
        "chain, |S|=15, beta=0.5, softmax, eta=10",
        d,
        "lam",
        "time",
        logx=True,
        exact=True,
        claims=CLAIMS["6d"],
    ),
)

"""What the paper says about Figure 13, in our words, as tests on its numbers (Appendix E, steps
tuned for 0.95).
"""

from __future__ import annotations

from jekyllhyde.lab.figures.figure02.claims import (
    DECAYING,
    HALF,
    JH,
    ONP,
    PLAIN,
    mean_above,
    mean_below,
)
from jekyllhyde.lab.figures.figure07.claims import decile, decile_gain
from jekyllhyde.lab.panel import Claim, Curves, Outcome
from jekyllhyde.lab.verdicts import SOLVED, above, below, claims, outcome, say


def _decile_below_99(curves: Curves) -> Outcome:
    found = {label: decile(curves, label) for label in (*JH, *ONP)}
    return outcome(
        curves, [below(one, 0.99) for one in found.values()], f"decile at the end: {say(found)}"
    )


def _worst_case(curves: Curves) -> Outcome:
    """With eps=100/t: o=0.5 against o=10/sqrt(t) and plain on-policy updates."""
    found = {label: decile_gain(curves, HALF[0], label) for label in (DECAYING[0], *PLAIN)}
    return outcome(
        curves,
        [above(one, 0.0) for one in found.values()],
        f"decile of {HALF[0]} at the end, less that of {say(found)}",
    )


CLAIMS: dict[str, tuple[Claim, ...]] = {
    "13a": claims(
        100_000,
        (
            "13a-well",
            "All algorithms perform well with these steps: they reach 0.95.",
            mean_above(SOLVED, *JH, *ONP),
        ),
        (
            "13a-99",
            "With these steps 0.99 would take much longer than 100,000 trajectories (that the default gets there: 9a-default-99).",
            mean_below(0.99, *JH, *ONP),
        ),
        ("13a-999", "Let alone 0.999.", mean_below(0.999, *JH, *ONP)),
    ),
    "13b": claims(
        100_000,
        ("13b-99", "In the decile too, 0.99 would take much longer.", _decile_below_99),
        ("13b-worst", "Off-policiness improves the worst case.", _worst_case),
    ),
}

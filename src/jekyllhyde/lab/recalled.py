"""Curves whose runs are not at hand: what was measured of them stands for the runs."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from jekyllhyde.lab.panel import Curves
from jekyllhyde.lab.verdicts import Estimate, Undecided


@dataclass(frozen=True)
class Recalled(Curves):
    """Curves, and estimates that were made of their runs.

    known : by what is measured, in words, and of which series. It goes before what runs there are.
    """

    known: Mapping[tuple[str, str], Estimate]

    def drawn(self, tag: str, i: int) -> Estimate:
        """The mean of a series at the place i with its interval, as the curves show it."""
        if self.panel.statistic != "mean" or tag not in self.y or self.runs < 2:
            raise Undecided(f"panel {self.panel.name} shows no mean of {tag}")
        y, lo, hi = (float(lines[tag][i]) for lines in (self.y, self.lo, self.hi))
        if np.isnan([y, lo, hi]).any():
            raise Undecided(f"panel {self.panel.name} has no number of {tag} there")
        return Estimate(y, lo, hi)


def recalled(curves: Curves, what: str, name: str) -> Estimate | None:
    """What is known of these curves without a run, if it is."""
    return curves.known.get((what, name)) if isinstance(curves, Recalled) else None

"""The paper's finite-MDP figures, one package each: what is run, how it is shown, and what the
paper says about it.
"""

from __future__ import annotations

from dataclasses import replace

from jekyllhyde.lab.figures import (
    figure02,
    figure03,
    figure05,
    figure06,
    figure07,
    figure08,
    figure09,
    figure10,
    figure11,
    figure12,
    figure13,
    figure14,
    figure15,
    figure16,
)
from jekyllhyde.lab.panel import Panel

FIGURES = (
    figure02,
    figure03,
    figure05,
    figure06,
    figure07,
    figure08,
    figure09,
    figure10,
    figure11,
    figure12,
    figure13,
    figure14,
    figure15,
    figure16,
)
PANELS: dict[str, Panel] = {panel.name: panel for figure in FIGURES for panel in figure.PANELS}


def in_small(panel: Panel) -> Panel:
    """The panel in small, for tests: two runs of a two-hundredth of the length at three points of
    each axis; seconds for all.

    Networks take long to compile, so there is only one of the deep agents.
    """
    return replace(panel, experiment=panel.experiment.in_small(panel.kind))

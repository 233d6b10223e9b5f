"""The paper's figures, one module each: what is run, how it is shown, and what the paper says about
it.
"""

from dataclasses import replace
from importlib import import_module

from jekyllhyde.lab.panel import Panel

FIGURES = (2, 3, *range(5, 17))  # 1 and 4 are drawings
PANELS: dict[str, Panel] = {
    panel.name: panel
    for number in FIGURES
    for panel in import_module(f"{__name__}.figure{number:02}").PANELS
}


def in_small(panel: Panel) -> Panel:
    """The panel in small, for tests: two runs of a two-hundredth of the length at three points of
    each axis; seconds for all.

    Networks take long to compile, so there is only one of the deep agents.
    """
    return replace(panel, experiment=panel.experiment.in_small(panel.kind))

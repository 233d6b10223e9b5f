"""The paper's figures, one module each: what is run, how it is shown, and what the paper says about
it.
"""

from __future__ import annotations

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
    experiment = panel.experiment
    if experiment.method == "deep":
        return replace(
            panel,
            experiment=replace(
                experiment.scaled(runs=2, length=0.04), series=experiment.series[1:2]
            ),
        )
    length = 1.0 if experiment.method == "plan" and panel.kind == "time" else 0.005
    return replace(
        panel, experiment=experiment.scaled(runs=min(2, experiment.runs), points=3, length=length)
    )

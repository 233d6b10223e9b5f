"""The paper's figures, one module each: what is run, how it is shown, and what the paper says about
it.
"""

from dataclasses import replace
from importlib import import_module

from jekyllhyde.lab.panel import Panel

FIGURES = (2, 3, *range(5, 17))  # 1 and 4 are drawings
PANELS: dict[str, Panel] = {
    panel.name: replace(panel, published=panel.published or panel.name)
    for number in FIGURES
    for panel in import_module(f"{__name__}.figure{number:02}").PANELS
}

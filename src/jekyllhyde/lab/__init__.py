"""Experiments: what is run, how it is scored, drawn and judged.

experiment = lab.Experiment.from_toml("sweep.toml")
curves = lab.run(experiment, store="jh-store")        # computes what the store lacks
lab.draw(curves, "sweep.png")
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from jekyllhyde.lab.draw import draw as _draw
from jekyllhyde.lab.panel import Curves, Panel, judge, panel_of, read
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.store import Store

if TYPE_CHECKING:
    from jekyllhyde.lab.engine import Status

__all__ = ["Curves", "Experiment", "Panel", "Store", "draw", "judge", "panel_of", "read", "run"]


def run(
    experiment: Experiment,
    store: str | Path = "jh-store",
    *,
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
    report: Callable[[Status], None] | None = None,
) -> Curves:
    """Compute what the store lacks of an experiment, on all cores or on a Ray cluster, and return
    its numbers with intervals.
    """
    from jekyllhyde.lab import engine as engines

    opened = Store.open(store, create=True)
    engines.run(
        [experiment], opened, engine=engine, workers=workers, address=address, report=report
    )
    return read(panel_of(experiment), opened)


def draw(curves: Curves, *paths: str | Path) -> None:
    """Write the picture of a panel to `paths`: PNG, PDF or SVG by their endings."""
    _draw(curves, *(Path(path) for path in paths))

"""Experiments: what is run, how it is scored, drawn and judged.

experiment = lab.Experiment.from_toml("sweep.toml")
curves = lab.run(experiment, store="jh-store")        # computes what the store lacks
lab.draw(curves, "sweep.png")
"""

from pathlib import Path

from jekyllhyde.lab import engine as engines
from jekyllhyde.lab.agreement import Agreement, compare_with_published
from jekyllhyde.lab.draw import draw
from jekyllhyde.lab.judgement import judge
from jekyllhyde.lab.panel import Claim, Curves, Panel, panel_of, read
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.store import Store
from jekyllhyde.lab.verdicts import JudgedClaim

__all__ = [
    "Agreement",
    "Claim",
    "Curves",
    "Experiment",
    "JudgedClaim",
    "Panel",
    "Store",
    "compare_with_published",
    "draw",
    "judge",
    "panel_of",
    "read",
    "run",
]


def run(
    experiment: Experiment,
    store: str | Path = "jh-store",
    *,
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
    report: engines.Report | None = None,
) -> Curves:
    """Compute what the store lacks of an experiment, on all cores or on a Ray cluster, and return
    its numbers with intervals.
    """
    opened = Store.open(store, create=True)
    engines.run(
        [experiment], opened, engine=engine, workers=workers, address=address, report=report
    )
    return read(panel_of(experiment), opened)


def __dir__() -> list[str]:
    return sorted(__all__)

"""What the report's tests are about: two small panels of the paper, and a user's own with names
that look like HTML.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from jekyllhyde.lab import engine
from jekyllhyde.lab.figures import PANELS
from jekyllhyde.lab.panel import Curves, Panel, panel_of, read
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.store import Store

HOSTILE = "<b>mine</b> %{x} </script><script>document.title='broken'</script> &lt; {{plotly}}"
SKIPPED = {"for lack of runs": ["2b", "<i>2c</i>"]}


def own_panel(runs: int = 6) -> Panel:
    """Times to a target along an axis of words and numbers."""
    experiment = Experiment(
        name="own",
        title=f"{HOSTILE} as a title",
        method="learn",
        problem={"name": "garnet", "n_states": 8},
        runs=runs,
        series=[{"label": HOSTILE}, {"label": "J&H eps=0.1", "epsilon": 0.1}],
        settings={"trajectories": 300, "target": 0.5},
        vary={"o": [0.5, "10/t", 1.0]},
    )
    return panel_of(experiment)


def paper_panels() -> list[Panel]:
    """A time panel with its claims, at full length on five chains; a curve panel of a few short
    runs with some of its series.
    """
    times, curve = PANELS["5b"], PANELS["8a"]
    return [
        replace(times, experiment=times.experiment.scaled(points=5)),
        replace(curve, experiment=curve.experiment.scaled(runs=6, length=0.001)),
    ]


def made(folder: Path, panels: list[Panel]) -> tuple[Store, list[Curves]]:
    """A store with the runs of these panels, and their numbers."""
    store = Store.open(folder, create=True)
    engine.run([panel.experiment for panel in panels], store, workers=1)
    return store, [read(panel, store) for panel in panels]

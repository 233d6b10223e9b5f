"""Write the page docs/exploration-figures.md, its pictures (docs/_static) and the numbers
(docs/results) from stores.

python docs/figures/exploration_page.py STORE [STORE ...]

`jh figure exploration --store STORE` fills a store; benchmarks/exploration.py and
benchmarks/explorers.py make the same runs. Every panel comes from the store that has the most of
its tasks, and shows those.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from jekyllhyde.lab.draw import note, write_panel
from jekyllhyde.lab.exploration.panels import PANELS
from jekyllhyde.lab.judgement import judge
from jekyllhyde.lab.panel import Curves, Panel, read
from jekyllhyde.lab.store import Store
from jekyllhyde.lab.suite import Suite
from jekyllhyde.lab.verdicts import JudgedClaim

DOCS = Path(__file__).resolve().parent.parent
FEWEST = 20  # runs that a task needs to be shown
HEAD = """# Exploration in figures

What {{doc}}`exploration` promises and asks, as claims about runs, with a verdict on each: {counts}.
Points and lines are {statistics} over runs with 95 % intervals;
a run that never gets there counts as the cap. `jh figure exploration` makes these panels, and
`docs/figures/exploration_page.py` wrote this page. The numbers behind the pictures are in
`docs/results`.
"""


def shown_tasks(panel: Panel, store: Store) -> list[object]:
    """The tasks of which a store has enough runs."""
    assert isinstance(panel.experiment, Suite)
    return [
        task
        for task, experiment in panel.experiment.experiments.items()
        if all(store.complete_runs(cell.digest) >= FEWEST for cell in experiment.cells)
    ]


def section(curves: Curves, claims: list[JudgedClaim]) -> str:
    """A panel: picture, sentences, verdicts, and what they rest on."""
    panel = curves.panel
    rows = [f"| {claim.claim} | **{claim.verdict}** | {claim.measured} |\n" for claim in claims]
    return (
        f"## {panel.name}: {panel.title} ({note(curves)})\n\n"
        f"```{{image}} _static/figure-{panel.name}.png\n"
        f":alt: Panel {panel.name}, {panel.title}\n:width: 680px\n```\n\n"
        "| claim | verdict | measured |\n| --- | --- | --- |\n" + "".join(rows)
    )


def statistics(panels: Sequence[Panel]) -> str:
    """What the points of these panels are: "medians", and of which panels something else."""
    named: dict[str, list[str]] = {}
    for panel in panels:
        named.setdefault(f"{panel.statistic}s", []).append(panel.name)
    usual = max(named, key=lambda statistic: len(named[statistic]))
    others = [
        f"{statistic} in {' and '.join(names)}"
        for statistic, names in named.items()
        if statistic != usual
    ]
    return usual + (f" ({', '.join(others)})" if others else "")


def main() -> None:
    stores = [Store.open(folder) for folder in sys.argv[1:]]
    parts, shown, counts = [], [], Counter[str]()
    for name, panel in PANELS.items():
        tasks, store = max(
            ((shown_tasks(panel, each), each) for each in stores), key=lambda x: len(x[0])
        )
        if not tasks:
            print(f"{name}: no store has {FEWEST} runs of a task")
            continue
        assert isinstance(panel.experiment, Suite)
        curves = read(replace(panel, experiment=panel.experiment.only(*tasks)), store)
        claims = judge(curves)
        counts.update(claim.verdict for claim in claims)
        parts.append(section(curves, claims))
        shown.append(curves.panel)
        with tempfile.TemporaryDirectory() as folder:
            picture, _, numbers, verdicts = write_panel(curves, Path(folder), claims)
            shutil.copy(picture, DOCS / "_static" / f"figure-{name}.png")
            for file in (numbers, verdicts):
                shutil.copy(file, DOCS / "results")
        print(name, curves.runs, len(tasks), flush=True)
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    text = "\n".join([HEAD.format(counts=said, statistics=statistics(shown)), *parts])
    (DOCS / "exploration-figures.md").write_text(text)


if __name__ == "__main__":
    main()

"""What the paper's figures cost: the work that a store holds, and the core-hours that this
machine's speed predicts for it.

python benchmarks/figures.py STORE

Per experiment and series one run is timed on one core, twice, the second time counts; its speed, in
environment steps (learning) or updates (planning) per second, is applied to all that the store has
of the series, and to the size that the protocol asks for. Writes docs/results/costs.csv and
docs/results/costs.md; of experiments that the store does not have the rows stay as they are.
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path

import pyarrow.compute as pc

from jekyllhyde.lab.figures import PANELS
from jekyllhyde.lab.methods import METHODS
from jekyllhyde.lab.spec import Cell
from jekyllhyde.lab.store import Store

RESULTS = Path(__file__).resolve().parent.parent / "docs" / "results"
LONGEST = 20_000  # trajectories or updates of the run that is timed


def speed(cell: Cell) -> float:
    """Steps or updates per second on one core."""
    method = METHODS[cell.method]
    settings = {**cell.settings, method.unit: min(LONGEST, method.work(cell.settings))}
    settings.pop("target", None)
    for _ in range(2):
        started = time.process_time()
        row = method.run_block(cell.problem, settings, 0, range(1), lambda count: None)[0]
        seconds = time.process_time() - started
    return float(row.get("steps") or row["end"]) / seconds


def main() -> None:
    store = Store.open(sys.argv[1])
    shown: dict[str, list[str]] = {}
    for panel in PANELS.values():
        shown.setdefault(panel.experiment.name, []).append(panel.name)
    with (RESULTS / "costs.csv").open(newline="") as file:
        known = list(csv.DictReader(file))
    rows = []
    for panels in shown.values():
        experiment = PANELS[panels[0]].experiment
        if METHODS[experiment.method].extra is not None:
            continue
        present = [store.runs(cell.digest) for cell in experiment.cells]
        if not all(present):
            rows += [row for row in known if row["panels"].split()[0] == panels[0]]
            continue
        work = here = full = 0.0
        for label in dict.fromkeys(cell.series for cell in experiment.cells):
            cells = [cell for cell in experiment.cells if cell.series == label]
            table = store.table([cell.digest for cell in cells], ["steps", "end"])
            done = float(pc.sum(table["steps"]).as_py() or pc.sum(table["end"]).as_py() or 0)
            seconds = done / speed(cells[len(cells) // 2])
            runs = sum(store.runs(cell.digest) for cell in cells)
            work, here = work + done, here + seconds
            full += seconds * experiment.runs * len(cells) / max(runs, 1)
        rows.append(
            {
                "panels": " ".join(panels),
                "cells": len(experiment.cells),
                "runs": min(present),
                "asked for": experiment.runs,
                "steps or updates": f"{work:.3g}",
                "core hours": f"{here / 3600:.3f}",
                "core hours at full size": f"{full / 3600:.3f}",
            }
        )
        print(*rows[-1].values(), flush=True)
    hours = ("core hours", "core hours at full size")
    rows.append(
        dict.fromkeys(rows[0], "")
        | {"panels": "all"}
        | {key: f"{sum(float(row[key]) for row in rows):.2f}" for key in hours}
    )
    with (RESULTS / "costs.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    lines = ["| " + " | ".join(rows[0]) + " |", "| " + " | ".join("---" for _ in rows[0]) + " |"]
    lines += ["| " + " | ".join(str(value) for value in row.values()) + " |" for row in rows]
    (RESULTS / "costs.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

"""What the paper's figures cost: the work that a store holds, and the core-hours that this
machine's speed predicts for it.

python benchmarks/figures.py STORE [PANEL ...]

Per experiment and series one run is timed on one core, twice, the second time counts; its speed, in
environment steps (learning) or updates (planning) per second, is applied to what the store has of
the series, as far as docs/results shows so many runs, and to the size that the protocol asks for.
Writes docs/results/costs.csv and docs/results/costs.md; of experiments that the store does not
have, or that are not those of the panels named, the rows stay as they are. Experiments with
networks are not counted, nor those without an update.
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


def runs_on_page(panel: str) -> int:
    """The runs behind what docs/results shows of a panel."""
    with (RESULTS / f"{panel}.csv").open(newline="") as file:
        return min(int(row["runs"]) for row in csv.DictReader(file))


def main() -> None:
    store, chosen = Store.open(sys.argv[1]), sys.argv[2:] or list(PANELS)
    shown: dict[str, list[str]] = {}
    for panel in PANELS.values():
        shown.setdefault(panel.experiment.name, []).append(panel.name)
    with (RESULTS / "costs.csv").open(newline="") as file:
        known = list(csv.DictReader(file))
    rows = []
    for panels in shown.values():
        experiment = PANELS[panels[0]].experiment
        method = METHODS[experiment.method]
        if method.extra is not None or not any(method.work(c.settings) for c in experiment.cells):
            continue
        present = [store.runs(cell.digest) for cell in experiment.cells]
        if not all(present) or not set(panels) & set(chosen):
            rows += [row for row in known if row["panels"].split()[0] == panels[0]]
            continue
        work = here = full = 0.0
        on_page = min(runs_on_page(panel) for panel in panels)
        for label in dict.fromkeys(cell.series for cell in experiment.cells):
            cells = [cell for cell in experiment.cells if cell.series == label]
            table = store.table([cell.digest for cell in cells], ["steps", "end"])
            done = float(pc.sum(table["steps"]).as_py() or pc.sum(table["end"]).as_py() or 0)
            runs = sum(store.runs(cell.digest) for cell in cells)
            a_run = done / runs * len(cells)
            seconds = a_run / speed(cells[len(cells) // 2])
            counted = min(runs / len(cells), on_page)
            work, here = work + a_run * counted, here + seconds * counted
            full += seconds * experiment.runs
        rows.append(
            {
                "panels": " ".join(panels),
                "cells": len(experiment.cells),
                "runs": min(*present, on_page),
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

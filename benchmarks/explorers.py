"""The field's tabular explorers, tuned for every task, beside Dr Jekyll and Mr Hyde, who is not.

    python benchmarks/explorers.py STORE [--runs 100] [--tuning 5] [--workers 1] [yardsticks]

What is run is defined in jekyllhyde.lab.exploration.tuned_peers; the settings that tuning chooses
are written there too (tuned_peers.json). Times to 0.95 and to 0.99 are of the same runs. The regret
is that of what is played, Hyde's trajectories included, until a run is at 0.99 or at its end. The
last column compares with the fastest peer that gets there in 95 % of the runs, if there is one.

All runs are cells of the laboratory's store, so that a second call goes on where the first stopped.
results/explorers.json and .md are written after each task, from all that the store has of the
settings in use.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from common import HERE, RESULTS, table
from exploration import interval, row_of

import numpy as np  # isort: skip

from jekyllhyde import intervals  # isort: skip
from jekyllhyde.files import write_json, write_text  # isort: skip
from jekyllhyde.lab import Store, engine  # isort: skip
from jekyllhyde.lab.exploration import experiments, tuned_peers  # isort: skip
from jekyllhyde.lab.exploration.arrival import times  # isort: skip
from jekyllhyde.lab.yardsticks import YARDSTICKS  # isort: skip

TUNED = HERE.parent / "src/jekyllhyde/lab/exploration" / tuned_peers.TUNED_FILE


def tune(task: str, store: Store, runs: int, workers: int) -> None:
    """Try every setting of every peer, and write the best ones down."""
    settings = {}
    for peer in tuned_peers.PEERS:
        experiment = tuned_peers.tuning(task, peer, runs)
        engine.run([experiment], store, workers=workers)
        settings[peer] = tuned_peers.chosen(peer, times(experiment, store))
        print(task, peer, tuned_peers.spelled(settings[peer]), flush=True)
    write_json(TUNED, tuned_peers.tuned() | {task: settings})


def rows_of(task: str, settings: dict[str, Any], store: Store, runs: int) -> list[dict[str, Any]]:
    """A row per agent, J&H first."""
    rows = []
    for seen in times(tuned_peers.comparison(task, settings, runs), store):
        row = row_of(seen, steps=np.inf)
        row["regret"] = list(map(float, intervals.summarize(seen.regret, "mean")))
        peer = {label: name for name, label in tuned_peers.PEERS.items()}.get(seen.agent)
        row["settings"] = tuned_peers.spelled(settings[peer]) if peer else "recommended"
        row["tried"] = len(tuned_peers.GRIDS[peer]) if peer else 0
        rows.append(row)
    peers = [row for row in rows if row["tried"]]
    reliable = [row for row in peers if row["solved"][0] >= 0.95]
    best = min((row["steps_99"][0] for row in reliable or peers), default=np.inf)
    for row in rows:
        with np.errstate(invalid="ignore"):
            row["ratio"] = float(np.divide(row["steps_99"][0], best))
    return rows


def text_of(rows: list[dict[str, Any]]) -> str:
    """The table of all tasks, and what was tried."""
    lines = [
        [
            *(row["task"], row["agent"], row["settings"]),
            f"{row['solved'][0] * row['runs']:.0f} of {row['runs']}",
            *(interval(row[name]) for name in ("steps_95", "steps_99", "time_99", "regret")),
            f"{row['ratio']:.2f}" if np.isfinite(row["ratio"]) else "",
        ]
        for row in rows
    ]
    columns = ["task", "agent", "setting", "at 0.99", "steps to 0.95", "steps to 0.99"]
    columns += ["trajectories to 0.99", "regret", "steps, best peer = 1"]
    tried = ", ".join(
        f"{len(tuned_peers.GRIDS[peer])} of {label}" for peer, label in tuned_peers.PEERS.items()
    )
    about = f"""Medians with 95 % intervals (regret: means) over fresh runs. Settings tried for
each task: {tried}; 'never': not within the trajectories of a run."""
    return f"{about}\n\n{table(columns, lines)}\n"


def report(store: Store, runs: int) -> None:
    settings = tuned_peers.tuned()
    rows = [
        row
        for task in YARDSTICKS
        if task in settings
        for row in rows_of(task, settings[task], store, runs)
    ]
    write_text(RESULTS / "explorers.json", json.dumps(rows, indent=1) + "\n")
    write_text(RESULTS / "explorers.md", text_of(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("store")
    parser.add_argument("tasks", nargs="*", default=list(tuned_peers.TASKS))
    parser.add_argument("--runs", type=int, default=experiments.RUNS)
    parser.add_argument("--tuning", type=int, default=5, help="runs per setting")
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    store = Store.open(given.store, create=True)
    for task in given.tasks:
        tune(task, store, given.tuning, given.workers)
        fresh = tuned_peers.comparison(task, tuned_peers.tuned()[task], given.runs)
        engine.run([fresh], store, workers=given.workers)
        report(store, given.runs)
        print(task, flush=True)


if __name__ == "__main__":
    main()

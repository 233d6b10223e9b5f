"""The tabular agents on the yardsticks of exploration: how long until Jekyll is at the optimum.

    python benchmarks/exploration.py [--runs 100] [--store DIR] [--ablation] [yardsticks]

What is run is defined in jekyllhyde.lab.exploration.experiments. Runs are kept in the store, so
what was made once is not made again; results/exploration.json and results/exploration.md are
written anew after every yardstick, from the rows of all that the store has.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from jekyllhyde.lab import Store, engine
from jekyllhyde.lab.exploration.arrival import Times, growth, median, times
from jekyllhyde.lab.exploration.experiments import (
    ABLATED,
    ABLATIONS,
    AGENTS,
    RECOMMENDED,
    RUNS,
    experiment,
)
from jekyllhyde.lab.yardsticks import YARDSTICKS

RESULTS = Path(__file__).parent / "results"
SEAS = (10, 20, 30, 50, 100)


def row_of(seen: Times) -> dict[str, Any]:
    """An agent on a task in numbers: the share of runs that get there in time, medians
    with intervals, and the time of 95 % of the runs.
    """
    solved = seen.solved()
    row: dict[str, Any] = {
        "task": seen.task,
        "agent": seen.agent,
        "runs": len(seen.steps_99),
        "budget": seen.budget,
        "solved": [solved.y, solved.lo, solved.hi],
    }
    for name in ("time_95", "steps_95", "time_99", "steps_99", "regret"):
        samples = getattr(seen, name)
        middle = median(samples)
        late = float(np.quantile(samples, 0.95, method="inverted_cdf"))
        row[name] = [middle.y, middle.lo, middle.hi, late]
    return row


def number(x: float) -> str:
    return f"{x:,.0f}" if np.isfinite(x) else "never"


def interval(values: list[float]) -> str:
    y, lo, hi = map(number, values[:3])
    return y if lo == hi else f"{y} [{lo}, {hi}]"


def table(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| task | agent | at 0.99 | trajectories | at most | steps, 0.95 | 0.99 | late | regret |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        share = f"{round(row['solved'][0] * row['runs'])}/{row['runs']}"
        cells = (
            *(row["task"], row["agent"].removeprefix("J&H, "), share, interval(row["time_99"])),
            *(number(row["budget"]), number(row["steps_95"][0]), interval(row["steps_99"])),
            *(number(row["steps_99"][3]), number(row["regret"][0])),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def ablation_table(rows: list[dict[str, Any]]) -> list[str]:
    """Median steps to 0.99, a line per part that was exchanged and a column per task that all of
    them were run on.
    """
    by_name = {(row["task"], row["agent"]): row for row in rows}
    labels = [series["label"] for series in ABLATIONS]
    tasks = [task for task in ABLATED if all((task, label) in by_name for label in labels)]
    lines = [f"| instead | {' | '.join(tasks)} |", "| --- |" + " --- |" * len(tasks)]
    for label in (RECOMMENDED["label"], *labels):
        cells = []
        for task in tasks:
            row = by_name.get((task, label))
            count = round(row["solved"][0] * row["runs"]) if row else 0
            missing = f" ({count} of {row['runs']})" if row and count < row["runs"] else ""
            cells.append(number(row["steps_99"][0]) + missing if row else "")
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return lines


def growth_lines(all_times: list[Times], runs: int) -> list[str]:
    lines = []
    for series in AGENTS:
        of_size = {
            n: seen
            for n in SEAS
            for seen in all_times
            if (seen.task, seen.agent) == (f"deep_sea_{n}", series["label"])
            and len(seen.time_99) == runs  # not one that is under way
            and np.isfinite(np.median(seen.time_99))
        }
        if len(of_size) > 2:
            exponent = growth(list(of_size), [seen.time_99 for seen in of_size.values()])
            lines.append(
                f"DeepSea, {series['label']}: trajectories grow like N to the power of "
                f"{exponent.y:.2f} [{exponent.lo:.2f}, {exponent.hi:.2f}] "
                f"(N = {', '.join(map(str, of_size))}).\n"
            )
    return lines


def report(store: Store, runs: int) -> None:
    main, ablations = [], []
    for task in YARDSTICKS:
        main += times(experiment(task, AGENTS, runs), store)
        if task in ABLATED:
            ablations += times(experiment(task, ABLATIONS, runs), store)
    rows = [[row_of(seen) for seen in part] for part in (main, ablations)]
    (RESULTS / "exploration.json").write_text(json.dumps(rows[0] + rows[1], indent=1) + "\n")
    parts = ["\n".join(table(rows[0])), *growth_lines(main, runs)]
    if ablations:
        parts.append("\n".join(ablation_table(rows[0] + rows[1])))
    (RESULTS / "exploration.md").write_text("\n\n".join(part.strip() for part in parts) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--store", type=Path, default=Path("jh-exploration"))
    parser.add_argument("--ablation", action="store_true", help="the parts of the default")
    parser.add_argument("--agents", nargs="*", help="labels, all by default")
    given = parser.parse_args()
    store = Store.open(given.store, create=True)
    agents = [
        series
        for series in (ABLATIONS if given.ablation else AGENTS)
        if given.agents is None or series["label"] in given.agents
    ]
    for task in given.tasks or (ABLATED if given.ablation else YARDSTICKS):
        engine.run([experiment(task, agents, given.runs)], store)
        report(store, given.runs)
        print(task, flush=True)


if __name__ == "__main__":
    main()

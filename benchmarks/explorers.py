"""The field's tabular explorers, tuned for every task, beside Dr Jekyll and Mr Hyde, who is not.

    python benchmarks/explorers.py STORE [--runs 100] [--tuning 5] [--workers 1] [-- yardsticks]

Every peer is tried with each setting of its grid (20 or more) on seeds of their own, and the best
is run with fresh ones: the best is the one with the fewest steps to 0.99 of the normalized optimum
on average, a run that does not get there counting twice its steps. J&H is `recommended`, the same
on all tasks. What is evaluated of a peer is the policy that it would play, of Q-learning without
its epsilon; the regret is that of what is played, Hyde's trajectories included, until a run is at
0.99 or at its end. The last column compares with the fastest peer that gets there in 95 % of the
runs, if there is one.

All runs are cells of the laboratory's store, so that a second call goes on where the first stopped.
results/explorers.json and .md are written after each task.
"""

from __future__ import annotations

import argparse
import itertools
import json
from typing import Any

from common import RESULTS, table

import numpy as np  # isort: skip

from jekyllhyde import intervals  # isort: skip
from jekyllhyde.files import write_file  # isort: skip
from jekyllhyde.lab import Experiment, Store, engine  # isort: skip
from jekyllhyde.lab.yardsticks import YARDSTICKS  # isort: skip

TARGET, LESS = 0.99, 0.95
TUNING_SEED, FRESH_SEED = 1, 2
OURS: dict[str, Any] = {"agent": "tabular_jekyll_hyde", "convention": "recommended"}
TASKS = {  # the cheap ones first, with the most trajectories of a run
    "river_swim_12": 1999,
    "locks_12": 4999,
    "deep_sea_10": 400,
    "cliff_walking": 1999,
    "garnet": 3000,
    "river_swim_24": 1999,
    "locks_25": 4999,
    "frozen_lake_8x8": 4999,
    "deep_sea_20": 800,
    "taxi": 1999,
    "maze": 1999,
    "deep_sea_30": 1200,
}


def grid(**values: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Every combination; None is left out."""
    return [
        {name: value for name, value in zip(values, point, strict=True) if value is not None}
        for point in itertools.product(*values.values())
    ]


STEPS = (0.1, 0.5, "visits")
GRIDS: dict[str, list[dict[str, Any]]] = {
    "tabular_q_learning": grid(epsilon=(0.1, 0.3), eta_c=STEPS)
    + grid(optimism=(0.01, 0.1, 1.0), epsilon=(0.0, 0.05), eta_c=STEPS),
    "tabular_ucb_h": grid(c=(1e-5, 1e-4, 1e-3, 1e-2, 0.1), lookahead=(1.0, 5.0, 10.0, 30.0, None)),
    "tabular_ucbvi": grid(
        c=(1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1), lookahead=(10.0, 30.0, None)
    ),
    "tabular_psrl": grid(alpha=(0.01, 0.1, 1.0), sigma=(0.01, 0.1, 1.0), mu=(0.0, 0.3, 1.0)),
}


def spelled(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items() if name != "agent")


def experiment(
    task: str, series: list[dict[str, Any]], runs: int, target: float, *, fresh: bool
) -> Experiment:
    """These series on a task. Tuning has its own seeds: those of random tasks are theirs too."""
    yardstick = YARDSTICKS[task]
    is_random = "seed" not in yardstick.options and yardstick.name in ("locks", "maze", "garnet")
    is_varied = is_random and not fresh
    return Experiment(
        f"explorers-{task}",
        "learn",
        yardstick.problem,
        [{"label": f"{each['agent']} {spelled(each)}", **each} for each in series],
        {
            "trajectories": TASKS[task],
            "horizon": yardstick.horizon,
            "target": target,
            "target_on": "jekyll",
        },
        vary={"seed": list(range(10_000, 10_000 + runs))} if is_varied else {},
        runs=1 if is_varied else runs,
        seed=FRESH_SEED if fresh else TUNING_SEED,
    )


def outcomes(asked: Experiment, store: Store, workers: int) -> list[dict[str, Any]]:
    """Per series what its runs came to: steps, trajectories (inf where never), regret."""
    engine.run([asked], store, workers=workers)
    columns = ["cell", "steps", "time", "regret"]
    by_series: dict[str, dict[str, list[float]]] = {}
    for cell in asked.cells:
        kept = by_series.setdefault(
            cell.series, {"steps": [], "trajectories": [], "regret": [], "made": []}
        )
        for row in store.table([cell.digest], columns).to_pylist():
            is_there = row["time"] is not None
            kept["made"].append(row["steps"])
            kept["steps"].append(row["steps"] if is_there else np.inf)
            kept["trajectories"].append(row["time"] if is_there else np.inf)
            kept["regret"].append(row["regret"])
    return [{name: np.array(x) for name, x in each.items()} for each in by_series.values()]


def cost(outcome: dict[str, Any]) -> float:
    """Steps on average, doubled where a run did not get there."""
    return float(np.where(np.isinf(outcome["steps"]), 2 * outcome["made"], outcome["made"]).mean())


def median(times: Any) -> list[float]:
    """The median with its 95 % interval, by order statistics: infinite times are late ones."""
    order, n = np.sort(times), len(times)
    low = int(max(np.floor(n / 2 - 0.98 * np.sqrt(n)), 0))
    high = int(min(np.ceil(n / 2 + 0.98 * np.sqrt(n)), n - 1))
    middle = float(np.quantile(order, 0.5, method="inverted_cdf"))
    return [middle, float(order[low]), float(order[high])]


def measure(task: str, store: Store, runs: int, tuning: int, workers: int) -> list[dict[str, Any]]:
    """A row per agent: the best setting of each peer, and J&H."""
    chosen = [OURS]
    tried: dict[str, int] = {}
    for agent, settings in GRIDS.items():
        series = [{"agent": agent, **each} for each in settings]
        costs = [
            cost(outcome)
            for outcome in outcomes(
                experiment(task, series, tuning, TARGET, fresh=False), store, workers
            )
        ]
        chosen.append(series[int(np.argmin(costs))])
        tried[agent] = len(series)
        print(task, agent, spelled(chosen[-1]), f"{min(costs):,.0f} steps", flush=True)
    fully, nearly = (
        outcomes(experiment(task, chosen, runs, target, fresh=True), store, workers)
        for target in (TARGET, LESS)
    )
    rows = []
    for each, full, near in zip(chosen, fully, nearly, strict=True):
        rows.append(
            {
                "task": task,
                "agent": each["agent"],
                "settings": spelled(each),
                "tried": tried.get(each["agent"], 0),
                "runs": len(full["steps"]),
                "solved": list(map(float, intervals.share(np.isfinite(full["steps"])))),
                "steps": median(full["steps"]),
                "trajectories": median(full["trajectories"]),
                "steps_95": median(near["steps"]),
                "trajectories_95": median(near["trajectories"]),
                "regret": list(map(float, intervals.summarize(full["regret"], "mean"))),
            }
        )
    reliable = [row for row in rows[1:] if row["solved"][0] >= 0.95]
    best = min(row["steps"][0] for row in reliable or rows[1:])
    for row in rows:
        with np.errstate(invalid="ignore"):
            row["ratio"] = float(np.divide(row["steps"][0], best))
    return rows


def number(x: float) -> str:
    return "never" if np.isinf(x) else f"{x:,.0f}"


def interval(values: list[float]) -> str:
    """A number with its interval."""
    middle, low, high = map(number, values)
    return middle if low == high else f"{middle} ({low} to {high})"


def text_of(rows: list[dict[str, Any]]) -> str:
    """The table of all tasks, and what was tried."""
    lines = []
    for row in rows:
        is_ours = row["agent"] == OURS["agent"]
        lines.append(
            [
                row["task"],
                "J&H" if is_ours else row["agent"].removeprefix("tabular_"),
                "recommended" if is_ours else row["settings"],
                f"{row['solved'][0] * row['runs']:.0f} of {row['runs']}",
                *map(interval, (row["steps_95"], row["steps"], row["trajectories"])),
                interval(row["regret"]),
                f"{row['ratio']:.2f}" if np.isfinite(row["ratio"]) else "",
            ]
        )
    columns = ["task", "agent", "setting", "at 0.99", "steps to 0.95", "steps to 0.99"]
    columns += ["trajectories to 0.99", "regret", "steps, best peer = 1"]
    tried = ", ".join(f"{len(each)} of {name}" for name, each in GRIDS.items())
    about = f"""Medians with 95 % intervals (regret: means) over fresh runs. Settings tried for
each task: {tried}; 'never': not within the trajectories of a run. Times to 0.95 are of
other fresh runs than those to 0.99."""
    return f"{about}\n\n{table(columns, lines)}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("store")
    parser.add_argument("tasks", nargs="*", default=list(TASKS))
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--tuning", type=int, default=5, help="runs per setting")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--name", default="explorers", help="of the two files in results/")
    given = parser.parse_args()
    store, file = Store.open(given.store, create=True), RESULTS / f"{given.name}.json"
    rows = json.loads(file.read_text()) if file.exists() else []
    for task in given.tasks:
        made = measure(task, store, given.runs, given.tuning, given.workers)
        rows = [row for row in rows if row["task"] != task] + made
        rows.sort(key=lambda row: list(YARDSTICKS).index(row["task"]))
        for path, content in (
            (file, json.dumps(rows, indent=1) + "\n"),
            (file.with_suffix(".md"), text_of(rows)),
        ):
            write_file(path, lambda out, text=content: out.write(text.encode()))
        print(text_of(made), flush=True)


if __name__ == "__main__":
    main()

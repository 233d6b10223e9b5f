"""The tabular agents on the yardsticks of exploration: how long until Jekyll is at the optimum.

    python benchmarks/exploration.py [--runs 100] [--agents recommended ...] [-- yardsticks]

At the optimum means a normalized return above 0.99. No setting differs between tasks. Seeds begin
at 1,000: the default was settled on others. Each row is kept in results/exploration.json as soon as
it is there, and results/exploration.md is the table of all.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import jekyllhyde as jh
from jekyllhyde.lab.yardsticks import YARDSTICKS

RESULTS = Path(__file__).parent / "results"
SEED, TARGET = 1000, 0.99
MODEL_FREE = {
    "hyde": "optimistic",
    "critic": "expected_sarsa",
    "eta_c": "visits",
    "replay": "backward",
}
AGENTS: dict[str, dict[str, Any]] = {
    "recommended": {},
    "model_free": MODEL_FREE,
    "published": {"convention": "published"},
    "epsilon=0.5": {"epsilon": 0.5},
    "epsilon=0.1": {"epsilon": 0.1},
    "epsilon=100/t": {"epsilon": "100/t"},
    "episodic": {"hyde": "model_based(episodic=True)"},
    "uniform Hyde": {"hyde": "uniform"},
    "logs": {"replay": "logs"},
    "raise_greedy": {"actor": "raise_greedy"},
    "policy gradient": {"actor": "softmax", "eta": 1.0},
    "expected SARSA": {"critic": "expected_sarsa"},
    "batch=4": {"batch": 4},
    "o=0": {"o": 0.0},
    "o=1": {"o": 1.0},
}
# Trajectories at most; elsewhere as many as make 300,000 steps.
LIMITS = {f"deep_sea_{n}": 20 * n for n in (10, 20, 30, 50, 100)}
LIMITS |= {"frozen_lake_4x4": 20_000, "frozen_lake_8x8": 8_000}  # they end early
MOST_STEPS = 300_000


def limit(name: str, agent: str) -> int:
    if name.startswith("deep_sea_") and agent == "model_free" and name in LIMITS:
        n = int(name.rpartition("_")[2])
        return n * n // 2
    return LIMITS.get(name, max(2000, 300_000 // YARDSTICKS[name].horizon))


def measure(name: str, agent: str, runs: int) -> dict[str, Any]:
    yardstick, start = YARDSTICKS[name], time.perf_counter()
    mdps = [yardstick.make(SEED + run) for run in range(runs)]
    is_one = all(
        mdp is mdps[0]
        or (
            mdp.name == mdps[0].name
            and (mdp.r == mdps[0].r).all()
            and (mdp.P != mdps[0].P).nnz == 0
        )
        for mdp in mdps[1:]
    )
    out = jh.learn(
        mdps[0] if is_one else mdps,
        jh.TabularJekyllHyde(**AGENTS[agent]),
        trajectories=limit(name, agent),
        runs=runs if is_one else 1,
        seed=SEED,
        horizon=yardstick.horizon,
        target=TARGET,
        target_on="jekyll",
    )
    reached = out.reached(TARGET, "jekyll")
    at = reached.argmax(axis=1)
    there = reached.any(axis=1) & (out.steps[np.arange(len(at)), at] <= MOST_STEPS)
    times = np.where(there, out.trajectories[at], np.inf)
    steps = np.where(there, out.steps[np.arange(len(at)), at], np.inf)
    return {
        "task": name,
        "agent": agent,
        "runs": len(there),
        "limit": limit(name, agent),
        "reached": int(there.sum()),
        "trajectories": [float(np.quantile(times, q, method="inverted_cdf")) for q in (0.5, 0.95)],
        "steps": [float(np.quantile(steps, q, method="inverted_cdf")) for q in (0.5, 0.95)],
        "seconds": round(time.perf_counter() - start, 1),
    }


MAIN = ("recommended", "model_free", "published")


def number(x: float) -> str:
    return f"{x:,.0f}" if np.isfinite(x) else "never"


def tables(rows: list[dict[str, Any]]) -> str:
    """A row per task and agent; then how each part of the default matters, in median steps."""
    lines = [
        "| task | agent | at 0.99 | trajectories: median | 95 % | at most | steps: median | 95 % |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in sorted(rows, key=lambda row: list(YARDSTICKS).index(row["task"])):
        (t, t95), (s, s95) = row["trajectories"], row["steps"]
        numbers = map(number, (t, t95, row["limit"], s, s95))
        cells = (row["task"], row["agent"], f"{row['reached']} of {row['runs']}", *numbers)
        if row["agent"] in MAIN:
            lines.append(f"| {' | '.join(cells)} |")
    by_name = {(row["task"], row["agent"]): row for row in rows}
    ablated = [agent for agent in AGENTS if agent not in MAIN]
    tasks = [task for task in YARDSTICKS if (task, ablated[0]) in by_name]
    lines += ["", f"| instead | {' | '.join(tasks)} |", "| --- |" + " --- |" * len(tasks)]
    for agent in ("recommended", *ablated):
        cells = []
        for task in tasks:
            row = by_name.get((task, agent))
            share = f" ({row['reached']} of {row['runs']})" if row else ""
            cells.append(number(row["steps"][0]) + share if row else "")
        lines.append(f"| {agent} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", nargs="*", default=list(YARDSTICKS))
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--agents", nargs="*", default=["recommended", "model_free", "published"])
    given = parser.parse_args()
    file = RESULTS / "exploration.json"
    rows = json.loads(file.read_text()) if file.exists() else []
    for task in given.tasks:
        for agent in given.agents:
            row = measure(task, agent, given.runs)
            print(row, flush=True)
            rows = [old for old in rows if (old["task"], old["agent"]) != (task, agent)] + [row]
            file.write_text(json.dumps(rows, indent=1))
            (RESULTS / "exploration.md").write_text(tables(rows))


if __name__ == "__main__":
    main()

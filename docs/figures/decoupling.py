"""Why decoupling wins or loses: what agents have seen by the time that they are at the optimum.

    python docs/figures/decoupling.py

writes docs/figures/decoupling.md: per task, J&H beside the fastest of the tuned peers
(jekyllhyde.lab.exploration.tuned_peers) that arrives in 95 % of the runs, over 20 runs that end at
0.99 of the optimum: steps, the share of states that were visited, of trajectories that Hyde led,
and the entropy of the policy, 1 being uniform. And docs/figures/hydes.md: trajectories that other
Hydes take on DeepSea, a weaker bonus among them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import jekyllhyde as jh
from jekyllhyde.agent import find_agent
from jekyllhyde.files import write_text
from jekyllhyde.lab.exploration.arrival import median
from jekyllhyde.lab.exploration.tuned_peers import PEERS, TASKS, tuned
from jekyllhyde.lab.yardsticks import YARDSTICKS

HERE = Path(__file__).parent
RUNS, SEED, RELIABLE, ALIKE = 20, 5000, 0.95, 1.1


class FaintCount(NamedTuple):
    """A bonus of 0.01 / sqrt(n): what was never tried counts, and hardly anything else."""

    def value(self, visits: Any, log_count: float) -> Any:
        return 0.01 / np.sqrt(float(visits))


HYDES: dict[str, dict[str, Any]] = {
    "model_based": {},
    "model_based, bonus 0.01 / sqrt(n)": {"bonus": FaintCount()},
    "hoeffding": {"hyde": "hoeffding"},
    "posterior": {"hyde": "posterior"},
    "optimistic": {"hyde": "optimistic"},
    "uniform": {"hyde": "uniform"},
}
SEAS = (10, 20, 30)


class Seen(NamedTuple):
    """What an agent did until it arrived: medians of steps and trajectories, means of the rest."""

    agent: str
    arrived: float
    trajectories: float
    steps: float
    visited: float
    hyde: float
    entropy: float


def measure(task: str, name: str, agent: Any, budget: int) -> Seen:
    yardstick = YARDSTICKS[task]
    mdps = [yardstick.make(SEED + run) for run in range(RUNS)]
    out = jh.learn(
        mdps,
        agent,
        trajectories=budget,
        runs=1,
        seed=SEED,
        horizon=yardstick.horizon,
        target=0.99,
        target_on="jekyll",
    )
    last, runs = np.isfinite(out.J).sum(axis=1) - 1, np.arange(RUNS)
    there = out.reached(0.99, "jekyll").any(axis=1)
    states = np.array([mdp.n_states - len(mdp.terminal) for mdp in mdps])
    entropy = [
        float(-(p * np.log(p.clip(1e-300))).sum(axis=1).mean() / np.log(p.shape[1])) for p in out.pi
    ]
    return Seen(
        agent=name,
        arrived=float(there.mean()),
        trajectories=median(np.where(there, out.trajectories[last], np.inf)).y,
        steps=median(np.where(there, out.steps[runs, last], np.inf)).y,
        visited=float(np.mean(1.0 - out.unvisited[runs, last] / states)),
        hyde=float(np.mean(out.hyde_trajectories[runs, last] / out.trajectories[last])),
        entropy=float(np.mean(entropy)),
    )


def beside_the_best(task: str) -> list[str]:
    """The cells of a task: J&H, and the fastest peer that can be relied upon."""
    ours = measure(task, "J&H", jh.TabularJekyllHyde(), TASKS[task])
    peers = [
        measure(task, PEERS[name], find_agent(name).cls(**settings), TASKS[task])
        for name, settings in tuned()[task].items()
    ]
    reliable = [peer for peer in peers if peer.arrived >= RELIABLE] or peers
    best = min(reliable, key=lambda peer: peer.steps)
    ratio = ours.steps / best.steps
    outcome = "win" if ratio < 1 / ALIKE else "loss" if ratio > ALIKE else "tie"
    return [
        *(
            task,
            f"{outcome}, {ratio:.2f}",
            f"{ours.steps:,.0f}",
            f"{best.steps:,.0f}, {best.agent}",
        ),
        *(f"{ours.visited:.0%}", f"{best.visited:.0%}", f"{ours.hyde:.0%}"),
        *(f"{ours.entropy:.2f}", f"{best.entropy:.2f}"),
    ]


def trajectories_of(hyde: dict[str, Any]) -> list[str]:
    """Median trajectories on DeepSea, and how many runs arrive where not all do."""
    cells = []
    for n in SEAS:
        seen = measure(f"deep_sea_{n}", "", jh.TabularJekyllHyde(**hyde), 20 * n)
        count = round(seen.arrived * RUNS)
        shown = f"{seen.trajectories:,.0f}" if np.isfinite(seen.trajectories) else "never"
        cells.append(shown if count == RUNS else f"{shown} ({count} of {RUNS})")
    return cells


def write_table(name: str, columns: list[str], rows: list[list[str]]) -> None:
    lines = [columns, ["---"] * len(columns), *rows]
    write_text(HERE / name, "".join(f"| {' | '.join(line)} |\n" for line in lines))


def main() -> None:
    columns = ["Hyde", *(f"DeepSea {n}" for n in SEAS)]
    write_table("hydes.md", columns, [[f"`{k}`", *trajectories_of(v)] for k, v in HYDES.items()])
    columns = ["task", "outcome, steps relative to the best peer", "steps, J&H", "best peer"]
    columns += ["states seen, J&H", "peer", "led by Hyde", "entropy, J&H", "peer"]
    rows: list[list[str]] = []
    for task in (task for task in YARDSTICKS if task in tuned()):
        rows.append(beside_the_best(task))
        write_table("decoupling.md", columns, rows)
        print(rows[-1], flush=True)


if __name__ == "__main__":
    main()

"""Why decoupling wins or loses: what each agent has seen by the time that it is at the optimum.

    python docs/figures/decoupling.py

writes docs/figures/decoupling.md: per task, for J&H and the tuned peers
(jekyllhyde.lab.exploration.tuned_peers), over 20 runs that end at 0.99 of the optimum: steps, the
share of states that were visited, of trajectories that Hyde led, and the entropy of the policy, 1
being uniform.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import jekyllhyde as jh
from jekyllhyde.agent import find_agent
from jekyllhyde.lab.exploration.tuned_peers import PEERS, tuned
from jekyllhyde.lab.yardsticks import YARDSTICKS

HERE = Path(__file__).parent
TASKS = ("deep_sea_10", "river_swim_12", "locks_12", "cliff_walking", "garnet")
RUNS, SEED = 20, 5000


def measure(task: str, agent: Any, budget: int) -> dict[str, float]:
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
    last = np.isfinite(out.J).sum(axis=1) - 1
    runs = np.arange(RUNS)
    states = np.array([mdp.n_states - len(mdp.terminal) for mdp in mdps])
    entropy = [
        float(-(p * np.log(p.clip(1e-300))).sum(axis=1).mean() / np.log(p.shape[1])) for p in out.pi
    ]
    return {
        "solved": int(out.reached(0.99, "jekyll").any(axis=1).sum()),
        "steps": float(np.median(out.steps[runs, last])),
        "visited": float(np.mean(1.0 - out.unvisited[runs, last] / states)),
        "hyde": float(np.mean(out.hyde_trajectories[runs, last] / out.trajectories[last])),
        "entropy": float(np.mean(entropy)),
    }


def main() -> None:
    lines = [
        "| task | agent | solved | median steps | states visited | led by Hyde | entropy |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for task in TASKS:
        for name, settings in {"tabular_jekyll_hyde": {}, **tuned()[task]}.items():
            seen = measure(task, find_agent(name).cls(**settings), 2000)
            hyde = "" if settings else f"{seen['hyde']:.0%}"
            lines.append(
                f"| {task} | {PEERS.get(name, 'J&H')} | {seen['solved']} of {RUNS} | "
                f"{seen['steps']:,.0f} | {seen['visited']:.0%} | {hyde} | {seen['entropy']:.2f} |"
            )
            print(lines[-1], flush=True)
    (HERE / "decoupling.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

"""Agents on the yardsticks: what is run to see how long it takes until Jekyll is at the optimum.

    experiments = [experiment(task, AGENTS) for task in YARDSTICKS]
    engine.run(experiments, store)
    rows = [row for each in experiments for row in times(each, store)]

No setting differs between tasks, and the seeds are others than those that the default was settled
on. A run ends when Jekyll's exact return, normalized, exceeds 0.99, or when its budget is spent.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.yardsticks import YARDSTICKS

Series = Mapping[str, Any]
SEED, RUNS, TARGET, MOST_STEPS = 1000, 100, 0.99, 300_000
RECOMMENDED = {"label": "J&H", "convention": "recommended"}
MODEL_FREE = {
    "label": "J&H, model-free",
    "convention": "recommended",
    "hyde": "optimistic",
    "critic": "expected_sarsa",
    "eta_c": "visits",
    "replay": "backward",
}
PUBLISHED = {"label": "J&H, published", "convention": "published"}
AGENTS: tuple[Series, ...] = (RECOMMENDED, MODEL_FREE, PUBLISHED)
# One part of the default exchanged at a time.
_EXCHANGED: dict[str, dict[str, Any]] = {
    "epsilon 0.5": {"epsilon": 0.5},
    "epsilon 0.1": {"epsilon": 0.1},
    "epsilon 100/t": {"epsilon": "100/t"},
    "episodic Hyde": {"hyde": "model_based(episodic=True)"},
    "optimistic Hyde": {"hyde": "optimistic"},
    "uniform Hyde": {"hyde": "uniform"},
    "replay from the logs": {"replay": "logs"},
    "raise_greedy": {"actor": "raise_greedy"},
    "policy gradient": {"actor": "softmax", "eta": 1.0},
    "expected SARSA": {"critic": "expected_sarsa"},
    "batch 4": {"batch": 4},
    "o = 0": {"o": 0.0},
    "o = 1": {"o": 1.0},
    "o adaptive": {"o": "adaptive"},
}
ABLATIONS: tuple[Series, ...] = tuple(
    {"label": label, "convention": "recommended", **settings}
    for label, settings in _EXCHANGED.items()
)
ABLATED = ("deep_sea_20", "river_swim_24", "locks_12", "maze", "taxi", "frozen_lake_4x4", "garnet")
# Trajectories at most; elsewhere as many as make 300,000 steps, at least 2,000.
BUDGETS = {
    **{f"deep_sea_{n}": 20 * n for n in (10, 20, 30, 50, 100)},
    "chain": 20_000,
    "taxi": 1_500,
    "frozen_lake_4x4": 20_000,
    "frozen_lake_8x8": 8_000,
}


def most_steps(task: str) -> float:
    """Steps at most until a run counts; on DeepSea its trajectories are what counts."""
    return math.inf if _is_sea(task) else MOST_STEPS


def _is_sea(task: str) -> bool:
    return task.startswith("deep_sea_") and task in BUDGETS


def budget(task: str, series: Series) -> int:
    """Trajectories at most: on DeepSea 20 N, and N^2 / 2 without a model."""
    if _is_sea(task) and series.get("hyde") == "optimistic" and "critic" in series:
        return (BUDGETS[task] // 20) ** 2 // 2
    return BUDGETS.get(task, max(2_000, MOST_STEPS // YARDSTICKS[task].horizon))


def experiment(
    task: str,
    agents: Iterable[Series],
    runs: int = RUNS,
    *,
    seed: int = SEED,
    problems: Sequence[int] = (),
) -> Experiment:
    """Agents on a yardstick, each with its budget unless it has `trajectories` of its own.

    problems : seeds of a random task, with so many runs on each; by default every run has its own.
    """
    yardstick = YARDSTICKS[task]
    return Experiment(
        name=task,
        method="learn",
        problem=yardstick.problem,
        series=tuple({"trajectories": budget(task, each), **each} for each in agents),
        settings={"horizon": yardstick.horizon, "target": TARGET, "target_on": "jekyll"},
        vary={"seed": list(problems)} if problems else {},
        runs=runs,
        seed=seed,
    )

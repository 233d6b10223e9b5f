"""Exploration as experiments: agents on the yardsticks, how long until Jekyll is at the optimum.

    experiments = [experiment(task, AGENTS) for task in YARDSTICKS]
    engine.run(experiments, store)
    rows = [row for each in experiments for row in times(each, store)]

No setting differs between tasks, and the seeds are others than those that the default was settled
on. A run ends when Jekyll's exact return, normalized, exceeds 0.99, or when its budget is spent.
`growth` says how time grows with a problem's size, `profile` in what share of runs an agent is
within a factor of the fastest one.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from jekyllhyde import intervals
from jekyllhyde.lab.estimates import Floats
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.store import Store
from jekyllhyde.lab.verdicts import Estimate
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


class Times(NamedTuple):
    """One agent on one task, per run: trajectories and environment steps until Jekyll's normalized
    return exceeds 0.95 and 0.99 (inf where it does not), and the regret until the run ended: the
    sum over trajectories of what the policy that acted, Jekyll's or Hyde's, lacks of the optimum.
    """

    task: str
    agent: str
    budget: int
    time_95: Floats
    steps_95: Floats
    time_99: Floats
    steps_99: Floats
    regret: Floats

    @property
    def solved(self) -> Estimate:
        """The share of runs at the optimum within 300,000 steps, with its exact interval."""
        return Estimate(*map(float, intervals.share(self.steps_99 <= MOST_STEPS)))


def budget(task: str, series: Series) -> int:
    """Trajectories at most: on DeepSea 20 N, and N^2 / 2 without a model."""
    is_sea = task.startswith("deep_sea_") and task in BUDGETS
    if is_sea and series.get("hyde") == "optimistic" and "critic" in series:
        return (BUDGETS[task] // 20) ** 2 // 2
    return BUDGETS.get(task, max(2_000, MOST_STEPS // YARDSTICKS[task].horizon))


def experiment(task: str, agents: Iterable[Series], runs: int = RUNS) -> Experiment:
    """Agents on a yardstick, each with its budget."""
    yardstick = YARDSTICKS[task]
    return Experiment(
        name=task,
        method="learn",
        problem=yardstick.problem,
        series=tuple({"trajectories": budget(task, each), **each} for each in agents),
        settings={"horizon": yardstick.horizon, "target": TARGET, "target_on": "jekyll"},
        runs=runs,
        seed=SEED,
    )


def times(experiment: Experiment, store: Store) -> list[Times]:
    """What the store has of an experiment, per agent in order."""
    columns = [name for name in Times._fields if name not in ("task", "agent", "budget")]
    cells = {cell.digest: cell for cell in experiment.cells}
    rows = store.table(cells, ["cell", "run", *columns]).to_pylist()
    by_cell = {
        digest: list(runs)[: experiment.runs] for digest, runs in groupby(rows, lambda r: r["cell"])
    }
    return [
        Times(
            experiment.name,
            cell.series,
            cell.settings["trajectories"],
            *(
                np.array([np.inf if row[name] is None else row[name] for row in by_cell[digest]])
                for name in columns
            ),
        )
        for digest, cell in cells.items()
        if digest in by_cell
    ]


def median(samples: Floats) -> Estimate:
    """The median over runs, with its bootstrap interval; inf where most runs never arrive."""
    largest = 1e18  # sorts as infinity does, and can be resampled
    values = intervals.summarize(np.minimum(samples, largest), "median")
    y, lo, hi = (np.inf if value > largest / 4 else float(value) for value in values)
    return Estimate(y, lo, hi)


def growth(sizes: Sequence[float], samples: Sequence[Floats]) -> Estimate:
    """The exponent of the power law time = c size^exponent that fits the medians best, on
    logarithmic axes; its interval by drawing runs again.
    """
    x = np.log(np.asarray(sizes, dtype=np.float64))
    x -= x.mean()

    def slope(*series: Floats) -> Any:
        y = np.log([np.median(values) for values in series])
        return (x * y).sum() / (x * x).sum()

    return Estimate(*map(float, intervals.jointly(slope, *samples)))


def profile(table: Sequence[Times], factors: Floats) -> dict[str, Floats]:
    """Per agent, the share of runs, each task counting alike, whose steps to the optimum are at
    most each factor times the least median of any agent on the task (Dolan and More, 2002).
    """
    tasks = sorted({row.task for row in table})
    best = {
        task: min(float(np.median(row.steps_99)) for row in table if row.task == task)
        for task in tasks
    }
    agents = dict.fromkeys(row.agent for row in table)
    return {
        agent: np.mean(
            [
                (row.steps_99[:, None] <= factors * best[row.task]).mean(axis=0)
                for row in table
                if row.agent == agent
            ],
            axis=0,
        )
        for agent in agents
    }

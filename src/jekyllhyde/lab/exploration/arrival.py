"""How long agents take until they are at the optimum, per run, and what is said of such times.

`growth` says how time grows with a problem's size, `profile` in what share of runs an agent is
within a factor of the fastest one.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jekyllhyde import intervals
from jekyllhyde.intervals import Floats
from jekyllhyde.lab.exploration.experiments import most_steps
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.store import Store
from jekyllhyde.lab.verdicts import Estimate


class Times(NamedTuple):
    """One agent on one task, per run: trajectories and environment steps until Jekyll's normalized
    return exceeds 0.95 and 0.99 (inf where it does not), the steps until the run ended, and the
    regret until then: the sum over trajectories of what the policy that acted, Jekyll's or Hyde's,
    lacks of the optimum.
    """

    task: str
    agent: str
    budget: int
    time_95: Floats
    steps_95: Floats
    time_99: Floats
    steps_99: Floats
    steps: Floats
    regret: Floats

    def solved(self) -> Estimate:
        """The share of runs at the optimum in time, with its exact interval."""
        within = np.isfinite(self.steps_99) & (self.steps_99 <= most_steps(self.task))
        return Estimate(*map(float, intervals.share(within)))


def times(experiment: Experiment, store: Store) -> list[Times]:
    """What the store has of an experiment, per agent in order; all problems of an agent together.

    The run's own target is 0.99, so that it ends there.
    """
    columns = ["time", "steps", "time_95", "steps_95", "regret"]
    by_agent: dict[str, list[Any]] = {}
    for cell in experiment.cells:
        by_agent.setdefault(cell.series, []).append(cell)
    rows: dict[str, list[dict[str, Any]]] = {}
    digests = [cell.digest for cell in experiment.cells]
    for row in store.table(digests, ["cell", "run", *columns]).to_pylist():
        if row["run"] < experiment.runs:
            rows.setdefault(row["cell"], []).append(row)
    table = []
    for agent, cells in by_agent.items():
        own = [row for cell in cells for row in rows.get(cell.digest, [])]
        if own:
            end = {name: np.array([row[name] for row in own], dtype=float) for name in columns}
            never = np.isnan(end["time"])
            table.append(
                Times(
                    experiment.name,
                    agent,
                    cells[0].settings["trajectories"],
                    time_95=np.nan_to_num(end["time_95"], nan=np.inf),
                    steps_95=np.nan_to_num(end["steps_95"], nan=np.inf),
                    time_99=np.where(never, np.inf, end["time"]),
                    steps_99=np.where(never, np.inf, end["steps"]),
                    steps=end["steps"],
                    regret=end["regret"],
                )
            )
    return table


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

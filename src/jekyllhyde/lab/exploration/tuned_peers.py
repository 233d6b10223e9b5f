"""The field's tabular explorers, tuned for every task, beside Dr Jekyll and Mr Hyde, who is not.

Every peer is tried with each setting of its grid (20 or more) on seeds of their own (`tuning`). The
best one, `chosen`, has the fewest steps to 0.99 of the normalized optimum on average, a run that
does not get there counting twice its steps; those in use are kept in tuned_peers.json. It is run
with fresh seeds beside J&H, which is `recommended`, the same on all tasks (`comparison`). What is
evaluated of a peer is the policy that it would play, of Q-learning without its epsilon.
"""

import itertools
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from jekyllhyde.lab.exploration.arrival import Times
from jekyllhyde.lab.exploration.experiments import RECOMMENDED, RUNS, experiment
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.yardsticks import YARDSTICKS

Settings = Mapping[str, Any]
TUNING_SEED, FRESH_SEED = 1, 3
TUNING_PROBLEMS = 10_000  # the first seed of the random tasks that are tuned on
TUNED_FILE = "tuned_peers.json"
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
PEERS = {
    "tabular_q_learning": "Q-learning",
    "tabular_ucb_h": "UCB-H",
    "tabular_ucbvi": "UCBVI",
    "tabular_psrl": "PSRL",
}


def _grid(**values: tuple[Any, ...]) -> list[dict[str, Any]]:
    # Every combination; None is left out.
    return [
        {name: value for name, value in zip(values, point, strict=True) if value is not None}
        for point in itertools.product(*values.values())
    ]


_STEPS = (0.1, 0.5, "visits")
GRIDS: dict[str, list[dict[str, Any]]] = {
    "tabular_q_learning": _grid(epsilon=(0.1, 0.3), eta_c=_STEPS)
    + _grid(optimism=(0.01, 0.1, 1.0), epsilon=(0.0, 0.05), eta_c=_STEPS),
    "tabular_ucb_h": _grid(c=(1e-5, 1e-4, 1e-3, 1e-2, 0.1), lookahead=(1.0, 5.0, 10.0, 30.0, None)),
    "tabular_ucbvi": _grid(
        c=(1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1), lookahead=(10.0, 30.0, None)
    ),
    "tabular_psrl": _grid(alpha=(0.01, 0.1, 1.0), sigma=(0.01, 0.1, 1.0), mu=(0.0, 0.3, 1.0)),
}


def spelled(settings: Settings) -> str:
    """Settings as the tables show them: c=0.01, lookahead=10.0."""
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def tuning(task: str, peer: str, runs: int) -> Experiment:
    """All settings of a peer on a task, with seeds of their own; those of random tasks too."""
    yardstick = YARDSTICKS[task]
    is_random = "seed" not in yardstick.options and yardstick.name in ("locks", "maze", "garnet")
    series = [
        {"label": spelled(each), "agent": peer, "trajectories": TASKS[task], **each}
        for each in GRIDS[peer]
    ]
    problems = range(TUNING_PROBLEMS, TUNING_PROBLEMS + runs) if is_random else ()
    return experiment(
        task, series, 1 if is_random else runs, seed=TUNING_SEED, problems=list(problems)
    )


def chosen(peer: str, table: Sequence[Times]) -> dict[str, Any]:
    """The setting of a peer's grid that took the least, of the times of all of them."""
    costs = [
        float(np.where(np.isinf(row.steps_99), 2 * row.steps, row.steps).mean()) for row in table
    ]
    return GRIDS[peer][int(np.argmin(costs))]


def tuned() -> dict[str, dict[str, dict[str, Any]]]:
    """The settings in use, by task and peer."""
    text = (files("jekyllhyde.lab.exploration") / TUNED_FILE).read_text(encoding="utf-8")
    return dict(json.loads(text))


def comparison(task: str, settings: Mapping[str, Settings], runs: int = RUNS) -> Experiment:
    """J&H and the peers with these settings on a task, on fresh seeds."""
    peers = [{"label": PEERS[peer], "agent": peer, **each} for peer, each in settings.items()]
    series = [{"trajectories": TASKS[task], **each} for each in (RECOMMENDED, *peers)]
    return experiment(task, series, runs, seed=FRESH_SEED)

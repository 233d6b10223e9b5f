"""What the pictures of exploration with networks show, of what is kept of the runs.

A run that was never solved counts as one that comes after all others.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jekyllhyde.intervals import Floats, Interval, share, summarize
from jekyllhyde.lab.bsuite_score import GOOD

SWING = "jekyllhyde/CartPoleSwingUp-v0"
FAMILIES = {  # what their tasks are called, and the unit of their budgets
    "DeepSea, by size": (r"sea:(10|20|30|40|50|100)", "dives"),
    "Stochastic DeepSea, by size": (r"windy:(10|20|30|40|50)", "dives"),
    "Four Rooms, by level": (r"rooms:\d+", "episodes"),
    "Control": (r"(?!MiniGrid).+-v\d+", "steps"),
    "Mazes": (r"bends|doors", "steps"),
    "MiniGrid": (r"MiniGrid-.+", "steps"),
}
THRESHOLDS = {  # the mean score from which a run counts as solved, as the benchmark has it
    "MountainCar-v0": -110.0,
    "Acrobot-v1": -90.0,
    "CartPole-v1": 475.0,
    SWING: GOOD,
    "bends": 0.9,
    "doors": 0.9,
    "MiniGrid-DoorKey-6x6-v0": 0.945,
    "MiniGrid-DoorKey-8x8-v0": 0.945,
}
EVERY = {"sea:100": 100}  # dives between two evaluations; 20 on other seas
PEERS = {"bootstrapped_dqn": "bootstrapped DQN", "ddqn": "Double DQN"}

Record = dict[str, Any]
Kept = dict[str, Any]  # records by part; `speed` is one record


def default_of(kept: Kept, task: str) -> Record | None:
    """The default's runs on a task."""
    records = [record for part in kept if part != "speed" for record in kept[part]]
    of_task = [record for record in records if record["task"] == task]
    return next((record for record in of_task if record["label"] == "recommended"), None)


def played(task: str) -> str:
    """How the default acts there: it draws its actions where cells of a grid are seen."""
    return "drawn" if task.startswith("MiniGrid") else "scores"


def defaults(kept: Kept, pattern: str) -> list[Record]:
    """The default's runs on each task of this name, sizes from small to large."""
    tasks = [record["task"] for part in kept if part != "speed" for record in kept[part]]
    chosen = [task for task in dict.fromkeys(tasks) if re.fullmatch(pattern, task)]
    records = [default_of(kept, task) for task in sorted(chosen, key=size_of)]
    return [record for record in records if record is not None]


def size_of(task: str) -> int:
    """What stands behind the colon, or 0."""
    return int(task.partition(":")[2] or 0)


def times(record: Record) -> Floats:
    """When each run was first solved; infinite where it never was."""
    first = np.asarray(record["first"], dtype=np.float64)
    return np.where(first < 0, np.inf, first)


def profile(record: Record) -> tuple[Floats, Floats]:
    """Where the share of runs that are solved steps [X], and the share with its ends [3, X]."""
    arrived = times(record)
    x = np.unique([0.0, *arrived[np.isfinite(arrived)], float(record["budget"])])
    return x, np.array([share(arrived <= at) for at in x], dtype=np.float64).T


def learning_curve(record: Record, policy: str) -> tuple[Floats, Interval]:
    """Steps, and the mean over runs of what the policy scores: greedy in `scores`, or `drawn`."""
    samples = np.asarray(record[policy], dtype=np.float64)
    every = record["budget"] // samples.shape[1]
    return every * np.arange(1.0, samples.shape[1] + 1), summarize(samples, "mean")


def coverage(record: Record) -> tuple[Floats, Floats]:
    """Dives, and the share of the reachable states that runs have seen by then, in the mean."""
    every = EVERY.get(record["task"], 20)
    evaluations = record["budget"] // every
    dives = every * np.arange(1.0, evaluations + 1)[:: max(1, evaluations // 8)]
    return dives, np.asarray(record["coverage"], dtype=np.float64)


def latest(first: ArrayLike) -> float:
    """By when all runs were solved, or counted; nan where one never was."""
    found = np.asarray(first, dtype=np.float64)
    return float(found.max()) if found.min() >= 0 else np.nan


def median_time(record: Record, never: float) -> Interval:
    """The median over all runs, where those that were never solved come at `never`."""
    return summarize(np.minimum(times(record), never), "median")


def changes(kept: Kept) -> dict[str, dict[str, Record]]:
    """Records by label and task: the default, then its changes by how many runs they solve, then
    every peer with its best setting.
    """
    rows: dict[str, dict[str, Record]] = {}
    for record in kept["ablation"]:
        rows.setdefault(record["label"], {})[record["task"]] = record

    def rank(label: str) -> tuple[bool, int]:
        return label != "nothing", -sum(map(n_solved, rows[label].values()))

    ordered = {label: rows[label] for label in sorted(rows, key=rank)}
    for agent, name in PEERS.items():
        tried = [record for record in kept["peers"] if record["agent"] == agent]
        tasks = [task for task in rows["nothing"] if any(r["task"] == task for r in tried)]
        ordered[name] = {task: best([r for r in tried if r["task"] == task]) for task in tasks}
    return ordered


def percent_solved(record: Record) -> Interval:
    """How many runs in a hundred were ever solved."""
    y, low, high = share(np.isfinite(times(record)))
    return 100 * y, 100 * low, 100 * high


def n_solved(record: Record) -> int:
    return int(np.isfinite(times(record)).sum())


def best(records: list[Record]) -> Record:
    """The setting that solves the most runs, and of those the soonest."""

    def rank(record: Record) -> tuple[int, float]:
        first = times(record)
        found = first[np.isfinite(first)]
        return -len(found), float(np.median(found)) if len(found) else np.inf

    return min(records, key=rank)

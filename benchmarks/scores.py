"""Scores with defaults, and Stable-Baselines3's: `python benchmarks/scores.py`.

    defaults      CartPole, Acrobot and MountainCar on small budgets: J&H and Stable-Baselines3
    zoo           the same tasks on the budgets for which RL Baselines3 Zoo has its settings
    grids         Stable-Baselines3 in MiniGrid
    exploration   Stable-Baselines3 in DeepSea, Four Rooms and bsuite's cart-pole swing-up

    python benchmarks/scores.py [--parts PARTS] [--seeds 20] [--table]

Every run has its budget of steps and is evaluated along the way, greedy; at its end the last policy
and the best one of these are played for 100 episodes of other seeds, the last one with its actions
drawn, too. A run is kept as it ends, a line in results/scores.jsonl, so that this can be stopped
and go on; `--table` writes the tables of what there is. It needs the extra `peers`, and `minigrid`.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple

from common import RESULTS, kept_rows, machine, make_missing, pin_to_one_core, table, write

import gymnasium as gym  # isort: skip
import numpy as np  # isort: skip

import peers_outside  # isort: skip
from jekyllhyde import intervals  # isort: skip

STORE = RESULTS / "scores.jsonl"
EVALUATIONS, FINAL = 20, 100  # of a run, at most; episodes of the last one
WHILE, AFTER = 10_000, 20_000  # seeds of the episodes of evaluations, while learning and after it


class Task(NamedTuple):
    """An environment, and the mean score of episodes from which it counts as solved: of returns, or
    in a grid of successes. A run is evaluated every `every` steps, or more seldom where it is
    long; in a grid with its actions drawn, too, for greedy policies walk in circles there.
    """

    name: str
    id: str
    solved: float
    every: int = 5_000
    episodes: int = 10
    options: dict[str, Any] = {}  # noqa: RUF012 (read only)
    is_grid: bool = False

    def make(self) -> gym.Env[Any, Any]:
        env = gym.make(self.id, disable_env_checker=True, **self.options)
        return peers_outside.Bits(env) if self.is_grid else env

    def pace(self, steps: int) -> int:
        """After how many steps a run of so many is evaluated."""
        return max(self.every, steps // EVALUATIONS)


GRIDS = {  # steps
    "MiniGrid-DoorKey-5x5-v0": 300_000,
    "MiniGrid-DoorKey-6x6-v0": 200_000,
    "MiniGrid-DoorKey-8x8-v0": 300_000,
    "MiniGrid-MultiRoom-N2-S4-v0": 60_000,
}
TASKS = {
    task.name: task
    for task in (
        Task("CartPole-v1", "CartPole-v1", 475.0),
        Task("Acrobot-v1", "Acrobot-v1", -100.0),
        Task("MountainCar-v0", "MountainCar-v0", -130.0),
        *(Task(name, f"minigrid:{name}", 0.95, 10_000, 50, is_grid=True) for name in GRIDS),
        Task("DeepSea of 10", "jekyllhyde/DeepSea-v0", 0.98, 1_000, options={"n": 10}),
        Task("DeepSea of 20", "jekyllhyde/DeepSea-v0", 0.98, 2_000, options={"n": 20}),
        Task("Four Rooms, level 1", "jekyllhyde/FourRooms-v0", 88.6, 3_000, options={"level": 1}),
        Task("swing-up, middle height", "jekyllhyde/CartPoleSwingUp-v0", 100.0, 10_000),
    )
}
Policy = Callable[..., np.ndarray]  # actions of a batch of observations; drawn where not `greedy`


def scores(task: Task, policy: Policy, episodes: int, seed: int, greedy: bool = True) -> np.ndarray:
    """Of so many episodes, played beside each other."""
    envs = [task.make() for _ in range(episodes)]
    seen = np.array([env.reset(seed=seed + i)[0] for i, env in enumerate(envs)])
    totals, running = np.zeros(episodes), list(range(episodes))
    while running:
        actions, going = policy(seen, greedy), []
        for i in running:
            seen[i], reward, terminated, truncated, _ = envs[i].step(actions[i])
            totals[i] += float(reward)
            if not (terminated or truncated):
                going.append(i)
        running = going
    return np.where(totals > 0.0, 1.0, 0.0) if task.is_grid else totals


class Curve:
    """The evaluations of a run, and which was the best."""

    def __init__(self, task: Task, every: int) -> None:
        self.task, self.every, self.is_best = task, every, False
        self.means: list[float] = []
        self.drawn: list[float] = []

    def add(self, policy: Policy) -> None:
        """Evaluate a policy."""
        mean = float(scores(self.task, policy, self.task.episodes, WHILE).mean())
        self.is_best = mean >= max(self.means, default=-np.inf)
        self.means.append(mean)
        if self.task.is_grid:
            drawn = scores(self.task, policy, self.task.episodes, WHILE, greedy=False)
            self.drawn.append(float(drawn.mean()))


Run = Iterator[tuple[str, Policy]]  # policies at the end, by their name


def ours(name: str) -> Callable[[Task, int, int, Curve, Path], Run]:
    """One of our agents with its defaults."""

    def run(task: Task, steps: int, seed: int, curve: Curve, folder: Path) -> Run:
        from jekyllhyde.agent import find_agent

        record = find_agent(name)
        agent = record.cls(task.id, seed=seed, **record.fixed)
        for _ in range(steps // curve.every):
            agent.learn(curve.every)
            curve.add(agent.predict)
            if curve.is_best:
                agent.save(folder / "best")
        yield "last", agent.predict
        yield "best", record.cls.load(folder / "best").predict

    return run


METHODS = {
    "jekyll-hyde": ours("jekyll_hyde"),
    "ddqn": ours("ddqn"),
    "SB3 DQN": peers_outside.theirs("DQN", zoo=False),
    "SB3 PPO": peers_outside.theirs("PPO", zoo=False),
    "SB3 DQN, zoo": peers_outside.theirs("DQN", zoo=True),
    "SB3 PPO, zoo": peers_outside.theirs("PPO", zoo=True),
}


@cache
def settings(method: str) -> str:
    """A digest of our agent's defaults: runs with others are not shown."""
    if method.startswith("SB3"):
        return ""
    from jekyllhyde.agent import find_agent
    from jekyllhyde.deep.configurations import describe

    known = repr(describe(find_agent(method).cls().settings))  # new ones only where they are used
    return hashlib.sha256(known.encode()).hexdigest()[:8]


class Case(NamedTuple):
    """A task, a budget of steps, and who takes it."""

    task: str
    steps: int
    method: str

    @property
    def key(self) -> dict[str, Any]:
        """What its runs are known by, but for their seeds."""
        return {**self._asdict(), "settings": settings(self.method)}

    def runs(self, data: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [row for row in data if self.key.items() <= row.items()]


def cases(budgets: dict[str, int], *methods: str) -> list[Case]:
    return [Case(*budget, method) for budget in budgets.items() for method in methods]


PARTS = {
    "defaults": cases(
        {"CartPole-v1": 50_000, "Acrobot-v1": 50_000, "MountainCar-v0": 30_000}, *METHODS
    ),
    "zoo": [
        Case(task, steps, f"SB3 {name}, zoo")
        for task, budgets in peers_outside.STEPS.items()
        for name, steps in budgets.items()
    ],
    "grids": cases(GRIDS, "SB3 PPO, zoo", "SB3 PPO", "SB3 DQN"),
    "exploration": cases(
        {"DeepSea of 10": 10_000, "DeepSea of 20": 40_000}  # 1,000 and 2,000 dives
        | {"Four Rooms, level 1": 27_000}  # 300 episodes, were each as long as can be
        | {"swing-up, middle height": 300_000},
        *("SB3 DQN", "SB3 PPO"),
    ),
}
TABLES = {"scores": ("defaults",), "scores_outside": ("grids", "zoo", "exploration")}


def make(task: str, method: str, seed: int, steps: int, **others: Any) -> dict[str, Any]:
    played, known, start, busy = {}, TASKS[task], perf_counter(), process_time()
    curve = Curve(known, known.pace(steps))
    with tempfile.TemporaryDirectory() as folder:
        for name, policy in METHODS[method](known, steps, seed, curve, Path(folder)):
            played[name] = float(scores(known, policy, FINAL, AFTER).mean())
            if name == "last":
                played["drawn"] = float(scores(known, policy, FINAL, AFTER, greedy=False).mean())
    took = {"seconds": round(perf_counter() - start, 1), "busy": round(process_time() - busy, 1)}
    means = {"evaluations": curve.means, "drawn_evaluations": curve.drawn, "every": curve.every}
    return {**played, **means, **took}


def summary(values: list[float], solved: float) -> list[str]:
    """Mean and interval, and how many solve the task."""
    digits, count = 2 if abs(solved) < 1.0 else 1, sum(value >= solved for value in values)
    mean, lo, hi = np.round(intervals.summarize(np.array(values), "mean"), digits) + 0.0  # no -0
    return [f"{mean:.{digits}f} [{lo:.{digits}f}, {hi:.{digits}f}]", f"{count} of {len(values)}"]


def first(runs: list[dict[str, Any]], name: str, solved: float) -> str:
    """How many runs some evaluation calls solved, and the median of their first such step."""
    found = [(row["every"], np.flatnonzero(np.array(row[name]) >= solved)) for row in runs]
    times = [every * (1 + int(at[0])) for every, at in found if len(at)]
    return f"{len(times)}, at {median(times):,.0f}" if times else "0"


def lines(part: str, data: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The cells of a part's table by their columns; a line is a task and a method."""
    for case in PARTS[part]:
        task = TASKS[case.task]
        runs = [{"every": task.every} | row for row in case.runs(data)]
        if not runs:
            continue
        cells: dict[str, Any] = {"task": f"{task.name}, {case.steps:,} steps"}
        cells |= {"method": case.method, "seeds": len(runs)}
        for name in ("last", "best", "drawn"):
            if all(name in row for row in runs):
                found = summary([row[name] for row in runs], task.solved)
                cells |= dict(zip((f"{name} policy", f"solved, {name}"), found, strict=True))
        if part != "defaults":
            cells["ever, greedy"] = first(runs, "evaluations", task.solved)
            if task.is_grid:
                cells["ever, drawn"] = first(runs, "drawn_evaluations", task.solved)
            if busy := [row["busy"] for row in runs if "busy" in row]:
                cells["processor seconds"] = f"{median(busy):.0f}"
        yield cells


def part_table(part: str, data: list[dict[str, Any]]) -> str:
    """The table of a part; cells that some lines lack are dashes."""
    found = list(lines(part, data))
    columns = dict.fromkeys(name for cells in found for name in cells)
    names = ["solved" if name.startswith("solved") else name for name in columns]
    return table(names, [[cells.get(name, "-") for name in columns] for cells in found])


def show(path: Path, wanted: list[str]) -> None:
    """Write the tables of what there is, in the files that have one of these parts."""
    data = kept_rows(path)
    for name, parts in TABLES.items():
        if not {*parts} & {*wanted}:
            continue
        levels = {case.task: TASKS[case.task].solved for part in parts for case in PARTS[part]}
        solved = ", ".join(f"{task} {level:g}" for task, level in levels.items())
        text = f"Means of {FINAL} {'greedy ' * (name == 'scores')}episodes over seeds, with 95 % "
        text += f"bootstrap intervals; solved from {solved} on."
        runs = [row for part in parts for case in PARTS[part] for row in case.runs(data)]
        tables = [part_table(part, data) for part in parts if any(lines(part, data))]
        write(name, {"machine": machine(), "runs": runs}, "\n\n".join([text, *tables]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=["defaults"])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--store", type=Path, default=STORE)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    if given.table:
        show(given.store, given.parts)
        return
    pin_to_one_core()
    keys = (
        case.key | {"seed": given.first + i}
        for i, part in product(range(given.seeds), given.parts)
        for case in PARTS[part]
        if case.task in given.tasks and case.method in given.methods
    )
    make_missing(given.store, keys, make)


if __name__ == "__main__":
    main()

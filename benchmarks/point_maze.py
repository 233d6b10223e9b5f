"""A point in a maze of walls, with a decoy near its start: `python benchmarks/point_maze.py`.

A step is 0.05 long in a square of side 1, up, down, left, right or none, and a little chance. The
decoy pays 0.1 and the goal 1; both end the episode, which otherwise has 200 steps. The default of
Dr Jekyll and Mr Hyde learns each maze from 30,000 steps, as it is and with parts taken away; every
2,500 steps Jekyll plays ten greedy episodes. A run is kept as it ends, a line in
results/point_maze.jsonl, so that this can be stopped and go on; `--table` writes the table.

The parts were chosen on the seeds 0 to 6 and 100 to 106, most of them in the maze `bends`; those of
the table are others.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path
from typing import Any

from common import RESULTS, kept_rows, machine, make_missing, pin_to_one_core, table, write

import gymnasium as gym  # isort: skip
import numpy as np  # isort: skip
from gymnasium.spaces import Box, Discrete  # isort: skip

import jekyllhyde as jh  # isort: skip
from jekyllhyde import deep, intervals  # isort: skip
from maze_task import CHANCE, DECOY, GOAL, LIMIT, MAZES, MOVES  # isort: skip

STORE = RESULTS / "point_maze.jsonl"
FIRST, SEEDS, STEPS, EVERY, EPISODES = 200, 8, 30_000, 2_500, 10
SOLVED = 0.9  # of ten episodes, nine in the goal
SETTINGS: dict[str, dict[str, Any]] = {
    "recommended": {},
    "no actions that last": {"hyde_noise": 0.0},
    "target network of 0.05": {"tau_hyde": 0.05},
    "goals not bounded": {"bounded": False},
    "wider cells": {"bonus": "counts(finer=False)"},
    "the smallest critic": {"pessimism": 1.0},
}


class PointMaze(gym.Env[Any, Any]):
    """A point that walks."""

    observation_space, action_space = Box(0.0, 1.0, (2,)), Discrete(5)
    moves = MOVES

    def __init__(self, maze: str) -> None:
        self.walls, *places = MAZES[maze]
        self.start, self.decoy, self.goal = map(np.array, places)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.elapsed = 0
        self.place = self.start + self.np_random.uniform(-0.02, 0.02, 2)
        return self.place.astype(np.float32), {}

    def step(self, action: int) -> Any:
        move = self.moves[action] + self.np_random.normal(0.0, CHANCE, 2)
        following = np.clip(self.place + move, 0.0, 1.0)
        for x, low, high in self.walls:
            crosses = (self.place[0] - x) * (following[0] - x) <= 0
            if crosses and low <= following[1] <= high:
                following[0] = self.place[0]
        self.place, self.elapsed = following, self.elapsed + 1
        is_decoy, is_goal = self._is_near(self.decoy, DECOY), self._is_near(self.goal, GOAL)
        reward = 1.0 if is_goal else 0.1 * is_decoy
        over = self.elapsed == LIMIT
        return following.astype(np.float32), reward, is_decoy or is_goal, over, {}

    def _is_near(self, place: Any, radius: float) -> bool:
        return bool(np.hypot(*(self.place - place)) < radius)


def make(maze: str, settings: str, seed: int) -> dict[str, Any]:
    agent = deep.JekyllHyde(PointMaze(maze), seed=seed, **SETTINGS[settings])
    scores = []
    for _ in range(STEPS // EVERY):
        agent.learn(EVERY)
        scores.append(float(jh.evaluate_policy(agent, PointMaze(maze), EPISODES).mean))
    steps = np.cumsum(agent.episodes.lengths)[agent.episodes.returns > 0.5]
    found = int(steps[0]) if len(steps) else -1
    return {"found": found, "scores": scores}


def show(path: Path) -> None:
    rows, data = [], kept_rows(path)
    for maze in MAZES:
        for label in SETTINGS:
            runs = [row for row in data if (row["maze"], row["settings"]) == (maze, label)]
            if not runs:
                continue
            scores = np.array([row["scores"] for row in runs])
            solved = scores >= SOLVED
            first = [EVERY * (1 + row.argmax()) for row in solved if row.any()]
            found = [row["found"] for row in runs if row["found"] > 0]
            end, low, high = intervals.summarize(scores[:, -1], "mean")
            cells = [f"{len(steps)}: {_median(steps)}" for steps in (found, first)]
            score = f"{end:.2f} [{low:.2f}, {high:.2f}]"
            rows.append([maze, label, len(runs), *cells, score])
    columns = ["maze", "settings", "runs", "goal met: median step", "solved: median step"]
    text = table((*columns, "score at the end"), rows)
    write(
        "point_maze",
        {"machine": machine(), "runs": data},
        f"{STEPS:,} steps; solved where ten greedy episodes have a mean of {SOLVED}.\n\n{text}",
    )


def _median(values: list[int]) -> str:
    return f"{np.median(values):,.0f}" if values else "never"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mazes", nargs="+", choices=MAZES, default=list(MAZES))
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--first", type=int, default=FIRST)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--store", type=Path, default=STORE)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    if given.table:
        show(given.store)
        return
    pin_to_one_core()
    seeds = range(given.first, given.first + given.seeds)
    keys = (
        {"maze": maze, "settings": label, "seed": seed}
        for seed, maze, label in product(seeds, given.mazes, given.settings)
    )
    make_missing(given.store, keys, make)


if __name__ == "__main__":
    main()

"""Unseen tasks, the second part: grids, pixels and locks, and the table of all.

Someone wrote them who did not know how the agent works, to try its defaults on. What they
showed has since led to parts of the default (`unseen.py`). `TASKS` has all twelve, `STEPS` the
budget of each, and `SCORES` what a scripted policy, a uniform one and one that stays with the decoy
get in an episode.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Set
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete

from unseen_mazes import DictSwitches, MazeRays, MazeRepeat, MazeS, MazeTurtle, MazeVelocity, Task

Cell = tuple[int, int]
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))


def beside(cell: Cell, action: int) -> Cell:
    return cell[0] + MOVES[action][0], cell[1] + MOVES[action][1]


def pixels(cells: np.ndarray) -> np.ndarray:
    """An image with 2 by 2 pixels for each cell."""
    return cells.repeat(2, 0).repeat(2, 1)


class Grid(Task):
    """Cells (row, column) with walls between; four moves, and the scripted policy takes the
    shortest way.
    """

    size, slip = 8, 0.0
    start: Cell
    walls: Set[Cell] = frozenset()
    action_space = Discrete(4)

    def _begin(self) -> None:
        self.place, self.has = self.start, 0

    def _is_free(self, cell: Cell) -> bool:
        inside = 0 <= cell[0] < self.size and 0 <= cell[1] < self.size
        return inside and cell not in self.walls

    def _go(self, action: int) -> None:
        if self.slip and self.np_random.random() < self.slip:
            action = int(self.np_random.integers(4))
        following = beside(self.place, action)
        if self._is_free(following):
            self.place = following

    def _towards(self, goal: Cell, avoided: Collection[Cell] = ()) -> int:
        far, waiting = {goal: 0}, deque([goal])
        while waiting:
            cell = waiting.popleft()
            for action in range(4):
                other = beside(cell, action)
                if other not in far and self._is_free(other) and other not in avoided:
                    far[other] = far[cell] + 1
                    waiting.append(other)
        return min(range(4), key=lambda action: far.get(beside(self.place, action), 999))


class PixKeyDoor(Grid):
    """A pixel for each cell: first the key, then the door, then the goal. An apple near the start
    is the decoy and ends the episode.
    """

    size, limit, start, decoy = 12, 120, (10, 1), (8, 3)
    key, door, goal = (1, 4), (6, 6), (10, 10)
    border = frozenset(
        (row, column) for row, column in np.ndindex(12, 12) if {row, column} & {0, 11}
    )
    wall = frozenset((row, 6) for row in range(12)) - {door}
    observation_space = Box(0, 255, (12, 12, 1), np.uint8)

    def _is_free(self, cell: Cell) -> bool:
        return cell not in self.border | self.wall and (self.has > 0 or cell != self.door)

    def _act(self, action: int) -> tuple[float, bool]:
        self._go(action)
        if self.place == self.key:
            self.has = 1
        if self.place == self.goal:
            return self._end("goal")
        return self._end("decoy") if self.place == self.decoy else (0.0, False)

    def _see(self) -> Any:
        image = np.zeros((12, 12, 1), np.uint8)
        for cell in self.border | self.wall:
            image[cell] = 60
        if not self.has:
            image[self.key], image[self.door] = 180, 120
        image[self.goal], image[self.decoy], image[self.place] = 220, 150, 255
        return image

    def scripted(self) -> int:
        return self._towards(self.goal if self.has else self.key, {self.decoy})


class PixFar(Grid):
    """In colours: two walls to go round, one move in ten slips, and a decoy ends the episode."""

    size, start, goal, decoy, slip = 10, (0, 0), (9, 9), (2, 2), 0.1
    walls = frozenset({(row, 3) for row in range(8)} | {(row, 6) for row in range(2, 10)})
    observation_space = Box(0, 255, (20, 20, 3), np.uint8)

    def _act(self, action: int) -> tuple[float, bool]:
        self._go(action)
        if self.place == self.goal:
            return self._end("goal")
        return self._end("decoy") if self.place == self.decoy else (0.0, False)

    def _see(self) -> Any:
        cells = np.zeros((10, 10, 3), np.uint8)
        for cell in self.walls:
            cells[cell] = 128
        cells[self.goal], cells[self.decoy], cells[self.place] = (0, 255, 0), (255, 255, 0), 0
        cells[self.place][0] = 255
        return pixels(cells)

    def scripted(self) -> int:
        return self._towards(self.goal, {self.decoy})


class PixCatch(Task):
    """Three balls fall one after the other, and each must be caught exactly: 1 for all three, and
    a miss ends the episode with nothing.
    """

    limit, decoy_reward = 100, 0.0
    action_space, observation_space = Discrete(3), Box(0, 255, (20, 16, 1), np.uint8)

    def _begin(self) -> None:
        self.caught, self.paddle = 0, 4
        self._drop()

    def _drop(self) -> None:
        self.row, self.column = 1, int(self.np_random.integers(8))

    def _act(self, action: int) -> tuple[float, bool]:
        self.paddle = min(7, max(0, self.paddle + (0, -1, 1)[action]))
        self.row += 1
        if self.row == 9:
            if self.paddle != self.column:
                return self._end("dead")
            self.caught += 1
            if self.caught == 3:
                return self._end("goal")
            self._drop()
        return 0.0, False

    def _see(self) -> Any:
        cells = np.zeros((10, 8, 1), np.uint8)
        cells[0, : self.caught] = 100
        cells[min(self.row, 9), self.column] = 255
        cells[9, self.paddle] = 180
        return pixels(cells)

    def scripted(self) -> int:
        if self.paddle == self.column:
            return 0
        return 1 if self.paddle > self.column else 2


class DictLock(Task):
    """A combination of 16, where the right one of four actions depends on the stage and a colour
    that is drawn with each step. A wrong one ends the episode with nothing; the fifth action does
    with the decoy's 0.1.
    """

    length, limit = 16, 100
    action_space = Discrete(5)
    observation_space = Dict(
        stage=Discrete(17), colour=Discrete(3), dial=Box(-1, 1, (2,), np.float32)
    )
    code = np.random.default_rng(7).integers(4, size=(17, 3))

    def _begin(self) -> None:
        self.stage = 0
        self._draw()

    def _draw(self) -> None:
        self.colour = int(self.np_random.integers(3))

    def _act(self, action: int) -> tuple[float, bool]:
        if action == 4:
            return self._end("decoy")
        is_right = action == self.code[self.stage, self.colour]
        self._draw()
        if not is_right:
            return self._fail()
        self.stage += 1
        return self._end("goal") if self.stage == self.length else (0.0, False)

    def _fail(self) -> tuple[float, bool]:
        return self._end("dead")

    def _see(self) -> Any:
        angle = 2 * np.pi * self.stage / 17
        dial = np.array([np.sin(angle), np.cos(angle)], np.float32)
        return {"stage": self.stage, "colour": self.colour, "dial": dial}

    def scripted(self) -> int:
        return int(self.code[self.stage, self.colour])


class DictLockNoise(DictLock):
    """A lock of 12 whose stage is a number, beside a reading that is nothing but noise; a wrong
    action leads back to the beginning.
    """

    length = 12
    observation_space = Dict(
        level=Box(0, 12, (1,), np.float32),
        colour=Discrete(3),
        noise=Box(-10, 10, (1,), np.float32),
    )

    def _fail(self) -> tuple[float, bool]:
        self.stage = 0
        return 0.0, False

    def _see(self) -> Any:
        noise = np.clip(self.np_random.normal(0, 1, 1), -10, 10).astype(np.float32)
        return {"level": np.array([self.stage], np.float32), "colour": self.colour, "noise": noise}


class DictImage(Grid):
    """An image, an inventory and a battery that runs down: wood, then stone, then the base, which
    pays the decoy's 0.1 at once to those who come without them.
    """

    limit, start = 100, (4, 1)
    spots = ((0, 7), (7, 7), (7, 0))
    walls = frozenset({(row, 4) for row in range(2, 6)} | {(5, 0), (5, 1)})
    observation_space = Dict(
        image=Box(0, 255, (16, 16, 1), np.uint8),
        inventory=Discrete(3),
        battery=Box(0, 1, (1,), np.float32),
    )

    def _act(self, action: int) -> tuple[float, bool]:
        self._go(action)
        if self.place == self.spots[2]:
            return self._end("goal" if self.has == 2 else "decoy")
        self.has += self.has < 2 and self.place == self.spots[self.has]
        return 0.0, False

    def _see(self) -> Any:
        cells = np.zeros((8, 8, 1), np.uint8)
        for cell in self.walls:
            cells[cell] = 70
        for i in range(self.has, 2):
            cells[self.spots[i]] = (130, 160)[i]
        cells[self.spots[2]], cells[self.place] = 200, 255
        battery = np.array([1 - self.elapsed / self.limit], np.float32)
        return {"image": pixels(cells), "inventory": self.has, "battery": battery}

    def scripted(self) -> int:
        return self._towards(self.spots[self.has], {self.spots[2]} if self.has < 2 else ())


# Steps of a training; means of 50 scripted episodes, of 400 uniform ones, and the decoy's.
TABLE: dict[str, tuple[type[Task], int, tuple[float, float, float]]] = {
    "maze_s": (MazeS, 25_000, (1.0, 0.0942, 0.1)),
    "maze_velocity": (MazeVelocity, 25_000, (4.5684, -0.7903, 0.4)),
    "maze_repeat": (MazeRepeat, 25_000, (5.0, 0.1543, 1.9)),
    "maze_turtle": (MazeTurtle, 25_000, (1.0, 0.1563, 0.1)),
    "maze_rays": (MazeRays, 25_000, (0.955, 0.0439, 0.09)),
    "pix_keydoor": (PixKeyDoor, 15_000, (1.0, 0.087, 0.1)),
    "pix_far": (PixFar, 15_000, (1.0, 0.0945, 0.1)),
    "pix_catch": (PixCatch, 15_000, (1.0, 0.0, 0.0)),
    "dict_switches": (DictSwitches, 30_000, (1.0, 0.051, 0.1)),
    "dict_lock": (DictLock, 25_000, (1.0, 0.029, 0.1)),
    "dict_lock_noise": (DictLockNoise, 25_000, (1.0, 0.1, 0.1)),
    "dict_image": (DictImage, 15_000, (1.0, 0.0235, 0.1)),
}
TASKS = {name: row[0] for name, row in TABLE.items()}
STEPS = {name: row[1] for name, row in TABLE.items()}
SCORES = {name: row[2] for name, row in TABLE.items()}


def solved_from(task: str) -> float:
    """The mean return from which a task is solved: nine tenths of the way from the decoy's to the
    scripted one.
    """
    scripted, _, decoy = SCORES[task]
    return round(decoy + 0.9 * (scripted - decoy), 4)

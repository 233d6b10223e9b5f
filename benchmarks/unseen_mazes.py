"""Unseen tasks, the first part: mazes in the plane, and what all of these tasks share.

Someone wrote them who did not know how the agent works, to try its defaults on. What they
showed has since led to parts of the default (`unseen.py`). Most have a decoy near the start that
pays a little, and a goal far off that pays much more. Each has a scripted policy, which says what
can be reached. The other part is `unseen_grids`, with the table of all of them; `unseen` trains on
them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary

COMPASS = np.array([(1, 0), (-1, 0), (0, 1), (0, -1)])  # right, left, up, down


class Task(gym.Env[Any, Any], ABC):
    """An environment that counts the steps and goals of its whole life, so that a training is read
    from outside.

    A task says how an episode begins (`_begin`), what an action does, as reward and whether the
    episode ends (`_act`), what is seen (`_see`), and what a good policy does now (`scripted`). How
    an episode ended is its `outcome`: "goal", "decoy", "dead", or None where time ran out.
    """

    goal_reward, decoy_reward, limit = 1.0, 0.1, 150

    def __init__(self) -> None:
        self.total, self.goals = 0, 0
        self.first_goal: int | None = None
        self.outcome: str | None = None

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.elapsed, self.outcome = 0, None
        self._begin()
        return self._see(), {}

    def step(self, action: Any) -> Any:
        self.elapsed += 1
        self.total += 1
        reward, is_over = self._act(int(action))
        if self.outcome == "goal":
            self.goals += 1
            self.first_goal = self.first_goal or self.total
        is_late = self.elapsed >= self.limit and not is_over
        return self._see(), float(reward), bool(is_over), is_late, {}

    @abstractmethod
    def scripted(self) -> int: ...

    @abstractmethod
    def _begin(self) -> None: ...

    @abstractmethod
    def _act(self, action: int) -> tuple[float, bool]: ...

    @abstractmethod
    def _see(self) -> Any: ...

    def _end(self, outcome: str) -> tuple[float, bool]:
        self.outcome = outcome
        rewards = {"goal": self.goal_reward, "decoy": self.decoy_reward, "dead": 0.0}
        return rewards[outcome], True


class Maze(Task):
    """A point in a square with walls, rectangles (left, low, right, high) along which it slides.

    Goal and decoy are circles (x, y, radius); the scripted policy follows a way of points, the next
    one as soon as it is within reach of one.
    """

    low, high, cost, spread, reach = 0.0, 1.0, 0.0, 0.0, 0.06
    walls: tuple[tuple[float, ...], ...] = ()
    way: tuple[tuple[float, float], ...] = ()
    start: tuple[float, float]
    goal: tuple[float, float, float]
    decoy: tuple[float, float, float]

    def _begin(self) -> None:
        self.place = np.array(self.start, float) + self.np_random.uniform(-1, 1, 2) * self.spread
        self.leg = 0

    def _is_blocked(self, place: np.ndarray) -> bool:
        if (place < self.low).any() or (place > self.high).any():
            return True
        x, y = place
        return any(a <= x <= c and b <= y <= d for a, b, c, d in self.walls)

    def _move(self, way: np.ndarray) -> np.ndarray:
        """Go, in eight pieces; True for each axis along which nothing was hit."""
        free, pieces = np.ones(2, bool), 8
        for _ in range(pieces):
            for axis in (0, 1):
                if free[axis]:
                    following = self.place.copy()
                    following[axis] += way[axis] / pieces
                    if self._is_blocked(following):
                        free[axis] = False
                    else:
                        self.place = following
        return free

    def _is_near(self, spot: tuple[float, float, float]) -> bool:
        return bool(np.hypot(*(self.place - np.array(spot[:2]))) < spot[2])

    def _arrive(self) -> tuple[float, bool]:
        reward, is_over = 0.0, False
        if self._is_near(self.goal):
            reward, is_over = self._end("goal")
        elif self._is_near(self.decoy):
            reward, is_over = self._end("decoy")
        return reward - self.cost, is_over

    def _wanted(self) -> np.ndarray:
        last = len(self.way) - 1
        while self.leg < last and np.hypot(*(self.place - self.way[self.leg])) < self.reach:
            self.leg += 1
        return np.array(self.way[self.leg]) - self.place


class MazeS(Maze):
    """Shaped like an S; four moves with a little chance, and a decoy that ends the episode."""

    start, spread = (0.08, 0.1), 0.02
    goal, decoy = (0.9, 0.85, 0.08), (0.3, 0.08, 0.08)
    walls = ((0, 0.31, 0.82, 0.35), (0.18, 0.65, 1, 0.69))
    way = ((0.08, 0.24), (0.91, 0.24), (0.91, 0.5), (0.09, 0.5), (0.09, 0.84), (0.9, 0.85))
    action_space, observation_space = Discrete(4), Box(0, 1, (2,), np.float32)
    moves = COMPASS

    def _act(self, action: int) -> tuple[float, bool]:
        self._move(0.07 * self.moves[action] + self.np_random.normal(0, 0.01, 2))
        return self._arrive()

    def _see(self) -> Any:
        return self.place.astype(np.float32)

    def scripted(self) -> int:
        return int((self.moves @ self._wanted()).argmax())


class MazeVelocity(Maze):
    """Five accelerations, and a velocity that fades; steps cost 0.01, the goal pays 5, the decoy
    half and ends the episode. Numbers are large: a side is 100 long.
    """

    high, cost, goal_reward, decoy_reward, limit = 100.0, 0.01, 5.0, 0.5, 200
    start, spread, reach = (15, 15), 2.0, 9.0
    goal, decoy = (85, 15, 10), (35, 13, 8)
    walls = ((47, 0, 53, 70), (47, 90, 53, 100), (53, 47, 72, 53), (95, 47, 100, 53))
    way = ((15, 60), (30, 80), (50, 80), (66, 80), (83, 65), (84, 45), (85, 15))
    action_space = Discrete(5)
    observation_space = Box(
        np.array([0, 0, -6, -6], np.float32), np.array([100, 100, 6, 6], np.float32)
    )
    pushes = np.array([(0, 0), *COMPASS])

    def _begin(self) -> None:
        super()._begin()
        self.velocity = np.zeros(2)

    def _act(self, action: int) -> tuple[float, bool]:
        self.velocity = np.clip(0.85 * self.velocity + 1.5 * self.pushes[action], -6, 6)
        self.velocity *= self._move(self.velocity)
        return self._arrive()

    def _see(self) -> Any:
        return np.concatenate([self.place, self.velocity]).astype(np.float32)

    def scripted(self) -> int:
        push = np.clip(0.25 * self._wanted(), -6, 6) - 0.85 * self.velocity
        return int(np.abs(push - 1.5 * self.pushes).sum(1).argmin())


class MazeRepeat(MazeS):
    """A chamber that is entered from behind, with eight moves. A zone near the start pays 0.01 in
    each step that is spent there, without an end; the goal pays 5.
    """

    low, high, limit, goal_reward = -5.0, 5.0, 200, 5.0
    start, spread, reach = (-4, -4), 0.2, 0.7
    goal, decoy = (-0.5, 0, 0.8), (-2.7, -3.6, 0.7)
    walls = (
        *((-2.2, -2.2, 2.2, -1.8), (-2.2, 1.8, 2.2, 2.2), (-2.2, -2.2, -1.8, 2.2)),
        *((1.8, -2.2, 2.2, -0.8), (1.8, 0.8, 2.2, 2.2), (-0.2, -5, 0.2, -2.2)),
    )
    way = ((-3.2, -1), (-3.1, 2.4), (-2, 3.2), (2, 3.2), (3.3, 1.8), (3.0, 0.0), (-0.5, 0))
    action_space, observation_space = Discrete(8), Box(-5, 5, (2,), np.float32)
    moves = np.array([(np.cos(angle), np.sin(angle)) for angle in np.arange(8) * np.pi / 4])

    def _act(self, action: int) -> tuple[float, bool]:
        self._move(0.45 * self.moves[action])
        if self._is_near(self.goal):
            return self._end("goal")
        return 0.01 * self._is_near(self.decoy), False


class MazeTurtle(Maze):
    """Goes forward with every step, and may turn by 30 degrees to the left or right."""

    high, limit, start, spread, reach = 10.0, 250, (1.5, 1.5), 0.2, 0.9
    goal, decoy = (8.5, 1.5, 0.9), (3.7, 1.2, 0.6)
    walls = ((4.8, 0, 5.2, 7.6),)
    way = ((1.7, 5), (3, 8.2), (5, 8.9), (7.6, 7.5), (8.5, 1.5))
    action_space = Discrete(3)
    observation_space = Box(
        np.array([0, 0, -1, -1], np.float32), np.array([10, 10, 1, 1], np.float32)
    )

    def _begin(self) -> None:
        super()._begin()
        self.heading = 0

    def _angle(self) -> float:
        return self.heading * np.pi / 6

    def _act(self, action: int) -> tuple[float, bool]:
        self.heading = (self.heading + (0, 1, -1)[action]) % 12
        self._move(0.5 * np.array([np.cos(self._angle()), np.sin(self._angle())]))
        return self._arrive()

    def _see(self) -> Any:
        return np.array([*self.place, np.cos(self._angle()), np.sin(self._angle())], np.float32)

    def scripted(self) -> int:
        x, y = self._wanted()
        turn = (np.arctan2(y, x) - self._angle() + np.pi) % (2 * np.pi) - np.pi
        if abs(turn) < np.pi / 12:
            return 0
        return 1 if turn > 0 else 2


class MazeRays(MazeS):
    """The maze shaped like an S where four distances to walls are seen, too; it may stand still,
    and steps cost 0.001.
    """

    cost, limit = 0.001, 200
    action_space, observation_space = Discrete(5), Box(0, 100, (6,), np.float32)

    def _act(self, action: int) -> tuple[float, bool]:
        move = 0.07 * self.moves[action] if action < 4 else 0
        self._move(move + self.np_random.normal(0, 0.01, 2))
        return self._arrive()

    def _see(self) -> Any:
        return np.array([*(100 * self.place), *map(self._ray, self.moves)], np.float32)

    def _ray(self, direction: np.ndarray) -> float:
        count = 0
        while count < 20 and not self._is_blocked(self.place + direction * 0.02 * (count + 1)):
            count += 1
        return 2.0 * count


class DictSwitches(Maze):
    """A key, then one switch, then the other, then the exit; who leaves without them gets the
    decoy's 0.1. Four moves, and one to use what is near.
    """

    start, spread = (0.1, 0.1), 0.02
    spots = ((0.9, 0.1, 0.12), (0.1, 0.9, 0.12), (0.9, 0.9, 0.12), (0.5, 0.15, 0.12))
    action_space = Discrete(5)
    observation_space = Dict(
        position=Box(0, 1, (2,), np.float32), has_key=Discrete(2), switches=MultiBinary(2)
    )

    def _begin(self) -> None:
        super()._begin()
        self.stage = 0

    def _act(self, action: int) -> tuple[float, bool]:
        if action < 4:
            self._move(0.13 * COMPASS[action] + self.np_random.normal(0, 0.01, 2))
        elif self._is_near(self.spots[3]):
            return self._end("goal" if self.stage == 3 else "decoy")
        elif self.stage < 3 and self._is_near(self.spots[self.stage]):
            self.stage += 1
        return 0.0, False

    def _see(self) -> Any:
        switches = np.array([self.stage > 1, self.stage > 2], np.int8)
        position = self.place.astype(np.float32)
        return {"position": position, "has_key": int(self.stage > 0), "switches": switches}

    def scripted(self) -> int:
        spot = self.spots[self.stage]
        if self._is_near(spot):
            return 4
        return int((COMPASS @ (np.array(spot[:2]) - self.place)).argmax())

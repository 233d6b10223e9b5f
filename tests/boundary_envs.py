"""Small environments with all kinds of spaces."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Space, Text, Tuple

SPACES: dict[str, Space[Any]] = {
    "vector": Box(-1.0, 1.0, (3,)),
    "matrix": Box(-np.inf, np.inf, (2, 2), np.float64),
    "pixels": Box(0, 255, (20, 24, 3), np.uint8),
    "channels first": Box(0, 255, (2, 40, 36), np.uint8),
    "grey": Box(0.0, 1.0, (16, 16)),
    "states": Discrete(7, start=3),
    "many": MultiDiscrete([3, 1000], start=[1, 5]),
    "bits": MultiBinary([2, 2]),
    "tuple": Tuple((Discrete(3), Box(0.0, 1.0, (2,)))),
    "dict": Dict(
        image=Box(0, 255, (16, 16, 3), np.uint8),
        where=Dict(x=Box(-9.0, 9.0, (2,)), room=Discrete(4)),
        door=MultiBinary(2),
    ),
    "with text": Dict(mission=Text(10), x=Box(-1.0, 1.0, (1,))),
}
ACTIONS: dict[str, Space[Any]] = {
    "discrete": Discrete(3),
    "shifted": Discrete(3, start=-1),
    "product": MultiDiscrete([2, 3], start=[5, 0]),
    "switches": MultiBinary(3),
}


class Sampled(gym.Env[Any, Any]):
    """Observations sampled from the space; episodes of 7 steps; a mask of random actions, if asked.

    forbidden : whether an action that the mask forbids was ever taken.
    """

    def __init__(
        self, space: Space[Any], actions: Space[Any], masked: bool = False, length: int = 7
    ) -> None:
        self.observation_space, self.action_space = deepcopy(space), deepcopy(actions)
        self.masked, self.length, self.forbidden = masked, length, 0
        self.elapsed, self.mask = 0, np.ones(3, np.int8)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.observation_space.seed(int(self.np_random.integers(2**31)))
        self.elapsed = 0
        return self._see()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action), action
        if self.masked:
            self.forbidden += not self.mask[int(action) - self.action_space.start]  # type: ignore[attr-defined]
        self.elapsed += 1
        observation, info = self._see()
        reward = float(self.np_random.normal())
        return observation, reward, False, self.elapsed == self.length, info

    def _see(self) -> tuple[Any, dict[str, Any]]:
        self.mask = self.np_random.permutation([1, int(self.np_random.integers(2)), 0]).astype(
            np.int8
        )
        return self.observation_space.sample(), {"action_mask": self.mask} if self.masked else {}

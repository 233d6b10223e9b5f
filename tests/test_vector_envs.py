"""Vector environments: the three ways in which they begin new episodes have one outcome."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

from jekyllhyde.envs.vector_lanes import LaneStep, VectorLanes
from jekyllhyde.errors import InputError


class Count(gym.Env[Any, Any]):
    """Counts its steps up to `length`, from 100 times its episode on; odd numbers forbid action 0.

    The last step terminates where the length is even, and truncates where it is odd.
    """

    observation_space, action_space = Box(0.0, 1e9, (1,)), Discrete(2, start=1)

    def __init__(self, length: int = 3) -> None:
        self.length, self.episode, self.count = length, 0, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.episode, self.count = self.episode + 1, 0
        return self._see()

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert action in (1, 2)
        assert self.count < self.length
        assert self.count % 2 == 0 or action == 2, "a masked action was taken"
        self.count += 1
        observation, info = self._see()
        ended, is_even = self.count == self.length, self.length % 2 == 0
        return observation, float(self.count), ended and is_even, ended and not is_even, info

    def _see(self) -> tuple[Any, dict[str, Any]]:
        number = np.array([100.0 * self.episode + self.count], np.float32)
        return number, {"action_mask": np.array([self.count % 2 == 0, True])}


def lengths(count: int) -> list[Any]:
    return [lambda length=2 + i: Count(length) for i in range(count)]


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("kind", [SyncVectorEnv, AsyncVectorEnv])
def test_every_mode_has_the_same_transitions(mode: AutoresetMode, kind: Any) -> None:
    env = kind(lengths(2), autoreset_mode=mode)
    lanes = VectorLanes(env)
    views = lanes.reset(1)
    seen: list[list[tuple[float, float, bool]]] = [[], []]
    for _ in range(9):
        steps = lanes.step([2, 2], 3)
        for i, step in enumerate(steps):
            if step.reached is not None:
                before, after = (float(view[0][0]) for view in (views[i], step.reached))
                assert step.reward == after % 100
                assert after == before + 1  # never from one episode into another
                assert step.reached[1]["action_mask"][0] == (after % 2 == 0)
                seen[i].append((before, after, step.terminated or step.truncated))
                assert step.terminated == (i == 0 and step.reward == 2)
                assert step.truncated == (i == 1 and step.reward == 3)
                views[i] = step.reached
            if step.start is not None:
                assert float(step.start[0][0]) % 100 == 0
                views[i] = step.start
    env.close()
    for i, episodes in enumerate(seen):
        ends = [after % 100 for _, after, ended in episodes if ended]
        assert len(ends) >= 2
        assert set(ends) == {2 + i}


def test_lanes_of_gymnasiums_own_vector_environment() -> None:
    env = gym.make_vec("CartPole-v1", num_envs=3, vectorization_mode="vector_entry_point")
    lanes = VectorLanes(env)
    lanes.reset(1)
    steps: list[LaneStep] = []
    for _ in range(60):
        steps += lanes.step([0, 1, 0], 0)
    # every start follows an end, and pushing one way ends an episode within 12 steps
    assert sum(step.start is not None for step in steps) >= 12
    assert all(step.reward == 1.0 for step in steps if step.reached is not None)


def test_a_mode_that_nobody_knows_is_refused() -> None:
    env = SyncVectorEnv(lengths(1))
    env.metadata = {"autoreset_mode": "sometimes"}
    with pytest.raises(InputError, match="autoreset_mode'] is 'sometimes'"):
        VectorLanes(env)

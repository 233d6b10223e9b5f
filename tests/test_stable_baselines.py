"""Stable-Baselines3 (extra `peers`, which the tests do not install) trains in our environments."""

from __future__ import annotations

import importlib
from typing import Any

import gymnasium as gym
import pytest

import jekyllhyde  # noqa: F401 (its environments become known)

ENVIRONMENTS = {
    "jekyllhyde/Chain-v0": {"n_states": 6},
    "jekyllhyde/FourRooms-v0": {"level": 1},
    "jekyllhyde/DeepSea-v0": {"n": 5},
    "jekyllhyde/CartPoleSwingUp-v0": {},
    "jekyllhyde/PixelDeepSea-v0": {"n": 10},
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
@pytest.mark.parametrize("algorithm", ["DQN", "PPO"])
def test_it_trains_and_predicts(name: str, algorithm: str) -> None:
    sb3: Any = pytest.importorskip("stable_baselines3", reason="the extra peers is not installed")
    keywords: dict[str, Any] = ENVIRONMENTS[name]
    env = gym.make(name, **keywords)
    importlib.import_module("stable_baselines3.common.env_checker").check_env(env, warn=False)
    more: dict[str, Any] = {"n_steps": 64} if algorithm == "PPO" else {"learning_starts": 20}
    model = getattr(sb3, algorithm)("MlpPolicy", env, seed=0, device="cpu", **more)
    model.learn(64)
    observation, _ = env.reset(seed=0)
    assert env.action_space.contains(int(model.predict(observation)[0]))

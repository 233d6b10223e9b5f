"""Stable-Baselines3's DQN and PPO (extra `peers`) in the tasks of `scores.py`.

They have their own defaults, or the settings that RL Baselines3 Zoo publishes (hyperparams/dqn.yml
and ppo.yml, read in November 2026; it has none for DeepSea, our Four Rooms and the swing-up, and
none for DQN in MiniGrid). In MiniGrid they see the bits that our agents see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np

from jekyllhyde.envs.minigrid_cells import COLOURS, OBJECTS, STATES

if TYPE_CHECKING:
    from scores import Curve, Policy, Task

WIDE = {"net_arch": [256, 256]}
DIRECTIONS = 4


def linear(start: float) -> Callable[[float], float]:
    return lambda left: start * left


GRID = {"n_envs": 8, "normalize": True, "n_steps": 128, "batch_size": 64, "gae_lambda": 0.95}
GRID |= {"gamma": 0.99, "n_epochs": 10, "ent_coef": 0.0, "learning_rate": 2.5e-4}
GRID |= {"clip_range": 0.2}
ZOO: dict[str, dict[str, dict[str, Any]]] = {  # by task and algorithm
    "CartPole-v1": {
        "DQN": {"learning_rate": 2.3e-3, "batch_size": 64, "buffer_size": 100_000, "gamma": 0.99}
        | {"learning_starts": 1000, "target_update_interval": 10, "train_freq": 256}
        | {"gradient_steps": 128, "exploration_fraction": 0.16, "exploration_final_eps": 0.04}
        | {"policy_kwargs": WIDE},
        "PPO": {"n_envs": 8, "n_steps": 32, "batch_size": 256, "gae_lambda": 0.8, "gamma": 0.98}
        | {"n_epochs": 20, "learning_rate": linear(1e-3), "clip_range": linear(0.2)},
    },
    "Acrobot-v1": {
        "DQN": {"learning_rate": 6.3e-4, "batch_size": 128, "buffer_size": 50_000, "gamma": 0.99}
        | {"learning_starts": 0, "target_update_interval": 250, "train_freq": 4}
        | {"gradient_steps": -1, "exploration_fraction": 0.12, "exploration_final_eps": 0.1}
        | {"policy_kwargs": WIDE},
        "PPO": {"n_envs": 16, "normalize": True, "n_steps": 256, "gae_lambda": 0.94}
        | {"n_epochs": 4},
    },
    "MountainCar-v0": {
        "DQN": {"learning_rate": 4e-3, "batch_size": 128, "buffer_size": 10_000, "gamma": 0.98}
        | {"learning_starts": 1000, "target_update_interval": 600, "train_freq": 16}
        | {"gradient_steps": 8, "exploration_fraction": 0.2, "exploration_final_eps": 0.07}
        | {"policy_kwargs": WIDE},
        "PPO": {"n_envs": 16, "normalize": True, "n_steps": 16, "gae_lambda": 0.98}
        | {"n_epochs": 4},
    },
    "MiniGrid-DoorKey-5x5-v0": {"PPO": GRID},
    "MiniGrid-DoorKey-6x6-v0": {"PPO": GRID},  # as in 5x5: the zoo starts all its grids from these
    "MiniGrid-DoorKey-8x8-v0": {"PPO": GRID},
    "MiniGrid-MultiRoom-N2-S4-v0": {"PPO": GRID},
}
STEPS = {  # for which the zoo has these settings
    "CartPole-v1": {"DQN": 50_000, "PPO": 100_000},
    "Acrobot-v1": {"DQN": 100_000, "PPO": 1_000_000},
    "MountainCar-v0": {"DQN": 120_000, "PPO": 1_000_000},
}


class Bits(gym.ObservationWrapper[Any, Any, Any]):
    """MiniGrid's observation as our agents take it: the direction and the cells in view, each a
    one-hot code; without the mission.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        height, width, _ = env.observation_space["image"].shape  # type: ignore[index]
        counts = np.array([DIRECTIONS, *(OBJECTS, COLOURS, STATES) * (height * width)])
        self.begins, self.width = np.cumsum(counts) - counts, int(counts.sum())
        self.observation_space = gym.spaces.Box(0.0, 1.0, (self.width,))

    def observation(self, observation: Any) -> Any:
        bits = np.zeros(self.width, np.float32)
        codes = np.array([observation["direction"], *observation["image"].flat])
        bits[self.begins + codes] = 1.0
        return bits


def policy_of(model: Any, env: Any) -> Policy:
    """What a model does where its observations are scaled as they were in its environment."""
    scale = getattr(env, "normalize_obs", np.asarray)
    return lambda seen, greedy=True: model.predict(scale(seen), deterministic=greedy)[0]


def theirs(name: str, zoo: bool) -> Callable[..., Iterator[tuple[str, Policy]]]:
    """One of the two, with its own defaults or the zoo's."""

    def run(
        task: Task, steps: int, seed: int, curve: Curve, folder: Path
    ) -> Iterator[tuple[str, Policy]]:
        import stable_baselines3 as sb3
        import torch
        from stable_baselines3.common.env_util import make_vec_env
        from stable_baselines3.common.vec_env import VecNormalize

        torch.set_num_threads(1)
        chosen = dict(ZOO[task.name][name]) if zoo else {}
        env = make_vec_env(task.make, chosen.pop("n_envs", 1), seed=seed)
        if chosen.pop("normalize", False):
            env = VecNormalize(env, gamma=chosen.get("gamma", 0.99))
        model = getattr(sb3, name)("MlpPolicy", env, seed=seed, device="cpu", **chosen)

        class Evaluate(sb3.common.callbacks.BaseCallback):  # type: ignore[misc]
            due = curve.every

            def _on_step(self) -> bool:
                if self.num_timesteps >= self.due:
                    self.due += curve.every
                    curve.add(policy_of(model, env))
                    if curve.is_best:
                        model.save(folder / "best")
                        if isinstance(env, VecNormalize):
                            env.save(str(folder / "scales"))
                return True

        model.learn(steps, callback=Evaluate())
        yield "last", policy_of(model, env)
        scales = folder / "scales"
        kept = VecNormalize.load(str(scales), make_vec_env(task.make)) if scales.exists() else None
        yield "best", policy_of(getattr(sb3, name).load(folder / "best", device="cpu"), kept)

    return run

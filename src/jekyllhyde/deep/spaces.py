"""What an agent with networks makes of a Gymnasium environment: its spaces, observations as arrays,
and the way back into an episode that was under way.
"""

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete

from jekyllhyde.deep.networks import Space
from jekyllhyde.errors import InputError, require

Env = gym.Env[Any, Any]


def space_of(env: Env) -> Space:
    """What the agent will meet in `env`, or a sentence on why it cannot."""
    observations, actions = env.observation_space, env.action_space
    if not isinstance(actions, Discrete):
        raise InputError(f"env has the action space {actions}; these agents need a Discrete one")
    n_actions, first_action = int(actions.n), int(actions.start)
    if isinstance(observations, Discrete):
        return Space(int(observations.n), (), n_actions, int(observations.start), first_action)
    if isinstance(observations, Box):
        return Space(None, observations.shape, n_actions, 0, first_action)
    raise InputError(f"env has the observation space {observations}; it must be Discrete or Box")


def read(space: Space, observation: Any) -> np.ndarray:
    """An observation, or a batch of them, as networks take it: indices from 0, or vectors."""
    if space.n_states is None:
        array = np.asarray(observation, np.float32)
        leading = array.shape[: array.ndim - len(space.shape)]
        require(
            array.shape == (*leading, *space.shape),
            f"the observation has the shape {array.shape}; it must end in {space.shape}",
        )
        return array.reshape(*leading, space.width)
    index = np.asarray(observation, np.int64) - space.first_state
    if ((index < 0) | (index >= space.n_states)).any():
        raise InputError(
            f"the observation is {observation!r}; it must be an index from {space.first_state} to "
            f"{space.first_state + space.n_states - 1}"
        )
    return index.astype(np.int32)


@dataclass
class Episode:
    """An episode under way.

    random_state : of the environment's generator before its reset; None where the agent's seed was
    given to it.  observation : the newest, as networks take it. `resume` brings a fresh environment
    to where the episode stands; where it does not come back, a new episode begins.
    """

    random_state: Any
    observation: Any
    hyde: int
    actions: list[int] = field(default_factory=list)
    total: float = 0.0

    def resume(self, env: Env, space: Space, seed: int) -> "Episode":
        if self.random_state is not None:
            env.unwrapped.np_random.bit_generator.state = self.random_state
        observation, _ = env.reset(seed=seed if self.random_state is None else None)
        for action in self.actions:
            observation, _, terminated, truncated, _ = env.step(action + space.first_action)
            if terminated or truncated:
                break
        newest = read(space, observation)
        if np.array_equal(newest, self.observation):
            return replace(self, observation=newest)
        warnings.warn(
            "the environment did not come back to where the agent was saved; a new episode begins",
            stacklevel=3,
        )
        return begin_episode(env, space, self.hyde)


def begin_episode(env: Env, space: Space, hyde: int, seed: int | None = None) -> Episode:
    """Reset the environment, with the seed where one is given."""
    random_state = env.unwrapped.np_random.bit_generator.state if seed is None else None
    observation, _ = env.reset(seed=seed)
    return Episode(random_state, read(space, observation), hyde)

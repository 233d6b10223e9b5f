"""What an agent with networks makes of a Gymnasium environment: its spaces, observations as arrays,
and the way back into an episode that was under way.
"""

import warnings
from dataclasses import dataclass, field, replace
from typing import Any, Self

import gymnasium as gym
import numpy as np

from jekyllhyde.deep.networks import Space
from jekyllhyde.errors import InputError, require

Env = gym.Env[Any, Any]


def space_of(env: Env) -> Space:
    """What the agent will meet in `env`, or a sentence on why it cannot."""
    observations: Any = env.observation_space
    actions: Any = env.action_space
    require(
        isinstance(actions, gym.spaces.Discrete),
        f"env has the action space {actions}; these agents need a Discrete one",
    )
    require(
        isinstance(observations, (gym.spaces.Discrete, gym.spaces.Box)),
        f"env has the observation space {observations}; it must be Discrete or Box",
    )
    is_finite = isinstance(observations, gym.spaces.Discrete)
    return Space(
        n_states=int(observations.n) if is_finite else None,
        shape=observations.shape,
        n_actions=int(actions.n),
        first_state=int(observations.start) if is_finite else 0,
        first_action=int(actions.start),
    )


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
    given to it.  observation : the newest, as networks take it. `begin` resets the environment,
    with the seed where one is given. `resume` brings a fresh environment to where the episode
    stands; where it does not come back, a new episode begins.
    """

    random_state: Any
    observation: Any
    hyde: int
    actions: list[int] = field(default_factory=list)
    total: float = 0.0

    @classmethod
    def begin(cls, env: Env, space: Space, hyde: int, seed: int | None = None) -> Self:
        random_state = env.unwrapped.np_random.bit_generator.state if seed is None else None
        observation, _ = env.reset(seed=seed)
        return cls(random_state, read(space, observation), hyde)

    def resume(self, env: Env, space: Space, seed: int) -> Self:
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
        return self.begin(env, space, self.hyde)

"""An episode under way in an environment, and the way back into it.

Every reset is seeded by (seed of the agent, environment, number of the episode). So where an
episode stands follows from its number and the actions since its reset: a fresh environment, or one
that was left in an unknown state, comes back there by playing them again. Where an environment is
random beyond its seed, what it shows then differs, and a new episode begins.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jekyllhyde.errors import InputError


@dataclass
class Episode:
    """Its number among the episodes begun, the actions since its reset, counted from 0, the one
    that is chosen for the next step, the return so far, and whether Hyde leads.
    """

    number: int
    next_action: int
    hyde: int
    actions: list[int] = field(default_factory=list)
    total: float = 0.0


def reset_seed(seed: int, environment: int, number: int) -> int:
    """The seed of a reset, below 2^31: some environments take no more."""
    words = np.random.SeedSequence((seed, environment, number)).generate_state(1)
    return int(words[0] >> 1)


def reset(env: Any, seed: int, number: int, environment: int = 0) -> tuple[Any, dict[str, Any]]:
    """The first observation of an episode, and what comes with it."""
    try:
        answer = env.reset(seed=reset_seed(seed, environment, number))
    except TypeError as error:
        if "seed" not in str(error):
            raise
        raise InputError(
            f"{name_of(env)} takes no seed in reset(seed=...); results could not be repeated"
        ) from error
    if isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], dict):
        return answer
    raise InputError(
        f"{name_of(env)} returned {answer!r} from reset; it returns (observation, info)"
    )


def play_again(
    env: Any, seed: int, episode: Episode, as_action: Callable[[int], Any]
) -> tuple[Any, dict[str, Any]] | None:
    """What the environment shows where the episode stands; None where it has ended before."""
    observation, info = reset(env, seed, episode.number)
    for action in episode.actions:
        observation, _, terminated, truncated, info = env.step(as_action(action))
        if terminated or truncated:
            return None
    return observation, info


def take_step(env: Any, action: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
    """What the environment answers to an action, if it is what a step returns."""
    answer = env.step(action)
    if isinstance(answer, tuple) and len(answer) == 5 and isinstance(answer[4], dict):
        return answer
    raise InputError(  # written out only where it is needed: this is called in each step
        f"{name_of(env)} returned {answer!r} from step; it returns (observation, reward, "
        "terminated, truncated, info)"
    )


def check_reward(env: Any, reward: Any, step: int) -> float:
    """The reward of a step as a float, if it is a finite number."""
    try:
        value = float(reward)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise InputError(
            f"{name_of(env)} returned the reward {reward!r} at step {step}; "
            "rewards are finite numbers"
        )
    return value


def name_of(env: Any) -> str:
    """The id of an environment, or the name of its class."""
    return str(env.spec.id) if env.spec is not None else type(env.unwrapped).__name__


def has_time_limit(env: Any) -> bool:
    """Whether an environment says after how many steps it ends an episode."""
    is_told = getattr(env.spec, "max_episode_steps", None) is not None
    return is_told or any(map(env.has_wrapper_attr, ("_max_episode_steps", "horizon")))

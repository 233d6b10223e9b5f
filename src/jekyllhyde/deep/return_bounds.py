"""What a return can be at least and at most, by the rewards that are kept in replay.

    min(r, 0) / (1 - gamma)  <=  v(s)  <=  max(r, 0) / (1 - gamma)

0 is among the rewards, for trajectories may end. Hyde explores where Jekyll would not go, and what
Jekyll's critics make of such places is learned from their own guesses: without bounds it can run
away, and move their values elsewhere with it.
"""

from typing import Any

import jax
import jax.numpy as jnp

from jekyllhyde.deep.learning import Replay

Bounds = tuple[jax.Array, jax.Array]
LEAST_RATE = 1e-6  # in place of 1 - gamma, where gamma is 1


def return_bounds(gamma: Any, *replays: Replay) -> Bounds:
    """The least and the most that a return can be. Places of a replay that are empty hold 0."""
    steps = 1.0 / jnp.maximum(1.0 - gamma, LEAST_RATE)
    rewards = [replay.data.reward for replay in replays]
    least = jnp.min(jnp.stack([jnp.min(r) for r in rewards]), initial=0.0)
    most = jnp.max(jnp.stack([jnp.max(r) for r in rewards]), initial=0.0)
    return least * steps, most * steps

"""Who leads: which personality acts, drawn at the end of every episode for the next (line 10).

scheduled    Hyde with epsilon_t, which falls with the number of steps (the paper)
curious      Hyde with the square root of what he still expects at the start of a trajectory
hyde_only    Hyde always; Jekyll learns from what he sees
handing_over Jekyll begins, and Hyde takes over at a step that is drawn: he explores from where
             Jekyll has gone
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from jekyllhyde.deep.learning import State, decreasing
from jekyllhyde.registry import Choices

LEADERS = Choices("leader")


class Leader(eqx.Module):
    """Who leads. `epsilon` is the probability that Hyde leads the next episode, 1 by default;
    `hyde_next` says whether he acts in the next step, given a `draw` from [0, 1).
    """

    def epsilon(self, state: State, config: Any) -> Any:
        return jnp.ones(())

    def hyde_next(self, state: State, config: Any, draw: jax.Array, ended: jax.Array) -> jax.Array:
        return jnp.where(ended, draw < self.epsilon(state, config), state.hyde_acts)


@LEADERS.register
class Scheduled(Leader):
    """Hyde with epsilon_t, by `schedule` and `epsilon_1`."""

    def epsilon(self, state: State, config: Any) -> Any:
        return decreasing(config, state.t, config.warmup)


@LEADERS.register
class Curious(Leader):
    """Hyde with a power of his value at the start of trajectories, which is at most 1; as scheduled
    where the explorer has no such value.
    """

    power: float = 0.5  # the smaller, the longer he leads

    def epsilon(self, state: State, config: Any) -> Any:
        curiosity = config.explorer.curiosity(state.networks.explorer)
        if curiosity is None:
            return Scheduled().epsilon(state, config)
        return curiosity**self.power


@LEADERS.register
class HydeOnly(Leader):
    """Hyde always."""


@LEADERS.register
class HandingOver(Leader):
    """Jekyll begins an episode, Hyde takes over with probability `chance` in each step."""

    chance: float = 0.02  # probability that Hyde takes over in a step

    def hyde_next(self, state: State, config: Any, draw: jax.Array, ended: jax.Array) -> jax.Array:
        return jnp.where(ended, False, state.hyde_acts) | (draw < self.chance)

"""How long random actions last, where an agent takes one with probability epsilon.

    single       one step; the next one is drawn anew
    persistent   n steps with a probability in proportion to n^-mu, or until the episode ends:
                 epsilon-z-greedy (Dabney et al., 2021)

Most random actions are as short as ever, but some are long enough to lead far away, where single
ones would cancel each other.
"""

from dataclasses import replace
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp

from jekyllhyde.deep.episodes_of_lanes import OfLanes
from jekyllhyde.deep.networks import Space, among, static
from jekyllhyde.errors import check_count
from jekyllhyde.registry import Choices

NOISES = Choices("noise")


class Noise(eqx.Module):
    """How long random actions last. What it remembers is the agent's `state.noise`, nothing by
    default: `init` has it before the first step, and `observe` after a step with `action`, which
    may have `ended` an episode, where the next step is random with probability `epsilon`.

    `share` is the probability of a random action that is left to the logits [A] of a single step;
    `lasting` has the logits where a random action may be under way.
    """

    def init(self, space: Space) -> Any:
        return None

    def observe(
        self, state: Any, key: jax.Array, epsilon: Any, action: jax.Array, ended: jax.Array
    ) -> Any:
        return state

    def share(self, epsilon: Any) -> Any:
        return epsilon

    def lasting(self, state: Any, logits: jax.Array, allowed: jax.Array | None) -> jax.Array:
        return logits


@NOISES.register
class Single(Noise):
    """A step each."""


class PersistentState(OfLanes):
    """Of each lane, how many steps the random action under way has `left` [lanes], 0 where there is
    none, and which one it is, -1 where that is still to be drawn.
    """

    left: jax.Array
    action: jax.Array

    def anew(self) -> Self:
        # one that is still to be drawn belongs to the new episode
        left = jnp.where(self.action[self.lane] < 0, self.left[self.lane], 0)
        return replace(self, left=self.left.at[self.lane].set(left))


@NOISES.register
class Persistent(Noise):
    """As many steps as are drawn from a zeta law, at most to the end of the episode. There are none
    where states are known by an index, unless `everywhere`: a table knows what was tried there.
    """

    mu: float = 2.0  # exponent of the law; the smaller, the longer they last
    most: int = static(1000)  # steps
    everywhere: bool = static(True)  # also where states are known by an index
    lanes: int = static(1)  # environments that take turns; as many as there are

    def __check_init__(self) -> None:
        check_count(self.most, "most of persistent", 1)
        check_count(self.lanes, "lanes of persistent", 1)

    def init(self, space: Space) -> PersistentState | None:
        if space.n_states is not None and not self.everywhere:
            return None
        none = jnp.zeros(self.lanes, jnp.int32)
        return PersistentState(jnp.zeros((), jnp.int32), left=none, action=none)

    def observe(
        self,
        state: PersistentState | None,
        key: jax.Array,
        epsilon: Any,
        action: jax.Array,
        ended: jax.Array,
    ) -> PersistentState | None:
        if state is None:
            return None
        begin, draw = jax.random.uniform(key, (2,))
        left = jnp.where(ended, 0, jnp.maximum(state.left[state.lane] - 1, 0))
        begins = (left == 0) & (begin < epsilon)
        return PersistentState(
            state.lane,
            left=state.left.at[state.lane].set(jnp.where(begins, self.duration(draw), left)),
            action=state.action.at[state.lane].set(jnp.where(begins, -1, action)),
        )

    def duration(self, draw: jax.Array) -> jax.Array:
        """The number of steps that a number from [0, 1) stands for."""
        ends = jnp.cumsum(jnp.exp(-self.mu * jnp.log(jnp.arange(1, self.most + 1))))
        return 1 + jnp.sum(draw * ends[-1] >= ends[:-1]).astype(jnp.int32)

    def share(self, epsilon: Any) -> Any:
        return 0.0

    def lasting(
        self, state: PersistentState | None, logits: jax.Array, allowed: jax.Array | None
    ) -> jax.Array:
        if state is None:
            return logits
        again = jax.nn.one_hot(state.action[state.lane], logits.shape[-1])
        again = again if allowed is None else again * allowed
        # one that is to be drawn, or is not allowed any more, is drawn from all
        random = jnp.where(jnp.any(again > 0), jnp.log(again), 0.0)
        return jnp.where(state.left[state.lane] > 0, random, logits)


def noisy_greedy(q: jax.Array, noise: Any, allowed: jax.Array | None = None) -> jax.Array:
    """Log-probabilities [A] of the greedy action of `q` [A], mixed with the uniform policy in the
    share `noise`, among the actions that are `allowed`.
    """
    n_actions = q.shape[-1]
    greedy = jax.nn.one_hot(jnp.argmax(among(allowed, q), -1), n_actions)
    uniform = noise / n_actions if allowed is None else noise * allowed / jnp.sum(allowed)
    return jnp.log(uniform + (1.0 - noise) * greedy)

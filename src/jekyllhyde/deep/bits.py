"""Counts of bits as a bonus: an action is as new as the rarest thing that is seen.

    n(s, a)        min over the bits i that are set in s of n(i, a)
    bonus(s, a)    n(s, a)^-power
    unknown(s, a)  (1 + n(s, a))^-decay

n(i, a) is how often action a was taken where bit i was set. Of a thousand bits a view of a grid
(MiniGrid) sets some 150, and nearly every view is another one: counted whole, all is new for ever,
and who explores has no reason to go anywhere. Its bits are met again: walls everywhere, an open
door seldom. (Counts in the space of features are Martin et al.'s, 2017, who multiply the bits'
frequencies.)

Numbers count as bits that are set where they are above 0, so that this is for codes and bits.
"""

import equinox as eqx
import jax
import jax.numpy as jnp

from jekyllhyde.deep.bonus import Bonus
from jekyllhyde.deep.encoders import flat
from jekyllhyde.deep.networks import Samples, Space


class BitsState(eqx.Module):
    """How often each action was taken where a bit was set, [bits, A]; of states that are known by
    an index, [S, A].
    """

    n: jax.Array


class Bits(Bonus):
    """Actions that are rarely taken where something rare is seen."""

    power: float = 0.5  # how fast the bonus falls
    decay: float = 2.0  # how fast what is unknown becomes known

    def init(self, key: jax.Array, space: Space) -> BitsState:
        n = space.n_states if space.indexed else space.n_features
        return BitsState(jnp.zeros((n or 1, space.n_actions)))

    def of(self, state: BitsState, samples: Samples) -> tuple[jax.Array, BitsState]:
        n = jnp.take_along_axis(self.count(state, samples.x), samples.action[..., None], -1)[..., 0]
        return jnp.maximum(n, 1.0) ** -self.power, state

    def learn(self, state: BitsState, samples: Samples) -> BitsState:
        return state

    def observe(
        self, state: BitsState, step: Samples, ended: jax.Array | bool = False
    ) -> BitsState:
        x = flat(step.x)
        if jnp.issubdtype(x.dtype, jnp.integer):
            return BitsState(state.n.at[x, step.action].add(1.0))
        return BitsState(state.n.at[:, step.action].add(x > 0))

    def unknown(self, state: BitsState, x: jax.Array) -> jax.Array:
        return (1.0 + self.count(state, x)) ** -self.decay

    def count(self, state: BitsState, x: jax.Array) -> jax.Array:
        """How often [..., A] each action was taken where the rarest bit of x was set."""
        x = flat(x)
        if jnp.issubdtype(x.dtype, jnp.integer):
            return state.n[x]
        rarest = jnp.min(jnp.where((x > 0)[..., None], state.n, jnp.inf), -2)
        return jnp.where(jnp.isfinite(rarest), rarest, 0.0)  # 0 where no bit is set

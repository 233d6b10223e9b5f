"""Returns of several steps, read from a ring of transitions when a batch is drawn.

    R = r_0 + gamma r_1 + ... + gamma^(n-1) r_(n-1)

A transition is followed by the next one of the ring if that starts where it led: so lengths of
episodes, time-outs, and the gaps in Hyde's replay need no marks. Where none follows, or the model
terminated the episode, R has fewer terms. Actions are those of whoever acted: beyond the first step
the return is not corrected for that.
"""

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from jekyllhyde.deep.networks import Transition, where_rows


class Ahead(eqx.Module):
    """What n steps led to: their discounted rewards, where they led, the discount of that, gamma^(n
    - 1) or 0 where the model terminated, and the actions that are allowed there. There are fewer
    steps where no more are known.
    """

    reward: jax.Array
    following: Any
    discount: jax.Array
    allowed_next: Any


def look_ahead(
    data: Transition, position: jax.Array, index: jax.Array, n: int, gamma: Any
) -> Ahead:
    """What `n` steps from the transitions at `index` [N] led to, in a ring whose next one goes to
    `position`.
    """
    capacity = len(data.reward)
    newer = (position - 1 - index) % capacity  # how many there are
    last = jax.tree.map(lambda ring: ring[index], data)
    reward, discount = last.reward, last.discount
    goes_on = jnp.ones(index.shape, bool)
    for k in range(1, n):
        step = jax.tree.map(lambda ring, k=k: ring[(index + k) % capacity], data)
        goes_on &= (k <= newer) & (discount > 0) & _are_same(last.following, step.observation)
        reward += jnp.where(goes_on, gamma**k * step.reward, 0.0)
        discount = jnp.where(goes_on, discount * gamma * step.discount, discount)
        last = jax.tree.map(partial(where_rows, goes_on), step, last)
    return Ahead(reward, last.following, discount, last.allowed_next)


def _are_same(one: Any, other: Any) -> jax.Array:
    # of observations [N, ...]; images are known by their digest and place
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    same = [jnp.all((a == b).reshape(len(a), -1), -1) for a, b in pairs]
    return jnp.all(jnp.stack(same), 0)

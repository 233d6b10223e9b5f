"""Returns of several steps, read from a ring of transitions when a batch is drawn.

    R = r_0 + gamma r_1 + ... + gamma^(n-1) r_(n-1)

A transition is followed by the next one of its lane in the ring if that starts where it led: so
lengths of episodes, time-outs, and the gaps in Hyde's replay need no marks. Where none follows, or
the model terminated the episode, R has fewer terms.

Actions are those of whoever acted, and beyond the first step the return is not corrected for that.
So R may end with the first step that is not `quiet`: news of a reward that is rare come back over
the steps that bring nothing, and where every step brings something, Hyde's rewards are not taken
for what Jekyll would get.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from jekyllhyde.deep.networks import Transition, staying


class Horizon(NamedTuple):
    """How far returns go: `n` steps, beyond those that bring at most a share of `quiet` of the
    largest reward in replay; of the lane's next transition, where `lanes` take turns.
    """

    n: int = 1
    gamma: Any = 1.0
    quiet: Any = 1.0
    lanes: int = 1


SINGLE = Horizon()


class Ahead(eqx.Module):
    """What n steps led to: their discounted rewards, where they led, the discount of that, gamma^(n
    - 1) or 0 where the model terminated, and the actions that are allowed there; `before` the last
    of them, the action that was taken there, and those that were allowed. There are fewer steps
    where no more are known.
    """

    reward: jax.Array
    following: Any
    discount: jax.Array
    allowed_next: Any
    before: Any
    action: jax.Array
    allowed: Any


def look_ahead(data: Transition, position: jax.Array, index: jax.Array, horizon: Horizon) -> Ahead:
    """What the steps from the transitions at `index` [N] led to, in a ring whose next one goes to
    `position`.
    """
    n, gamma, quiet, lanes = horizon
    most = quiet * jnp.max(jnp.abs(data.reward))
    capacity = len(data.reward)
    newer = (position - 1 - index) % capacity  # how many there are
    ahead = jnp.arange(n)[:, None] * lanes
    steps = (index + ahead) % capacity  # [n, N]; those that follow are looked at all at once
    rewards, discounts = _at((data.reward, data.discount), steps)
    is_next = _are_same(_at(data.following, steps[:-1]), _at(data.observation, steps[1:]))
    is_next &= (ahead[1:] <= newer) & (jnp.abs(rewards[:-1]) <= most)
    reward, discount, taken = rewards[0], discounts[0], jnp.zeros_like(index)
    goes_on = jnp.ones(index.shape, bool)
    for k in range(1, n):
        goes_on &= is_next[k - 1] & (discount > 0)
        reward += jnp.where(goes_on, gamma**k * rewards[k], 0.0)
        discount = jnp.where(goes_on, discount * gamma * discounts[k], discount)
        taken += goes_on
    last = (index + taken * lanes) % capacity
    before, allowed = was = _at((data.observation, data.allowed), last)
    after = _at((data.following, data.allowed_next), last)
    led_to, allowed_next = staying(_at(data.cut, last), was, after)
    return Ahead(reward, led_to, discount, allowed_next, before, data.action[last], allowed)


def _at(rings: Any, index: jax.Array) -> Any:
    return jax.tree.map(lambda ring: ring[index], rings)


def _are_same(one: Any, other: Any) -> jax.Array:
    # of observations [n, N, ...]; images are known by their digest and place
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    same = [jnp.all((a == b).reshape(*a.shape[:2], -1), -1) for a, b in pairs]
    return jnp.all(jnp.stack(same), 0)

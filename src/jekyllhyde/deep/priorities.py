"""Prioritized replay (Schaul et al., 2016): what was surprising is learned from more often.

A transition is drawn with a probability in proportion to the size of its last error, plus a tenth
of the mean, so that none is forgotten; a new one counts as the most surprising. One that is drawn k
times as often as it would be uniformly has the weight k^-1/2: half of the bias towards surprises is
taken back.

News travel backwards so: where the value of a state has moved, what led there is wrong, and
learned from again.
"""

import math
from typing import Self

import equinox as eqx
import jax
import jax.numpy as jnp

SHARE = 0.1  # of the mean error, which every transition has
CORRECTION = 0.5  # exponent of the weights


class Priorities(eqx.Module):
    """The last errors [side * side] of the transitions of a replay, by their places, in a square:
    a place is drawn by its row first, and then within the row.

    `empty` is for a replay of some capacity. `draw` has a place for each of the `uniform` numbers
    [N] in [0, 1), among the first `size`, and their weights [N]. `added` makes room for a new
    transition, `learned` notes the errors [N] of those at places [N].
    """

    error: jax.Array

    @classmethod
    def empty(cls, capacity: int) -> Self:
        side = math.isqrt(capacity - 1) + 1
        return cls(jnp.zeros(side * side))

    def draw(self, uniform: jax.Array, size: jax.Array) -> tuple[jax.Array, jax.Array]:
        side, n = math.isqrt(len(self.error)), len(uniform)
        mean = jnp.sum(self.error) / size
        is_there = jnp.arange(len(self.error)) < size
        share = jnp.where(is_there, self.error + SHARE * mean + 1e-30, 0.0).reshape(side, side)
        rows = jnp.sum(share, 1)
        ends = jnp.cumsum(rows)
        goal = (jnp.arange(n) + uniform) / n * ends[-1]
        row = jnp.minimum(jnp.sum(goal[:, None] >= ends, 1), side - 1)
        within = jnp.cumsum(share[row], 1) + (ends - rows)[row][:, None]
        place = row * side + jnp.minimum(jnp.sum(goal[:, None] >= within, 1), side - 1)
        place = jnp.clip(place, 0, size - 1)
        often = share.ravel()[place] * size / ends[-1]
        return place, jnp.maximum(often, 1e-6) ** -CORRECTION

    def added(self, place: jax.Array) -> Self:
        return type(self)(self.error.at[place].set(jnp.maximum(jnp.max(self.error), 1e-3)))

    def learned(self, place: jax.Array, error: jax.Array) -> Self:
        return type(self)(self.error.at[place].set(error))

"""Views: observations that are cells of a grid, each a code (MiniGrid's).

Of the thousand bits of a view some 150 are set, and most of them in other views too. So what a
network learns of one view holds for most others, an explorer's actions differ by less than its
error, and a greedy explorer walks in circles. `Taken` remembers what was done in the episode under
way, by a hash of the view.
"""

from dataclasses import replace
from typing import Any, Self

import jax
import jax.numpy as jnp

from jekyllhyde.deep.episodes_of_lanes import OfLanes
from jekyllhyde.deep.networks import Space
from jekyllhyde.envs.space_parts import is_binary

PLACES = 1024  # of a lane's table; an episode has fewer views as a rule


def shows_codes(space: Space) -> bool:
    """Whether codes or pixels are seen, alone or beside numbers."""
    shapes = [space.shape, *(part.shape for part in space.parts)]
    is_mixed = space.n_numbers < space.n_features or any(len(shape) > 1 for shape in shapes)
    return space.n_states is None and is_mixed


def shows_views(space: Space) -> bool:
    """Whether observations are views."""
    return is_binary(space.parts) and not space.images


def shows_cells(space: Space) -> bool:
    """Whether observations are views of a grid's cells."""
    return shows_views(space) and any(part.kind == "cells" for part in space.parts)


class Taken(OfLanes):
    """How often each action was taken in the episodes under way, [lanes, places, A], and random
    numbers [bits] of the hash.

    `empty` is before the first step. `after` notes a step, which may have `ended` the lane's
    episode; `times` are how often [..., A] actions were taken in views, in the lane's.
    """

    n: jax.Array
    hashes: jax.Array

    @classmethod
    def empty(cls, key: jax.Array, space: Space, lanes: int) -> Self:
        return cls(
            lane=jnp.zeros((), jnp.int32),
            n=jnp.zeros((lanes, PLACES, space.n_actions)),
            hashes=jax.random.bits(key, space.shape),
        )

    def after(self, view: Any, action: Any, ended: Any) -> Self:
        episode = self.n[self.lane].at[self._place(view), action].add(1.0)
        return replace(self, n=self.n.at[self.lane].set(jnp.where(ended, 0.0, episode)))

    def anew(self) -> Self:
        return replace(self, n=self.n.at[self.lane].set(0.0))

    def times(self, view: Any) -> jax.Array:
        return self.n[self.lane, self._place(view)]

    def _place(self, view: Any) -> jax.Array:
        return place_of(view, self.hashes, PLACES)


def place_of(view: Any, hashes: jax.Array, places: int) -> jax.Array:
    """The place of views [..., bits] in a table, by a hash with random numbers [bits]."""
    total = jnp.sum(jnp.where(view > 0, hashes, 0), -1, dtype=jnp.uint32)
    return (total % places).astype(jnp.int32)

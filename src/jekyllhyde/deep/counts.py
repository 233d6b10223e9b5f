"""Counts as a bonus: how often an action was taken in a state, or near it.

    bonus(s, a)    n(s, a)^-power
    unknown(s, a)  (1 + n(s, a))^-decay

States that are known by an index have a table. Vectors are counted by cells: a cell is where a few
random projections of the normalized vector fall on grids of a `width`, and finds its place in a
table by a hash. There are several such tables, each with its own projections and grids, and n is
the mean over them, so that neighbours share a part of their counts.

A projection of n numbers varies by about as much as one of them, for its weights are divided by the
root of n. Without that the cells of long vectors are so many that nothing ever becomes known, and
who explores goes on for ever. Vectors of one or two numbers have as few projections, and with
`finer` cells as many more along each: where a cell is several steps wide, an action becomes known
in it though it was never taken at its far edge.

Where observations are the cells of a grid (MiniGrid), nearly every one is another, and `rarest`
counts what is seen in it instead, as `bits` does. (The default seeks `new_views` there.)
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from jekyllhyde.deep.bits import Bits, BitsState
from jekyllhyde.deep.bonus import BONUSES, Bonus
from jekyllhyde.deep.encoders import flat
from jekyllhyde.deep.networks import Samples, Space, static
from jekyllhyde.deep.views import shows_cells
from jekyllhyde.errors import check_count

MOST_PROJECTIONS = 3
PRIME = 16_777_619  # of the hash of Fowler, Noll and Vo


class CountsState(eqx.Module):
    """How often: [S, A] by index, or [tables, places, A] by cell; then each table has projections
    [tables, width of vectors, projections] and shifts of its grids [tables, projections].
    """

    n: jax.Array
    projections: Any = None
    shifts: Any = None


@BONUSES.register
class Counts(Bonus):
    """Rarely taken actions in rarely visited states."""

    power: float = 0.5  # how fast the bonus falls
    decay: float = 2.0  # how fast what is unknown becomes known
    width: float = 0.5  # of a cell, in standard deviations of a projection
    tables: int = static(4)  # of cells
    places: int = static(8192)  # in a table of cells
    finer: bool = static(False)  # half as wide for each projection fewer than three
    rarest: bool = static(False)  # cells of a grid count by the rarest thing in them

    def __check_init__(self) -> None:
        check_count(self.tables, "tables of counts", 1)
        check_count(self.places, "places of counts", 1)

    def init(self, key: jax.Array, space: Space) -> Any:
        if self.rarest and shows_cells(space):
            return Bits().init(key, space)
        if space.indexed:
            return CountsState(jnp.zeros((space.n_states, space.n_actions)))
        length = space.n_features
        shape = (self.tables, length, min(length, MOST_PROJECTIONS))
        projection_key, shift_key = jax.random.split(key)
        is_number = jnp.arange(length) < space.n_numbers  # codes and pixels come after them
        scale = jnp.where(is_number, max(space.n_numbers, 1) ** -0.5, 1.0)
        return CountsState(
            jnp.zeros((self.tables, self.places, space.n_actions)),
            scale[:, None] * jax.random.normal(projection_key, shape),
            jax.random.uniform(shift_key, (self.tables, shape[-1])),
        )

    def of(self, state: Any, samples: Samples) -> tuple[jax.Array, Any]:
        n = jnp.take_along_axis(self.count(state, samples.x), samples.action[..., None], -1)[..., 0]
        return jnp.maximum(n, 1.0) ** -self.power, state

    def learn(self, state: Any, samples: Samples) -> Any:
        return state

    def observe(self, state: Any, step: Samples, ended: Any = False) -> Any:
        if isinstance(state, BitsState):
            return Bits().observe(state, step)
        place = self._place(state, step.x)
        return eqx.tree_at(lambda s: s.n, state, state.n.at[(*place, step.action)].add(1.0))

    def unknown(self, state: Any, x: Any) -> jax.Array:
        return (1.0 + self.count(state, x)) ** -self.decay

    def count(self, state: Any, x: Any) -> jax.Array:
        """How often [..., A] each action was taken in x, or near it."""
        if isinstance(state, BitsState):
            return Bits().count(state, x)
        n = state.n[self._place(state, x)]
        return n if state.projections is None else jnp.mean(n, -2)

    def _place(self, state: CountsState, x: Any) -> tuple[jax.Array, ...]:
        # where in `n` the states [...] are: an index, or a place [..., tables] in every table
        if state.projections is None:
            return (x,)
        projected = jnp.einsum("...i,tip->...tp", flat(x), state.projections)
        fewer = MOST_PROJECTIONS - projected.shape[-1] if self.finer else 0
        cells = jnp.floor(projected / (self.width * 0.5**fewer) + state.shifts).astype(jnp.int32)
        place = jnp.zeros(cells.shape[:-1], jnp.uint32)
        for i in range(cells.shape[-1]):
            place = (place * jnp.uint32(PRIME)) ^ cells[..., i].astype(jnp.uint32)
        # the low bits of the product know only those of the cells
        place = (place ^ (place >> 15)) * jnp.uint32(0x85EBCA6B)
        return jnp.arange(self.tables), ((place >> 13) % self.places).astype(jnp.int32)

"""What is seen for the first time in an episode as a bonus.

    bonus(s') = 1 where s' was not seen since the episode began, 0 where it was

Where every episode is another world (MiniGrid), nearly every view is new in the agent's whole life,
and there is nothing rare that leads on. Within an episode most views come again: who is paid for
each of them once learns to leave what he has seen, to pass through doors, and not to press what
changes nothing. It does not wear off, for the next world is unknown again. (Raileanu and
Rocktaeschel, 2020, multiply by it; Henaff et al., 2023, compare such bonuses with lifelong ones.)

Views are known by a hash. It is for codes and bits: a number counts as a bit that is set where it
is above 0. A step's bonus depends on its episode, so it is stored with the step.
"""

from dataclasses import replace
from typing import Any, Self

import jax
import jax.numpy as jnp

from jekyllhyde.deep.bonus import Bonus
from jekyllhyde.deep.encoders import flat
from jekyllhyde.deep.episodes_of_lanes import OfLanes
from jekyllhyde.deep.networks import Samples, Space, static
from jekyllhyde.deep.views import place_of
from jekyllhyde.errors import check_count


class NewViewsState(OfLanes):
    """What was seen in the episodes under way [lanes, places], random numbers [bits] of the hash,
    and the bonus of the latest step.
    """

    seen: jax.Array
    hashes: jax.Array
    latest: jax.Array

    def anew(self) -> Self:
        return replace(self, seen=self.seen.at[self.lane].set(False))


class NewViews(Bonus):
    """What was not seen in this episode yet, told exactly."""

    places: int = static(4096)  # of a lane's table; an episode has fewer views as a rule
    lanes: int = static(1)  # environments that take turns; as many as there are

    def __check_init__(self) -> None:
        check_count(self.places, "places of new_views", 1)
        check_count(self.lanes, "lanes of new_views", 1)

    def init(self, key: jax.Array, space: Space) -> NewViewsState:
        return NewViewsState(
            lane=jnp.zeros((), jnp.int32),
            seen=jnp.zeros((self.lanes, self.places), bool),
            hashes=jax.random.bits(key, (1 if space.indexed else space.n_features,)),
            latest=jnp.zeros(()),
        )

    def of(self, state: NewViewsState, samples: Samples) -> tuple[jax.Array, NewViewsState]:
        return samples.novelty, state

    def learn(self, state: NewViewsState, samples: Samples) -> NewViewsState:
        return state

    def observe(self, state: NewViewsState, step: Samples, ended: Any = False) -> NewViewsState:
        here, there = (self._place(state, flat(x)) for x in (step.x, step.x_next))
        seen = state.seen[state.lane].at[here].set(True)
        is_new, seen = ~seen[there], seen.at[there].set(True)
        return replace(
            state,
            seen=state.seen.at[state.lane].set(jnp.where(ended, False, seen)),
            latest=is_new.astype(jnp.float32),
        )

    def kept(self, state: NewViewsState) -> jax.Array:
        return state.latest

    def _place(self, state: NewViewsState, x: jax.Array) -> jax.Array:
        if jnp.issubdtype(x.dtype, jnp.integer):
            return x % self.places
        return place_of(x, state.hashes, self.places)

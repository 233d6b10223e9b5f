"""Who leads: which personality acts, drawn at the end of every episode for the next (line 10).

scheduled    Hyde with epsilon_t, which falls with the number of steps (the paper)
curious      Hyde with the square root of what he still expects at the start of a trajectory
practising   the same, but Jekyll leads half of the episodes while his bring less than the best one
hyde_only    Hyde always; Jekyll learns from what he sees
handing_over Jekyll begins, and Hyde takes over at a step that is drawn: he explores from where
             Jekyll has gone
bandit       whoever's episodes have brought more, by an upper confidence bound
"""

from dataclasses import replace
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp

from jekyllhyde.deep.episodes_of_lanes import OfLanes
from jekyllhyde.deep.learning import State, decreasing
from jekyllhyde.deep.networks import Transition, static
from jekyllhyde.errors import check_count
from jekyllhyde.registry import Choices

LEADERS = Choices("leader")


class Leader(eqx.Module):
    """Who leads. `epsilon` is the probability that Hyde leads the next episode, 1 by default;
    `hyde_next` says whether he acts in the next step, given a `draw` from [0, 1). What it remembers
    is the agent's `state.leader`, nothing by default: `init` has it before the first step, and
    `observe` after one, which may have `ended` an episode.
    """

    def init(self) -> Any:
        return None

    def observe(self, state: State, transition: Transition, ended: jax.Array) -> Any:
        return state.leader

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


class Returns(OfLanes):
    """Of Jekyll and of Hyde, how many episodes [2] they have led, and the sum [2] of what these
    have brought, older ones counting less; the lowest and the highest return so far; and what the
    episodes under way have brought, per lane.

    `after` has them after a step that may have `ended` an episode, where an episode still counts
    for `memory` after one more; `means` [2] is 0 of one who has led none, `span` how far the
    highest is above the lowest.
    """

    episodes: jax.Array
    total: jax.Array
    lowest: jax.Array
    highest: jax.Array
    running: jax.Array

    @classmethod
    def empty(cls, lanes: int) -> Self:
        none = jnp.zeros(2)
        extremes = jnp.float32(jnp.inf), jnp.float32(-jnp.inf)
        return cls(jnp.zeros((), jnp.int32), none, none, *extremes, jnp.zeros(lanes))

    def anew(self) -> Self:
        return replace(self, running=self.running.at[self.lane].set(0.0))

    def after(self, reward: jax.Array, hyde: jax.Array, ended: jax.Array, memory: Any) -> Self:
        brought = self.running[self.lane] + reward
        leader = jax.nn.one_hot(hyde.astype(jnp.int32), 2)
        return type(self)(
            self.lane,
            episodes=jnp.where(ended, memory * self.episodes + leader, self.episodes),
            total=jnp.where(ended, memory * self.total + leader * brought, self.total),
            lowest=jnp.where(ended, jnp.minimum(self.lowest, brought), self.lowest),
            highest=jnp.where(ended, jnp.maximum(self.highest, brought), self.highest),
            running=self.running.at[self.lane].set(jnp.where(ended, 0.0, brought)),
        )

    @property
    def means(self) -> jax.Array:
        return self.total / jnp.maximum(self.episodes, 1e-6)

    @property
    def span(self) -> jax.Array:
        # returns that differ by rounding alone are equal
        least = 1e-4 * jnp.maximum(jnp.abs(self.lowest), jnp.abs(self.highest)) + 1e-8
        return jnp.maximum(self.highest - self.lowest, least)


class OfReturns(Leader):
    """Who leads depends on what the episodes of both have brought."""

    memory: eqx.AbstractVar[float]
    lanes: eqx.AbstractVar[int]

    def __check_init__(self) -> None:
        check_count(self.lanes, f"lanes of {type(self).__name__.lower()}", 1)

    def init(self) -> Returns:
        return Returns.empty(self.lanes)

    def observe(self, state: State, transition: Transition, ended: jax.Array) -> Returns:
        known: Returns = state.leader
        return known.after(transition.reward, state.hyde_acts, ended, self.memory)


@LEADERS.register
class Practising(OfReturns):
    """As curious, but Jekyll leads some of the episodes while his bring less than the best one: he
    has to learn from where his own actions lead to find what Hyde has met.
    """

    share: float = 0.5  # of the episodes, which Jekyll leads at least
    enough: float = 0.9  # of the way from the lowest to the highest return
    memory: float = 0.9  # what an episode still counts for after one more
    lanes: int = static(1)  # environments that take turns; as many as there are

    def epsilon(self, state: State, config: Any) -> Any:
        known: Returns = state.leader
        enough = known.lowest + self.enough * known.span
        has_more = (known.episodes[0] == 0) | (known.means[0] < enough)
        differ = known.highest > known.lowest
        most = jnp.where(has_more & differ, 1.0 - self.share, 1.0)
        return jnp.minimum(Curious().epsilon(state, config), most)


@LEADERS.register
class Bandit(OfReturns):
    """Whoever's episodes have brought more, or may yet; older episodes count less."""

    memory: float = 0.98  # what an episode still counts for after one more
    width: float = 1.0  # of the confidence bound; the larger, the more often the other one leads
    lanes: int = static(1)  # environments that take turns; as many as there are

    def epsilon(self, state: State, config: Any) -> Any:
        jekyll, hyde = self.bounds(state.leader)
        return jnp.where(jekyll == hyde, 0.5, (hyde > jekyll).astype(jnp.float32))

    def bounds(self, known: Returns) -> jax.Array:
        """What Jekyll's and Hyde's next episodes may bring [2], from 0 to 1 and their doubt;
        infinite for one who has led none.
        """
        n = jnp.maximum(known.episodes, 1e-6)
        doubt = self.width * jnp.sqrt(jnp.log1p(jnp.sum(n)) / n)
        bound = (known.means - known.lowest) / known.span + doubt
        return jnp.where(known.episodes > 0, bound, jnp.inf)

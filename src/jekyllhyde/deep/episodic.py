"""What is new in this episode as a bonus: elliptical, E3B (Henaff et al., 2022).

    bonus(s') = ridge phi(s')^T C^-1 phi(s'),    C = ridge 1 + sum of phi phi^T over the episode

The sum is over all that was seen before s' since the episode began, and of unit vectors phi: the
bonus is 1 where nothing like s' was seen, and ridge / (n + ridge) where s' itself was, n times. It
begins anew with every episode, so that it does not wear off where every episode is another world,
and lasts as long as there are worlds. (E3B leaves out the factor `ridge`.)

phi are random Fourier features of what networks are given (Rahimi and Recht, 2007): cosines of
random projections, alike for states that are nearer to each other than `width`. E3B learns its
features, so that they leave out what actions cannot change; these do not.

A step's bonus depends on its episode, so it is stored with the step.
"""

from dataclasses import replace
from typing import Any, Self

import jax
import jax.numpy as jnp

from jekyllhyde.deep.bonus import SCALE_RATE, Bonus
from jekyllhyde.deep.encoders import flat
from jekyllhyde.deep.episodes_of_lanes import OfLanes
from jekyllhyde.deep.networks import Samples, Space, blend, mean, static
from jekyllhyde.errors import check_count


class EpisodicState(OfLanes):
    """Of the features, projections [n, F] (rows of states that are known by an index) and phases
    [F]; of each lane C^-1 [lanes, F, F] and whether its next step `begins` an episode; the bonus of
    the latest step, and the running mean.
    """

    projections: jax.Array
    phases: jax.Array
    inverse: jax.Array
    begins: jax.Array
    latest: jax.Array
    scale: jax.Array

    def anew(self) -> Self:
        return replace(self, begins=self.begins.at[self.lane].set(True))


class Episodic(Bonus):
    """What was not seen in this episode yet (E3B)."""

    ridge: float = 0.1  # the less, the less something is worth a second time
    width: float = 0.5  # of what counts as alike, in standard deviations of the observations
    features: int = static(128)  # random ones; as many different things are told apart
    lanes: int = static(1)  # environments that take turns; as many as there are
    normalize: bool = static(False)  # divided by its running mean

    def __check_init__(self) -> None:
        check_count(self.features, "features of episodic", 1)
        check_count(self.lanes, "lanes of episodic", 1)

    def init(self, key: jax.Array, space: Space) -> EpisodicState:
        projection_key, phase_key = jax.random.split(key)
        n, side = (space.indexed and space.n_states) or space.n_features, self.features
        return EpisodicState(
            lane=jnp.zeros((), jnp.int32),
            projections=jax.random.normal(projection_key, (n, side)),
            phases=jax.random.uniform(phase_key, (side,), maxval=2.0 * jnp.pi),
            inverse=jnp.zeros((self.lanes, side, side)),
            begins=jnp.ones(self.lanes, bool),
            latest=jnp.zeros(()),
            scale=jnp.ones(()),
        )

    def of(self, state: EpisodicState, samples: Samples) -> tuple[jax.Array, EpisodicState]:
        novelty = samples.novelty
        if not self.normalize:
            return novelty, state
        scale = blend(state.scale, mean(novelty, samples.weight), SCALE_RATE)
        return novelty / scale, replace(state, scale=scale)

    def learn(self, state: EpisodicState, samples: Samples) -> EpisodicState:
        return state

    def observe(self, state: EpisodicState, step: Samples, ended: Any = False) -> EpisodicState:
        lane = state.lane
        empty = jnp.eye(self.features) / self.ridge
        begun, _ = _after(empty, self.phi(state, step.x))
        inverse = jnp.where(state.begins[lane], begun, state.inverse[lane])
        inverse, form = _after(inverse, self.phi(state, step.x_next))
        return replace(
            state,
            inverse=state.inverse.at[lane].set(inverse),
            begins=state.begins.at[lane].set(ended),
            latest=jnp.clip(self.ridge * form, 0.0, 1.0),
        )

    def kept(self, state: EpisodicState) -> jax.Array:
        return state.latest

    def phi(self, state: EpisodicState, x: Any) -> jax.Array:
        """The features [F] of what networks are given, of length 1."""
        is_index = jnp.issubdtype(jnp.asarray(flat(x)).dtype, jnp.integer)
        projected = state.projections[x] if is_index else flat(x) @ state.projections
        wave = jnp.cos(projected / self.width + state.phases)
        return wave / jnp.maximum(jnp.linalg.norm(wave), 1e-6)


def _after(inverse: jax.Array, phi: jax.Array) -> tuple[jax.Array, jax.Array]:
    # C^-1 after one more phi (Sherman and Morrison), and phi^T C^-1 phi before it.
    moved = inverse @ phi
    form = phi @ moved
    return inverse - jnp.outer(moved, moved) / (1.0 + form), form

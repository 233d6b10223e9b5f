"""Random network distillation: novelty as the error of a network that learns to predict another,
random one.

    bonus(s') = |predictor(s') - target(s')|^2

The error is large where the predictor has rarely been trained. With `per_action` there is one pair
of networks per action, and the bonus is half the error of the action's pair in s (`published`).
"""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from jekyllhyde.deep.bonus import BONUSES, Bonus
from jekyllhyde.deep.networks import Learner, Network, Space, blend, make_network, mean, static
from jekyllhyde.deep.replay import Samples

WIDTH = 20
SCALE_RATE = 0.01  # of the running mean


class RNDState(eqx.Module):
    """A random target network and the predictor that chases it, one pair or one per action (then
    their leaves have a first axis of A); `scale` is the bonus's running mean.
    """

    target: Network
    predictor: Learner
    scale: Array


@BONUSES.register
class RND(Bonus):
    """The error of a network that learns to predict a random one."""

    eta: float = 3e-3  # step of the predictor
    clip: float = 0.7  # largest norm of its gradient
    adam_eps: float = 1e-4  # Adam's epsilon
    per_action: bool = static(False)  # of (s, a), or of s'
    deep_target: bool = static(False)  # two hidden layers, or one
    normalize: bool = static(False)  # divided by its running mean

    def init(self, key: Array, space: Space) -> RNDState:
        """Predictor 20-20-20; the target has one hidden layer less unless `deep_target`."""
        shallow, deep = (space.width, WIDTH, WIDTH), (space.width, WIDTH, WIDTH, WIDTH)

        def pair(k: Array) -> tuple[Network, Network]:
            target_key, predictor_key = jax.random.split(k)
            sizes = deep if self.deep_target else shallow
            target = make_network(target_key, sizes, space.n_embedded)
            return target, make_network(predictor_key, deep, space.n_embedded)

        target, predictor = (
            jax.vmap(pair)(jax.random.split(key, space.n_actions)) if self.per_action else pair(key)
        )
        return RNDState(target, Learner.of(predictor), jnp.ones(()))

    def of(self, state: RNDState, samples: Samples) -> tuple[Array, RNDState]:
        """The error, or half of it per action, in units of its running mean with `normalize`."""
        novelty = self._error(state.predictor.network, state, samples)
        if self.per_action:
            novelty = 0.5 * novelty
        if not self.normalize:
            return novelty, state
        scale = blend(state.scale, mean(novelty, samples.weight), SCALE_RATE)
        return novelty / scale, replace(state, scale=scale)

    def learn(self, state: RNDState, samples: Samples) -> RNDState:
        """One step of the predictor towards the target."""
        gradient = jax.grad(lambda p: mean(self._error(p, state, samples), samples.weight))(
            state.predictor.network
        )
        predictor = state.predictor.descend(gradient, self.eta, self.clip, self.adam_eps)
        return replace(state, predictor=predictor)

    def _error(self, predictor: Network, state: RNDState, samples: Samples) -> Array:
        if not self.per_action:
            return jnp.sum((predictor(samples.x_next) - state.target(samples.x_next)) ** 2, axis=-1)
        difference = jax.vmap(lambda p, t: p(samples.x) - t(samples.x))(predictor, state.target)
        rows = jnp.arange(len(samples.action))  # of [A, N, 20]
        return jnp.sum(difference[samples.action, rows] ** 2, axis=-1)

"""Exploration bonuses: what is new, as a number, for an agent to seek.

A bonus is a record, a subclass of `Bonus`, whose fields are its settings: numbers, and whatever
changes the code as `eqx.field(static=True)`. What it has learned is a state of its own, any pytree.
Agents take one by name, "rnd" or "rnd(eta=0.001)", or of the user's own, "file.py:Mine".

The paper's is random network distillation: novelty as the error of a network that learns to predict
another, random one.

    bonus(s') = |predictor(s') - target(s')|^2

The error is large where the predictor has rarely been trained. With `per_action` there is one pair
of networks per action, and the bonus is half the error of the action's pair in s (`published`).
"""

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from jekyllhyde.deep.learner import Learner, cut
from jekyllhyde.deep.networks import Network, Samples, Space, Transition, blend, mean, static
from jekyllhyde.registry import Choices

BONUSES = Choices("bonus")
WIDTH = 20
SCALE_RATE = 0.01  # of the running mean


class Bonus(eqx.Module):
    """What a bonus has to say."""

    @abstractmethod
    def init(self, key: jax.Array, space: Space) -> Any:
        """Its state before the first step."""

    @abstractmethod
    def of(self, state: Any, samples: Samples) -> tuple[jax.Array, Any]:
        """The bonus [N] of a batch, and the state: a running scale moves on with each batch."""

    @abstractmethod
    def learn(self, state: Any, samples: Samples) -> Any:
        """The state after the batch has been seen; samples with `weight` 0 do not count."""

    def observe(self, state: Any, step: Samples, ended: Any = False) -> Any:
        """The state after one step of the agent (not a batch), which may have `ended` an episode;
        nothing by default.
        """
        return state

    def kept(self, state: Any) -> Any:
        """What is stored with the step that was observed last, and comes back in a batch as its
        `novelty`; nothing by default.
        """
        return None

    def unknown(self, state: Any, x: Any) -> Any:
        """How unknown each action [..., A] is in x, from 0 to 1; nothing is by default."""
        return 0.0


def noted(transition: Transition, bonus: Bonus, state: Any) -> Transition:
    """A transition with what the bonus stores with it; `state` is None where there is no bonus."""
    return transition if state is None else replace(transition, novelty=bonus.kept(state))


class RNDState(eqx.Module):
    """A random target network and the predictor that chases it, one pair or one per action (then
    their leaves have a first axis of A); `scale` is the bonus's running mean.
    """

    target: Network
    predictor: Learner
    scale: jax.Array


@BONUSES.register
class RND(Bonus):
    """The error of a network that learns to predict a random one."""

    eta: float = 3e-3  # step of the predictor
    clip: float = 0.7  # largest norm of its gradient
    adam_eps: float = 1e-4  # Adam's epsilon
    per_action: bool = static(False)  # of (s, a), or of s'
    deep_target: bool = static(False)  # two hidden layers, or one
    normalize: bool = static(False)  # divided by its running mean
    xavier: bool = static(True)  # first weights; else they and the biases are within 1/sqrt(fan in)
    # each predictor has the mean loss of its own samples, and its own largest norm
    apart: bool = static(False)

    def init(self, key: jax.Array, space: Space) -> RNDState:
        predictor_sizes = (WIDTH, WIDTH, WIDTH)
        sizes = (predictor_sizes if self.deep_target else predictor_sizes[:-1], predictor_sizes)

        def pair(k: jax.Array) -> list[Network]:
            return [
                space.perceptron(one, layers, self.xavier)
                for one, layers in zip(jax.random.split(k), sizes, strict=True)
            ]

        target, predictor = (
            jax.vmap(pair)(jax.random.split(key, space.n_actions)) if self.per_action else pair(key)
        )
        return RNDState(target, Learner.of(predictor), jnp.ones(()))

    def of(self, state: RNDState, samples: Samples) -> tuple[jax.Array, RNDState]:
        error = self._error(state.predictor.network, state, samples)
        novelty = 0.5 * error if self.per_action else error
        if not self.normalize:
            return novelty, state
        scale = blend(state.scale, mean(novelty, samples.weight), SCALE_RATE)
        return novelty / scale, replace(state, scale=scale)

    def learn(self, state: RNDState, samples: Samples) -> RNDState:
        def loss(predictor: Network) -> jax.Array:
            error = self._error(predictor, state, samples)
            if not self.apart:
                return mean(error, samples.weight)
            weight = samples.weight[:, None]
            if self.per_action:
                weight = weight * jax.nn.one_hot(samples.action, len(state.target.biases[0]))
            return jnp.sum(jax.vmap(mean, (None, 1))(error / WIDTH, weight))

        gradient, clip = jax.grad(loss)(state.predictor.network), self.clip
        if self.apart and self.per_action:
            gradient, clip = jax.vmap(lambda own: cut(own, self.clip))(gradient), jnp.inf
        predictor = state.predictor.descend(gradient, self.eta, clip, self.adam_eps)
        return replace(state, predictor=predictor)

    def _error(self, predictor: Network, state: RNDState, samples: Samples) -> jax.Array:
        if not self.per_action:
            return jnp.sum((predictor(samples.x_next) - state.target(samples.x_next)) ** 2, axis=-1)
        difference = jax.vmap(lambda p, t: p(samples.x) - t(samples.x))(predictor, state.target)
        # of [A, N, 20] what belongs to the actions taken
        return jnp.sum(difference[samples.action, jnp.arange(len(samples.action))] ** 2, axis=-1)

"""The disagreement of an ensemble as a bonus (Pathak et al., 2019).

    bonus(s, a) = mean over features of the variance over members of f_i(s, a)

Each member f_i learns to predict a few random features of s' from s and a. They begin as different
networks and come to agree where they have seen enough: on the mean of what follows, so that chance,
unlike novelty, does not draw an explorer for ever.
"""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp

from jekyllhyde.deep.bonus import SCALE_RATE, Bonus
from jekyllhyde.deep.learner import Learner
from jekyllhyde.deep.networks import Network, Samples, Space, blend, mean, static
from jekyllhyde.errors import check_count

FEATURES = 8


class DisagreementState(eqx.Module):
    """The random features of s', the members (first axis of all leaves), and the running mean."""

    features: Network
    members: Learner
    scale: jax.Array


class Disagreement(Bonus):
    """Where networks that learn to predict what follows do not agree."""

    eta: float = 1e-3  # step of the members
    clip: float = 5.0  # largest norm of the gradient of all members
    adam_eps: float = 1e-5  # Adam's epsilon
    members: int = static(5)  # networks that predict
    hidden: tuple[int, ...] = static((32,))  # widths of their hidden layers
    normalize: bool = static(True)  # divided by its running mean

    def __check_init__(self) -> None:
        check_count(self.members, "members of disagreement", 2)

    def init(self, key: jax.Array, space: Space) -> DisagreementState:
        features_key, *keys = jax.random.split(key, 1 + self.members)
        sizes = (*self.hidden, space.n_actions * FEATURES)
        members = jax.vmap(lambda k: space.perceptron(k, sizes))(jnp.stack(keys))
        features = space.perceptron(features_key, (32, FEATURES))
        return DisagreementState(features, Learner.of(members), jnp.ones(()))

    def of(self, state: DisagreementState, samples: Samples) -> tuple[jax.Array, DisagreementState]:
        novelty = jnp.mean(jnp.var(self._predicted(state.members.network, samples), 0), -1)
        if not self.normalize:
            return novelty, state
        scale = blend(state.scale, mean(novelty, samples.weight), SCALE_RATE)
        return novelty / scale, replace(state, scale=scale)

    def learn(self, state: DisagreementState, samples: Samples) -> DisagreementState:
        goal = state.features(samples.x_next)

        def loss(members: Network) -> jax.Array:
            error = jnp.sum((self._predicted(members, samples) - goal) ** 2, (0, -1))
            return mean(error, samples.weight)

        gradient = jax.grad(loss)(state.members.network)
        members = state.members.descend(gradient, self.eta, self.clip, self.adam_eps)
        return replace(state, members=members)

    def _predicted(self, members: Network, samples: Samples) -> jax.Array:
        # the features [members, N, F] that are expected after the actions taken
        outputs = jax.vmap(lambda network: network(samples.x))(members)
        of_actions = outputs.reshape(*outputs.shape[:-1], -1, FEATURES)
        return of_actions[:, jnp.arange(len(samples.action)), samples.action]

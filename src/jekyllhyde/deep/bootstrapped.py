"""Bootstrapped DQN with random priors (Osband et al., 2016 and 2018): doubt as several opinions.

    q_k(s,a) = f_k(s,a) + p_k(s,a)
    q_k(s,a)  <-  r + gamma q_k,target(s', argmax q_k(s', .))

Each of the K heads is a network f_k of its own that learns beside a random one p_k that does not: a
prior, which is all there is where nothing was seen. Every transition belongs to a head with
probability `share`, once and for all, and heads learn from their own alone. In every episode a head
that is drawn at its beginning acts, greedily; a head that takes the unknown for good goes there,
for as long as it does. The policy that is evaluated is greedy in the mean of all heads.
"""

from dataclasses import replace
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp

from jekyllhyde.deep import ddqn
from jekyllhyde.deep.critics import Critic
from jekyllhyde.deep.episodes_of_lanes import OfLanes
from jekyllhyde.deep.learning import Settings, State, update_from_replay
from jekyllhyde.deep.networks import Network, Samples, Space, Transition, encode, static
from jekyllhyde.deep.noise import noisy_greedy


class Config(Settings):
    """Settings of bootstrapped DQN."""

    prior_scale: float = 3.0  # of the random networks beside the learned ones
    share: float = 0.5  # probability that a transition belongs to a head
    bonus_weight: float = 1.0  # weight of the bonus in the reward
    with_bonus: bool = static(False)  # add the bonus to the reward
    heads: int = static(10)  # networks that learn
    n_steps: int = static(1)  # of the returns that q learns from
    batch: int = static(128)  # transitions per update


# the paper has no such agent; its configurations differ in how states are seen
CONFIGS = {
    **dict.fromkeys(("published", "released", "paper", "recommended_0_3"), Config()),
    "recommended": Config(one_hot=True),
}


class WithPrior(eqx.Module):
    """A network that learns, plus a random one that stays as it is."""

    learned: Network
    prior: Network

    @classmethod
    def of(cls, key: jax.Array, config: Config, space: Space) -> Self:
        learned_key, prior_key = jax.random.split(key)
        # with biases, for without them all priors are 0 where what is seen is
        prior = space.network(prior_key, config.hidden, xavier=False)
        weights, biases = (
            (*layers[:-1], config.prior_scale * layers[-1])
            for layers in (prior.weights, prior.biases)
        )
        prior = replace(prior, weights=weights, biases=biases)
        return cls(space.network(learned_key, config.hidden), prior)

    def __call__(self, x: Any) -> jax.Array:
        return self.learned(x) + jax.lax.stop_gradient(self.prior(x))


class Ensemble(eqx.Module):
    """The heads, first axis of all leaves, and the `seed` of what belongs to them. Called, it has
    the mean of their values, `each` the values of each, and `head` is one of them. `double_dqn` and
    `learn` are those of a critic, for goals [K, N].
    """

    critics: Critic
    seed: jax.Array

    @classmethod
    def of(cls, key: jax.Array, config: Config, space: Space) -> Self:
        key, seed_key = jax.random.split(key)
        keys = jax.random.split(key, config.heads)
        critics = jax.vmap(lambda k: Critic.of(WithPrior.of(k, config, space)))(keys)
        return cls(critics, jax.random.randint(seed_key, (), 0, 2**31 - 1))

    def __call__(self, x: Any) -> jax.Array:
        return jnp.mean(self.each(x), 0)

    def each(self, x: Any) -> jax.Array:
        return jax.vmap(lambda critic: critic(x))(self.critics)

    def head(self, k: jax.Array) -> Critic:
        critic: Critic = jax.tree.map(lambda leaf: leaf[k], self.critics)
        return critic

    def double_dqn(self, samples: Samples, reward: jax.Array, discount: Any) -> jax.Array:
        return jax.vmap(lambda critic: critic.double_dqn(samples, reward, discount))(self.critics)

    def learn(self, samples: Samples, goal: jax.Array, eta: Any, tau: Any, config: Config) -> Self:
        def learned(critic: Critic, own_goal: jax.Array, belongs: jax.Array) -> Critic:
            own = replace(samples, weight=samples.weight * belongs)
            return critic.learn(own, own_goal, eta, tau, config)

        belongs = self.belonging(samples.place, config)
        return replace(self, critics=jax.vmap(learned)(self.critics, goal, belongs))

    def belonging(self, place: jax.Array, config: Config) -> jax.Array:
        """Whether what lies in places [N] of the replay belongs to each head [K, N]."""
        keys = jax.vmap(jax.random.fold_in, (None, 0))(jax.random.key(self.seed), place)
        draws = jax.vmap(lambda key: jax.random.uniform(key, (config.heads,)), out_axes=1)(keys)
        return draws < config.share


class Acting(OfLanes):
    """Which head acts in the episode of each lane [lanes]."""

    head: jax.Array


def init(key: jax.Array, config: Config, space: Space) -> State:
    """An agent before its first step."""
    state = ddqn.begin(key, config, space, Ensemble.of)
    drawn = _draw(jax.random.fold_in(key, 4), config, (config.lanes,))  # 0 to 3 are taken
    return replace(state, leader=Acting(jnp.zeros((), jnp.int32), drawn))


def act(
    state: State, config: Config, observation: Any, allowed: jax.Array | None = None
) -> tuple[jax.Array, jax.Array]:
    """Greedy in the values of the head that acts."""
    head = state.networks.q.head(state.leader.head[state.leader.lane])
    q = head(encode(state.networks.features, observation))
    return state.draw_action(noisy_greedy(q, 0.0, allowed), allowed)


def update(state: State, config: Config, transition: Transition, ended: jax.Array) -> State:
    """Store a transition, learn from one batch, once there are enough, and draw another head where
    the episode `ended`.
    """
    after = update_from_replay(
        ddqn.learn,
        state,
        config,
        transition,
        ended,
        lambda after: after.everyone.size >= config.batch,
    )
    acting: Acting = state.leader
    drawn = _draw(jax.random.fold_in(state.key, 2), config, ())  # 0 and 1 are its halves
    head = jnp.where(ended, drawn, acting.head[acting.lane])
    return replace(after, leader=replace(acting, head=acting.head.at[acting.lane].set(head)))


def _draw(key: jax.Array, config: Config, shape: tuple[int, ...]) -> jax.Array:
    return jax.random.randint(key, shape, 0, config.heads)

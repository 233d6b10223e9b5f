"""Double DQN, alone or with RND's bonus added to the reward: the paper's baselines DDQN and
DDQN+RND.

    q(s,a)  <-  r + weight * bonus + gamma q_target(s', argmax q(s', .))

The behaviour is greedy, but for a uniform action with probability epsilon_e, which falls with the
number of episodes e.
"""

from __future__ import annotations

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from jekyllhyde.deep import replay
from jekyllhyde.deep.networks import (
    EMBEDDING,
    Learner,
    Network,
    Space,
    blend,
    encode,
    fixed_embedding,
    make_network,
    mean,
    noisy_greedy,
    pick,
)
from jekyllhyde.deep.replay import Replay, Transition
from jekyllhyde.deep.rnd import RND, bonus, make_rnd, train_rnd


class Config(eqx.Module):
    """Settings of one agent; the numbers of the first group may differ between runs of one compiled
    call.
    """

    gamma: float = 0.9  # discount
    eta_c: float = 1e-2  # step of q
    eta_rnd: float = 3e-3  # step of RND's predictor
    epsilon_1: float = 10.0  # scale of epsilon_e, in episodes
    bonus_weight: float = 1.0
    tau: float = 0.01  # rate of the target network
    clip: float = 5.0  # largest gradient norm
    clip_rnd: float = 0.7  # the same for RND
    adam_eps: float = 1e-4

    rnd: bool = eqx.field(static=True, default=False)
    schedule: str = eqx.field(static=True, default="published")  # of epsilon_e
    timeout_terminates: bool = eqx.field(static=True, default=False)
    trained_embedding: bool = eqx.field(static=True, default=False)
    bonus_per_action: bool = eqx.field(static=True, default=False)
    deep_target: bool = eqx.field(static=True, default=False)
    batch: int = eqx.field(static=True, default=256)
    capacity: int = eqx.field(static=True, default=40_000)
    hidden: tuple[int, ...] = eqx.field(static=True, default=(30, 10))


PAPER = Config(schedule="paper", epsilon_1=100.0, clip=jnp.inf, clip_rnd=jnp.inf, adam_eps=1e-8)
PUBLISHED = Config(
    trained_embedding=True, timeout_terminates=True, bonus_per_action=True, deep_target=True
)
RECOMMENDED = Config(
    eta_c=1e-3, hidden=(64, 64)
)  # as wide as Jekyll; 30-10 with a step of 0.01 learns little on Four Rooms
CONFIGS = {"published": PUBLISHED, "paper": PAPER, "recommended": RECOMMENDED}
LEVEL_2 = {
    "published": {"epsilon_1": 100.0},
    "recommended": {"epsilon_1": 100.0},
}  # what the paper changes on level 2


class Networks(eqx.Module):
    """Everything that is learned, and the fixed table that turns indices into vectors (None where
    networks have their own).
    """

    features: Array | None
    q: Learner
    target: Network
    rnd: RND | None


class State(eqx.Module):
    """All of an agent: resuming from it is exact."""

    networks: Networks
    everyone: Replay
    key: Array
    t: Array  # environment steps
    episodes: Array

    @property
    def personality(self) -> Array:
        """Who acts: there is one personality, 0."""
        return jnp.zeros_like(self.t)


def init(key: Array, config: Config, space: Space) -> State:
    """An agent before its first step."""
    key, features_key, q_key, rnd_key = jax.random.split(key, 4)
    own = space.n_states if config.trained_embedding else None
    size = space.size if space.n_states is None else EMBEDDING
    q = make_network(q_key, (size, *config.hidden, space.n_actions), own, xavier=False)
    n_pairs = space.n_actions if config.bonus_per_action else None
    networks = Networks(
        features=None if config.trained_embedding else fixed_embedding(features_key, space),
        q=Learner.of(q),
        target=q,
        rnd=make_rnd(rnd_key, size, own, n_pairs, config.deep_target) if config.rnd else None,
    )
    zero = jnp.zeros((), jnp.int32)
    return State(networks, replay.empty(config.capacity, space.example()), key, zero, zero)


def epsilon(config: Config, episodes: Array) -> Array:
    """The probability of a uniform action after `episodes` episodes."""
    if config.schedule == "paper":
        return jnp.minimum(1.0, config.epsilon_1 / jnp.maximum(episodes, 1))
    return 1.0 / (1.0 + episodes / config.epsilon_1)


def act(state: State, config: Config, observation: Array) -> tuple[Array, State]:
    """Greedy, or uniform with probability epsilon_e."""
    key, draw_key = jax.random.split(state.key)
    q = state.networks.q.network(encode(state.networks.features, observation))
    logits = noisy_greedy(q, epsilon(config, state.episodes))
    return jax.random.categorical(draw_key, logits).astype(jnp.int32), replace(state, key=key)


def update(state: State, config: Config, transition: Transition, ended: Array) -> State:
    """Store a transition and learn from one batch, once there are enough."""
    key, batch_key = jax.random.split(state.key)
    if config.timeout_terminates:
        transition = replace(transition, discount=jnp.where(ended, 0.0, transition.discount))
    everyone = replay.add(state.everyone, transition)
    batch, weight = replay.sample(everyone, jax.random.uniform(batch_key, (config.batch,)))
    learned = learn(state.networks, config, batch, weight)
    ready = everyone.size >= config.batch
    networks = jax.tree.map(lambda new, old: jnp.where(ready, new, old), learned, state.networks)
    return State(networks, everyone, key, state.t + 1, state.episodes + ended)


def learn(networks: Networks, config: Config, batch: Transition, weight: Array) -> Networks:
    """One update of q, and of RND where it is used."""
    x, following = (
        encode(networks.features, batch.observation),
        encode(networks.features, batch.following),
    )
    reward, rnd = batch.reward, networks.rnd
    if rnd is not None:
        seen = x if config.bonus_per_action else following
        half = 0.5 if config.bonus_per_action else 1.0  # `published` takes half the squared error
        reward = reward + config.bonus_weight * half * bonus(rnd, seen, batch.action)
        rnd = train_rnd(
            rnd, seen, batch.action, weight, config.eta_rnd, config.clip_rnd, config.adam_eps
        )
    greedy = jnp.argmax(networks.q.network(following), -1)
    target = reward + config.gamma * batch.discount * pick(networks.target(following), greedy)
    gradient = jax.grad(lambda n: mean((pick(n(x), batch.action) - target) ** 2, weight))(
        networks.q.network
    )
    q = networks.q.descend(gradient, config.eta_c, config.clip, config.adam_eps)
    return replace(networks, q=q, target=blend(networks.target, q.network, config.tau), rnd=rnd)


def tables(networks: Networks, config: Config, observations: Array) -> tuple[Array, Array]:
    """The greedy policy pi [S, A] and q [S, A] in all `observations`."""
    q = networks.q.network(encode(networks.features, observations))
    return jax.nn.one_hot(jnp.argmax(q, -1), q.shape[-1]), q

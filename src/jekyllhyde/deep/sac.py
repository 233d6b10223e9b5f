"""Discrete soft actor-critic, alone or with a critic of RND's bonus: the paper's baselines SAC and
SAC+RND.

critics      q(s,a)  <-  r + gamma sum_a' pi(a'|s') (min q_target(s',a') - alpha log pi(a'|s'))        (two, the smaller counts)
actor        minimizes  sum_a pi(a|s) (alpha log pi(a|s) - min q(s,a) - weight * q_bonus(s,a))
temperature  alpha rises while the policy's entropy is below 0.98 log A
bonus        q_bonus(s,a)  <-  bonus + gamma sum_a' pi(a'|s') q_bonus(s',a')                           (with RND only)
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
    pick,
)
from jekyllhyde.deep.replay import Replay, Transition
from jekyllhyde.deep.rnd import RND, bonus, make_rnd, train_rnd

ENTROPY_SHARE = 0.98


class Config(eqx.Module):
    """Settings of one agent; the numbers of the first group may differ between runs of one compiled
    call.
    """

    gamma: float = 0.9  # discount
    eta: float = 1e-2  # actor step, and the temperature's
    eta_c: float = 1e-2  # critic step
    eta_rnd: float = 3e-3  # step of RND's predictor
    bonus_weight: float = 1.0
    tau: float = 0.01  # rate of the target critics
    clip: float = 5.0  # largest gradient norm
    clip_rnd: float = 0.7  # the same for RND
    adam_eps: float = 1e-4

    rnd: bool = eqx.field(static=True, default=False)
    trained_embedding: bool = eqx.field(static=True, default=False)
    bonus_per_action: bool = eqx.field(static=True, default=False)
    deep_target: bool = eqx.field(static=True, default=False)
    bonus_terminates: bool = eqx.field(
        static=True, default=True
    )  # the bonus critic's target is cut where episodes end
    warmup: int = eqx.field(static=True, default=400)  # first steps: uniform actions, no learning
    batch: int = eqx.field(static=True, default=256)
    capacity: int = eqx.field(static=True, default=40_000)
    hidden: tuple[int, ...] = eqx.field(static=True, default=(64, 64))


PAPER = Config(clip=jnp.inf, clip_rnd=jnp.inf, adam_eps=1e-8)
PUBLISHED = Config(
    trained_embedding=True, bonus_per_action=True, deep_target=True, bonus_terminates=False
)
RECOMMENDED = Config(eta=1e-3, eta_c=1e-3)  # with steps of 0.01 the policy gets worse again
CONFIGS = {"published": PUBLISHED, "paper": PAPER, "recommended": RECOMMENDED}
LEVEL_2: dict[str, dict[str, float]] = {}  # the paper changes nothing on level 2


class Networks(eqx.Module):
    """Everything that is learned, and the fixed table that turns indices into vectors (None where
    networks have their own).
    """

    features: Array | None
    actor: Learner
    critics: tuple[Learner, ...]
    critic_targets: tuple[Network, ...]
    log_alpha: Learner
    rnd: RND | None
    bonus_critic: Learner | None


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
    key, features_key, actor_key, rnd_key, bonus_key, *critic_keys = jax.random.split(key, 7)
    own = space.n_states if config.trained_embedding else None
    size = space.size if space.n_states is None else EMBEDDING
    sizes = (size, *config.hidden, space.n_actions)
    critics = tuple(make_network(k, sizes, own) for k in critic_keys)
    n_pairs = space.n_actions if config.bonus_per_action else None
    networks = Networks(
        features=None if config.trained_embedding else fixed_embedding(features_key, space),
        actor=Learner.of(make_network(actor_key, sizes, own)),
        critics=tuple(Learner.of(network) for network in critics),
        critic_targets=critics,
        log_alpha=Learner.of(jnp.zeros(())),
        rnd=make_rnd(rnd_key, size, own, n_pairs, config.deep_target) if config.rnd else None,
        bonus_critic=Learner.of(make_network(bonus_key, sizes, own)) if config.rnd else None,
    )
    zero = jnp.zeros((), jnp.int32)
    return State(networks, replay.empty(config.capacity, space.example()), key, zero, zero)


def act(state: State, config: Config, observation: Array) -> tuple[Array, State]:
    """An action of the policy; uniform during the warm-up."""
    key, draw_key = jax.random.split(state.key)
    logits = state.networks.actor.network(encode(state.networks.features, observation))
    logits = jnp.where(state.t < config.warmup, 0.0, logits)
    return jax.random.categorical(draw_key, logits).astype(jnp.int32), replace(state, key=key)


def update(state: State, config: Config, transition: Transition, ended: Array) -> State:
    """Store a transition and learn from one batch, after the warm-up."""
    key, batch_key = jax.random.split(state.key)
    t = state.t + 1
    everyone = replay.add(state.everyone, transition)
    batch, weight = replay.sample(everyone, jax.random.uniform(batch_key, (config.batch,)))
    learned = learn(state.networks, config, batch, weight)
    networks = jax.tree.map(
        lambda new, old: jnp.where(t > config.warmup, new, old), learned, state.networks
    )
    return State(networks, everyone, key, t, state.episodes + ended)


def learn(networks: Networks, config: Config, batch: Transition, weight: Array) -> Networks:
    """One update of the critics, the actor, the temperature, and of RND where it is used."""
    x, following = (
        encode(networks.features, batch.observation),
        encode(networks.features, batch.following),
    )
    critics, q = learn_critics(networks, config, batch, x, following, weight)
    targets = tuple(
        blend(slow, fast.network, config.tau)
        for slow, fast in zip(networks.critic_targets, critics, strict=True)
    )
    networks = replace(networks, critics=critics, critic_targets=targets)
    if networks.rnd is not None and networks.bonus_critic is not None:
        networks, q_bonus = learn_bonus(
            networks, networks.rnd, networks.bonus_critic, config, batch, x, following, weight
        )
        q = q + config.bonus_weight * q_bonus
    alpha = jnp.exp(networks.log_alpha.network)
    highest = ENTROPY_SHARE * jnp.log(q.shape[-1])

    def actor_loss(network: Network) -> tuple[Array, Array]:
        log_pi = jax.nn.log_softmax(network(x))
        pi = jnp.exp(log_pi)
        return mean(jnp.sum(pi * (alpha * log_pi - q), -1), weight), -jnp.sum(pi * log_pi, -1)

    gradient, entropy = jax.grad(actor_loss, has_aux=True)(networks.actor.network)
    actor = networks.actor.descend(gradient, config.eta, config.clip, config.adam_eps)
    alpha_gradient = mean(entropy - highest, weight)  # of log_alpha * (entropy - highest)
    log_alpha = networks.log_alpha.descend(alpha_gradient, config.eta, jnp.inf, config.adam_eps)
    return replace(networks, actor=actor, log_alpha=log_alpha)


def learn_critics(
    networks: Networks, config: Config, batch: Transition, x: Array, following: Array, weight: Array
) -> tuple[tuple[Learner, ...], Array]:
    """Soft expected SARSA; the trained critics, and the smaller q [N, A] in the batch's states
    before the update.
    """
    log_pi = jax.nn.log_softmax(networks.actor.network(following))
    first, second = (network(following) for network in networks.critic_targets)
    alpha = jnp.exp(networks.log_alpha.network)
    v = jnp.sum(jnp.exp(log_pi) * (jnp.minimum(first, second) - alpha * log_pi), -1)
    target = batch.reward + config.gamma * batch.discount * v

    def loss(network: Network) -> tuple[Array, Array]:
        q = network(x)
        return mean((pick(q, batch.action) - target) ** 2, weight), q

    critics, values = [], []
    for critic in networks.critics:
        gradient, q = jax.grad(loss, has_aux=True)(critic.network)
        critics.append(critic.descend(gradient, config.eta_c, config.clip, config.adam_eps))
        values.append(q)
    return tuple(critics), jnp.minimum(*values)


def learn_bonus(
    networks: Networks,
    rnd: RND,
    critic: Learner,
    config: Config,
    batch: Transition,
    x: Array,
    following: Array,
    weight: Array,
) -> tuple[Networks, Array]:
    """Expected SARSA on the bonus without a target network, and RND's own step; q_bonus [N, A] in
    the batch's states.
    """
    seen = x if config.bonus_per_action else following
    novelty = (0.5 if config.bonus_per_action else 1.0) * bonus(rnd, seen, batch.action)
    pi = jax.nn.softmax(networks.actor.network(following))
    alive = batch.discount if config.bonus_terminates else 1.0
    target = novelty + config.gamma * alive * jnp.sum(pi * critic.network(following), -1)

    def loss(network: Network) -> tuple[Array, Array]:
        q = network(x)
        return mean((pick(q, batch.action) - target) ** 2, weight), q

    gradient, q_bonus = jax.grad(loss, has_aux=True)(critic.network)
    critic = critic.descend(gradient, config.eta_c, config.clip, config.adam_eps)
    rnd = train_rnd(
        rnd, seen, batch.action, weight, config.eta_rnd, config.clip_rnd, config.adam_eps
    )
    return replace(networks, rnd=rnd, bonus_critic=critic), q_bonus


def tables(networks: Networks, config: Config, observations: Array) -> tuple[Array, Array]:
    """The policy pi [S, A] and the smaller critic q [S, A] in all `observations`."""
    x = encode(networks.features, observations)
    first, second = (critic.network(x) for critic in networks.critics)
    return jax.nn.softmax(networks.actor.network(x)), jnp.minimum(first, second)

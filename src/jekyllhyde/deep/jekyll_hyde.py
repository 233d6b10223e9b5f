"""Dr Jekyll and Mr Hyde with networks (Algorithm 4 of the paper).

Dr Jekyll exploits: an actor pi and a critic q. Mr Hyde explores: a Double DQN on the novelty bonus
of RND. One of them acts for a whole episode, Hyde with probability epsilon_t. On every step, on a
batch B of recent transitions and of transitions of Hyde's:

    Hyde      q~(s,a)  <-  bonus + gamma q~_target(s', argmax q~(s', .))
    critic    q(s,a)   <-  r + gamma sum_a' pi(a'|s') q(s',a')                     (expected SARSA)
    actor     in each state of B, the rule that the configuration names             (expected update, all actions)
    RND       the predictor moves towards its target

Algorithm 4's rule is `paper`; `actor_rules` has it beside others, which can unlearn.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from jekyllhyde.deep import replay
from jekyllhyde.deep.actor_rules import ACTOR_RULES
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
    eta: float = 1e-3  # actor step
    eta_c: float = 1e-3  # critic step
    eta_hyde: float = 1e-2  # step of Hyde's q
    eta_rnd: float = 3e-3  # step of RND's predictor
    epsilon_1: float = 4000.0  # scale of epsilon_t, in environment steps
    tau: float = 0.01  # rate of Jekyll's target critics; 1 is no target network
    tau_hyde: float = 0.01  # rate of Hyde's target network
    gamma_hyde: float = 0.9  # Hyde's discount
    hyde_noise: float = 0.0  # probability of a uniform action while Hyde acts
    temperature: float = 1.0  # of soft cross-entropy and of the mirror step
    clip: float = 5.0  # largest gradient norm
    clip_rnd: float = 0.7  # the same for RND
    adam_eps: float = 1e-4

    actor_rule: str = eqx.field(static=True, default="published")
    schedule: str = eqx.field(static=True, default="published")  # of epsilon_t
    fifo: bool = eqx.field(
        static=True, default=False
    )  # Jekyll's half of B: the last K transitions, or K from all of them
    critics: int = eqx.field(static=True, default=2)  # the smaller one counts
    fresh_critic: bool = eqx.field(
        static=True, default=False
    )  # the actor sees q after the critic's update, or before
    trained_embedding: bool = eqx.field(
        static=True, default=False
    )  # one per network, or one fixed random one
    bonus_per_action: bool = eqx.field(static=True, default=False)  # bonus of (s, a), or of s'
    deep_target: bool = eqx.field(static=True, default=False)  # RND's target has two hidden layers
    normalize_bonus: bool = eqx.field(
        static=True, default=False
    )  # divided by its running mean: Hyde's values keep their scale
    hyde_terminates: bool = eqx.field(
        static=True, default=False
    )  # Hyde's target is cut where episodes end
    hyde_xavier: bool = eqx.field(static=True, default=False)  # Hyde's first weights as Jekyll's
    warmup: int = eqx.field(static=True, default=400)  # first steps: uniform actions, no learning
    batch: int = eqx.field(static=True, default=128)  # K, per half
    capacity: int = eqx.field(static=True, default=40_000)
    hidden: tuple[int, ...] = eqx.field(static=True, default=(64, 64))
    hidden_hyde: tuple[int, ...] = eqx.field(static=True, default=(30, 10))


PAPER = Config(
    actor_rule="paper",
    schedule="paper",
    fifo=True,
    critics=1,
    fresh_critic=True,
    tau=1.0,
    warmup=0,
    hyde_terminates=True,
    clip=jnp.inf,
    clip_rnd=jnp.inf,
    adam_eps=1e-8,
)
PUBLISHED = Config(trained_embedding=True, bonus_per_action=True, deep_target=True)
# Cross-entropy can unlearn. Half of Hyde's actions are uniform: greedy on a bonus that his network
# fits slowly, he walks in
# circles. His values keep one scale as the bonus shrinks, look far, and end with the episode: else
# the goal, whose value is
# never trained, may draw him.
RECOMMENDED = Config(
    actor_rule="cross_entropy",
    epsilon_1=40_000.0,
    hyde_noise=0.5,
    gamma_hyde=0.99,
    eta_hyde=1e-3,
    eta_rnd=1e-4,
    normalize_bonus=True,
    hyde_terminates=True,
    hyde_xavier=True,
    hidden_hyde=(64, 64),
)
CONFIGS = {"published": PUBLISHED, "paper": PAPER, "recommended": RECOMMENDED}
LEVEL_2 = {
    "published": {"epsilon_1": 40_000.0},
    "paper": {"epsilon_1": 40_000.0},
}  # what the paper changes on level 2


class Networks(eqx.Module):
    """Everything that is learned, and the fixed table that turns indices into vectors (None where
    networks have their own).
    """

    features: Array | None
    actor: Learner
    critics: tuple[Learner, ...]
    critic_targets: tuple[Network, ...]
    hyde: Learner
    hyde_target: Network
    rnd: RND
    bonus_scale: Array


class State(eqx.Module):
    """All of an agent: resuming from it is exact."""

    networks: Networks
    everyone: Replay  # transitions of both personalities
    hyde: Replay  # Hyde's own
    key: Array
    t: Array  # environment steps
    episodes: Array
    hyde_acts: Array

    @property
    def personality(self) -> Array:
        """Who acts: 0 Jekyll, 1 Hyde."""
        return self.hyde_acts.astype(jnp.int32)


def init(key: Array, config: Config, space: Space) -> State:
    """An agent before its first step."""
    key, features_key, actor_key, hyde_key, rnd_key, *critic_keys = jax.random.split(
        key, 5 + config.critics
    )
    own = space.n_states if config.trained_embedding else None
    size = space.size if space.n_states is None else EMBEDDING
    sizes, sizes_hyde = (
        (size, *config.hidden, space.n_actions),
        (size, *config.hidden_hyde, space.n_actions),
    )
    critics = tuple(make_network(k, sizes, own) for k in critic_keys)
    hyde = make_network(hyde_key, sizes_hyde, own, xavier=config.hyde_xavier)
    networks = Networks(
        features=None if config.trained_embedding else fixed_embedding(features_key, space),
        actor=Learner.of(make_network(actor_key, sizes, own)),
        critics=tuple(Learner.of(network) for network in critics),
        critic_targets=critics,
        hyde=Learner.of(hyde),
        hyde_target=hyde,
        rnd=make_rnd(
            rnd_key,
            size,
            own,
            space.n_actions if config.bonus_per_action else None,
            config.deep_target,
        ),
        bonus_scale=jnp.ones(()),
    )
    zero = jnp.zeros((), jnp.int32)
    return State(
        networks=networks,
        everyone=replay.empty(config.batch if config.fifo else config.capacity, space.example()),
        hyde=replay.empty(config.capacity, space.example()),
        key=key,
        t=zero,
        episodes=zero,
        hyde_acts=jnp.asarray(False),
    )


def epsilon(config: Config, t: Array) -> Array:
    """The probability that Hyde takes the next episode, after `t` environment steps."""
    if config.schedule == "paper":
        return jnp.minimum(1.0, config.epsilon_1 / jnp.maximum(t, 1))
    return 1.0 / (1.0 + jnp.maximum(t - config.warmup, 0) / config.epsilon_1)


def act(state: State, config: Config, observation: Array) -> tuple[Array, State]:
    """An action of the personality in control; uniform during the warm-up."""
    key, draw_key = jax.random.split(state.key)
    x = encode(state.networks.features, observation)
    hyde = noisy_greedy(state.networks.hyde.network(x), config.hyde_noise)
    logits = jnp.where(state.hyde_acts, hyde, state.networks.actor.network(x))
    logits = jnp.where(state.t < config.warmup, 0.0, logits)
    return jax.random.categorical(draw_key, logits).astype(jnp.int32), replace(state, key=key)


def update(state: State, config: Config, transition: Transition, ended: Array) -> State:
    """Store a transition, draw the next personality where the episode `ended`, and learn from one
    batch.
    """
    key, draw_key = jax.random.split(state.key)
    draws = jax.random.uniform(draw_key, (1 + 2 * config.batch,))
    t = state.t + 1
    everyone = replay.add(state.everyone, transition)
    hyde = replay.add(
        state.hyde,
        transition,
        state.hyde_acts | ((config.warmup > 0) & (state.hyde.size < config.batch)),
    )
    recent = (
        replay.everything(everyone)
        if config.fifo
        else replay.sample(everyone, draws[1 : 1 + config.batch])
    )
    batch, weight = replay.join(recent, replay.sample(hyde, draws[1 + config.batch :]))
    learned = learn(state.networks, config, batch, weight)
    networks = jax.tree.map(
        lambda new, old: jnp.where(t > config.warmup, new, old), learned, state.networks
    )
    return State(
        networks=networks,
        everyone=everyone,
        hyde=hyde,
        key=key,
        t=t,
        episodes=state.episodes + ended,
        hyde_acts=jnp.where(ended, draws[0] < epsilon(config, t), state.hyde_acts),
    )


def learn(networks: Networks, config: Config, batch: Transition, weight: Array) -> Networks:
    """One update of all networks, in Algorithm 4's order."""
    x, following = (
        encode(networks.features, batch.observation),
        encode(networks.features, batch.following),
    )
    networks = learn_hyde(networks, config, batch, x, following, weight)
    critics, q = learn_critics(networks, config, batch, x, following, weight)
    targets = tuple(
        blend(slow, fast.network, config.tau)
        for slow, fast in zip(networks.critic_targets, critics, strict=True)
    )
    if config.fresh_critic:
        q = smallest([critic.network(x) for critic in critics])
    actor = learn_actor(networks.actor, config, x, q, weight)
    seen = x if config.bonus_per_action else following
    rnd = train_rnd(
        networks.rnd, seen, batch.action, weight, config.eta_rnd, config.clip_rnd, config.adam_eps
    )
    return replace(networks, actor=actor, critics=critics, critic_targets=targets, rnd=rnd)


def learn_hyde(
    networks: Networks, config: Config, batch: Transition, x: Array, following: Array, weight: Array
) -> Networks:
    """Double DQN on the bonus."""
    novelty = bonus(networks.rnd, x if config.bonus_per_action else following, batch.action)
    scale = networks.bonus_scale
    if config.bonus_per_action:
        novelty = 0.5 * novelty
    if config.normalize_bonus:
        scale = blend(scale, mean(novelty, weight), 0.01)
        novelty = novelty / scale
    greedy = jnp.argmax(networks.hyde.network(following), -1)
    alive = batch.discount if config.hyde_terminates else 1.0
    target = novelty + config.gamma_hyde * alive * pick(networks.hyde_target(following), greedy)
    gradient = jax.grad(lambda n: mean((pick(n(x), batch.action) - target) ** 2, weight))(
        networks.hyde.network
    )
    hyde = networks.hyde.descend(gradient, config.eta_hyde, config.clip, config.adam_eps)
    return replace(
        networks,
        hyde=hyde,
        hyde_target=blend(networks.hyde_target, hyde.network, config.tau_hyde),
        bonus_scale=scale,
    )


def learn_critics(
    networks: Networks, config: Config, batch: Transition, x: Array, following: Array, weight: Array
) -> tuple[tuple[Learner, ...], Array]:
    """Expected SARSA; the trained critics, and their q [N, A] in the batch's states before the
    update.
    """
    pi = jax.nn.softmax(networks.actor.network(following))
    v = jnp.sum(pi * smallest([network(following) for network in networks.critic_targets]), -1)
    target = batch.reward + config.gamma * batch.discount * v

    def loss(network: Network) -> tuple[Array, Array]:
        q = network(x)
        return mean((pick(q, batch.action) - target) ** 2, weight), q

    critics, values = [], []
    for critic in networks.critics:
        gradient, q = jax.grad(loss, has_aux=True)(critic.network)
        critics.append(critic.descend(gradient, config.eta_c, config.clip, config.adam_eps))
        values.append(q)
    return tuple(critics), smallest(values)


def learn_actor(actor: Learner, config: Config, x: Array, q: Array, weight: Array) -> Learner:
    """One expected update in every state of the batch, by the rule that the configuration names."""
    rule = ACTOR_RULES[config.actor_rule]
    gradient = jax.grad(lambda network: mean(rule(network(x), q, config.temperature), weight))(
        actor.network
    )
    return actor.descend(gradient, config.eta, config.clip, config.adam_eps)


def smallest(values: list[Array]) -> Array:
    """The elementwise minimum."""
    return reduce(jnp.minimum, values)


def tables(networks: Networks, config: Config, observations: Array) -> tuple[Array, Array]:
    """Jekyll's policy pi [S, A] and critic q [S, A] in all `observations`; pi's greedy action is
    what is evaluated.
    """
    x = encode(networks.features, observations)
    return jax.nn.softmax(networks.actor.network(x)), smallest(
        [critic.network(x) for critic in networks.critics]
    )

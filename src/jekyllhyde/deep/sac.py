"""Discrete soft actor-critic, alone or with a critic of a bonus: the paper's baselines SAC and
SAC+RND.

    critics      q(s,a)  <-  r + gamma sum_a' pi(a'|s') (min q_target(s',a') - alpha log pi(a'|s'))
    actor        minimizes  sum_a pi(a|s) (alpha log pi(a|s) - min q(s,a) - weight * q_bonus(s,a))
    temperature  alpha rises while the policy's entropy is below 0.98 log A
    bonus        q_bonus(s,a)  <-  bonus + gamma sum_a' pi(a'|s') q_bonus(s',a')

There are two critics, of which the smaller counts; the last line is there with a bonus only.
"""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp

from jekyllhyde.deep.bonus import RND, noted
from jekyllhyde.deep.critics import ActorCritic, Critic, learn_critics, regress, smallest
from jekyllhyde.deep.learner import Learner
from jekyllhyde.deep.learning import Replay, Settings, State, update_from_replay
from jekyllhyde.deep.networks import Network, Samples, Space, Transition, encode, mean, static

ENTROPY_SHARE = 0.98


class Config(Settings):
    """Settings of soft actor-critic."""

    eta: float = 1e-2  # actor step, and the temperature's
    eta_c: float = 1e-2  # critic step
    bonus_weight: float = 1.0  # weight of the bonus's critic in the actor's update
    with_bonus: bool = static(False)  # learn a critic of the bonus
    bonus_terminates: bool = static(True)  # its target is cut at the end
    fresh_critic: bool = static(False)  # the actor sees q after the critics' update, not before
    warmup: int = static(400)  # first steps: uniform actions, no learning


CONFIGS = {
    "published": Config(
        trained_embedding=True,
        bonus_terminates=False,
        bonus=RND(per_action=True, deep_target=True),
    ),
    "released": Config(
        trained_embedding=True,
        fresh_critic=True,
        bonus_terminates=False,
        bonus=RND(deep_target=True, xavier=False),
    ),
    "paper": Config(clip=jnp.inf, adam_eps=1e-8, bonus=RND(clip=jnp.inf, adam_eps=1e-8)),
    # with steps of 0.01 the policy gets worse again
    "recommended_0_3": Config(eta=1e-3, eta_c=1e-3),
    "recommended": Config(eta=1e-3, eta_c=1e-3, one_hot=True),
}


class Networks(ActorCritic):
    """Everything that is learned; the last two are there with a bonus."""

    log_alpha: Learner
    bonus: Any  # its state
    bonus_critic: Any  # a learner


def init(key: jax.Array, config: Config, space: Space) -> State:
    """An agent before its first step."""
    key, features_key, actor_key, rnd_key, bonus_key, *critic_keys = jax.random.split(key, 7)
    space, features = space.embed(features_key, config)
    bonus = config.bonus.init(rnd_key, space) if config.with_bonus else None
    return State(
        key=key,
        networks=Networks(
            features=features,
            actor=Learner.of(space.network(actor_key, config.hidden)),
            critics=tuple(Critic.of(space.network(k, config.hidden)) for k in critic_keys),
            log_alpha=Learner.of(jnp.zeros(())),
            bonus=bonus,
            bonus_critic=(
                Learner.of(space.network(bonus_key, config.hidden)) if config.with_bonus else None
            ),
        ),
        everyone=Replay.empty(config.capacity, noted(space.transition(), config.bonus, bonus)),
    )


def act(
    state: State, config: Config, observation: Any, allowed: jax.Array | None = None
) -> tuple[jax.Array, jax.Array]:
    """An action of the policy; uniform during the warm-up."""
    logits = state.networks.actor.network(encode(state.networks.features, observation))
    return state.draw_action(jnp.where(state.t < config.warmup, 0.0, logits), allowed)


def update(state: State, config: Config, transition: Transition, ended: jax.Array) -> State:
    """Store a transition and learn from one batch, after the warm-up."""
    return update_from_replay(
        learn, state, config, transition, ended, lambda after: after.t > config.warmup
    )


def learn(networks: Networks, config: Config, samples: Samples) -> Networks:
    """One update of critics, actor and temperature, and of the bonus where there is one."""
    critics, values = learn_critics(
        networks.critics, samples, soft_goal(networks, config, samples), config
    )
    if config.fresh_critic:
        values = [critic(samples.x) for critic in critics]
    q = smallest(values)
    if config.with_bonus:
        networks, q_bonus = learn_bonus(networks, config, samples)
        q = q + config.bonus_weight * q_bonus
    alpha = jnp.exp(networks.log_alpha.network)

    def loss(network: Network) -> tuple[jax.Array, jax.Array]:
        log_pi = jax.nn.log_softmax(samples.among(network(samples.x)))
        pi = jnp.exp(log_pi)
        objective = mean(jnp.sum(pi * (alpha * log_pi - q), -1), samples.weight)
        return objective, -jnp.sum(pi * log_pi, -1)

    gradient, entropy = jax.grad(loss, has_aux=True)(networks.actor.network)
    n_actions = q.shape[-1] if samples.allowed is None else jnp.sum(samples.allowed, -1)
    largest = jnp.log(n_actions)
    return replace(
        networks,
        critics=critics,
        actor=networks.actor.descend(gradient, config.eta, config.clip, config.adam_eps),
        # down the gradient of log_alpha * (entropy - its goal)
        log_alpha=networks.log_alpha.descend(
            mean(entropy - ENTROPY_SHARE * largest, samples.weight),
            config.eta,
            jnp.inf,
            config.adam_eps,
        ),
    )


def soft_goal(networks: Networks, config: Config, samples: Samples) -> jax.Array:
    """The critics' goal [N]: soft expected SARSA."""
    logits = samples.among_next(networks.actor.network(samples.x_next))
    log_pi = jax.nn.log_softmax(logits)
    q = smallest([critic.target(samples.x_next) for critic in networks.critics])
    v = jnp.sum(jnp.exp(log_pi) * (q - jnp.exp(networks.log_alpha.network) * log_pi), -1)
    return samples.reward + config.gamma * samples.discount * v


def learn_bonus(networks: Networks, config: Config, samples: Samples) -> tuple[Networks, jax.Array]:
    """Expected SARSA on the bonus without a target network, and the bonus's own step; q_bonus
    [N, A] in the batch's states.
    """
    novelty, bonus = config.bonus.of(networks.bonus, samples)
    pi = jax.nn.softmax(samples.among_next(networks.actor.network(samples.x_next)))
    v = jnp.sum(pi * networks.bonus_critic.network(samples.x_next), -1)
    goal = novelty + config.gamma * (samples.discount if config.bonus_terminates else 1.0) * v
    critic, q_bonus = regress(networks.bonus_critic, samples, goal, config.eta_c, config)
    return replace(networks, bonus=config.bonus.learn(bonus, samples), bonus_critic=critic), q_bonus

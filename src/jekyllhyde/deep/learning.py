"""What `ddqn`, `sac` and `jekyll_hyde` share: settings, state, the gate of the warm-up, and the
steps of action values.

    Double DQN       q(s,a)  <-  r + discount q_target(s', argmax q(s', .))
    several critics  each q(s,a)  <-  the same goal; the smallest counts
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from jekyllhyde.deep import replay
from jekyllhyde.deep.bonus import Bonus
from jekyllhyde.deep.networks import Learner, Network, Space, blend, encode, mean, pick, static
from jekyllhyde.deep.replay import Replay, Samples, Transition, prepare
from jekyllhyde.deep.rnd import RND


class Settings(eqx.Module):
    """Numbers may differ between runs of one compiled call; what is static is compiled in."""

    gamma: float = 0.9  # discount
    eta_c: float = 1e-3  # critic step
    tau: float = 0.01  # rate of the critics' target networks; 1 is no target network
    clip: float = 5.0  # largest norm of a gradient
    adam_eps: float = 1e-4  # Adam's epsilon
    bonus: Bonus = RND()  # what counts as new: rnd, or "file.py:Mine"
    trained_embedding: bool = static(False)  # each network embeds states itself
    batch: int = static(256)  # transitions per update
    capacity: int = static(40_000)  # transitions that are kept
    hidden: tuple[int, ...] = static((64, 64))  # widths of the hidden layers


class State(eqx.Module):
    """All of an agent: resuming from it is exact."""

    networks: Any
    everyone: Replay  # all transitions
    hyde: Replay | None  # Hyde's own, where there is a Hyde
    key: Array
    t: Array  # environment steps
    episodes: Array
    hyde_acts: Array

    @property
    def personality(self) -> Array:
        """Who acts: 0 Jekyll, or the only personality; 1 Hyde."""
        return self.hyde_acts.astype(jnp.int32)


def start(key: Array, networks: Any, everyone: Replay, hyde: Replay | None = None) -> State:
    """An agent before its first step."""
    zero = jnp.zeros((), jnp.int32)
    return State(networks, everyone, hyde, key, zero, zero, jnp.asarray(False))


def embedded(space: Space, trained_embedding: bool) -> Space:
    """The space, told whether networks are to train embeddings of their own."""
    return replace(space, n_embedded=space.n_states if trained_embedding else None)


def draw_action(state: State, logits: Array) -> tuple[Array, State]:
    """An action drawn with the probabilities that `logits` [A] stand for."""
    key, draw_key = jax.random.split(state.key)
    return jax.random.categorical(draw_key, logits).astype(jnp.int32), replace(state, key=key)


def learn_if(ready: Array, learned: Any, networks: Any) -> Any:
    """The networks that have `learned` where the agent is ready, else those it had."""
    return jax.tree.map(lambda new, old: jnp.where(ready, new, old), learned, networks)


def update_from_replay(
    learn: Callable[..., Any],
    state: State,
    config: Settings,
    transition: Transition,
    ended: Array,
    is_ready: Callable[[State], Array],
) -> State:
    """Store a transition, and learn from a batch of all, once the agent `is_ready`."""
    key, batch_key = jax.random.split(state.key)
    everyone = replay.add(state.everyone, transition)
    drawn = replay.sample(everyone, jax.random.uniform(batch_key, (config.batch,)))
    learned = learn(state.networks, config, prepare(state.networks.features, *drawn))
    episodes = state.episodes + ended
    after = replace(state, everyone=everyone, key=key, t=state.t + 1, episodes=episodes)
    return replace(after, networks=learn_if(is_ready(after), learned, state.networks))


def decreasing(config: Any, count: Array, begin: int = 0) -> Array:
    """Epsilon after `count` steps or episodes: epsilon_1 / count (`paper`), or a curve that begins
    at 1 and halves after epsilon_1 of them (`published`).
    """
    if config.schedule == "paper":
        return jnp.minimum(1.0, config.epsilon_1 / jnp.maximum(count, 1))
    return 1.0 / (1.0 + jnp.maximum(count - begin, 0) / config.epsilon_1)


class Critic(eqx.Module):
    """A network for q, and its target network."""

    online: Learner
    target: Network

    @staticmethod
    def of(network: Network) -> Critic:
        """A critic before its first step."""
        return Critic(Learner.of(network), network)


def regress(
    learner: Learner, samples: Samples, goal: Array, rate: Any, config: Settings
) -> tuple[Learner, Array]:
    """One step of q(s, a) towards `goal` [N] in the mean square, and q [N, A] before it."""

    def loss(network: Network) -> tuple[Array, Array]:
        q = network(samples.x)
        return mean((pick(q, samples.action) - goal) ** 2, samples.weight), q

    gradient, q = jax.grad(loss, has_aux=True)(learner.network)
    return learner.descend(gradient, rate, config.clip, config.adam_eps), q


def learn_critics(
    critics: tuple[Critic, ...], samples: Samples, goal: Array, config: Settings
) -> tuple[tuple[Critic, ...], Array]:
    """One step of all critics towards one goal, and the smallest q [N, A] before it."""
    steps = [regress(critic.online, samples, goal, config.eta_c, config) for critic in critics]
    moved = tuple(
        Critic(online, blend(critic.target, online.network, config.tau))
        for critic, (online, _) in zip(critics, steps, strict=True)
    )
    return moved, smallest([q for _, q in steps])


def learn_double_dqn(
    critic: Critic, samples: Samples, reward: Array, discount: Any, rates: Any, config: Settings
) -> Critic:
    """One step of Double DQN on `reward` [N]; `rates` are those of q and of its target network."""
    greedy = jnp.argmax(critic.online.network(samples.x_next), -1)
    goal = reward + discount * pick(critic.target(samples.x_next), greedy)
    online, _ = regress(critic.online, samples, goal, rates[0], config)
    return Critic(online, blend(critic.target, online.network, rates[1]))


def smallest(values: list[Array]) -> Array:
    """The elementwise minimum."""
    return reduce(jnp.minimum, values)


class ActorCritic(eqx.Module):
    """The networks of an actor and its critics, and the fixed table that turns indices into vectors
    (None where networks have their own).
    """

    features: Array | None
    actor: Learner
    critics: tuple[Critic, ...]


def actor_critic_tables(
    networks: ActorCritic, config: Settings, observations: Array
) -> tuple[Array, Array]:
    """The policy pi [S, A] and the smallest critic q [S, A] in all `observations`; pi's greedy
    action is what is evaluated.
    """
    x = encode(networks.features, observations)
    q = smallest([critic.online.network(x) for critic in networks.critics])
    return jax.nn.softmax(networks.actor.network(x)), q

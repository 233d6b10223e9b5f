"""What `ddqn`, `sac` and `jekyll_hyde` share: settings, state, the gate of the warm-up, and the
steps of action values.

    Double DQN       q(s,a)  <-  r + discount q_target(s', argmax q(s', .))
    several critics  each q(s,a)  <-  the same goal; the smallest counts
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial, reduce
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp

from jekyllhyde.deep.bonus import RND, Bonus
from jekyllhyde.deep.networks import Learner, Network, blend, encode, mean, pick, static
from jekyllhyde.deep.replay import Replay, Samples, Transition

_zero = partial(jnp.zeros, (), jnp.int32)
smallest = partial(reduce, jnp.minimum)  # the elementwise minimum of several arrays


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

    key: jax.Array
    networks: Any
    everyone: Replay  # all transitions
    hyde: Any = None  # Hyde's own replay, where there is a Hyde
    t: jax.Array = eqx.field(default_factory=_zero)  # environment steps
    episodes: jax.Array = eqx.field(default_factory=_zero)
    hyde_acts: jax.Array = eqx.field(default_factory=partial(jnp.asarray, False))  # else Jekyll


def draw_action(state: State, logits: jax.Array) -> tuple[jax.Array, jax.Array]:
    """An action drawn with the probabilities that `logits` [A] stand for, and the next key."""
    key, draw_key = jax.random.split(state.key)
    return jax.random.categorical(draw_key, logits).astype(jnp.int32), key


def update_from_replay(
    learn: Callable[..., Any],
    state: State,
    config: Settings,
    transition: Transition,
    ended: jax.Array,
    is_ready: Callable[[State], jax.Array],
) -> State:
    """Store a transition, and learn from a batch of all, once the agent `is_ready`."""
    key, batch_key = jax.random.split(state.key)
    everyone = state.everyone.add(transition)
    batch = everyone.sample(jax.random.uniform(batch_key, (config.batch,)))
    learned = learn(state.networks, config, Samples.of(state.networks.features, *batch))
    after = replace(
        state, everyone=everyone, key=key, t=state.t + 1, episodes=state.episodes + ended
    )
    return replace(
        after,
        networks=jax.tree.map(partial(jnp.where, is_ready(after)), learned, state.networks),
    )


def decreasing(config: Any, count: jax.Array, begin: int = 0) -> jax.Array:
    """Epsilon after `count` steps or episodes: epsilon_1 / count (`paper`), or a curve that begins
    at 1 and halves after epsilon_1 of them (`published`).
    """
    if config.schedule == "paper":
        return jnp.minimum(1.0, config.epsilon_1 / jnp.maximum(count, 1))
    return 1.0 / (1.0 + jnp.maximum(count - begin, 0) / config.epsilon_1)


class Critic(eqx.Module):
    """A network for q, and its target network; the same before the first step (`of`)."""

    online: Learner
    target: Network

    @classmethod
    def of(cls, network: Network) -> Self:
        return cls(Learner.of(network), network)


def regress(
    learner: Learner, samples: Samples, goal: jax.Array, rate: Any, config: Settings
) -> tuple[Learner, jax.Array]:
    """One step of q(s, a) towards `goal` [N] in the mean square, and q [N, A] before it."""

    def loss(network: Network) -> tuple[jax.Array, jax.Array]:
        q = network(samples.x)
        return mean((pick(q, samples.action) - goal) ** 2, samples.weight), q

    gradient, q = jax.grad(loss, has_aux=True)(learner.network)
    return learner.descend(gradient, rate, config.clip, config.adam_eps), q


def learn_critics(
    critics: tuple[Critic, ...], samples: Samples, goal: jax.Array, config: Settings
) -> tuple[tuple[Critic, ...], jax.Array]:
    """One step of all critics towards one goal, and the smallest q [N, A] before it."""
    steps = [regress(critic.online, samples, goal, config.eta_c, config) for critic in critics]
    return tuple(
        Critic(online, blend(critic.target, online.network, config.tau))
        for critic, (online, _) in zip(critics, steps, strict=True)
    ), smallest([q for _, q in steps])


def learn_double_dqn(
    critic: Critic,
    samples: Samples,
    reward: jax.Array,
    discount: Any,
    eta: Any,
    tau: Any,
    config: Settings,
) -> Critic:
    """One step of Double DQN on `reward` [N], with rates of q and of its target network."""
    greedy = jnp.argmax(critic.online.network(samples.x_next), -1)
    goal = reward + discount * pick(critic.target(samples.x_next), greedy)
    online, _ = regress(critic.online, samples, goal, eta, config)
    return Critic(online, blend(critic.target, online.network, tau))


class ActorCritic(eqx.Module):
    """The networks of an actor and its critics, and the fixed table that turns indices into vectors
    (None where networks have their own). `tables` has the policy pi [S, A], whose greedy action is
    what is evaluated, and the smallest critic q [S, A] in all `observations`.
    """

    features: jax.Array | None
    actor: Learner
    critics: tuple[Critic, ...]

    def tables(self, observations: jax.Array) -> tuple[jax.Array, jax.Array]:
        x = encode(self.features, observations)
        return jax.nn.softmax(self.actor.network(x)), smallest(
            [critic.online.network(x) for critic in self.critics]
        )

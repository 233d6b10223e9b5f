"""Action values: how they are learned, and what several of them say together.

    Double DQN       q(s,a)  <-  r + discount q_target(s', argmax q(s', .))
    dueling          q(s,a)  =  v(s) + [A(s,a) - mean_a' A(s,a')],  v and A networks of their own
    several critics  each q(s,a)  <-  the same goal; the smallest counts, or their mean
    bounds           min(r, 0) / (1 - gamma)  <=  v(s)  <=  max(r, 0) / (1 - gamma)
                     2 min(R, 0)              <=  v(s)  <=  2 max(R, 0)

The rewards r of the bounds are those in replay, and 0, for trajectories may end; R is what
consecutive rewards have summed up to in one trajectory. No discounted return that was seen is
outside of the extremes of R; twice as much leaves room for better ones, whose R is seen as soon as
they are. Hyde explores where Jekyll would not go, and what Jekyll's critics make of such places is
learned from their own guesses: without bounds it can run away, and move their values elsewhere with
it.

Actions differ by a step or two, 1 or 2 % of a value, and where a part of the world is seen a value
is known far less well than that. What is learned of the value disturbs what a network says of the
actions; less so in two that share nothing, of which the second learns the differences alone: a
third fewer greedy actions are wrong (`benchmarks/views.py`). (In Wang et al., 2016, the two share
all layers but the last.)
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp

from jekyllhyde.deep.episodes_of_lanes import OfLanes
from jekyllhyde.deep.learner import Learner
from jekyllhyde.deep.learning import Replay, Settings
from jekyllhyde.deep.networks import Network, Samples, Space, among, blend, encode, mean, pick

smallest = partial(reduce, jnp.minimum)  # the elementwise minimum of several arrays
Bounds = tuple[jax.Array, jax.Array]
LEAST_RATE = 1e-6  # in place of 1 - gamma, where gamma is 1
ROOM = 2.0  # for returns beyond those that were seen


class Critic(eqx.Module):
    """A network for q, which it calls, and its target network; the same before the first step
    (`of`). `double_dqn` has the goal [N] of Double DQN on `reward` [N]; `learn` takes a step
    towards a goal, with rates of q and of its target network.
    """

    online: Learner
    target: Any

    @classmethod
    def of(cls, network: Any) -> Self:
        return cls(Learner.of(network), network)

    def __call__(self, x: Any) -> jax.Array:
        q: jax.Array = self.online.network(x)
        return q

    def double_dqn(self, samples: Samples, reward: jax.Array, discount: Any) -> jax.Array:
        greedy = jnp.argmax(samples.among_next(self.online.network(samples.x_next)), -1)
        return reward + discount * pick(self.target(samples.x_next), greedy)

    def learn(
        self, samples: Samples, goal: jax.Array, eta: Any, tau: Any, config: Settings
    ) -> Self:
        online, _ = regress(self.online, samples, goal, eta, config)
        return type(self)(online, blend(self.target, online.network, tau))


class Dueling(eqx.Module):
    """Values q [..., A] as the value of a state, and what each action adds to it."""

    value: Network
    gain: Network

    @classmethod
    def of(cls, space: Space, key: jax.Array, hidden: tuple[int, ...]) -> Self:
        value_key, gain_key = jax.random.split(key)
        return cls(space.perceptron(value_key, (*hidden, 1)), space.network(gain_key, hidden))

    def __call__(self, x: Any) -> jax.Array:
        gain = self.gain(x)
        return self.value(x) + gain - jnp.mean(gain, -1, keepdims=True)

    def scaled(self, scale: Any) -> Self:
        """Both with their last weights times `scale`."""
        return replace(self, value=self.value.scaled(scale), gain=self.gain.scaled(scale))


def regress(
    learner: Learner, samples: Samples, goal: jax.Array, rate: Any, config: Settings
) -> tuple[Learner, jax.Array]:
    """One step of q(s, a) towards `goal` [N] in the mean square, and q [N, A] before it."""

    def loss(network: Any) -> tuple[jax.Array, jax.Array]:
        q = network(samples.x)
        return mean((pick(q, samples.action) - goal) ** 2, samples.weight), q

    gradient, q = jax.grad(loss, has_aux=True)(learner.network)
    return learner.descend(gradient, rate, config.clip, config.adam_eps), q


def agreed(values: Sequence[jax.Array], pessimism: Any) -> jax.Array:
    """What critics say together: the smallest of their values with pessimism 1, the mean with 0."""
    return pessimism * smallest(values) + (1.0 - pessimism) * (sum(values) / len(values))


class Sums(OfLanes):
    """The extremes of what consecutive rewards have summed up to in a trajectory: of those that end
    with the newest step, per lane, and of all so far. A time limit ends no trajectory.
    """

    low: jax.Array
    high: jax.Array
    lowest: jax.Array
    highest: jax.Array

    @classmethod
    def empty(cls, lanes: int) -> Self:
        none, zero = jnp.zeros(lanes), jnp.zeros(())
        return cls(jnp.zeros((), jnp.int32), none, none, zero, zero)

    def anew(self) -> Self:
        low, high = (each.at[self.lane].set(0.0) for each in (self.low, self.high))
        return replace(self, low=low, high=high)

    def after(self, reward: Any, discount: Any) -> Self:
        """After a step; `discount` is 0 where it ended the trajectory."""
        low = jnp.minimum(self.low[self.lane], 0.0) + reward
        high = jnp.maximum(self.high[self.lane], 0.0) + reward
        return replace(
            self,
            low=self.low.at[self.lane].set(discount * low),
            high=self.high.at[self.lane].set(discount * high),
            lowest=jnp.minimum(self.lowest, low),
            highest=jnp.maximum(self.highest, high),
        )

    def bounds(self, gamma: Any, *replays: Replay) -> Bounds:
        """The least and the most that a return can be. Places of a replay that are empty hold 0."""
        steps = 1.0 / jnp.maximum(1.0 - gamma, LEAST_RATE)
        rewards = [replay.data.reward for replay in replays]
        least = jnp.min(jnp.stack([jnp.min(r) for r in rewards]), initial=0.0)
        most = jnp.max(jnp.stack([jnp.max(r) for r in rewards]), initial=0.0)
        return (
            jnp.maximum(least * steps, ROOM * self.lowest),
            jnp.minimum(most * steps, ROOM * self.highest),
        )

    def beside(self, rewards: Any) -> Self:
        """Beside steps of others, whose trajectories are not known."""
        return replace(
            self,
            lowest=jnp.minimum(self.lowest, jnp.sum(jnp.minimum(rewards, 0.0))),
            highest=jnp.maximum(self.highest, jnp.sum(jnp.maximum(rewards, 0.0))),
        )


def learn_critics(
    critics: tuple[Critic, ...], samples: Samples, goal: jax.Array, config: Settings
) -> tuple[tuple[Critic, ...], list[jax.Array]]:
    """One step of all critics towards one goal, and the q [N, A] of each before it."""
    steps = [regress(critic.online, samples, goal, config.eta_c, config) for critic in critics]
    return tuple(
        Critic(online, blend(critic.target, online.network, config.tau))
        for critic, (online, _) in zip(critics, steps, strict=True)
    ), [q for _, q in steps]


class ActorCritic(eqx.Module):
    """The networks of an actor and its critics, and what encodes observations for all of them (None
    where nothing does). `tables` has the policy pi [S, A], whose greedy action is evaluated, and
    the smallest critic q [S, A] in all `observations`, whose actions may be restricted.
    """

    features: Any
    actor: Learner
    critics: tuple[Critic, ...]

    @property
    def policy(self) -> Network:
        network: Network = self.actor.network
        return network

    def tables(
        self, observations: Any, allowed: jax.Array | None = None
    ) -> tuple[jax.Array, jax.Array]:
        x = encode(self.features, observations)
        return jax.nn.softmax(among(allowed, self.policy(x))), smallest(
            [critic.online.network(x) for critic in self.critics]
        )

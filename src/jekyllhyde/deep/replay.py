"""Replay: a ring of transitions as a pytree of arrays.

A transition stores its `discount`: 0 where the model terminated the episode, 1 elsewhere, a
time-out included. So termination and truncation are told apart in one place, where the transition
is made.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from jekyllhyde.deep.networks import encode


class Transition(eqx.Module):
    """One transition, or a batch of them along the first axis."""

    observation: Array
    action: Array
    reward: Array
    following: Array
    discount: Array


class Replay(eqx.Module):
    """The last `capacity` transitions: `data` [capacity, ...], where the next one goes, and how
    many there are.
    """

    data: Transition
    position: Array
    size: Array

    @property
    def capacity(self) -> int:
        """The number of transitions it can hold."""
        return self.data.reward.shape[0]


def empty(capacity: int, observation: Array) -> Replay:
    """A replay for observations like `observation`."""
    zero, count = jnp.zeros(()), jnp.zeros((), jnp.int32)
    example = Transition(observation, count, zero, observation, zero)
    return Replay(
        jax.tree.map(lambda x: jnp.zeros((capacity, *x.shape), x.dtype), example), count, count
    )


def add(replay: Replay, transition: Transition, keep: Array | bool = True) -> Replay:
    """Store `transition` in place of the oldest one; without `keep`, nothing changes (and nothing
    is copied).
    """

    def write(ring: Array, value: Array) -> Array:
        old = jax.lax.dynamic_index_in_dim(ring, replay.position, keepdims=False)
        return jax.lax.dynamic_update_index_in_dim(
            ring, jnp.where(keep, value, old), replay.position, 0
        )

    kept = jnp.asarray(keep, jnp.int32)
    position = (replay.position + kept) % replay.capacity
    return Replay(
        jax.tree.map(write, replay.data, transition),
        position,
        jnp.minimum(replay.size + kept, replay.capacity),
    )


def sample(replay: Replay, uniform: Array) -> tuple[Transition, Array]:
    """A transition for each of the `uniform` numbers [N] in [0, 1), and their weights [N]: 0 where
    there is none to draw.
    """
    index = jnp.minimum((uniform * replay.size).astype(jnp.int32), replay.size - 1)
    weight = jnp.broadcast_to(replay.size > 0, index.shape).astype(jnp.float32)
    return jax.tree.map(lambda ring: ring[index], replay.data), weight


def everything(replay: Replay) -> tuple[Transition, Array]:
    """All places of the ring, and their weights [capacity]: 0 where nothing is stored yet."""
    return replay.data, (jnp.arange(replay.capacity) < replay.size).astype(jnp.float32)


def join(*parts: tuple[Transition, Array]) -> tuple[Transition, Array]:
    """Batches one after another."""
    joined: tuple[Transition, Array] = jax.tree.map(lambda *xs: jnp.concatenate(xs), *parts)
    return joined


class Samples(Transition):
    """A batch of N transitions as the networks take it: with s and s' as vectors, `x` and `x_next`
    (or as indices, where networks embed them); `weight` is 0 where nothing was drawn.
    """

    x: Array
    x_next: Array
    weight: Array


def prepare(features: Array | None, batch: Transition, weight: Array) -> Samples:
    """The batch with its observations encoded by the table `features`, which all networks share."""
    x, x_next = encode(features, batch.observation), encode(features, batch.following)
    return Samples(**vars(batch), x=x, x_next=x_next, weight=weight)

"""Replay: a ring of transitions as a pytree of arrays.

A transition stores its `discount`: 0 where the model terminated the episode, 1 elsewhere, a
time-out included. So termination and truncation are told apart in one place, where the transition
is made.
"""

import equinox as eqx
import jax
import jax.numpy as jnp

from jekyllhyde.deep.networks import encode


class Transition(eqx.Module):
    """One transition, or a batch of them along the first axis."""

    observation: jax.Array
    action: jax.Array
    reward: jax.Array
    following: jax.Array
    discount: jax.Array


class Replay(eqx.Module):
    """The last `capacity` transitions: `data` [capacity, ...], where the next one goes, and how
    many there are.
    """

    data: Transition
    position: jax.Array
    size: jax.Array


def empty(capacity: int, observation: jax.Array) -> Replay:
    """A replay for observations like `observation`."""
    zero, count = jnp.zeros(()), jnp.zeros((), jnp.int32)
    example = Transition(observation, count, zero, observation, zero)
    return Replay(
        jax.tree.map(lambda x: jnp.zeros((capacity, *x.shape), x.dtype), example), count, count
    )


def add(replay: Replay, transition: Transition, keep: jax.Array | bool = True) -> Replay:
    """Store `transition` in place of the oldest one; without `keep`, nothing changes (and nothing
    is copied).
    """

    def write(ring: jax.Array, value: jax.Array) -> jax.Array:
        old = jax.lax.dynamic_index_in_dim(ring, replay.position, keepdims=False)
        return jax.lax.dynamic_update_index_in_dim(
            ring, jnp.where(keep, value, old), replay.position, 0
        )

    kept, capacity = jnp.asarray(keep, jnp.int32), len(replay.data.reward)
    return Replay(
        jax.tree.map(write, replay.data, transition),
        (replay.position + kept) % capacity,
        jnp.minimum(replay.size + kept, capacity),
    )


def sample(replay: Replay, uniform: jax.Array) -> tuple[Transition, jax.Array]:
    """A transition for each of the `uniform` numbers [N] in [0, 1), and their weights [N]: 0 where
    there is none to draw.
    """
    index = jnp.minimum((uniform * replay.size).astype(jnp.int32), replay.size - 1)
    weight = jnp.broadcast_to(replay.size > 0, index.shape).astype(jnp.float32)
    return jax.tree.map(lambda ring: ring[index], replay.data), weight


def everything(replay: Replay) -> tuple[Transition, jax.Array]:
    """All places of the ring, and their weights [capacity]: 0 where nothing is stored yet."""
    return replay.data, (jnp.arange(len(replay.data.reward)) < replay.size).astype(jnp.float32)


class Samples(Transition):
    """A batch of N transitions as the networks take it: with s and s' as vectors, `x` and `x_next`
    (or as indices, where networks embed them); `weight` is 0 where nothing was drawn.
    """

    x: jax.Array
    x_next: jax.Array
    weight: jax.Array


def prepare(features: jax.Array | None, batch: Transition, weight: jax.Array) -> Samples:
    """The batch with its observations encoded by the table `features`, which all networks share."""
    x, x_next = encode(features, batch.observation), encode(features, batch.following)
    return Samples(**vars(batch), x=x, x_next=x_next, weight=weight)

"""Replay: a ring of transitions as a pytree of arrays.

A transition stores its `discount`: 0 where the model terminated the episode, 1 elsewhere, a
time-out included. So termination and truncation are told apart in one place, where the transition
is made.
"""

from typing import Self

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

    `empty` makes one for observations like the one given. `add` stores a transition in place of the
    oldest one; without `keep`, nothing changes (and nothing is copied). `sample` has a transition
    for each of the `uniform` numbers [N] in [0, 1), and their weights [N]: 0 where there is none to
    draw. `everything` has all places of the ring, with weights [capacity]: 0 where nothing is
    stored yet.
    """

    data: Transition
    position: jax.Array
    size: jax.Array

    @classmethod
    def empty(cls, capacity: int, observation: jax.Array) -> Self:
        zero, count = jnp.zeros(()), jnp.zeros((), jnp.int32)
        data = jax.tree.map(
            lambda x: jnp.zeros((capacity, *x.shape), x.dtype),
            Transition(observation, count, zero, observation, zero),
        )
        return cls(data, count, count)

    def add(self, transition: Transition, keep: jax.Array | bool = True) -> Self:
        def write(ring: jax.Array, value: jax.Array) -> jax.Array:
            old = jax.lax.dynamic_index_in_dim(ring, self.position, keepdims=False)
            return jax.lax.dynamic_update_index_in_dim(
                ring, jnp.where(keep, value, old), self.position, 0
            )

        kept, capacity = jnp.asarray(keep, jnp.int32), len(self.data.reward)
        return type(self)(
            jax.tree.map(write, self.data, transition),
            (self.position + kept) % capacity,
            jnp.minimum(self.size + kept, capacity),
        )

    def sample(self, uniform: jax.Array) -> tuple[Transition, jax.Array]:
        index = jnp.minimum((uniform * self.size).astype(jnp.int32), self.size - 1)
        weight = jnp.broadcast_to(self.size > 0, index.shape).astype(jnp.float32)
        return jax.tree.map(lambda ring: ring[index], self.data), weight

    def everything(self) -> tuple[Transition, jax.Array]:
        return self.data, (jnp.arange(len(self.data.reward)) < self.size).astype(jnp.float32)


class Samples(Transition):
    """A batch of N transitions as the networks take it: with s and s' as vectors, `x` and `x_next`
    (or as indices, where networks embed them); `weight` is 0 where nothing was drawn. `of` encodes
    the observations of a batch by the table `features`, which all networks share.
    """

    x: jax.Array
    x_next: jax.Array
    weight: jax.Array

    @classmethod
    def of(cls, features: jax.Array | None, batch: Transition, weight: jax.Array) -> Self:
        x, x_next = encode(features, batch.observation), encode(features, batch.following)
        return cls(**vars(batch), x=x, x_next=x_next, weight=weight)

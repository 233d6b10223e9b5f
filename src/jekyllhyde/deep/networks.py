"""Multilayer perceptrons, and the Adam step that trains them with a rate that may be traced.

Observations are either vectors or state indices. An index becomes a vector in one of two ways: through one random table, fixed
and the same for all networks (the paper: "a random 20-dimensional embedding for each distinct position"), or through a table that
belongs to a network and is trained with it (`published`).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax import Array

EMBEDDING = 20


class Space(eqx.Module):
    """What an agent meets: observations are indices below `n_states`, or vectors of `size` where that is None."""

    n_states: int | None = eqx.field(static=True)
    size: int = eqx.field(static=True)
    n_actions: int = eqx.field(static=True)

    def example(self) -> Array:
        """An observation of zeros."""
        return jnp.zeros((), jnp.int32) if self.n_states is not None else jnp.zeros(self.size)


class Network(eqx.Module):
    """A perceptron with ReLU: `weights` [in, out] and `biases` [out] per layer; `embedding` [S, D] where it has its own."""

    embedding: Array | None
    weights: tuple[Array, ...]
    biases: tuple[Array, ...]

    def __call__(self, x: Array) -> Array:
        """Outputs [..., out] for vectors [..., in], or for indices [...] where the network embeds them."""
        x = x if self.embedding is None else self.embedding[x]
        *hidden, (weight, bias) = zip(self.weights, self.biases, strict=True)
        for w, b in hidden:
            x = jax.nn.relu(x @ w + b)
        return x @ weight + bias


def make_network(key: Array, sizes: tuple[int, ...], n_embedded: int | None = None, xavier: bool = True) -> Network:
    """A network with layers of `sizes`; weights Xavier-uniform with zero biases, or both uniform within 1/sqrt(fan in)."""
    embedding_key, *keys = jax.random.split(key, len(sizes))
    weights, biases = [], []
    for k, (fan_in, fan_out) in zip(keys, pairwise(sizes), strict=True):
        weight_key, bias_key = jax.random.split(k)
        bound = jnp.sqrt(6.0 / (fan_in + fan_out)) if xavier else jnp.sqrt(1.0 / fan_in)
        weights.append(jax.random.uniform(weight_key, (fan_in, fan_out), minval=-bound, maxval=bound))
        biases.append(jnp.zeros(fan_out) if xavier else jax.random.uniform(bias_key, (fan_out,), minval=-bound, maxval=bound))
    embedding = None if n_embedded is None else jax.random.normal(embedding_key, (n_embedded, sizes[0]))
    return Network(embedding, tuple(weights), tuple(biases))


def fixed_embedding(key: Array, space: Space) -> Array | None:
    """The random table [S, 20] that all networks share, where observations are indices."""
    return None if space.n_states is None else jax.random.normal(key, (space.n_states, EMBEDDING))


def encode(features: Array | None, observation: Array) -> Array:
    """What the networks are given: rows of the shared table, or the observation itself."""
    return observation if features is None else features[observation]


class Learner(eqx.Module):
    """A network and Adam's moments for it."""

    network: Network
    moments: Any

    @staticmethod
    def of(network: Any) -> Learner:
        """A network before its first step."""
        return Learner(network, optax.scale_by_adam().init(network))

    def descend(self, gradient: Any, rate: Any, clip: Any, adam_eps: Any) -> Learner:
        """One Adam step of size `rate` down `gradient`, whose norm is cut at `clip`."""
        norm = optax.global_norm(gradient)
        gradient = jax.tree.map(lambda g: g * jnp.minimum(1.0, clip / jnp.maximum(norm, 1e-30)), gradient)
        direction, moments = optax.scale_by_adam(eps=adam_eps).update(gradient, self.moments)
        return Learner(jax.tree.map(lambda w, d: w - rate * d, self.network, direction), moments)


def blend(target: Any, online: Any, tau: Any) -> Any:
    """Target weights moved towards the online ones at rate `tau`."""
    return jax.tree.map(lambda slow, fast: slow + tau * (fast - slow), target, online)


def mean(values: Array, weight: Array) -> Array:
    """The mean of `values` [N] over the samples that are there (`weight` 1), 0 where none is."""
    return jnp.sum(weight * values) / jnp.maximum(jnp.sum(weight), 1.0)


def pick(table: Array, action: Array) -> Array:
    """table[i, action[i]]."""
    return jnp.take_along_axis(table, action[:, None], axis=1)[:, 0]

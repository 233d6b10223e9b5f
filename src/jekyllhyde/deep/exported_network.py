"""The greedy policy of an agent with networks as plain arrays, for `policy_export`."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import block_diag

from jekyllhyde.deep.bootstrapped import Ensemble, WithPrior
from jekyllhyde.deep.critics import ActorCritic
from jekyllhyde.deep.encoders import WIDEST, Normalizer
from jekyllhyde.deep.networks import Network, Space
from jekyllhyde.errors import require
from jekyllhyde.policy_export import Exported

MOST_LINES = 20  # of a description
KINDS = {
    "categories": "a code of ",
    "cells": "one-hot codes of the cells of ",
    "bits": "the bits of ",
}


def exported(space: Space, networks: Any) -> Exported:
    """The actor, or q where there is none, with what encodes observations."""
    network = _greedy_in(networks)
    return Exported(
        arrays={
            **_of_policy(space, networks.features, network),
            **_of_actions(space),
        },
        observation=_observation(space),
        action=_action(space),
        width=int(np.prod(space.shape)) if space.n_states is None else 0,
        images=space.images,
    )


def _greedy_in(networks: Any) -> Network:
    if isinstance(networks, ActorCritic):
        network: Network = networks.policy
    elif isinstance(networks.q, Ensemble):
        network = _mean_of(networks.q.critics.online.network)
    else:
        network = networks.q.online.network
    return network


def _mean_of(heads: WithPrior) -> Network:
    # The mean of all heads as one network: they lie side by side in its layers.
    parts: list[Network] = [
        jax.tree.map(lambda leaf, k=k: leaf[k], network)
        for network in (heads.learned, heads.prior)
        for k in range(len(heads.prior.biases[0]))
    ]
    first = parts[0]
    require(
        first.convolutions is None, "heads that see images cannot be exported as a single network"
    )
    weights = [
        block_diag(*layers) for layers in zip(*(part.weights for part in parts), strict=True)
    ]
    biases = [
        jnp.concatenate(layers) for layers in zip(*(part.biases for part in parts), strict=True)
    ]
    embedding = None
    if first.embedding is None:  # all see the same
        weights[0] = jnp.concatenate([part.weights[0] for part in parts], 1)
    else:
        embedding = jnp.concatenate([jnp.asarray(part.embedding) for part in parts], 1)
    mean = jnp.tile(jnp.eye(len(first.biases[-1])), (len(parts), 1)) * 2.0 / len(parts)
    weights[-1], biases[-1] = weights[-1] @ mean, biases[-1] @ mean
    return Network(embedding, tuple(weights), tuple(biases))


def _of_policy(space: Space, features: Any, network: Network) -> dict[str, Any]:
    if space.n_states is None:
        return _of_normalizer(features) | _of_network(network)
    first = {"first_state": np.int64(space.first_state)}
    table = features if network.embedding is None else network.embedding
    if table is None:  # of one-hot vectors nothing is left but what the network says of each
        return first | {"table": np.asarray(network(jnp.arange(space.n_states)))}
    return first | {"table": np.asarray(table)} | _of_network(network)


def _of_normalizer(features: Any) -> dict[str, Any]:
    if not isinstance(features, Normalizer):
        return {}
    scale = np.sqrt(np.asarray(features.variance) + np.float32(1e-8))
    return {"mean": np.asarray(features.mean), "scale": scale, "limit": np.float32(WIDEST)}


def _of_network(network: Network) -> dict[str, Any]:
    arrays: dict[str, Any] = {"normalized": np.bool_(True)} if network.normalized else {}
    if network.convolutions is not None:
        for i, kernels in enumerate(network.convolutions.kernels):
            arrays[f"stride_{i}"] = np.array(network.convolutions.strides[i])
            for j, kernel in enumerate(kernels):
                arrays[f"kernel_{i}_{j}"] = np.asarray(kernel)
    for k, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        arrays[f"weight_{k}"], arrays[f"bias_{k}"] = np.asarray(weight), np.asarray(bias)
    return arrays


def _of_actions(space: Space) -> dict[str, Any]:
    if not space.factors:
        return {"first_action": np.int64(space.first_action)}
    counts, firsts = np.array(space.factors).T
    return {"counts": counts, "firsts": firsts}


def _observation(space: Space) -> str:
    if space.n_states is not None:
        return f"an integer from {space.first_state} to {space.first_state + space.n_states - 1}"
    if not space.parts:
        return f"{int(np.prod(space.shape))} numbers, flattened from the shape {space.shape}"
    lines, begin = [], 0
    vectors = [part for part in space.parts if part.kind != "image"]
    for part in sorted(vectors, key=lambda part: part.kind != "numbers"):  # codes come after them
        code = KINDS.get(part.kind, "")
        lines.append(f"entries {begin} to {begin + part.width - 1}: {code}`{part.name}`")
        begin += part.width
    for part in space.parts:
        if part.kind == "image":
            size = "[{}, {}, {}]".format(*part.image)
            lines.append(f"an image of `{part.name}`, in 8 bits, {size}")
    more = [] if len(lines) <= MOST_LINES else [f"and {len(lines) - MOST_LINES} more"]
    return "; ".join([*lines[:MOST_LINES], *more])


def _action(space: Space) -> str:
    if not space.factors:
        return f"an integer from {space.first_action} to {space.first_action + space.n_actions - 1}"
    ranges = ", ".join(f"{first} to {first + n - 1}" for n, first in space.factors)
    return f"{len(space.factors)} integers ({ranges})"

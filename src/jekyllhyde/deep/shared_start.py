"""First weights as in the authors' release, whose networks share what they begin with.

biases       of the critics: uniform within 1/sqrt(fan in); their weights are Xavier's
the actor    has the layers of critic 1, and the embedding of critic 2
embeddings   Hyde and the predictors of the bonus have that of critic 1
the bonus    all predictors begin alike, and all targets are the same
"""

import math
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp

from jekyllhyde.deep.bonus import RNDState
from jekyllhyde.deep.critics import Critic
from jekyllhyde.deep.learner import Learner
from jekyllhyde.deep.networks import Network
from jekyllhyde.errors import require


def shared(key: jax.Array, networks: Any) -> Any:
    """Jekyll's and Hyde's networks before the first step, with weights of each other."""
    explorer = networks.explorer
    bonus: Any = getattr(explorer, "bonus", None)
    require(
        isinstance(bonus, RNDState) and bonus.target.biases[0].ndim == 2,
        "shared_start is True; it takes the bonus rnd(per_action=True)",
    )
    require(
        len(networks.critics) == 2,
        f"critics is {len(networks.critics)}; shared_start=True takes 2",
    )
    require(
        all(isinstance(critic.online.network, Network) for critic in networks.critics),
        "dueling is True, which shared_start=True does not take",
    )
    first, second = (
        _with_biases(jax.random.fold_in(key, i), critic.online.network)
        for i, critic in enumerate(networks.critics)
    )
    actor = replace(first, embedding=second.embedding)
    hyde = replace(explorer.q.online.network, embedding=first.embedding)
    target, predictor = map(_alike, (bonus.target, bonus.predictor.network))
    if first.embedding is not None:
        of_all = jnp.broadcast_to(
            first.embedding, (len(predictor.biases[0]), *first.embedding.shape)
        )
        predictor = replace(predictor, embedding=of_all)
    bonus = replace(bonus, target=target, predictor=Learner.of(predictor))
    return replace(
        networks,
        actor=Learner.of(actor),
        critics=(Critic.of(first), Critic.of(second)),
        explorer=replace(explorer, q=Critic.of(hyde), bonus=bonus),
    )


def _with_biases(key: jax.Array, network: Network) -> Network:
    keys = jax.random.split(key, len(network.biases))
    return replace(
        network,
        biases=tuple(
            jax.random.uniform(k, bias.shape, minval=-1.0) / math.sqrt(len(weight))
            for k, weight, bias in zip(keys, network.weights, network.biases, strict=True)
        ),
    )


def _alike(networks: Network) -> Network:
    # of several networks, the first in place of each
    return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf[:1], leaf.shape), networks)

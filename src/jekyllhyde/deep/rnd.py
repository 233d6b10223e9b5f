"""Random network distillation: novelty as the error of a network that learns to predict another,
random one.

    bonus(x) = |predictor(x) - target(x)|^2

The error is large where the predictor has rarely been trained. `per_action` keeps one pair of
networks per action, so that the bonus belongs to (s, a) (`published`); otherwise it belongs to the
state alone (the paper: the next one).
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from jekyllhyde.deep.networks import Learner, Network, make_network, mean

WIDTH = 20


class RND(eqx.Module):
    """A random target network and the predictor that chases it; with `per_action`, their leaves
    have a first axis of A.
    """

    target: Network
    predictor: Learner
    per_action: bool = eqx.field(static=True)


def make_rnd(
    key: Array, size: int, n_embedded: int | None, n_actions: int | None, deep_target: bool
) -> RND:
    """Predictor `size`-20-20-20; the target has one hidden layer less unless `deep_target`. One
    pair per action if given.
    """
    shallow, deep = (size, WIDTH, WIDTH), (size, WIDTH, WIDTH, WIDTH)

    def pair(k: Array) -> tuple[Network, Network]:
        target_key, predictor_key = jax.random.split(k)
        target = make_network(target_key, deep if deep_target else shallow, n_embedded)
        return target, make_network(predictor_key, deep, n_embedded)

    target, predictor = (
        pair(key) if n_actions is None else jax.vmap(pair)(jax.random.split(key, n_actions))
    )
    return RND(target, Learner.of(predictor), n_actions is not None)


def bonus(rnd: RND, x: Array, action: Array) -> Array:
    """The bonus [N] of inputs `x` [N, D] (and of the actions taken there, with `per_action`)."""
    return _error(rnd.predictor.network, rnd, x, action)


def _error(predictor: Network, rnd: RND, x: Array, action: Array) -> Array:
    if not rnd.per_action:
        return jnp.sum((predictor(x) - rnd.target(x)) ** 2, axis=-1)
    difference = jax.vmap(lambda p, t: p(x) - t(x))(predictor, rnd.target)  # [A, N, 20]
    return jnp.sum(difference[action, jnp.arange(len(action))] ** 2, axis=-1)


def train_rnd(
    rnd: RND, x: Array, action: Array, weight: Array, rate: Any, clip: Any, adam_eps: Any
) -> RND:
    """One step of the predictor towards the target on the samples with `weight` 1."""
    gradient = jax.grad(lambda p: mean(_error(p, rnd, x, action), weight))(rnd.predictor.network)
    return RND(rnd.target, rnd.predictor.descend(gradient, rate, clip, adam_eps), rnd.per_action)

"""The Adam step that trains a network, or several."""

from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import optax  # type: ignore[import-untyped]


class Learner(eqx.Module):
    """What is trained, a network as a rule, and Adam's moments for it; `of` makes one before its
    first step, `descend` takes a step of size `rate` down `gradient`, whose norm is cut at `clip`.
    """

    network: Any
    moments: Any

    @classmethod
    def of(cls, network: Any) -> Self:
        return cls(network, optax.scale_by_adam().init(network))

    def descend(self, gradient: Any, rate: Any, clip: Any, adam_eps: Any) -> Self:
        adam = optax.scale_by_adam(eps=adam_eps)
        direction, moments = adam.update(cut(gradient, clip), self.moments)
        return type(self)(jax.tree.map(lambda w, d: w - rate * d, self.network, direction), moments)


def cut(gradient: Any, clip: Any) -> Any:
    """The gradient, shortened to a norm of `clip` where it is longer."""
    norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(gradient)))
    return jax.tree.map(lambda g: g * jnp.minimum(1.0, clip / jnp.maximum(norm, 1e-30)), gradient)

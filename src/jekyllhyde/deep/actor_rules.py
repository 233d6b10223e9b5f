"""The actor's update by name: what Dr Jekyll's logits do in a state, given the critic's q there.

A rule is a function of `logits` [N, A], `q` [N, A] and a `temperature` to the loss [N] of each
state; q is a constant in it, and so is what stands in square brackets. With a* the action of the
largest q and v = sum_a pi(a) q(a), minus the gradient on the logits:

    paper                    pi(a) (q(a) - v)
                             Algorithm 4: the expected update, loss - sum_a pi(a) q(a)
    published                loss - mean_a pi(a) [q(a) - pi(a) q(a)]
                             as the figure was made
    normalized_advantage     pi(a) (q(a) - v) / max_b |q(b) - v|
                             the same step in every state, whatever the scale of q
    natural_gradient         q(a) - v
                             the factor pi(a) is gone
    mirror_step              pi'(a) - pi(a)
                             towards pi' proportional to pi(a) exp(q(a) / temperature)
    cross_entropy            1(a = a*) - pi(a)
                             loss - log pi(a*)
    soft_cross_entropy       softmax(q / temperature)(a) - pi(a)
                             the same, towards a soft greedy policy
    modified_cross_entropy   (1 - pi(a*)) (1(a = a*) - 1(a != a*) / (A - 1))
                             all other actions fall alike

The first three switch off where pi(a) is small: a policy that has committed itself to a wrong
action hardly unlearns it, however large the advantage of another (the paper's factor pi (1 - pi),
Appendix E). So does the mirror step, unless exp(q / temperature) makes up for it. Cross-entropy
updates do not, but the plain one moves the other actions apart, down by pi(a) each, and so may
lower the value; the modified one keeps their ratios (Laroche and Tachet des Combes, AISTATS 2022),
and a small step of it never does. A rule of the user's own is "file.py:function".
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from jekyllhyde.deep.networks import pick

# (logits [N, A], q [N, A], temperature) -> loss [N]
Rule = Callable[[jax.Array, jax.Array, Any], jax.Array]


def paper(logits: jax.Array, q: jax.Array, temperature: Any) -> jax.Array:
    """The expected update."""
    return -jnp.sum(jax.nn.softmax(logits) * q, -1)


def published(logits: jax.Array, q: jax.Array, temperature: Any) -> jax.Array:
    """An expected update whose advantage q - pi q is not the usual one; where q > 0 it acts like an
    entropy bonus.
    """
    pi = jax.nn.softmax(logits)
    return -jnp.mean(pi * jax.lax.stop_gradient(q - pi * q), -1)


def normalized_advantage(logits: jax.Array, q: jax.Array, temperature: Any) -> jax.Array:
    """The expected update with advantages scaled to at most 1."""
    advantage = _advantage(logits, q)
    pi = jax.nn.softmax(logits)
    # an action that cannot be taken has pi = 0 and an advantage that says nothing
    largest = jnp.max(jnp.where(pi > 0.0, jnp.abs(advantage), 0.0), -1, keepdims=True)
    return -jnp.sum(pi * advantage / jnp.maximum(largest, 1e-8), -1)


def natural_gradient(logits: jax.Array, q: jax.Array, temperature: Any) -> jax.Array:
    """Logits move by the advantage itself, as the natural gradient of a tabular softmax does."""
    return -jnp.sum(_advantage(logits, q) * logits, -1)


def mirror_step(logits: jax.Array, q: jax.Array, temperature: Any) -> jax.Array:
    """Cross-entropy towards the policy after one step of mirror ascent."""
    return soft_cross_entropy(logits, temperature * jax.lax.stop_gradient(logits) + q, temperature)


def cross_entropy(logits: jax.Array, q: jax.Array, temperature: Any) -> jax.Array:
    """Cross-entropy towards the critic's greedy action."""
    return -pick(jax.nn.log_softmax(logits), jnp.argmax(q, -1))


def soft_cross_entropy(logits: jax.Array, q: jax.Array, temperature: Any) -> jax.Array:
    """Cross-entropy towards softmax(q / temperature)."""
    return -jnp.sum(jax.nn.softmax(q / temperature) * jax.nn.log_softmax(logits), -1)


def modified_cross_entropy(logits: jax.Array, q: jax.Array, temperature: Any) -> jax.Array:
    """Raise the critic's greedy action against all others alike."""
    best = jnp.argmax(q, -1)
    missing = jax.lax.stop_gradient(1.0 - pick(jax.nn.softmax(logits), best))
    above = pick(logits, best)
    others = (jnp.sum(logits, -1) - above) / (logits.shape[-1] - 1)
    return -missing * (above - others)


def _advantage(logits: jax.Array, q: jax.Array) -> jax.Array:
    # The advantage q - v [N, A], held constant.
    return q - jnp.sum(jax.lax.stop_gradient(jax.nn.softmax(logits)) * q, -1, keepdims=True)


ACTOR_RULES: dict[str, Rule] = {
    rule.__name__: rule
    for rule in (
        paper,
        published,
        normalized_advantage,
        natural_gradient,
        mirror_step,
        cross_entropy,
        soft_cross_entropy,
        modified_cross_entropy,
    )
}

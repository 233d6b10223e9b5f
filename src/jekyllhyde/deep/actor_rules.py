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
    raise_greedy             (1 - pi(a*)) 1(a = a*)
                             only a* moves, as far as with cross_entropy
    raise_greedy_centred     (1 - pi(a*)) (1(a = a*) - 1(a != a*) / (A - 1))
                             all others fall alike, so that the row sums to 0

`cross_entropy`, `raise_greedy` and `natural_gradient` are the rules of `row_rules`, which says what
they promise in a table: minus the gradient is the change there for step 1. `mirror_step` moves the
logits by what the mirror step of a table, of step 1 / temperature, changes in pi: it leads to that
policy and does not jump there.

The first three switch off where pi(a) is small: a policy that has committed itself to a wrong
action hardly unlearns it, however large the advantage of another (the paper's factor pi (1 - pi),
Appendix E). So does the mirror step, unless exp(q / temperature) makes up for it. Cross-entropy
updates do not (docs/unlearning.md).

The last two differ by a shift of the row and a factor A / (A - 1): to the softmax of a table they
are the same rule with another step. Shared weights tell them apart, for a network has to move the
others too: `raise_greedy` lets all logits drift upwards, the centred form pushes the others down in
every state alike.

`raise_greedy_centred` was called `modified_cross_entropy`, after Laroche and Tachet des Combes,
"Beyond the Policy Gradient Theorem for Efficient Policy Updates in Actor-Critic Algorithms"
(AISTATS 2022). Established, from its abstract and introduction: the policy gradient is slow to
unlearn, n updates from uniform taking at least as many to undo; cross-entropy to argmax q unlearns
fast but may lower the value; a modified update does not, and converges at a rate of 1 / t. Not
established: its formula, which we have not seen. The rule here has those properties in a table, and
is named for what it does; the old name is still read, and stored settings keep it.

A rule of the user's own is "file.py:function".
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


def raise_greedy(logits: jax.Array, q: jax.Array, temperature: Any) -> jax.Array:
    """Raise the critic's greedy action."""
    best = jnp.argmax(q, -1)
    missing = jax.lax.stop_gradient(1.0 - pick(jax.nn.softmax(logits), best))
    return -missing * pick(logits, best)


def raise_greedy_centred(logits: jax.Array, q: jax.Array, temperature: Any) -> jax.Array:
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
        raise_greedy,
        raise_greedy_centred,
    )
}
RENAMED = {"modified_cross_entropy": "raise_greedy_centred"}  # what stored settings say

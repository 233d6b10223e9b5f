"""Multilayer perceptrons, and the transitions they are given; what trains them is in `learner`.

Observations are vectors, vectors with images (`encoders.Seen`), or state indices. An index becomes
a vector through one random table, fixed and the same for all networks (the paper's "random
20-dimensional embedding"), through a trained table of each network (`published`), or as a one-hot
vector (`recommended`), whose product with the first weights is a row of them.

Actions that an environment does not allow have the logit and the value `FORBIDDEN`.
"""

import math
from dataclasses import replace
from functools import partial
from itertools import accumulate, pairwise
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp

from jekyllhyde.deep.encoders import Convolutions, Normalizer, Seen, convolved_width, standardized
from jekyllhyde.envs.space_parts import Part, is_binary

EMBEDDING = 20
FORBIDDEN = -1e9


def static(default: Any) -> Any:
    """A field of a record that is compiled in, with its default."""
    return eqx.field(static=True, default=default)


class Network(eqx.Module):
    """A perceptron with ReLU: `weights` [in, out] and `biases` [out] per layer, standardized before
    it if `normalized`; `embedding` [S, D] where it has its own, `convolutions` where there are
    images. Called with vectors [..., in], or with indices [...] where it embeds them.
    """

    embedding: jax.Array | None
    weights: tuple[jax.Array, ...]
    biases: tuple[jax.Array, ...]
    convolutions: Convolutions | None = None
    normalized: bool = static(False)

    def __call__(self, x: Any) -> jax.Array:
        x = x if self.embedding is None else self.embedding[x]
        x = x if self.convolutions is None else self.convolutions(x)
        *hidden, (weight, bias) = zip(self.weights, self.biases, strict=True)
        for w, b in hidden:
            x = _product(x, w) + b
            x = jax.nn.relu(standardized(x) if self.normalized else x)
        return _product(x, weight) + bias

    def scaled(self, scale: Any) -> Self:
        """The network with its last weights times `scale`."""
        *hidden, last = self.weights
        return replace(self, weights=(*hidden, scale * last))


def _product(x: Any, weight: jax.Array) -> jax.Array:
    # an index stands for its one-hot vector: of the product that is a row
    return weight[x] if jnp.issubdtype(jnp.asarray(x).dtype, jnp.integer) else x @ weight


def make_network(
    key: jax.Array, sizes: tuple[int, ...], n_embedded: int | None = None, xavier: bool = True
) -> Network:
    """A network with layers of `sizes`; weights Xavier-uniform with zero biases, or both uniform
    within 1/sqrt(fan in).
    """
    weight_key, embedding_key = jax.random.split(key)
    counts = [(fan_in + 1) * fan_out for fan_in, fan_out in pairwise(sizes)]
    # one draw for all layers: random numbers are what compiles slowest
    draws = jnp.split(
        jax.random.uniform(weight_key, (sum(counts),), minval=-1.0), list(accumulate(counts))[:-1]
    )
    layers = list(zip(draws, pairwise(sizes), strict=True))
    return Network(
        None if n_embedded is None else jax.random.normal(embedding_key, (n_embedded, sizes[0])),
        tuple(
            draw[m:].reshape(n, m) * math.sqrt(6.0 / (n + m) if xavier else 1.0 / n)
            for draw, (n, m) in layers
        ),
        tuple(draw[:m] * (0.0 if xavier else math.sqrt(1.0 / n)) for draw, (n, m) in layers),
    )


class Space(eqx.Module):
    """What an agent meets: observations are `n_states` indices, or arrays of `shape` where that is
    None; states and actions are counted from `first_state` and `first_action`. Where networks train
    their own embeddings, `n_embedded` is the number of indices. Networks have an output per action.

    parts : of observations that are not one array; `shape` is then that of the vector they become.
    factors : of actions that are a product, how many along each axis, and the first of each.
    masked : whether the environment says which actions are allowed.
    one_hot : whether indices stand for one-hot vectors.

    `network` has a network with these hidden layers and an output per action, `perceptron` one with
    the outputs that are asked for. `embed` has the space, told by the settings whether networks
    train embeddings of their own, and what encodes observations for all of them: the random table
    [S, 20] that they share, or what normalizes vectors. `restored` reads what was written as JSON.
    """

    n_states: int | None = eqx.field(static=True)
    shape: tuple[int, ...] = eqx.field(static=True)
    n_actions: int = eqx.field(static=True)
    first_state: int = static(0)
    first_action: int = static(0)
    n_embedded: int | None = static(None)
    parts: tuple[Part, ...] = static(())
    factors: tuple[tuple[int, int], ...] = static(())
    masked: bool = static(False)
    one_hot: bool = static(False)

    @classmethod
    def restored(cls, stored: dict[str, Any]) -> Self:
        parts = tuple(Part(*_tuples(part)) for part in stored.get("parts", ()))
        return cls(**{**{name: _tuples(value) for name, value in stored.items()}, "parts": parts})

    @property
    def images(self) -> tuple[tuple[int, int, int], ...]:  # their heights, widths and channels
        return tuple(part.image for part in self.parts if part.kind == "image")

    @property
    def n_numbers(self) -> int:  # of a vector, those that are no codes
        if not self.parts:
            return math.prod(self.shape) if self.n_states is None else 0
        return sum(part.width for part in self.parts if part.kind == "numbers")

    @property
    def width(self) -> int:  # of the vectors that reach a network's first layer
        return self._vector + convolved_width(self.images)

    @property
    def indexed(self) -> bool:  # whether networks are given indices
        return self.one_hot or self.n_embedded is not None

    @property
    def n_features(self) -> int:  # of what networks are given, pixels included
        return self._vector + sum(math.prod(image) for image in self.images)

    @property
    def _vector(self) -> int:
        if self.n_states is None:
            return math.prod(self.shape)
        return self.n_states if self.one_hot else EMBEDDING

    def example(self) -> Any:  # an observation of zeros
        if self.n_states is not None:
            return jnp.zeros((), jnp.int32)
        vector = jnp.zeros(math.prod(self.shape), bool if is_binary(self.parts) else jnp.float32)
        images = tuple(jnp.zeros(image, jnp.uint8) for image in self.images)
        return Seen(vector, images, jnp.zeros(2, jnp.int32)) if images else vector

    def transition(self) -> "Transition":  # one of zeros
        zero, allowed = jnp.zeros(()), jnp.ones(self.n_actions, bool) if self.masked else None
        return Transition(
            self.example(),
            jnp.zeros((), jnp.int32),
            zero,
            self.example(),
            zero,
            allowed=allowed,
            allowed_next=allowed,
        )

    def network(self, key: jax.Array, hidden: tuple[int, ...], xavier: bool = True) -> Network:
        return self.perceptron(key, (*hidden, self.n_actions), xavier)

    def perceptron(self, key: jax.Array, sizes: tuple[int, ...], xavier: bool = True) -> Network:
        network = make_network(key, (self.width, *sizes), self.n_embedded, xavier)
        if not self.images:
            return network
        return replace(
            network, convolutions=Convolutions.of(jax.random.fold_in(key, 1), self.images)
        )

    def embed(self, key: jax.Array, config: Any) -> tuple[Self, Any]:
        if config.trained_embedding or self.n_states is None:
            is_needed = config.normalize_observations and self.n_numbers > 0
            normalizer = Normalizer.of(self.n_numbers) if is_needed else None
            return replace(self, n_embedded=self.n_states), normalizer
        if config.one_hot:
            return replace(self, one_hot=True), None
        return self, jax.random.normal(key, (self.n_states, EMBEDDING))


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, (list, tuple)) else value


def encode(features: Any, observation: Any) -> Any:
    """What the networks are given: rows of the shared table, normalized vectors, or the observation
    itself.
    """
    if features is None:
        return observation
    return features(observation) if isinstance(features, Normalizer) else features[observation]


def among(allowed: jax.Array | None, values: jax.Array) -> jax.Array:
    """Logits or values [..., A], `FORBIDDEN` where the action is not among those `allowed`."""
    return values if allowed is None else jnp.where(allowed, values, FORBIDDEN)


class Transition(eqx.Module):
    """One transition, or a batch of them along the first axis. `discount` is 0 where the model
    terminated the episode, 1 elsewhere, a time-out included: so termination and truncation are told
    apart in one place, where the transition is made. `allowed` and `allowed_next` [A] are the
    actions that may be taken in s and in s'; None where all may. `ahead` is there where an agent
    learns from n steps, `novelty` where a bonus is stored with a step, and `cut` where an agent has
    to know that a time-out came after a step.
    """

    observation: Any
    action: jax.Array
    reward: jax.Array
    following: Any
    discount: jax.Array
    allowed: Any = eqx.field(default=None, kw_only=True)
    allowed_next: Any = eqx.field(default=None, kw_only=True)
    ahead: Any = eqx.field(default=None, kw_only=True)
    novelty: Any = eqx.field(default=None, kw_only=True)
    cut: Any = eqx.field(default=None, kw_only=True)


def staying(cut: jax.Array | None, before: Any, after: Any) -> Any:
    """What came after steps, or where they were `cut` [N] what was before them."""
    return after if cut is None else jax.tree.map(partial(where_rows, cut), before, after)


class Samples(Transition):
    """A batch of N transitions as the networks take it: with s and s' as vectors, `x` and `x_next`
    (or as indices, where networks embed them); `weight` is 0 where nothing was drawn. `of` encodes
    the observations of a batch by the `features` that all networks share. `among` and `among_next`
    have values [N, A] in s and in s' with those of forbidden actions replaced. `far` are the
    samples with what n steps led to in place of what one did. Where a step was `cut`, s' is taken
    to be s. `place` is where in the replay they lie, where that is known.
    """

    x: Any
    x_next: Any
    weight: jax.Array
    place: Any = eqx.field(default=None, kw_only=True)

    @classmethod
    def of(cls, features: Any, batch: Transition, weight: jax.Array, place: Any = None) -> Self:
        x, x_next = encode(features, batch.observation), encode(features, batch.following)
        x_next = staying(batch.cut, x, x_next)
        allowed_next = staying(batch.cut, batch.allowed, batch.allowed_next)
        batch = replace(batch, allowed_next=allowed_next)
        if batch.ahead is not None:
            ahead = batch.ahead
            following = encode(features, ahead.following)
            before = encode(features, ahead.before)
            batch = replace(batch, ahead=replace(ahead, following=following, before=before))
        return cls(**vars(batch), x=x, x_next=x_next, weight=weight, place=place)

    @property
    def far(self) -> Self:
        if self.ahead is None:
            return self
        ahead = self.ahead
        return replace(
            self,
            reward=ahead.reward,
            discount=ahead.discount,
            x_next=ahead.following,
            allowed_next=ahead.allowed_next,
            ahead=None,
        )

    def among(self, values: jax.Array) -> jax.Array:
        return among(self.allowed, values)

    def among_next(self, values: jax.Array) -> jax.Array:
        return among(self.allowed_next, values)


def where_rows(mask: jax.Array, new: jax.Array, old: jax.Array) -> jax.Array:
    """The rows [N, ...] of `new` where the mask [N] says so, else those of `old`."""
    return jnp.where(mask.reshape(-1, *[1] * (new.ndim - 1)), new, old)


def blend(target: Any, online: Any, tau: Any) -> Any:
    """Target weights moved towards the online ones at rate `tau`."""
    return jax.tree.map(lambda slow, fast: slow + tau * (fast - slow), target, online)


def mean(values: jax.Array, weight: jax.Array) -> jax.Array:
    """The mean of `values` [N] over the samples that are there (`weight` 1), 0 where none is."""
    return jnp.sum(weight * values) / jnp.maximum(jnp.sum(weight), 1.0)


def pick(table: jax.Array, action: jax.Array) -> jax.Array:
    """table[i, action[i]]."""
    return jnp.take_along_axis(table, action[:, None], axis=1)[:, 0]

"""What `ddqn`, `bootstrapped`, `sac` and `jekyll_hyde` share: settings, replay, state and the gate
of the warm-up. Their action values are in `critics`.
"""

from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp

from jekyllhyde.deep.bonus import RND, Bonus, noted
from jekyllhyde.deep.encoders import Normalizer, Seen
from jekyllhyde.deep.frames import Frames, without_images
from jekyllhyde.deep.multistep import SINGLE, Horizon, look_ahead
from jekyllhyde.deep.networks import (
    Samples,
    Transition,
    static,
)

_zero = partial(jnp.zeros, (), jnp.int32)
Weighted = tuple[Transition, jax.Array]  # transitions, and their weights
MOST = 2**31 - 1  # what counters stop at, instead of beginning anew below 0


class Settings(eqx.Module):
    """Numbers may differ between runs of one compiled call; what is static is compiled in. Printed,
    they show every value, defaults too.
    """

    gamma: float = 0.99  # discount
    eta_c: float = 1e-3  # critic step
    tau: float = 0.01  # rate of the critics' target networks; 1 is no target network
    clip: float = 5.0  # largest norm of a gradient
    adam_eps: float = 1e-4  # Adam's epsilon
    bonus: Bonus = RND()  # what counts as new: rnd, or "file.py:Mine"
    trained_embedding: bool = static(False)  # each network embeds states itself
    # states by index are one-hot vectors, not a random table's rows; MiniGrid's cells are, too
    one_hot: bool = static(False)
    # numbers in observations are scaled by their running mean and variance
    normalize_observations: bool = static(True)
    batch: int = static(256)  # transitions per update
    capacity: int = static(40_000)  # transitions that are kept
    hidden: tuple[int, ...] = static((64, 64))  # widths of the hidden layers
    lanes: int = static(1)  # environments that take turns; as many as there are

    @property
    def horizon(self) -> Horizon:  # of the returns that values learn from
        n_steps, quiet = getattr(self, "n_steps", 1), getattr(self, "quiet", 1.0)
        return Horizon(n_steps, self.gamma, quiet, self.lanes)

    def __repr__(self) -> str:
        return _written_out(self)


def _written_out(record: Any) -> str:
    if not isinstance(record, eqx.Module):
        return repr(record)
    values = [f"{f.name}={_written_out(getattr(record, f.name))}" for f in fields(record)]
    return f"{type(record).__name__}({', '.join(values)})"


class Replay(eqx.Module):
    """A ring of the last `capacity` transitions: `data` [capacity, ...], where the next one goes,
    and how many there are; images are in `frames`. Observations that are `bits` alone, as many as
    that, are stored eight to a byte.

    `empty` makes one for transitions like the one given. `add` stores a transition in place of the
    oldest one; without `keep`, nothing changes (and nothing is copied). `draw` has a place for each
    of the `uniform` numbers [N] in [0, 1), and their weights [N]: 0 where there is none to draw.
    `at` has the transitions at places, with what more steps led to where the `horizon` is farther.
    `sample` does both. `everything` has all places of the ring, with weights [capacity]: 0 where
    nothing is stored yet.
    """

    data: Transition
    position: jax.Array
    size: jax.Array
    frames: Frames | None = None
    bits: int = static(0)

    @classmethod
    def empty(cls, capacity: int, example: Transition) -> Self:
        frames, bits = None, bits_of(example.observation)
        example = _observed_as(pack, example) if bits else example
        if isinstance(example.observation, Seen):
            frames = Frames.empty(capacity, example.observation)
            example = without_images(example)
        data = jax.tree.map(lambda x: jnp.zeros((capacity, *x.shape), x.dtype), example)
        return cls(data, _zero(), _zero(), frames, bits)

    def add(self, transition: Transition, keep: jax.Array | bool = True) -> Self:
        frames = self.frames
        if self.bits:
            transition = _observed_as(pack, transition)
        if frames is not None:
            frames, before = frames.keep(transition.observation, keep)
            frames, after = frames.keep(transition.following, keep)
            transition = replace(transition, observation=before, following=after)

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
            frames,
            self.bits,
        )

    def draw(self, uniform: jax.Array) -> tuple[jax.Array, jax.Array]:
        place = jnp.minimum((uniform * self.size).astype(jnp.int32), self.size - 1)
        return place, jnp.broadcast_to(self.size > 0, place.shape).astype(jnp.float32)

    def sample(self, uniform: jax.Array, horizon: Horizon = SINGLE) -> Weighted:
        return self.at(*self.draw(uniform), horizon)

    def at(self, place: jax.Array, weight: jax.Array, horizon: Horizon = SINGLE) -> Weighted:
        batch, weight = self._fetched(jax.tree.map(lambda ring: ring[place], self.data), weight)
        if horizon.n == 1:
            return batch, weight
        ahead = look_ahead(self.data, self.position, place, horizon)
        if self.bits:
            following, before = (self.unpacked(each) for each in (ahead.following, ahead.before))
            ahead = replace(ahead, following=following, before=before)
        if self.frames is None:
            return replace(batch, ahead=ahead), weight
        led_to, is_there = self.frames.fetch(ahead.following)
        # where images of before were written over, how likely the last step was is a guess
        before, _ = self.frames.fetch(ahead.before)
        ahead = replace(ahead, following=led_to, before=before)
        return replace(batch, ahead=ahead), weight * is_there

    def everything(self, horizon: Horizon = SINGLE) -> Weighted:
        places = jnp.arange(len(self.data.reward))
        weight = (places < self.size).astype(jnp.float32)
        if horizon.n == 1:
            return self._fetched(self.data, weight)
        return self.at(places, weight, horizon)

    def unpacked(self, stored: Any) -> Any:
        """Observations [..., bits] of what is stored of them; others as they are."""
        if not self.bits:
            return stored
        return jnp.unpackbits(stored, axis=-1, count=self.bits).astype(bool)

    def _fetched(self, batch: Transition, weight: jax.Array) -> Weighted:
        if self.frames is None:
            return _observed_as(self.unpacked, batch) if self.bits else batch, weight
        before, is_there = self.frames.fetch(batch.observation)
        after, is_after_there = self.frames.fetch(batch.following)
        weight = weight * is_there * is_after_there
        return replace(batch, observation=before, following=after), weight


def bits_of(observation: Any) -> int:
    """How many bits an observation [..., bits] has, if it is made of bits alone; else 0."""
    kind, shape = getattr(observation, "dtype", None), getattr(observation, "shape", ())
    return int(shape[-1]) if kind == jnp.bool_ and shape else 0


pack = partial(jnp.packbits, axis=-1)


def _observed_as(form: Callable[[Any], Any], transition: Transition) -> Transition:
    return replace(
        transition,
        observation=form(transition.observation),
        following=form(transition.following),
    )


class State(eqx.Module):
    """All of an agent: resuming from it is exact. Counters stop at the largest number they hold.

    `draw_action` has an action drawn with the probabilities that `logits` [A] stand for, among
    those that are `allowed`, and the next key. `observed` is the state before a step is learned
    from: where observations are normalized, mean and variance have moved on.
    """

    key: jax.Array
    networks: Any
    everyone: Replay  # all transitions
    hyde: Any = None  # Hyde's own replay, where there is a Hyde
    t: jax.Array = eqx.field(default_factory=_zero)  # environment steps
    episodes: jax.Array = eqx.field(default_factory=_zero)
    hyde_acts: jax.Array = eqx.field(default_factory=partial(jnp.asarray, False))  # else Jekyll
    priorities: Any = None  # of all transitions, where there are
    leader: Any = None  # what who leads depends on, where that is remembered
    noise: Any = None  # the random action under way, where one may last
    sums: Any = None  # of rewards, where they bound values
    scores: Any = None  # of the last evaluations, newest last, where learning depends on them

    def draw_action(
        self, logits: jax.Array, allowed: jax.Array | None = None
    ) -> tuple[jax.Array, jax.Array]:
        key, draw_key = jax.random.split(self.key)
        logits = logits if allowed is None else jnp.where(allowed, logits, -jnp.inf)
        return jax.random.categorical(draw_key, logits).astype(jnp.int32), key

    def observed(self, transition: Transition) -> Self:
        features = self.networks.features
        if not isinstance(features, Normalizer):
            return self
        moved = features.observe(transition.observation)
        return replace(self, networks=replace(self.networks, features=moved))


def counted(count: jax.Array, more: Any = 1) -> jax.Array:
    """A counter after `more`, 0 or 1."""
    return jnp.where(count < MOST, count + more, count)


def update_from_replay(
    learn: Callable[..., Any],
    state: State,
    config: Settings,
    transition: Transition,
    ended: jax.Array,
    is_ready: Callable[[State], jax.Array],
) -> State:
    """Store a transition, and learn from a batch of all, once the agent `is_ready`."""
    state = state.observed(transition)
    networks = state.networks
    if networks.bonus is not None:
        step = Samples.of(networks.features, transition, jnp.ones(()))
        networks = replace(networks, bonus=config.bonus.observe(networks.bonus, step, ended))
    key, batch_key = jax.random.split(state.key)
    everyone = state.everyone.add(noted(transition, config.bonus, networks.bonus))
    place, weight = everyone.draw(jax.random.uniform(batch_key, (config.batch,)))
    batch = everyone.at(place, weight, config.horizon)
    learned = learn(networks, config, Samples.of(networks.features, *batch, place))
    after = replace(
        state,
        everyone=everyone,
        key=key,
        t=counted(state.t),
        episodes=counted(state.episodes, ended),
    )
    return replace(after, networks=chosen(is_ready(after), learned, networks))


def chosen(condition: jax.Array, then: Any, otherwise: Any) -> Any:
    """One of two pytrees; what is the same in both costs nothing."""
    return jax.tree.map(lambda a, b: a if a is b else jnp.where(condition, a, b), then, otherwise)


def decreasing(config: Any, count: jax.Array, begin: int = 0) -> jax.Array:
    """Epsilon after `count` steps or episodes: epsilon_1 / count (`paper`), or a curve that begins
    at 1 and halves after epsilon_1 of them (`published`).
    """
    if config.schedule == "paper":
        return jnp.minimum(1.0, config.epsilon_1 / jnp.maximum(count, 1))
    return 1.0 / (1.0 + jnp.maximum(count - begin, 0) / config.epsilon_1)

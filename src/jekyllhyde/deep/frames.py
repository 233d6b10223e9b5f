"""Images of a replay, each stored once: what a step leads to is where the next one starts.

A transition keeps where its two frames lie, and what they were. A frame that was stored lately is
not stored again, whichever lane of a vector environment it came from; one that has been written
over is known by its digest, and its transitions are drawn no more.
"""

import math
from dataclasses import replace
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp

from jekyllhyde.deep.encoders import Seen

ROOM = 1.25  # frames per transition: each episode has one more than it has steps
LATELY = 1024  # frames written since


class Kept(eqx.Module):
    """An observation whose images lie elsewhere: the vector, their place, and their digest."""

    vector: jax.Array
    place: jax.Array
    digest: jax.Array


class Frames(eqx.Module):
    """A ring of frames: their `images` [F, ...] and `digests` [F, 2], and where the next one goes.

    `keep` stores the images of an observation, unless they are there, and has what stands for it;
    without `wanted`, nothing changes. `fetch` has observations again, and which of them [N] are
    still there.
    """

    images: tuple[jax.Array, ...]
    digests: jax.Array
    position: jax.Array

    @classmethod
    def empty(cls, capacity: int, example: Seen) -> Self:
        size = math.ceil(ROOM * capacity) + 1
        images = tuple(jnp.zeros((size, *image.shape), image.dtype) for image in example.images)
        return cls(images, jnp.zeros((size, 2), jnp.int32), jnp.zeros((), jnp.int32))

    def keep(self, seen: Seen, wanted: Any) -> tuple[Self, Kept]:
        size = len(self.digests)
        age = (self.position - 1 - jnp.arange(size)) % size
        is_there = jnp.all(self.digests == seen.digest, -1) & (age < min(LATELY, size // 2))
        place = jnp.where(jnp.any(is_there), jnp.argmax(is_there), self.position)
        is_new = wanted & ~jnp.any(is_there)

        def write(ring: jax.Array, value: jax.Array) -> jax.Array:
            old = jax.lax.dynamic_index_in_dim(ring, place, keepdims=False)
            return jax.lax.dynamic_update_index_in_dim(
                ring, jnp.where(is_new, value, old), place, 0
            )

        images, digests = jax.tree.map(
            write, (self.images, self.digests), (seen.images, seen.digest)
        )
        position = (self.position + is_new) % size
        return type(self)(images, digests, position), Kept(seen.vector, place, seen.digest)

    def fetch(self, kept: Kept) -> tuple[Seen, jax.Array]:
        images = tuple(ring[kept.place] for ring in self.images)
        is_there = jnp.all(self.digests[kept.place] == kept.digest, -1)
        return Seen(kept.vector, images, kept.digest), is_there


def without_images(transition: Any) -> Any:
    """A transition as it is stored beside its frames, for an example."""

    def stored(seen: Seen) -> Kept:
        return Kept(seen.vector, jnp.zeros((), jnp.int32), seen.digest)

    return replace(
        transition,
        observation=stored(transition.observation),
        following=stored(transition.following),
    )

"""How observations reach the networks: rows of a table, running normalization, convolutions.

Numbers are normalized by the mean and the variance of all that the agent has seen, of the last
million steps where it has seen more; codes are left as they are. Images are stored in 8 bits, and
each network has convolutions of its own for them.
"""

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp

MEMORY = 1_000_000  # steps that mean and variance are taken over
WIDEST = 10.0  # standard deviations at which a normalized number is cut
# kernel and stride of both layers, and their numbers of channels
LARGE, SMALL = ((8, 4), (4, 2)), ((4, 2), (3, 2))
LARGE_SIDE = 36
CHANNELS = (16, 32)


class Seen(eqx.Module):
    """An observation with images: the vector [..., n], images [..., height, width, channels] in 8
    bits, and their digest [..., 2], by which they are known.
    """

    vector: Any
    images: tuple[Any, ...]
    digest: Any


def flat(x: Any) -> Any:
    """What networks are given as vectors [..., n], pixels included; indices as they are."""
    if not isinstance(x, Seen):
        return x
    leading = x.vector.shape[:-1]
    pixels = [image.reshape(*leading, -1) / 255.0 for image in x.images]
    return jnp.concatenate([x.vector, *pixels], -1)


class Normalizer(eqx.Module):
    """Mean and variance of the first numbers of the vectors that were seen; the rest are codes."""

    mean: jax.Array
    variance: jax.Array
    count: jax.Array

    @classmethod
    def of(cls, n_numbers: int) -> Self:
        return cls(jnp.zeros(n_numbers), jnp.ones(n_numbers), jnp.zeros((), jnp.int32))

    def __call__(self, observation: Any) -> Any:
        if isinstance(observation, Seen):
            return replace(observation, vector=self(observation.vector))
        numbers, codes = jnp.split(observation, [len(self.mean)], axis=-1)
        scaled = (numbers - self.mean) / jnp.sqrt(self.variance + 1e-8)
        return jnp.concatenate([jnp.clip(scaled, -WIDEST, WIDEST), codes], -1)

    def observe(self, observation: Any) -> Self:
        """After one more observation."""
        vector = observation.vector if isinstance(observation, Seen) else observation
        numbers, count = vector[: len(self.mean)], jnp.minimum(self.count + 1, MEMORY)
        mean = self.mean + (numbers - self.mean) / count
        square = (numbers - self.mean) * (numbers - mean)
        return type(self)(mean, self.variance + (square - self.variance) / count, count)


def standardized(x: jax.Array) -> jax.Array:
    """With mean 0 and variance 1 over the units [..., n] of a layer: some are always above 0."""
    x = x - jnp.mean(x, -1, keepdims=True)
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)


class Convolutions(eqx.Module):
    """Two layers of convolutions for each image, and what comes out of them after the vector."""

    kernels: tuple[tuple[jax.Array, ...], ...]  # [height, width, in, out], per image and layer
    strides: tuple[tuple[int, ...], ...] = eqx.field(static=True)

    @classmethod
    def of(cls, key: jax.Array, images: tuple[tuple[int, int, int], ...]) -> Self:
        kernels = []
        for image_key, image in zip(jax.random.split(key, len(images)), images, strict=True):
            shapes = [
                (size, size, *channels)
                for (size, _), channels in zip(
                    _layers(image), pairwise((image[2], *CHANNELS)), strict=True
                )
            ]
            kernels.append(
                tuple(
                    jax.random.uniform(layer_key, shape, minval=-1.0)
                    * math.sqrt(6.0 / math.prod(shape[:3]))
                    for layer_key, shape in zip(jax.random.split(image_key), shapes, strict=True)
                )
            )
        strides = tuple(tuple(stride for _, stride in _layers(image)) for image in images)
        return cls(tuple(kernels), strides)

    def __call__(self, seen: Seen) -> jax.Array:
        leading = seen.vector.shape[:-1]
        outputs = [seen.vector]
        for image, kernels, strides in zip(seen.images, self.kernels, self.strides, strict=True):
            x = image.reshape(-1, *image.shape[-3:]).astype(jnp.float32) / 255.0
            for kernel, stride in zip(kernels, strides, strict=True):
                x = jax.nn.relu(
                    jax.lax.conv_general_dilated(
                        x,
                        kernel,
                        (stride, stride),
                        "VALID",
                        dimension_numbers=("NHWC", "HWIO", "NHWC"),
                    )
                )
            outputs.append(x.reshape(*leading, math.prod(x.shape[1:])))
        return jnp.concatenate(outputs, -1)


def convolved_width(images: tuple[tuple[int, int, int], ...]) -> int:
    """How many numbers come out of the convolutions of these images."""
    total = 0
    for image in images:
        sides = list(image[:2])
        for size, stride in _layers(image):
            sides = [(side - size) // stride + 1 for side in sides]
        total += math.prod(sides) * CHANNELS[-1]
    return total


def _layers(image: tuple[int, int, int]) -> tuple[tuple[int, int], ...]:
    return LARGE if min(image[:2]) >= LARGE_SIDE else SMALL

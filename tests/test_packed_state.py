"""A packed state is the state."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jekyllhyde.deep.packed_state import SMALL, Packing


def test_packing_loses_nothing() -> None:
    tree: dict[str, Any] = {
        "weights": jnp.arange(6.0).reshape(2, 3),
        "bias": jnp.ones(()),
        "large": jnp.arange(SMALL + 1.0),
        "count": jnp.asarray(7, jnp.int32),
        "flag": jnp.asarray(True),
        "key": jax.random.key(3),
        "none": None,
    }
    packing = Packing.of(tree)
    packed = jax.jit(packing.pack)(tree)
    assert len(packed) == 5  # small floats, the large array, integers, flags, bits of the key
    again = jax.jit(packing.unpack)(packed)
    assert again.keys() == tree.keys()
    for name in ("weights", "bias", "large", "count", "flag"):
        np.testing.assert_array_equal(again[name], tree[name])
        assert again[name].dtype == tree[name].dtype
    assert (jax.random.key_data(again["key"]) == jax.random.key_data(tree["key"])).all()
    assert hash(packing) == hash(Packing.of(tree))


def test_a_step_is_packed_on_the_host() -> None:
    step = (
        np.arange(3.0, dtype=np.float32),
        np.int32(2),
        np.float32(0.5),
        np.zeros((2, 2), np.uint8),
    )
    packing = Packing.of(step)
    packed = packing.pack_on_host(step)
    assert [type(array) for array in packed] == [np.ndarray, np.int32, np.ndarray]
    for ours, theirs in zip(packing.unpack(packed), step, strict=True):
        np.testing.assert_array_equal(ours, theirs)

"""An agent's state as few arrays, for calls from the host.

A compiled call takes its time for each array that it is given and returns, and more for each record
around them. A state of Dr Jekyll and Mr Hyde has 136 arrays, most of them small. Packed, the small
ones of a type lie one after another in one array; large ones are left alone, for joining them would
copy them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

SMALL = 1024  # numbers of an array that is joined with others
Arrays = tuple[jax.Array, ...]


@dataclass(frozen=True)
class Packing:
    """How a tree of arrays is packed: its structure, and the shapes and types of its leaves; random
    keys are packed as their bits.

    `pack` has the tree as a few arrays, `unpack` the tree again; both can be compiled. A tree of
    NumPy's arrays is packed by `pack_on_host`.
    """

    structure: Any
    leaves: tuple[tuple[tuple[int, ...], Any], ...]
    keys: tuple[int, ...]  # which leaves are random keys

    @classmethod
    def of(cls, tree: Any) -> Self:
        leaves, structure = jax.tree.flatten(tree)
        keys = tuple(i for i, leaf in enumerate(leaves) if _is_key(leaf))
        plain = [jax.random.key_data(leaf) if _is_key(leaf) else leaf for leaf in leaves]
        return cls(structure, tuple((leaf.shape, leaf.dtype) for leaf in plain), keys)

    def pack(self, tree: Any, join: Callable[..., Any] = jnp.concatenate) -> Arrays:
        leaves = jax.tree.leaves(tree)
        for i in self.keys:
            leaves[i] = jax.random.key_data(leaves[i])
        return tuple(
            leaves[group[0]] if len(group) == 1 else join([leaves[i].reshape(-1) for i in group])
            for group in self._groups
        )

    def pack_on_host(self, tree: Any) -> Arrays:
        return self.pack(tree, np.concatenate)

    def unpack(self, arrays: Arrays) -> Any:
        leaves: list[Any] = [None] * len(self.leaves)
        for group, array in zip(self._groups, arrays, strict=True):
            begin = 0
            for i in group:
                shape, _ = self.leaves[i]
                end = begin + prod(shape)
                leaves[i] = array if len(group) == 1 else array[begin:end].reshape(shape)
                begin = end
        for i in self.keys:
            leaves[i] = jax.random.wrap_key_data(leaves[i])
        return jax.tree.unflatten(self.structure, leaves)

    @cached_property
    def _groups(self) -> list[list[int]]:
        # the numbers of the leaves that lie in each array
        groups: dict[Any, list[int]] = {}
        for i, (shape, kind) in enumerate(self.leaves):
            groups.setdefault(i if prod(shape) > SMALL else str(kind), []).append(i)
        return list(groups.values())


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)

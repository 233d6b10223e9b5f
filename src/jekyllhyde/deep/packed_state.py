"""An agent's state as few arrays, for calls from the host.

A compiled call takes its time for each array that it is given and returns, and more for each record
around them. A state of Dr Jekyll and Mr Hyde has 136 arrays, most of them small. Packed, the small
ones of a type lie one after another in one array; large ones are left alone, for joining them would
copy them.
"""

from dataclasses import dataclass
from math import prod
from typing import Any, Self

import jax
import jax.numpy as jnp

SMALL = 1024  # numbers of an array that is joined with others
Arrays = tuple[jax.Array, ...]


@dataclass(frozen=True)
class Packing:
    """How a tree of arrays is packed: its structure, and the shapes and types of its leaves.

    `pack` has the tree as a few arrays, `unpack` the tree again; both can be compiled.
    """

    structure: Any
    leaves: tuple[tuple[tuple[int, ...], Any], ...]

    @classmethod
    def of(cls, tree: Any) -> Self:
        leaves, structure = jax.tree.flatten(tree)
        return cls(structure, tuple((leaf.shape, leaf.dtype) for leaf in leaves))

    def pack(self, tree: Any) -> Arrays:
        leaves = jax.tree.leaves(tree)
        return tuple(
            leaves[group[0]]
            if len(group) == 1
            else jnp.concatenate([jnp.ravel(leaves[i]) for i in group])
            for group in self._groups()
        )

    def unpack(self, arrays: Arrays) -> Any:
        leaves: list[Any] = [None] * len(self.leaves)
        for group, array in zip(self._groups(), arrays, strict=True):
            begin = 0
            for i in group:
                shape, _ = self.leaves[i]
                end = begin + prod(shape)
                leaves[i] = array if len(group) == 1 else array[begin:end].reshape(shape)
                begin = end
        return jax.tree.unflatten(self.structure, leaves)

    def _groups(self) -> list[list[int]]:
        # the numbers of the leaves that lie in each array
        groups: dict[Any, list[int]] = {}
        for i, (shape, kind) in enumerate(self.leaves):
            is_alone = prod(shape) > SMALL or jnp.issubdtype(kind, jax.dtypes.prng_key)
            groups.setdefault(i if is_alone else str(kind), []).append(i)
        return list(groups.values())

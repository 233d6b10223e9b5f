"""The decorator of the small functions that a learning loop is made of.

They are inlined by LLVM. Inlining by Numba, or not inlining, leaves counting of references to every array argument in the loop:
two locked memory operations per array and call, which cost as much as the learning itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def phase(function: F) -> F:
    """As `jit.kernel`, and always inlined into its caller."""
    compiled = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"}, forceinline=True)(function)
    return cast(F, compiled)

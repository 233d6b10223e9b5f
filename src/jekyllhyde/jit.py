"""Numba's compiler behind one typed decorator, so that every kernel is compiled the same way.

`contract` lets the compiler fuse a*b + c, as C compilers do; a `reduction` may also split a sum into partial sums. No other
liberty is taken with floating point. Kernels release the interpreter's lock: runs go in parallel on plain threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile `function` to machine code on first use and keep the result on disk."""
    compiled = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})(function)
    return cast(F, compiled)


def phase(function: F) -> F:
    """As `kernel`, and pasted into its caller: for the phases of a loop, which take more arguments than a call should."""
    compiled = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"}, inline="always")(function)
    return cast(F, compiled)


def reduction(function: F) -> F:
    """As `kernel`, and a sum may be taken in several partial sums at once."""
    compiled = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})(function)
    return cast(F, compiled)

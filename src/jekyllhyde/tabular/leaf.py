"""Trial."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def phase(function: F) -> F:
    """As `kernel`, and always inlined."""
    return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"}, forceinline=True)(function))

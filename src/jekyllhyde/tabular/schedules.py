"""epsilon_t and o_t inside compiled loops; t is 1 at the first environment step."""

from __future__ import annotations

import numpy as np

from jekyllhyde.jit import kernel
from jekyllhyde.mdp.finite import Floats


@kernel
def value_at(c: float, alpha: float, table: Floats, first: int, t: int) -> float:
    """min(1, c / t^alpha), or the table's entry for t."""
    if alpha == 0.0:
        return c
    if alpha == 0.5:
        return min(1.0, c / np.sqrt(t))
    if alpha == 1.0:
        return min(1.0, c / t)
    if len(table) > 0:
        return min(1.0, table[t - first])
    return min(1.0, c / t**alpha)

"""Schedules: quantities that change with the update count t, such as o_t, epsilon_t and eta_t.

One grammar, the same in Python, in files and on the command line:

    0.5   "0.5"         a constant
    "100/t"             c / t
    "10/sqrt(t)"        c / t^(1/2)
    "10/t^0.5"          c / t^alpha, any alpha > 0

t is 1 at the first update. A callable t -> value is accepted wherever a schedule is. Probabilities
(o_t, epsilon_t) are cut at 1: o_t = min(1, c / t^alpha).
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.errors import InputError, require

_NUMBER = r"[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?"
_POWER = rf"\s*(?:\^|\*\*)\s*(?:({_NUMBER})|\(\s*({_NUMBER})\s*\))"
_DECAY = re.compile(rf"({_NUMBER})\s*/\s*(?:(sqrt)\(\s*t\s*\)|t(?:{_POWER})?)")


@dataclass(frozen=True)
class Schedule:
    """c / t^alpha for t = 1, 2, ...; `function` replaces the formula when the user brings her own.

    `sum_diverges` says whether the values sum to infinity over t (condition C4's question), None
    when it is not known.
    """

    c: float
    alpha: float = 0.0
    function: Callable[[int], float] | None = None

    def __call__(self, t: int) -> float:
        """The value at t >= 1."""
        return float(self.values(t, 1)[0])

    def values(self, first: int, count: int) -> NDArray[np.float64]:
        """The values at t = first, ..., first + count - 1."""
        t = np.arange(first, first + count, dtype=np.float64)
        if self.function is None:
            return np.full(count, self.c) if self.alpha == 0.0 else self.c / t**self.alpha
        values = np.array([float(self.function(int(k))) for k in t])
        if len(wrong := values[~((values >= 0) & np.isfinite(values))]):
            raise InputError(
                f"the schedule {self} gives {wrong[0]}; values are numbers of at least 0"
            )
        return values

    @property
    def sum_diverges(self) -> bool | None:
        """Whether sum_t c / t^alpha is infinite; None for a callable."""
        return None if self.function is not None else self.c > 0 and self.alpha <= 1.0

    @property
    def constant(self) -> bool:
        """Whether the value never changes."""
        return self.function is None and self.alpha == 0.0

    def __str__(self) -> str:
        if self.function is not None:
            return getattr(self.function, "__name__", "callable")
        if self.alpha == 0.0:
            return f"{self.c:g}"
        return f"{self.c:g}/" + {0.5: "sqrt(t)", 1.0: "t"}.get(self.alpha, f"t^{self.alpha:g}")


ScheduleLike = float | str | Schedule | Callable[[int], float]


def parse(value: ScheduleLike, field: str = "schedule") -> Schedule:
    """Read a schedule written in the grammar above; `field` names it in errors."""
    if isinstance(value, Schedule):
        return value
    if callable(value):
        return Schedule(math.nan, function=value)
    match = _DECAY.fullmatch(text := str(value).strip())
    try:
        c = float(match[1] if match else text)
    except ValueError:
        c = math.nan
    require(
        math.isfinite(c),
        f'{field} {value!r} is not a schedule; write a number, "c/t", "c/sqrt(t)" or "c/t^alpha"',
    )
    return Schedule(
        c, 0.0 if not match else 0.5 if match[2] else float(match[3] or match[4] or 1.0)
    )


def probability(value: ScheduleLike, field: str) -> Schedule:
    """Read a schedule of probabilities; a constant must lie in [0, 1], a decaying one is cut at 1
    where it is used.
    """
    schedule = parse(value, field)
    require(
        not schedule.constant or 0.0 <= schedule.c <= 1.0,
        f"{field} is {schedule.c:g}; a constant {field} is a probability in [0, 1]",
    )
    return schedule


def positive(value: ScheduleLike, field: str) -> Schedule:
    """Read a schedule of step sizes, which must be positive."""
    schedule = parse(value, field)
    require(schedule.function or schedule.c > 0, f"{field} is {schedule.c:g}; it must be positive")
    return schedule

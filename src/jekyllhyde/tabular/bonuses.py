"""Exploration bonuses of a pair, by type. A bonus of one's own is a class like these, in a file:

    class Mine(NamedTuple):
        scale: float = 1.0
        def value(self, visits, log_count): return self.scale / (1 + visits)

`visits` is n(s, a) of both personalities, `log_count` is log(trajectories + 1). It is chosen with
bonus="file.py:Mine" or bonus="file.py:Mine(scale=2)", or as a record, bonus=Mine(2.0).
"""

from typing import NamedTuple

import numpy as np

from jekyllhyde.jit import by_type, sqrt
from jekyllhyde.registry import Choices

BONUSES = Choices("bonus")
bonus_value = by_type("value")


@BONUSES.register
class Ucb(NamedTuple):
    """sqrt(log(trajectories + 1) / (n + 0.001)), the published bonus; finite where n = 0."""

    def value(self, visits: np.int64, log_count: float) -> float:
        return sqrt(log_count / (visits + 0.001))


@BONUSES.register
class Count(NamedTuple):
    """1 / sqrt(n), the paper's bonus."""

    def value(self, visits: np.int64, log_count: float) -> float:
        return 1.0 / sqrt(float(visits))

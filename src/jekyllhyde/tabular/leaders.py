"""Who acts, and from whose transitions is learned, by type."""

from typing import NamedTuple

from jekyllhyde.tabular.random_stream import Words, uniform
from jekyllhyde.tabular.records import Rate, rate_at


class JekyllAlone(NamedTuple):
    """One personality (Algorithm 2)."""

    def off_policiness(self, t: int) -> float:
        return 0.0

    def choose_leader(self, t: int, words: Words) -> tuple[float, int]:
        return 0.0, 0


class JekyllAndHyde(NamedTuple):
    """Hyde leads the next trajectory with probability epsilon_t; o_t of the samples are his."""

    epsilon: Rate
    o: Rate

    def off_policiness(self, t: int) -> float:
        return rate_at(self.o, t)

    def choose_leader(self, t: int, words: Words) -> tuple[float, int]:
        epsilon = rate_at(self.epsilon, t)
        return epsilon, 1 if epsilon > 0.0 and uniform(words) < epsilon else 0

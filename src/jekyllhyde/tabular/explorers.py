"""Mr Hyde, by type: when he leads (line 7 of Algorithm 3), how he acts, and what he learns from a
sample (line 10).

    q~(s,a) <- q~(s,a) + eta_h (b(s,a) + discount max_a' q~(s',a') - q~(s,a)), cut from above

An explorer of one's own is a NamedTuple with these methods; tables.q_hyde [S A] is his to use.
"""

from typing import Any, NamedTuple

import numpy as np

from jekyllhyde.jit import phase
from jekyllhyde.mdp.finite import Floats
from jekyllhyde.registry import Choices
from jekyllhyde.tabular.bonuses import bonus_value
from jekyllhyde.tabular.records import (
    Place,
    Rate,
    Tables,
    Transition,
    Words,
    greedy_value,
    rate_at,
    uniform,
)

EXPLORERS = Choices("hyde")


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


class OptimisticQ(NamedTuple):
    """Q-learning on the bonus, greedy with ties broken at random; his values start high."""

    eta: float
    clip: float
    bonus: Any

    def hyde_action(self, tables: Tables, row: Place, u: float) -> Place:
        return greedy_action(tables.q_hyde, row, tables.width, u)

    def learn_hyde(self, tables: Tables, sample: Transition, log_count: float) -> None:
        q, pair = tables.q_hyde, sample.pair
        best = greedy_value(q, sample.next, tables.width)
        target = bonus_value(self.bonus, tables.n[pair], log_count) + sample.discount * best
        q[pair] = min(q[pair] + self.eta * (target - q[pair]), self.clip)

    def hyde_policy(self, tables: Tables, pi: Floats) -> None:
        for s in range(pi.shape[0]):
            row, best = np.uint64(s) * tables.width, 0
            for a in range(pi.shape[1]):
                pi[s, a] = 0.0
                if tables.q_hyde[row + np.uint64(a)] > tables.q_hyde[row + np.uint64(best)]:
                    best = a
            pi[s, best] = 1.0


@EXPLORERS.register
class Uniform(NamedTuple):
    """Uniform actions; nothing is learned."""

    def hyde_action(self, tables: Tables, row: Place, u: float) -> Place:
        return greedy_action(tables.q_hyde, row, tables.width, u)

    def learn_hyde(self, tables: Tables, sample: Transition, log_count: float) -> None:
        """Nothing."""

    def hyde_policy(self, tables: Tables, pi: Floats) -> None:
        pi[:] = 1.0 / pi.shape[1]


class Nobody(NamedTuple):
    """No explorer (Algorithm 2)."""

    def hyde_action(self, tables: Tables, row: Place, u: float) -> Place:
        return row

    def learn_hyde(self, tables: Tables, sample: Transition, log_count: float) -> None:
        """Nothing."""

    def hyde_policy(self, tables: Tables, pi: Floats) -> None:
        """Nothing."""


EXPLORERS.add("q_learning", OptimisticQ)


@phase
def greedy_action(q: Floats, row: Place, width: Place, u: float) -> Place:
    """The place of an action of largest q(s, .), ties broken by a uniform u."""
    best, ties = greedy_value(q, row, width), 0
    for i in range(row, row + width):
        ties += q[i] == best
    chosen, rank = row, np.int64(u * ties)
    for i in range(row, row + width):
        if q[i] == best:
            if rank == 0:
                chosen = Place(i)
            rank -= 1
    return chosen

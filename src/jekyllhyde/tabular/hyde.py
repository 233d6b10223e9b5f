"""Mr Hyde, by type, and what he adds to Algorithm 2: he leads some of the trajectories (line 7 of
Algorithm 3), explores for a bonus of his own (lines 5 and 10), and has a replay buffer of his own
(lines 6 and 9).

    q~(s,a) <- q~(s,a) + eta_h (b(s,a) + discount max_a' q~(s',a') - q~(s,a)), cut from above

An explorer of one's own is a NamedTuple with the methods of those here; tables.q_hyde [S A] is his
to use. A bonus of one's own is a class like `Count`, in a file:

    class Mine(NamedTuple):
        scale: float = 1.0
        def value(self, visits, log_count): return self.scale / (1 + visits)

`visits` is n(s, a) of both personalities, `log_count` is log(trajectories + 1). It is chosen with
bonus="file.py:Mine" or bonus="file.py:Mine(scale=2)", or as a record, bonus=Mine(2.0).

Replay is two logs of edge numbers, O(1) in time and four bytes per transition. `from_model`
(published): (s, a) comes from the chosen buffer, and s' from the empirical model of both; otherwise
the stored transition itself is replayed.
"""

from typing import Any, NamedTuple

import numpy as np

from jekyllhyde.jit import by_type, phase, sqrt
from jekyllhyde.mdp.finite import Floats, Ints
from jekyllhyde.registry import Choices
from jekyllhyde.tabular.records import (
    ONE,
    Index,
    Place,
    Rate,
    Run,
    Tables,
    Transition,
    Words,
    greedy_value,
    rate_at,
    uniform,
)

BONUSES, EXPLORERS = Choices("bonus"), Choices("hyde")
Sizes = tuple[np.int64, np.int64]
bonus_value = by_type("value")


class JekyllAndHyde(NamedTuple):
    """Hyde leads the next trajectory with probability epsilon_t; o_t of the samples are his."""

    epsilon: Rate
    o: Rate

    def off_policiness(self, t: int) -> float:
        return rate_at(self.o, t)

    def choose_leader(self, t: int, words: Words) -> tuple[float, int]:
        epsilon = rate_at(self.epsilon, t)
        return epsilon, 1 if epsilon > 0.0 and uniform(words) < epsilon else 0


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
    """Nobody in Hyde's place (Algorithm 2): neither leads nor explores."""

    def off_policiness(self, t: int) -> float:
        return 0.0

    def choose_leader(self, t: int, words: Words) -> tuple[float, int]:
        return 0.0, 0

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


class UnderWay(NamedTuple):
    """No replay: the sample is the transition under way (Algorithm 2)."""

    def store(self, e: Place, control: np.int64, sizes: Sizes) -> Sizes:
        return sizes

    def draw(self, run: Run, e: Place, o: float, sizes: Sizes) -> Place:
        return e


class TwoLogs(NamedTuple):
    """The buffers of Jekyll and Hyde, log [2, room].

    capacity : bounds each.  ring : the oldest makes room, else the newest is dropped.
    from_model : s' is drawn again from the empirical model of both buffers.
    """

    log: Index
    capacity: int
    ring: bool
    from_model: bool

    def store(self, e: Place, control: np.int64, sizes: Sizes) -> Sizes:
        """Append edge e to the buffer of the personality in control.

        `sizes` count all that was ever offered to each.
        """
        size = sizes[1] if control else sizes[0]
        if size < self.capacity:
            self.log[control, size] = e
        elif self.ring:
            self.log[control, size % self.capacity] = e
        return sizes[0] + 1 - control, sizes[1] + control

    def draw(self, run: Run, e: Place, o: float, sizes: Sizes) -> Place:
        edges, tables, words, _ = run
        from_hyde = 0
        if sizes[1] > 0:
            from_hyde = 1 if uniform(words) < o else 0
        size = sizes[1] if from_hyde else sizes[0]
        place = np.uint64(uniform(words) * min(size, self.capacity))  # type: ignore[operator]
        drawn = np.uint64(self.log[from_hyde, place])
        if self.from_model:
            pair = np.uint64(edges.pair[drawn])
            if edges.first[pair + ONE] > edges.first[pair] + ONE:
                visit = np.int64(uniform(words) * tables.n[pair])
                drawn = edge_of_visit(edges.first, edges.seen, pair, visit)
        return drawn


@phase
def edge_of_visit(first: Index, seen: Ints, pair: Place, visit: np.int64) -> Place:
    """The edge that visit number `visit` of a pair took, when visits are ordered by edge."""
    chosen, before = np.uint64(first[pair]), np.int64(0)
    for e in range(chosen, np.uint64(first[pair + ONE]) - ONE):
        before += seen[e]
        if visit >= before:
            chosen = Place(e) + ONE
    return chosen

"""Mr Hyde, by type, and what he adds to Algorithm 2: he leads some of the trajectories (line 7 of
Algorithm 3) and explores for a bonus of his own (lines 5 and 10).

    q~(s,a) <- q~(s,a) + eta_h (b(s,a) + discount max_a' q~(s',a') - q~(s,a)), cut from above

He acts greedily on tables.q_hyde [S A], with ties broken at random. An explorer of one's own is a
NamedTuple with `learn_hyde`, and with `hyde_action` and `hyde_policy` where he acts otherwise; the
option `bonus` is put where he has a field of that name at None. A bonus of one's own is a class
like `Count`, in a file:

    class Mine(NamedTuple):
        scale: float = 1.0
        def value(self, visits, log_count): return self.scale / (1 + visits)

`visits` is n(s, a) of both personalities, `log_count` is log(trajectories + 1). It is chosen with
bonus="file.py:Mine" or bonus="file.py:Mine(scale=2)", or as a record, bonus=Mine(2.0).
"""

from typing import Any, NamedTuple

import numpy as np

from jekyllhyde.jit import by_type, phase, sqrt
from jekyllhyde.mdp.finite import Floats
from jekyllhyde.registry import Choices
from jekyllhyde.tabular.learned_model import next_mean
from jekyllhyde.tabular.random_stream import uniform
from jekyllhyde.tabular.records import Place, Run, Tables, Transition, expected_value, greedy_value
from jekyllhyde.tabular.step_sizes import ByVisits, critic_step, rate_now

BONUSES, EXPLORERS = Choices("bonus"), Choices("hyde")
bonus_value = by_type("value")


class JekyllAndHyde(NamedTuple):
    """Hyde leads the next trajectory with probability epsilon_t; o_t of the samples are his. Each
    is a `Rate`, a function of t alone, or depends on what was learned. `promise` is there where
    somebody asks for Hyde's value at the start.
    """

    epsilon: Any
    o: Any
    promise: Any

    def begin(self, run: Run, row: Place) -> None:
        watch(self.promise, run, row)
        watch(self.o, run, row)

    def off_policiness(self, run: Run, t: int) -> float:
        return rate_now(self.o, run, t)

    def choose_leader(self, run: Run, t: int) -> tuple[float, int]:
        epsilon = rate_now(self.epsilon, run, t)
        return epsilon, 1 if epsilon > 0.0 and uniform(run.words) < epsilon else 0


class Promise(NamedTuple):
    """Hyde's value where trajectories start, the mean of the last ten or so."""

    def watch(self, run: Run, row: Place) -> None:
        now = run.position[0]
        value = greedy_value(run.tables.q_hyde, row, run.tables.width)
        now.start_value += (0.1 if now.start_value > 0.0 else 1.0) * (value - now.start_value)


class Unasked(NamedTuple):
    """In the place of `Promise` where nobody asks for it."""


class Curiosity(NamedTuple):
    """epsilon: Hyde leads as often as he expects something new.

    The fourth root of his `Promise` in units of his first value: 1 while nothing is known, and
    falling with the square root of the square root of his bonus.
    """

    q0: float

    def rate_now(self, run: Run, t: int) -> float:
        promise = max(run.position[0].start_value / self.q0, 0.0)
        return sqrt(sqrt(min(promise, 1.0)))


class Stalling(NamedTuple):
    """o: the more of Hyde's data the less Jekyll's own value moves.

    His value where trajectories start is followed by a fast mean and a slow one. Their distance, in
    units of the largest so far, is how much is going on: o is 0.9 without it, 0.1 at its largest.
    """

    fast: float = 0.1
    slow: float = 0.01

    def watch(self, run: Run, row: Place) -> None:
        now = run.position[0]
        value = expected_value(run.tables, row)
        now.value_fast += self.fast * (value - now.value_fast)
        now.value_slow += self.slow * (value - now.value_slow)
        now.value_pace = max(now.value_pace, abs(now.value_fast - now.value_slow))

    def rate_now(self, run: Run, t: int) -> float:
        now = run.position[0]
        if now.value_pace == 0.0:
            return 0.9
        return 0.9 - 0.8 * abs(now.value_fast - now.value_slow) / now.value_pace


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


class BonusQLearning(NamedTuple):
    """Q-learning on the bonus, greedy with ties broken at random; his values start high."""

    eta: float
    clip: float
    bonus: Any

    def learn_hyde(self, run: Run, sample: Transition, log_count: float) -> None:
        tables, pair = run.tables, sample.pair
        q = tables.q_hyde
        best = greedy_value(q, sample.next, tables.width)
        target = bonus_value(self.bonus, tables.n[pair], log_count) + sample.discount * best
        q[pair] = min(q[pair] + self.eta * (target - q[pair]), self.clip)


@EXPLORERS.register
class Uniform(NamedTuple):
    """Uniform actions; nothing is learned."""

    def learn_hyde(self, run: Run, sample: Transition, log_count: float) -> None:
        """Nothing."""

    def hyde_policy(self, tables: Tables, pi: Floats) -> None:
        pi[:] = 1.0 / pi.shape[1]


class Nobody(NamedTuple):
    """Nobody in Hyde's place (Algorithm 2): neither leads nor explores."""

    def begin(self, run: Run, row: Place) -> None:
        """Nothing."""

    def off_policiness(self, run: Run, t: int) -> float:
        return 0.0

    def choose_leader(self, run: Run, t: int) -> tuple[float, int]:
        return 0.0, 0

    def hyde_action(self, tables: Tables, row: Place, u: float) -> Place:
        return row

    def hyde_policy(self, tables: Tables, pi: Floats) -> None:
        """Nothing."""

    def learn_hyde(self, run: Run, sample: Transition, log_count: float) -> None:
        """Nothing."""


EXPLORERS.add("q_learning", BonusQLearning)


@EXPLORERS.register
class Optimistic(NamedTuple):
    """Q-learning as `model_based` has it, without the model, with a step that falls with visits.

    q~(s,a) <- q~(s,a) + (h + 1) / (h + n) (b(s,a) + gamma max_a' q~(s',a') - q~(s,a))
    """

    gamma: float = 0.99
    episodic: bool = False
    h: float = 10.0
    bonus: Any = None

    def learn_hyde(self, run: Run, sample: Transition, log_count: float) -> None:
        tables, pair = run.tables, sample.pair
        value = greedy_value(tables.q_hyde, sample.next, tables.width)
        if sample.discount == 0.0:
            value = 0.0 if self.episodic else run.position[0].start_value
        target = bonus_value(self.bonus, tables.n[pair], log_count) + self.gamma * value
        step = critic_step(ByVisits(self.h), tables.n[pair])
        tables.q_hyde[pair] += step * (target - tables.q_hyde[pair])


@EXPLORERS.register
class Hoeffding(NamedTuple):
    """Q-learning with the Hoeffding bonus c sqrt(H^3 / n) of Jin et al. (2018) where there is no
    reward but the bonus, H = 1 / (1 - gamma).
    """

    gamma: float = 0.99
    c: float = 0.001
    episodic: bool = False

    def learn_hyde(self, run: Run, sample: Transition, log_count: float) -> None:
        h = 1.0 / (1.0 - self.gamma)
        value = min(greedy_value(run.tables.q_hyde, sample.next, run.tables.width), h)
        if sample.discount == 0.0:
            value = 0.0 if self.episodic else run.position[0].start_value
        learn_with_bonus(run, sample.pair, self.gamma * value, h, self.c)


@phase
def learn_with_bonus(run: Run, pair: Place, target: float, h: float, c: float) -> None:
    """q~ <- q~ + (H + 1) / (H + n) (target + c sqrt(H^3 / n) - q~)."""
    q, n = run.tables.q_hyde, run.tables.n[pair]
    bonus = c * h * sqrt(h / n)
    q[pair] += critic_step(ByVisits(h), n) * (target + bonus - q[pair])


@EXPLORERS.register
class ModelBased(NamedTuple):
    """Values of the bonus in the learned model, greedy with ties broken at random.

        q~(s,a) <- b(s,a) + gamma sum_s' P^(s'|s,a) max_a' q~(s',a')

    A pair that was never tried is worth the most there can be, 1 / (1 - gamma) with a bonus of at
    most 1. The end of a trajectory is no loss to him, for the next one follows: it is worth what
    his trajectories are worth at their start (episodic=True: nothing). Rewards do not concern him.
    """

    gamma: float = 0.99
    episodic: bool = False
    bonus: Any = None

    def learn_hyde(self, run: Run, sample: Transition, log_count: float) -> None:
        model, tables, pair = run.model, run.tables, sample.pair
        at_end = 0.0 if self.episodic else run.position[0].start_value
        value = next_mean(model, tables, pair, model.v_hyde, at_end)
        bonus = bonus_value(self.bonus, tables.n[pair], log_count)
        tables.q_hyde[pair] = bonus + self.gamma * value


def greedy_policy(explorer: Any, tables: Tables, pi: Floats) -> None:
    """Hyde's greedy policy [S, A], the first of equals."""
    for s in range(pi.shape[0]):
        row, best = np.uint64(s) * tables.width, 0
        for a in range(pi.shape[1]):
            pi[s, a] = 0.0
            if tables.q_hyde[row + np.uint64(a)] > tables.q_hyde[row + np.uint64(best)]:
                best = a
        pi[s, best] = 1.0


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


def act_greedily(explorer: Any, tables: Tables, row: Place, u: float) -> Place:
    """The place of an action that Hyde thinks best."""
    return greedy_action(tables.q_hyde, row, tables.width, u)


def watch_nothing(rate: Any, run: Run, row: Place) -> None:
    """Nothing, at the start of a trajectory, for rates that follow t alone."""


hyde_action = by_type("hyde_action", act_greedily)
hyde_policy = by_type("hyde_policy", greedy_policy)
watch = by_type("watch", watch_nothing)

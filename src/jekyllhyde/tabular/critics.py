"""Jekyll's critic, by type (line 11 of Algorithm 3): the value of s' that a sample's target takes.

    q(s,a) <- q(s,a) + eta_c (r + discount value(s') + bonus(s,a) - q(s,a))

    expected_sarsa   value(s') = sum_a' pi(a'|s') q(s',a')
    current          the same, on the transition under way instead of the sample drawn
    q_learning       value(s') = max_a' q(s',a')
    mle              q = r^ + gamma P^ v, v exact for pi in the empirical model (r^, P^); q0 where
                     (s,a) was never tried

A critic of one's own is a NamedTuple with `next_value(self, tables, row)`, row being the place of
s' in tables.pi and tables.q: critic="file.py:Mine".
"""

from typing import Any, NamedTuple

import numpy as np

from jekyllhyde.jit import by_type, kernel
from jekyllhyde.mdp.linalg import back_substitute, factor, fill_system
from jekyllhyde.registry import Choices
from jekyllhyde.tabular.bonuses import Ucb, bonus_value
from jekyllhyde.tabular.known_model import KnownModel
from jekyllhyde.tabular.records import (
    Place,
    Run,
    Tables,
    Transition,
    expected_value,
    greedy_value,
    transition,
)

CRITICS = Choices("critic")
LARGEST = 1e300
next_value = by_type("next_value")


class Plain(NamedTuple):
    """The reward as it is."""

    def with_bonus(self, target: float, visits: np.int64, log_count: float) -> float:
        return target


class Curious(NamedTuple):
    """The reward and nu times the UCB bonus, the baseline of the paper's Figure 2."""

    nu: float

    def with_bonus(self, target: float, visits: np.int64, log_count: float) -> float:
        return target + self.nu * bonus_value(Ucb(), visits, log_count)


with_bonus = by_type("with_bonus")


class TemporalDifference(NamedTuple):
    """A critic that learns from samples: `rule` gives the value of s', `reward` may add a bonus."""

    rule: Any
    eta: float
    reward: Any

    def prepare(self, world: Any, run: Run, t: int) -> None:
        """Nothing."""

    def learn_critic(self, run: Run, sample: Transition, e: Place, log_count: float) -> bool:
        tables, q, pair = run.tables, run.tables.q, sample.pair
        target = sample.r + sample.discount * next_value(self.rule, tables, sample.next)
        target = with_bonus(self.reward, target, tables.n[pair], log_count)
        q[pair] += self.eta * (target - q[pair])
        return abs(q[pair]) < LARGEST


@CRITICS.register
class ExpectedSarsa(NamedTuple):
    """The value of s' under Jekyll's policy."""

    def next_value(self, tables: Tables, row: Place) -> float:
        return expected_value(tables, row)


@CRITICS.register
class QLearning(NamedTuple):
    """The value of the best action."""

    def next_value(self, tables: Tables, row: Place) -> float:
        return greedy_value(tables.q, row, tables.width)


@CRITICS.register
class Current(NamedTuple):
    """Expected SARSA on the transition under way, whatever was drawn."""

    learned: TemporalDifference | None = None

    def prepare(self, world: Any, run: Run, t: int) -> None:
        """Nothing."""

    def learn_critic(self, run: Run, sample: Transition, e: Place, log_count: float) -> bool:
        return bool(learn_from(self.learned, run, transition(run.edges, e), e, log_count))


learn_from = by_type("learn_critic")


@CRITICS.register
class Mle(NamedTuple):
    """Exact values in the empirical model, solved every `every` steps; needs a known MDP."""

    every: int = 1
    q0: float = 0.0

    def prepare(self, world: Any, run: Run, t: int) -> None:
        if t % self.every == 0:
            fit_model(world, run, self.q0)

    def learn_critic(self, run: Run, sample: Transition, e: Place, log_count: float) -> bool:
        return True


@kernel
def fit_model(world: KnownModel, run: Run, q0: float) -> None:
    """The MLE critic; pi [S, A] is the same memory as tables.pi."""
    edges, q, n, pi, scratch = run.edges, run.tables.q, run.tables.n, world.pi, world.scratch
    model, P, v, gamma = world.P, scratch.P, scratch.v, world.P.gamma
    n_states, n_actions = pi.shape
    for s in range(n_states):
        v[s] = 0.0
        for a in range(n_actions):
            pair = s * n_actions + a
            begin, end = model.indptr[pair], model.indptr[pair + 1]
            q[pair] = 0.0 if n[pair] > 0 else q0
            for e in range(begin, end):
                P[e] = edges.seen[e] / n[pair] if n[pair] > 0 else 0.0
                q[pair] += P[e] * edges.r[e]
            if end > begin:
                v[s] += pi[s, a] * q[pair]
    fill_system(scratch.M, model.indptr, model.indices, P, pi, gamma)
    factor(scratch.M, scratch.inverse, v)
    back_substitute(scratch.M, scratch.inverse, v)
    for pair in range(n_states * n_actions):
        for e in range(model.indptr[pair], model.indptr[pair + 1]):
            q[pair] += gamma * P[e] * v[np.uint64(model.indices[e])]

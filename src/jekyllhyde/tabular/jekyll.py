"""Dr Jekyll, by type: his actor (line 12 of Algorithm 3) and his critic (line 11).

The actor is the policy update in a visited state:

    expected (Eq. 7)   theta(s,.) <- theta(s,.) + step sum_a q(s,a) grad pi(a|s)
    sampled (Alg. 2)   theta(s,.) <- theta(s,.) + step y grad pi(a|s), y a target of the one taken

`step` is eta d. Softmax: grad pi(a|s) = pi(a|s) (e_a - pi(.|s)), so the expected update is
step pi (q - v). Direct: e_a, then the projection on the simplex. Entropy adds -lam log pi(a|s) to
q(s,a) as it stands, or centred, which makes it the gradient of the entropy; nu adds
nu sqrt(log t / n(s,a)). Other rules are in `row_actors`.

The critic is known by the value of s' that a sample's target takes:

    q(s,a) <- q(s,a) + eta_c (r + discount value(s') + bonus(s,a) - q(s,a))

    expected_sarsa   value(s') = sum_a' pi(a'|s') q(s',a')
    current          the same, on the transition under way instead of the sample drawn
    q_learning       value(s') = max_a' q(s',a')
    model_based      q = r^ + gamma P^ v for one pair, v(s) = sum_a pi(a|s) q(s,a) as it stands, in
                     the model that was learned (`learned_model`)
    mle              q = r^ + gamma P^ v, v exact for pi in the empirical model (r^, P^); q0 where
                     (s,a) was never tried

A critic of one's own is a NamedTuple with `next_value(self, tables, row)`, row being the place of
s' in tables.pi and tables.q: critic="file.py:Mine".
"""

import math
from typing import Any, NamedTuple

import numpy as np

from jekyllhyde.jit import by_type, sqrt
from jekyllhyde.registry import Choices
from jekyllhyde.row_rules import ROW_RULES
from jekyllhyde.simplex import project_row, shifted_softmax_row
from jekyllhyde.tabular.algorithm import learn_critic
from jekyllhyde.tabular.hyde import Ucb, bonus_value
from jekyllhyde.tabular.known_model import fit_model
from jekyllhyde.tabular.learned_model import doubt_of, next_mean
from jekyllhyde.tabular.records import (
    Place,
    Run,
    Tables,
    Transition,
    expected_value,
    greedy_value,
    transition,
)
from jekyllhyde.tabular.row_actors import RaiseHopeful
from jekyllhyde.tabular.step_sizes import critic_step

ACTORS, CRITICS = Choices("actor"), Choices("critic")
TINY, LARGEST = 1e-300, 1e300
next_value, with_bonus = map(by_type, ("next_value", "with_bonus"))


@ACTORS.register
class Softmax(NamedTuple):
    """The expected update with softmax."""

    def improve(self, run: Run, sample: Transition, step: float, t: int) -> None:
        tables, row = run.tables, sample.row
        theta, pi, q = tables.theta, tables.pi, tables.q
        v, top = expected_value(tables, row), -math.inf
        for i in range(row, row + tables.width):
            theta[i] += step * pi[i] * (q[i] - v)
            top = max(top, theta[i])
        shifted_softmax_row(theta, pi, row, tables.width, top)


@ACTORS.register
class RegularizedSoftmax(NamedTuple):
    """The expected update with softmax, an entropy bonus of weight lam and a UCB bonus."""

    lam: float = 0.01
    centred: bool = False
    nu: float = 0.0

    def improve(self, run: Run, sample: Transition, step: float, t: int) -> None:
        tables, row = run.tables, sample.row
        theta, pi, work = tables.theta, tables.pi, tables.work
        log_t = math.log(t) if self.nu > 0.0 else 0.0
        baseline, top = 0.0, -math.inf
        for i in range(row, row + tables.width):
            value = tables.q[i] + self.nu * sqrt(log_t / max(tables.n[i], 1))
            entropy = -self.lam * math.log(max(pi[i], TINY))
            baseline += pi[i] * (value + entropy if self.centred else value)
            work[i - row] = value + entropy
        for i in range(row, row + tables.width):
            theta[i] += step * pi[i] * (work[i - row] - baseline)
            top = max(top, theta[i])
        shifted_softmax_row(theta, pi, row, tables.width, top)


@ACTORS.register
class Direct(NamedTuple):
    """The expected update with the direct parametrization, theta = pi, and a UCB bonus."""

    nu: float = 0.0

    def improve(self, run: Run, sample: Transition, step: float, t: int) -> None:
        tables, row = run.tables, sample.row
        log_t = math.log(t) if self.nu > 0.0 else 0.0
        for i in range(row, row + tables.width):
            bonus = self.nu * sqrt(log_t / max(tables.n[i], 1))
            tables.theta[i] += step * (tables.q[i] + bonus)
        project_row(tables.theta, tables.pi, row, tables.width)


@ACTORS.register
class Sampled(NamedTuple):
    """Algorithm 2: along the gradient of the probability of the action taken, times its target.

    With softmax the gradient moves the whole row; the listing prints theta(s, a) alone.
    """

    direct: bool = False
    lam: float = 0.0
    nu: float = 0.0

    def improve(self, run: Run, sample: Transition, step: float, t: int) -> None:
        tables, row, taken = run.tables, sample.row, sample.pair
        theta, pi = tables.theta, tables.pi
        log_t = math.log(t) if self.nu > 0.0 else 0.0
        target = sample.r + sample.discount * expected_value(tables, sample.next)
        bonus = self.nu * sqrt(log_t / tables.n[taken])
        target += bonus - self.lam * math.log(max(pi[taken], TINY))
        p, top = pi[taken], -math.inf
        for i in range(row, row + tables.width):
            is_taken = 1.0 if i == taken else 0.0
            theta[i] += step * target * (is_taken if self.direct else p * (is_taken - pi[i]))
            top = max(top, theta[i])
        if self.direct:
            project_row(theta, pi, row, tables.width)
        else:
            shifted_softmax_row(theta, pi, row, tables.width, top)


for _name, _rule in (ROW_RULES | {"raise_hopeful": RaiseHopeful}).items():
    ACTORS.add(_name, _rule)


class Plain(NamedTuple):
    """The reward as it is."""

    def with_bonus(self, target: float, visits: np.int64, log_count: float) -> float:
        return target


class WithUcb(NamedTuple):
    """The reward and nu times the UCB bonus, the baseline of the paper's Figure 2."""

    nu: float

    def with_bonus(self, target: float, visits: np.int64, log_count: float) -> float:
        return target + self.nu * bonus_value(Ucb(), visits, log_count)


class TemporalDifference(NamedTuple):
    """A critic that learns from samples: `rule` gives the value of s', `reward` may add a bonus."""

    rule: Any
    eta: Any
    reward: Any

    def prepare(self, world: Any, run: Run, t: int) -> None:
        """Nothing."""

    def learn_critic(self, run: Run, sample: Transition, e: Place, log_count: float) -> bool:
        tables, q, pair = run.tables, run.tables.q, sample.pair
        target = sample.r + sample.discount * next_value(self.rule, tables, sample.next)
        target = with_bonus(self.reward, target, tables.n[pair], log_count)
        q[pair] += critic_step(self.eta, tables.n[pair]) * (target - q[pair])
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
        return bool(learn_critic(self.learned, run, transition(run.edges, e), e, log_count))


class ModelBasedCritic(NamedTuple):
    """The mean reward and the mean value of what followed, in the learned model."""

    gamma: float = 0.99

    def prepare(self, world: Any, run: Run, t: int) -> None:
        """Nothing."""

    def learn_critic(self, run: Run, sample: Transition, e: Place, log_count: float) -> bool:
        model, tables, pair = run.model, run.tables, sample.pair
        mean = next_mean(model, tables, pair, model.v, 0.0)
        q = model.r[pair] + self.gamma * mean
        tables.q[pair] = q
        model.doubt[pair] = doubt_of(model, tables, pair, self.gamma, mean)
        return abs(q) < LARGEST


CRITICS.add("model_based", ModelBasedCritic)


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

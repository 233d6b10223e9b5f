"""Jekyll's actor, by type (line 12 of Algorithm 3): the policy update in a visited state.

    expected (Eq. 4)   theta(s,.) <- theta(s,.) + step sum_a q(s,a) grad pi(a|s)
    sampled (Alg. 2)   theta(s,.) <- theta(s,.) + step y grad pi(a|s), y a target of the one taken

`step` is eta d. Softmax: grad pi(a|s) = pi(a|s) (e_a - pi(.|s)), so the expected update is
step pi (q - v). Direct: e_a, then the projection on the simplex. Entropy adds -lam log pi(a|s) to
q(s,a) as it stands, or centred, which makes it the gradient of the entropy; nu adds
nu sqrt(log t / n(s,a)).

A rule of one's own is a NamedTuple with `improve_row(self, theta, pi, q, row, width, step)`, which
changes theta and pi at the places row .. row + width - 1: actor="file.py:Mine".
"""

import math
from typing import Any, NamedTuple

from jekyllhyde.jit import by_type, phase, sqrt
from jekyllhyde.registry import Choices
from jekyllhyde.simplex import project_row, softmax_row
from jekyllhyde.tabular.records import ONE, Place, Tables, Transition, expected_value

ACTORS = Choices("actor")
TINY = 1e-300
improve_row = by_type("improve_row")


@ACTORS.register
class Softmax(NamedTuple):
    """The expected update with softmax."""

    def improve(self, tables: Tables, sample: Transition, step: float, t: int) -> None:
        theta, pi, q, row = tables.theta, tables.pi, tables.q, sample.row
        v, top = expected_value(tables, row), -math.inf
        for i in range(row, row + tables.width):
            theta[i] += step * pi[i] * (q[i] - v)
            top = max(top, theta[i])
        softmax_row(theta, pi, row, tables.width, top)


@ACTORS.register
class RegularizedSoftmax(NamedTuple):
    """The expected update with softmax, an entropy bonus of weight lam and a UCB bonus."""

    lam: float = 0.01
    centred: bool = False
    nu: float = 0.0

    def improve(self, tables: Tables, sample: Transition, step: float, t: int) -> None:
        theta, pi, work, row = tables.theta, tables.pi, tables.work, sample.row
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
        softmax_row(theta, pi, row, tables.width, top)


@ACTORS.register
class Direct(NamedTuple):
    """The expected update with the direct parametrization, theta = pi, and a UCB bonus."""

    nu: float = 0.0

    def improve(self, tables: Tables, sample: Transition, step: float, t: int) -> None:
        row = sample.row
        log_t = math.log(t) if self.nu > 0.0 else 0.0
        for i in range(row, row + tables.width):
            bonus = self.nu * sqrt(log_t / max(tables.n[i], 1))
            tables.theta[i] += step * (tables.q[i] + bonus)
        project_row(tables.theta, tables.pi, row, tables.width)


@ACTORS.register
class Sampled(NamedTuple):
    """The update of the action taken alone, towards its one-step target (Algorithm 2)."""

    direct: bool = False
    lam: float = 0.0
    nu: float = 0.0

    def improve(self, tables: Tables, sample: Transition, step: float, t: int) -> None:
        theta, pi, row, taken = tables.theta, tables.pi, sample.row, sample.pair
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
            softmax_row(theta, pi, row, tables.width, top)


class RowRule(NamedTuple):
    """A rule of the user's own, which knows theta, pi and q alone."""

    rule: Any

    def improve(self, tables: Tables, sample: Transition, step: float, t: int) -> None:
        improve_row(self.rule, tables.theta, tables.pi, tables.q, sample.row, tables.width, step)


@phase
def sample_action(tables: Tables, row: Place, u: float) -> Place:
    """The place of an action drawn from pi(.|s) by a uniform u: the first whose sum exceeds u.

    A loop that stops early lets the processor guess the action before it is computed, which is
    worth half of the time where the policy is nearly deterministic. Where rounding leaves no such
    action, the last one of positive probability is taken.
    """
    pi = tables.pi
    chosen, last, rest = row, row + tables.width - ONE, u - pi[row]
    while rest >= 0.0 and chosen < last:
        chosen += ONE
        rest -= pi[chosen]
    while pi[chosen] == 0.0:
        chosen -= ONE
    return chosen

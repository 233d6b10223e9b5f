"""The policy update U(theta, d) of Eq. (3), by type: what theta is, and how it moves.

    direct    pi = theta       theta(s,.) <- projection of theta(s,.) + eta d(s) q(s,.)
    softmax   pi ~ exp(theta)  theta(s,a) <- theta(s,a) + eta d(s) pi(a|s) (q(s,a) - v(s) + h(s,a))
    others    pi ~ exp(theta)  cross_entropy, raise_greedy, natural_gradient: see `row_rules`

h is the entropy term of weight lam: `published` adds -lam log pi(a|s) as it stands; `centred`
subtracts its mean under pi(.|s), which makes it the gradient of lam times the entropy. A row with
eta d(s) = 0 is left as it is.

A rule of one's own is a NamedTuple with `improve_row(self, theta, pi, q, row, width, step)`, as
those of `row_rules` are, step being eta d(s): parametrization="file.py:Mine". theta starts as log
pi, or as pi where the class says `direct = True`. A field `lam` takes the entropy weight, a field
`centred` its form.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba.core.errors import NumbaError

from jekyllhyde.errors import check_number, require
from jekyllhyde.jit import by_type, kernel
from jekyllhyde.registry import Choices
from jekyllhyde.row_rules import ROW_RULES, improve_row, is_row_rule
from jekyllhyde.simplex import ONE, ZERO, Floats, Place, exponentials, project_in_place

PARAMETRIZATIONS = Choices("parametrization")
PAPER_RULES = ("direct", "softmax")  # those of the theory
update = by_type("update")


class Tables(NamedTuple):
    """theta, pi, q [S*A]; v, step = eta d [S]; work [S*A] is scratch."""

    theta: Floats
    pi: Floats
    q: Floats
    v: Floats
    step: Floats
    work: Floats


@PARAMETRIZATIONS.register
class Direct(NamedTuple):
    """theta is pi, the same array: a step along q, projected on the simplex."""

    def update(self, tables: Tables) -> None:
        _, pi, q, _, step, work = tables
        width = Place(len(pi) // len(step))
        for s in range(len(step)):
            row, weight = Place(s) * width, step[s]
            if weight != 0.0:
                for i in range(row, row + width):
                    pi[i] += weight * q[i]
                project_in_place(pi, row, width, work, ZERO)


@PARAMETRIZATIONS.register
class Softmax(NamedTuple):
    """pi ~ exp(theta): a step along the gradient, with an entropy term of weight lam."""

    lam: float = 0.0
    centred: bool = False

    def update(self, tables: Tables) -> None:
        # Each row of theta is shifted so that its maximum is 0: it never overflows, and pi is
        # unchanged. The exponentials of all rows are taken at once.
        theta, pi, q, v, step, work = tables
        width = Place(len(pi) // len(step))
        for s in range(len(step)):
            weight, row = step[s], Place(s) * width
            if weight != 0.0:
                if self.lam != 0.0:
                    _add_entropy(theta, pi, row, width, weight * self.lam, self.centred)
                for i in range(row, row + width):
                    theta[i] += weight * pi[i] * (q[i] - v[s])
                top = theta[row]
                for i in range(row + ONE, row + width):
                    top = max(top, theta[i])
                for i in range(row, row + width):
                    theta[i] -= top
        exponentials(theta, work)
        for s in range(len(step)):
            if step[s] != 0.0:
                row, total = Place(s) * width, 0.0
                for i in range(row, row + width):
                    total += work[i]
                inverse = 1.0 / total
                for i in range(row, row + width):
                    pi[i] = work[i] * inverse


for _name, _rule in ROW_RULES.items():
    PARAMETRIZATIONS.add(_name, _rule)


class ByRows(NamedTuple):
    """A rule of `row_rules` or of the user's own, applied to one row after the other."""

    rule: Any

    def update(self, tables: Tables) -> None:
        theta, pi, q, _, step, _ = tables
        width = Place(len(pi) // len(step))
        for s in range(len(step)):
            if step[s] != 0.0:
                improve_row(self.rule, theta, pi, q, Place(s) * width, width, step[s])


@kernel
def _add_entropy(
    theta: Floats, pi: Floats, row: Place, width: Place, weight: float, centred: bool
) -> None:
    # Add to theta(s, a): weight pi(a|s) (-log pi(a|s)), less its mean under pi(.|s) if `centred`;
    # 0 log 0 is 0.
    mean = 0.0
    if centred:
        for i in range(row, row + width):
            if pi[i] > 0.0:
                mean -= pi[i] * math.log(pi[i])
    for i in range(row, row + width):
        if pi[i] > 0.0:
            theta[i] += weight * pi[i] * (-math.log(pi[i]) - mean)


@kernel
def update_tables(rule: Any, tables: Tables) -> None:
    """The update as a kernel, for the loop that is not compiled."""
    update(rule, tables)


def make_rule(parametrization: Any, lam: float, convention: str) -> tuple[Any, str]:
    """The rule with its settings, and how it is written down."""
    record = PARAMETRIZATIONS.make(parametrization)
    require(
        hasattr(record, "update") or is_row_rule(record),
        f"parametrization is {record!r}; a rule of your own has a method improve_row",
    )
    name, fields = PARAMETRIZATIONS.spell(record), getattr(record, "_fields", ())
    lam = check_number(lam, "lam", "an entropy weight of at least 0", least=0.0)
    require(
        lam == 0.0 or "lam" in fields,
        f'lam is given, but the {name} parametrization has no entropy term; use "softmax"',
    )
    if "lam" in fields:
        record = record._replace(lam=lam or float(record.lam))
    if "centred" in fields and convention == "paper":
        record = record._replace(centred=True)
    return record if hasattr(record, "update") else ByRows(record), name


def is_direct(rule: Any) -> bool:
    """Whether theta is the policy itself, not its logarithm."""
    return isinstance(rule, Direct) or getattr(getattr(rule, "rule", rule), "direct", False)


def compiles(rule: Any) -> bool:
    """Whether a rule can be compiled; the built-in ones can."""
    if not isinstance(rule, ByRows) or type(rule.rule) in ROW_RULES.values():
        return True
    row = np.full(2, 0.5)
    try:
        update_tables(rule, Tables(row, row, row, np.zeros(1), np.zeros(1), np.empty(2)))
    except NumbaError:
        return False
    return True


def theta_of(rule: Any, pi: Floats) -> Floats:
    """A theta whose policy is `pi` [S, A]: pi itself (`Direct`: the same array, which it updates
    once), or log pi shifted so that each row's maximum is 0.
    """
    if is_direct(rule):
        return pi if isinstance(rule, Direct) else pi.copy()
    with np.errstate(divide="ignore"):
        theta = np.log(pi)
    return theta - theta.max(axis=1, keepdims=True)

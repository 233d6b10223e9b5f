"""The rules of `row_rules` as actors of the loop (line 12 of Algorithm 3), and which action counts
as greedy where not all of them were tried.

`cross_entropy` and `raise_greedy` move towards the best of the actions that were tried: the first q
of the others says nothing. `raise_hopeful` gives q the benefit of the doubt. A rule of one's own is
a NamedTuple with `improve_row` or `approach` (see `row_rules`): actor="file.py:Mine".
"""

from typing import Any, NamedTuple

from jekyllhyde.errors import require
from jekyllhyde.jit import phase
from jekyllhyde.row_rules import RaiseGreedy, approach, improve_row, is_row_rule
from jekyllhyde.tabular.records import Place, Run, Transition

TIE = 1e-9


class RaiseHopeful(NamedTuple):
    """As raise_greedy, with the benefit of the doubt: q plus `weight` standard errors of it.

    Near ties between random outcomes are then settled by trying both. Needs a model_based critic.
    """

    weight: float = 1.0

    def improve(self, run: Run, sample: Transition, step: float, t: int) -> None:
        tables, row = run.tables, sample.row
        for i in range(row, row + tables.width):
            tables.work[i - row] = tables.q[i] + self.weight * run.model.doubt[i]
        best = best_tried(run, sample)
        approach(RaiseGreedy(), tables.theta, tables.pi, row, tables.width, best, step)


class TowardsBest(NamedTuple):
    """A row rule with `approach`: towards the best action of those that were tried."""

    rule: Any

    def improve(self, run: Run, sample: Transition, step: float, t: int) -> None:
        tables, row = run.tables, sample.row
        for i in range(row, row + tables.width):
            tables.work[i - row] = tables.q[i]
        best = best_tried(run, sample)
        approach(self.rule, tables.theta, tables.pi, row, tables.width, best, step)


@phase
def best_tried(run: Run, sample: Transition) -> Place:
    """The action of largest work [A] among those that were tried. Only the order counts, and a tie,
    up to rounding, leaves the action that leads.
    """
    tables, row = run.tables, sample.row
    theta, work = tables.theta, tables.work
    best, scale = row, run.position[0].scale
    for i in range(row, row + tables.width):
        if theta[i] > theta[best]:
            best = Place(i)
    if tables.n[best] == 0:
        best = sample.pair
    for i in range(row, row + tables.width):
        lead = work[best - row]
        if tables.n[i] > 0 and work[i - row] > lead + TIE * max(abs(lead), scale):
            best = Place(i)
    return best


class RowRule(NamedTuple):
    """A row rule that knows theta, pi and q alone."""

    rule: Any

    def improve(self, run: Run, sample: Transition, step: float, t: int) -> None:
        tables = run.tables
        improve_row(self.rule, tables.theta, tables.pi, tables.q, sample.row, tables.width, step)


def as_actor(rule: Any) -> Any:
    """A record of `ACTORS` as an actor of the loop."""
    if hasattr(rule, "improve"):
        return rule
    require(is_row_rule(rule), f"actor is {rule!r}; a rule of your own has a method improve_row")
    return TowardsBest(rule) if hasattr(rule, "approach") else RowRule(rule)

"""The rules of `row_rules` as actors of the loop (line 12 of Algorithm 3), and which action counts
as greedy where not all of them were tried.

`cross_entropy` and `raise_greedy` move towards the best of the actions that were tried: the first q
of the others says nothing. `raise_hopeful` gives q the benefit of the doubt. A rule of one's own is
a NamedTuple with `improve_row` or `approach` (see `row_rules`): actor="file.py:Mine".
"""

from typing import Any, NamedTuple

from jekyllhyde.errors import require
from jekyllhyde.jit import by_type, phase
from jekyllhyde.row_rules import RaiseGreedy, approach, improve_row, is_row_rule
from jekyllhyde.tabular.records import ONE, Place, Run, Transition

TIE = 1e-9


class RaiseHopeful(NamedTuple):
    """As raise_greedy, with the benefit of the doubt: q plus `weight` standard errors of it.

    Near ties between random outcomes are then settled by trying both. Needs a model_based critic.
    """

    weight: float = 1.0

    def worth(self, run: Run, pair: Place) -> float:
        return run.tables.q[pair] + self.weight * run.model.doubt[pair]

    def improve(self, run: Run, sample: Transition, step: float, t: int) -> None:
        tables, best = run.tables, best_tried(self, run, sample)
        approach(RaiseGreedy(), tables.theta, tables.pi, sample.row, tables.width, best, step)


class TowardsBest(NamedTuple):
    """A row rule with `approach`: towards the best action of those that were tried."""

    rule: Any

    def worth(self, run: Run, pair: Place) -> float:
        return run.tables.q[pair]

    def improve(self, run: Run, sample: Transition, step: float, t: int) -> None:
        tables, best = run.tables, best_tried(self, run, sample)
        approach(self.rule, tables.theta, tables.pi, sample.row, tables.width, best, step)


worth = by_type("worth")


@phase
def best_tried(actor: Any, run: Run, sample: Transition) -> Place:
    """The action that the actor holds worth the most among those that were tried. Only the order
    counts, and a tie, up to rounding, leaves the action that leads.
    """
    tables, row, scale = run.tables, sample.row, run.position[0].scale
    best, top = row, tables.theta[row]
    for i in range(row + ONE, row + tables.width):
        if tables.theta[i] > top:
            best, top = Place(i), tables.theta[i]
    if tables.n[best] == 0:
        best = sample.pair
    lead = worth(actor, run, best)
    for i in range(row, row + tables.width):
        value = worth(actor, run, Place(i))
        if tables.n[i] > 0 and value > lead + TIE * max(abs(lead), scale):
            best, lead = Place(i), value
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

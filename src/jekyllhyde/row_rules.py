"""Jekyll's actor rules row by row, one definition each for planning, tables and networks.

What theta(s, .) does in one state, pi being its softmax, given q there, v = sum_a pi(a) q(a) and
the greedy action a* = argmax q, of several the one that leads:

    softmax            theta(a)  <- theta(a)  + step pi(a) (q(a) - v)           the paper's
    cross_entropy      theta(a)  <- theta(a)  + step (1(a = a*) - pi(a))
    raise_greedy       theta(a*) <- theta(a*) + step (1 - pi(a*))
    natural_gradient   theta(a)  <- theta(a)  + step (q(a) - v)

cross_entropy follows the gradient of log pi(a*). Each other action falls by pi(a), so that their
ratios change: a good one may lose to a terrible one, and the value fall. raise_greedy moves a*
alike and leaves the others, which makes the policy a mixture (1 - w) pi + w e_{a*} of the old one
and a*: with exact q no step of it lowers the value of any state. natural_gradient does not either:
pi' ~ pi exp(step q) puts weight on larger q. That is the mirror step too: the two differ by step v,
a shift of the row, which no softmax sees. So they are one rule with two names.

Only the policy gradient and the natural gradient follow the size of q, and undo in n updates what n
updates have done; the other two follow its order, and undo it in a few (docs/unlearning.md).

Who uses them: `planning.updates` with exact q; `tabular.jekyll` with a learned one, a* being the
best action that was tried; `deep.actor_rules` has the loss whose gradient on the logits, times -1,
is the change above for step 1.

A rule is a NamedTuple with `improve_row(self, theta, pi, q, row, width, step)`, which changes theta
and pi at the places row .. row + width - 1 (see `simplex`). One that moves towards a single action
has `approach` instead, with the place `best` of that action in place of q.
"""

from typing import Any, NamedTuple

from jekyllhyde.jit import by_type, phase
from jekyllhyde.simplex import Floats, Place, softmax_row


class CrossEntropy(NamedTuple):
    """Cross-entropy to the greedy action."""

    def approach(
        self, theta: Floats, pi: Floats, row: Place, width: Place, best: Place, step: float
    ) -> None:
        for i in range(row, row + width):
            theta[i] += step * ((1.0 if i == best else 0.0) - pi[i])
        softmax_row(theta, pi, row, width)


class RaiseGreedy(NamedTuple):
    """Cross-entropy to the greedy action, of which only that action's logit is raised."""

    def approach(
        self, theta: Floats, pi: Floats, row: Place, width: Place, best: Place, step: float
    ) -> None:
        theta[best] += step * (1.0 - pi[best])
        softmax_row(theta, pi, row, width)


class NaturalGradient(NamedTuple):
    """The natural gradient, and the mirror step: pi' ~ pi exp(step q)."""

    def improve_row(
        self, theta: Floats, pi: Floats, q: Floats, row: Place, width: Place, step: float
    ) -> None:
        v = 0.0
        for i in range(row, row + width):
            v += pi[i] * q[i]
        for i in range(row, row + width):
            theta[i] += step * (q[i] - v)
        softmax_row(theta, pi, row, width)


ROW_RULES: dict[str, type] = {
    "cross_entropy": CrossEntropy,
    "raise_greedy": RaiseGreedy,
    "natural_gradient": NaturalGradient,
    "mirror_step": NaturalGradient,
}


@phase
def greedy_action(theta: Floats, q: Floats, row: Place, width: Place) -> Place:
    """The place of the action of largest q; of equal ones that of largest theta."""
    best = row
    for i in range(row, row + width):
        if q[i] > q[best] or (q[i] == q[best] and theta[i] > theta[best]):
            best = Place(i)
    return best


def approach_greedy(
    rule: Any, theta: Floats, pi: Floats, q: Floats, row: Place, width: Place, step: float
) -> None:
    """`improve_row` of a rule that has `approach`."""
    approach(rule, theta, pi, row, width, greedy_action(theta, q, row, width), step)


approach = by_type("approach")
improve_row = by_type("improve_row", approach_greedy)


def is_row_rule(record: Any) -> bool:
    """Whether a record is a rule as above."""
    return hasattr(record, "improve_row") or hasattr(record, "approach")

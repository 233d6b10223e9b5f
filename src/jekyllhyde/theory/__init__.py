"""The theory as code: conditions, bounds, and checks of both on a recorded run.

run = plan(mdp, ..., record=theory.RECORD)
print(theory.table(theory.check(run)))
"""

from jekyllhyde.theory.conditions import Uniqueness, learning_rate, least_start, uniqueness
from jekyllhyde.theory.counterexample import Counterexample, counterexample, one_state
from jekyllhyde.theory.nonasymptotic import (
    Conditioning,
    GradientBound,
    NonAsymptotic,
    conditioning,
    gradient_bound,
    nonasymptotic,
    nonasymptotic_step,
)
from jekyllhyde.theory.optimality import Ceiling, Flow, Limit, ceiling, flow, limit
from jekyllhyde.theory.run_checks import RECORD, Check, check, table
from jekyllhyde.theory.softmax_rate import SoftmaxRate, softmax_rate
from jekyllhyde.theory.theorems import (
    HittingTime,
    Improvement,
    Monotonicity,
    ProjectionLemma,
    hitting_time,
    improvement,
    monotonicity,
    projection_lemma,
)
from jekyllhyde.theory.weights import DensityRange, Growth, density_range, weight_growth

__all__ = [
    "RECORD",
    "Ceiling",
    "Check",
    "Conditioning",
    "Counterexample",
    "DensityRange",
    "Flow",
    "GradientBound",
    "Growth",
    "HittingTime",
    "Improvement",
    "Limit",
    "Monotonicity",
    "NonAsymptotic",
    "ProjectionLemma",
    "SoftmaxRate",
    "Uniqueness",
    "ceiling",
    "check",
    "conditioning",
    "counterexample",
    "density_range",
    "flow",
    "gradient_bound",
    "hitting_time",
    "improvement",
    "learning_rate",
    "least_start",
    "limit",
    "monotonicity",
    "nonasymptotic",
    "nonasymptotic_step",
    "one_state",
    "projection_lemma",
    "softmax_rate",
    "table",
    "uniqueness",
    "weight_growth",
]


def __dir__() -> list[str]:
    return sorted(__all__)

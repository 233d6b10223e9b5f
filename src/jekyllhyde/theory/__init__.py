"""The theory as code: conditions, bounds, and checks of both on a recorded run.

run = plan(mdp, ..., record=theory.RECORD)
print(theory.table(theory.check(run)))
"""

from jekyllhyde.theory.conditions import (
    DensityRange,
    Growth,
    Uniqueness,
    density_range,
    learning_rate,
    least_start,
    uniqueness,
    weight_growth,
)
from jekyllhyde.theory.counterexample import Counterexample, counterexample, one_state
from jekyllhyde.theory.nonasymptotic import NonAsymptotic, nonasymptotic, nonasymptotic_step
from jekyllhyde.theory.run_checks import RECORD, Check, check, table
from jekyllhyde.theory.theorems import (
    HittingTime,
    Monotonicity,
    ProjectionLemma,
    SoftmaxRate,
    hitting_time,
    monotonicity,
    projection_lemma,
    softmax_rate,
)

__all__ = [
    "RECORD",
    "Check",
    "Counterexample",
    "DensityRange",
    "Growth",
    "HittingTime",
    "Monotonicity",
    "NonAsymptotic",
    "ProjectionLemma",
    "SoftmaxRate",
    "Uniqueness",
    "check",
    "counterexample",
    "density_range",
    "hitting_time",
    "learning_rate",
    "least_start",
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

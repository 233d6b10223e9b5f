"""Experiments side by side, for panels that show several problems."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from jekyllhyde.errors import require
from jekyllhyde.lab.cell_settings import canonical, text_digest
from jekyllhyde.lab.spec import Cell, Experiment


@dataclass(frozen=True)
class Suite:
    """Experiments with the same series, one for each value of a coordinate, such as the task.

    It is shown as an experiment that varies this coordinate, but each of its experiments has its
    own problem and settings, those of the series included. A small copy has the values in `few`.
    """

    name: str
    coordinate: str
    experiments: Mapping[Any, Experiment]
    few: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        kinds = {
            (each.method, each.runs, tuple(series["label"] for series in each.series))
            for each in self.experiments.values()
        }
        require(
            len(kinds) == 1,
            f"suite {self.name} has {len(kinds)} kinds of experiments; it needs one or more of the "
            "same method, series and number of runs",
        )

    @property
    def _first(self) -> Experiment:
        return next(iter(self.experiments.values()))

    @property
    def method(self) -> str:
        return self._first.method

    @property
    def problem(self) -> Mapping[str, Any]:
        return self._first.problem

    @property
    def settings(self) -> Mapping[str, Any]:
        return self._first.settings

    @property
    def runs(self) -> int:
        return self._first.runs

    @property
    def axes(self) -> dict[str, list[Any]]:
        return {self.coordinate: list(self.experiments)}

    @cached_property
    def cells(self) -> list[Cell]:
        return [
            replace(cell, values={self.coordinate: value, **cell.values})
            for value, experiment in self.experiments.items()
            for cell in experiment.cells
        ]

    @cached_property
    def digest(self) -> str:
        return text_digest(canonical([cell.digest for cell in self.cells]))

    def only(self, *values: Any) -> Self:
        """The experiments of these values alone."""
        return replace(self, experiments={value: self.experiments[value] for value in values})

    def scaled(
        self, *, runs: int | None = None, points: int | None = None, length: float = 1.0
    ) -> Self:
        """A smaller copy: fewer runs, at most `points` of the values in `few`, shorter runs."""
        values = list(self.experiments)
        if points is not None:
            values = [value for value in values if value in (self.few or values)]
            kept = np.unique(np.linspace(0, len(values) - 1, points).round().astype(int))
            values = [values[i] for i in kept]
        smaller = {
            value: self.experiments[value].scaled(runs=runs, length=length) for value in values
        }
        return replace(self, experiments=smaller)

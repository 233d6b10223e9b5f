"""What a method is: how a cell is completed, run, measured and costed.

Every row is one run. A run with a target ends there and leaves its time; one without leaves its
curve, at about `points` places.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
import numpy as np
import pyarrow as pa

from jekyllhyde.errors import InputError
from jekyllhyde.mdp.finite import FiniteMDP, Ints

if TYPE_CHECKING:
    from jekyllhyde.lab.spec import Experiment

POINTS = 1000
FAILURE_LENGTH = 500  # characters that are kept of a failure's reason
INTEGER, NUMBER, CURVE = pa.int64(), pa.float64(), pa.list_(pa.float64())
ROW_SECONDS, CURVE_SECONDS = 1e-4, 5e-3  # what a run counts at least: tasks have 100,000 rows at
# most, or 2000 with curves

Progress = Callable[[int], None]
Row = dict[str, Any]
Settings = Mapping[str, Any]


class Method(ABC):
    """A way to run a cell.

    unit : what is counted along a run, and the setting that says how many of them there are.
    options : the method's own settings with their types and defaults.
    columns : what its rows hold, by type.  curve, end : the columns that are drawn along a run,
        and at its end against whatever varies ("" where there is none).
    exact : nothing is random but the problem.  whole : the runs of a cell are made in one call.
    extra : what must be installed beside the core.
    """

    name: ClassVar[str]
    unit: ClassVar[str]
    options: ClassVar[type[msgspec.Struct]]
    columns: ClassVar[dict[str, pa.DataType]]
    curve: ClassVar[str] = "J_norm"
    end: ClassVar[str] = "J_norm_end"
    exact: ClassVar[bool] = False
    whole: ClassVar[bool] = False
    extra: ClassVar[str | None] = None

    @property
    def xlabel(self) -> str:
        """The axis along a run."""
        return self.unit

    @abstractmethod
    def complete(self, mdp: FiniteMDP, settings: Settings) -> dict[str, Any]:
        """The settings as they enter the digest: every default written out, and all checked."""

    @abstractmethod
    def rows(
        self, problem: Settings, settings: Settings, stream: int, runs: range, progress: Progress
    ) -> list[Row]:
        """Runs number runs.start to runs.stop - 1 of a cell, on one thread."""

    @abstractmethod
    def seconds(self, problem: Settings, settings: Settings) -> float:
        """About how long one run takes, at most; only the size of tasks depends on it."""

    def work(self, settings: Settings) -> int:
        """How many units a run makes, at most."""
        return int(settings.get(self.unit, getattr(self.options(), self.unit)))

    def in_small(self, experiment: Experiment, kind: str) -> Experiment:
        """The experiment in small, for tests: two runs of a two-hundredth of the length at three
        points of each axis.
        """
        return experiment.scaled(runs=min(2, experiment.runs), points=3, length=0.005)

    def split(self, settings: Settings) -> tuple[dict[str, Any], dict[str, Any]]:
        """The settings that are the method's, and those that it passes on."""
        names = self.options.__struct_fields__
        ours = {key: value for key, value in settings.items() if key in names}
        return ours, {key: value for key, value in settings.items() if key not in names}

    def run_block(
        self, problem: Settings, settings: Settings, stream: int, runs: range, progress: Progress
    ) -> list[Row]:
        """The rows of these runs, with the reason where one failed."""
        try:
            rows = self.rows(problem, settings, stream, runs, progress)
        except MemoryError:  # says nothing about the run
            raise
        except Exception as error:
            if len(runs) == 1:
                return [{"run": runs.start, "failure": _reason(error)}]
            middle = (runs.start + runs.stop) // 2  # the others are as they would be without it
            return [
                row
                for half in (range(runs.start, middle), range(middle, runs.stop))
                for row in self.run_block(problem, settings, stream, half, progress)
            ]
        return [{"run": run, **row} for run, row in zip(runs, rows, strict=True)]


def _reason(error: Exception) -> str:
    text = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
    return text[:FAILURE_LENGTH].encode("utf-8", "replace").decode()


def least_seconds(settings: Settings) -> float:
    """What a run counts at least."""
    return CURVE_SECONDS if settings.get("target") is None else ROW_SECONDS


def thin(count: int, points: int) -> Ints:
    """About `points` of 0 .. count - 1, evenly spaced, the first and the last among them."""
    return np.unique(np.append(np.arange(0, count, max(1, (count - 1) // points)), count - 1))

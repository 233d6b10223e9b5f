"""What a method is: how a cell is completed, run, measured and costed.

Every row is one run. A run with a target ends there and leaves its time; one without leaves its
curve, at about `points` places.
"""

import errno
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from jekyllhyde.errors import InputError
from jekyllhyde.lab.problems import MODELS, ProblemKind
from jekyllhyde.mdp.finite import Ints

POINTS = 1000
FAILURE_LENGTH = 500  # characters that are kept of a failure's reason
# What a run counts at least, so that a task has at most 2000 curves of 1000 points, or 100,000
# times.
CURVE_SECONDS, TIME_SECONDS = 5e-3, 1e-4
COUNT, NUMBER, PLACES, CURVE = (
    pa.int64(),
    pa.float64(),
    pa.list_(pa.int32()),
    pa.list_(pa.float64()),
)

Progress = Callable[[int], None]
Row = dict[str, Any]
Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Method:
    """A way to run a cell.

    unit : what is counted along a run, and the setting that says how many of them there are.
    options : the method's own settings with their types and defaults.
    problems : what it is run on.
    complete : (an example of a problem, settings) -> the settings as they enter the digest: every
        default written out, and all checked.
    rows : (problem, settings, stream, runs, progress) -> a row for each of these runs.
    seconds : (problem, settings) -> about how long a run takes, at most; for the size of tasks.
    size : (problem, settings) -> how many bytes of memory a run takes at least, where `rows` does
        not check that itself before it begins.
    columns : what its rows hold, by type.  curve, end : the columns that are drawn along a run,
        and at its end against whatever varies ("" where there is none).
    xlabel : the axis along a run, if it is not the unit.  measure : what a target is one of.
    exact : nothing is random but the problem.  whole : the runs of a cell are made in one call.
    extra : what must be installed beside the core.

    `work` is how many units a run makes, at most; `estimate` about how many seconds it takes, and
    what it counts at least; `run_block` gives the rows of some runs, with the reason where one
    failed.
    """

    name: str
    unit: str
    options: type[msgspec.Struct]
    complete: Callable[[Any, Settings], dict[str, Any]]
    rows: Callable[[Settings, Settings, int, range, Progress], list[Row]]
    seconds: Callable[[Settings, Settings], float]
    columns: Mapping[str, pa.DataType]
    size: Callable[[Settings, Settings], float] = lambda problem, settings: 0.0
    curve: str = "J_norm"
    end: str = "J_norm_end"
    xlabel: str = ""
    measure: str = "normalized return"
    problems: ProblemKind = MODELS
    exact: bool = False
    whole: bool = False
    extra: str | None = None

    def work(self, settings: Settings) -> int:
        return int(settings.get(self.unit, getattr(self.options(), self.unit)))

    def estimate(self, problem: Settings, settings: Settings) -> float:
        curve = settings.get("target") is None
        points = max(1.0, float(settings.get("points", POINTS)) / POINTS)
        return max(
            CURVE_SECONDS * points if curve else TIME_SECONDS,
            self.seconds(problem, settings) * self.work(settings),
        )

    def run_block(
        self, problem: Settings, settings: Settings, stream: int, runs: range, progress: Progress
    ) -> list[Row]:
        try:
            rows = self.rows(problem, settings, stream, runs, progress)
        except Exception as error:
            if is_of_machine(error):
                raise
            if len(runs) == 1:
                kind = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
                reason = f"{kind}{error}"[:FAILURE_LENGTH].encode("utf-8", "replace").decode()
                return [{"run": runs.start, "failure": reason}]
            middle = len(runs) // 2  # the others are as they would be without it
            return [
                row
                for half in (runs[:middle], runs[middle:])
                for row in self.run_block(problem, settings, stream, half, progress)
            ]
        return [{"run": run, **row} for run, row in zip(runs, rows, strict=True)]


def is_of_machine(error: Exception) -> bool:
    """Whether an error says something about the machine (no memory, no space, no threads), and
    nothing about the run, which may well succeed elsewhere.
    """
    return (
        isinstance(error, MemoryError)
        or getattr(error, "errno", None) in _SCARCE
        or any(words in str(error) for words in ("RESOURCE_EXHAUSTED", "can't start new thread"))
    )


_SCARCE = {
    getattr(errno, name, None)
    for name in ("ENOMEM", "EMFILE", "ENFILE", "ENOSPC", "EDQUOT", "EAGAIN", "EIO")
} - {None}


def split(settings: Settings, options: type[msgspec.Struct]) -> tuple[Row, Row]:
    """The settings that are the method's own, and those that it passes on to the agent."""
    own = {name: settings[name] for name in options.__struct_fields__ if name in settings}
    return own, {name: value for name, value in settings.items() if name not in own}


def thin(count: int, points: int) -> Ints:
    """About `points` of 0 .. count - 1, evenly spaced, the first and the last among them."""
    return np.unique(np.append(np.arange(0, count, max(1, (count - 1) // points)), count - 1))
